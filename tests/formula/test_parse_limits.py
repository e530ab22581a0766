"""A formula from somebody else must not take all time or memory: what gives too many
terms is refused unexpanded.
"""

import random
import string
from math import comb

import numpy as np
import pandas as pd
import pytest
from seams import build

from ordstat import datasets, ordfit
from ordstat.exceptions import DataWarning, FormulaError
from ordstat.formula.coding import full_codings
from ordstat.formula.parse import (
    Term,
    column_expression,
    parse_formula,
    parse_one_sided,
)

LETTERS = [letter for letter in string.ascii_lowercase if letter != "y"]
COLUMNS = [f"x{i}" for i in range(12_000)]
SLOW = pytest.mark.slow
LIMITS = "at most 100,000 characters and give at most 10,000 terms"


def terms(text, columns=()):
    return [
        term.label for term in parse_formula(f"y ~ {text}", tuple(columns))[1].terms
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a + b + c)**99", ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]),
        ("((a + b)**99)**99", ["a", "b", "a:b"]),
        (".**77", ["a", "b", "a:b"]),
        ("+".join(["a"] * 40_000), ["a"]),
        (":".join(["a"] * 4_000), ["a"]),
        ("*".join(["a"] * 4_000), ["a"]),
        ("(" * 50 + "a" + ")" * 50, ["a"]),
        ("(a + " * 50 + "b" + ")" * 50, ["a", "b"]),
        ("-" * 80_000 + "a", ["a"]),  # an even number of signs
        ("+".join(["."] * 4_000), ["a", "b"]),
        ("+".join(["0"] * 4_000), []),
        ("(1 + a + b)^2", ["a", "b", "a:b"]),
        ("(a - a) / b", []),
    ],
    ids=lambda value: str(value)[:24],
)
def test_terms_that_do_not_grow_are_found_at_once(text, expected):
    assert terms(text, ("a", "b", "y")) == expected


def test_up_to_ten_thousand_terms_are_given():
    assert len(terms("*".join(LETTERS[:13]))) == 2**13 - 1
    assert len(terms("(" + " + ".join(LETTERS[:13]) + ")**13")) == 2**13 - 1
    assert len(terms("(" + " + ".join(COLUMNS[:140]) + ")^2")) == 140 + comb(140, 2)
    assert len(terms(" + ".join(COLUMNS[:9999]) + " + log(x)")) == 10_000
    assert len(terms(".", COLUMNS[:10_000])) == 10_000


HUGE = {
    "a sum to the 20th": "(" + "+".join(LETTERS) + ")**20",
    "power of a power": "((((a+b+c+d+e+f+g+h+i+j)**9)**9)**9)**9",
    "25 crossed": "*".join(LETTERS),
    "141 squared": "(" + "+".join(COLUMNS[:141]) + ")**2",
    "9000 squared": "(" + "+".join(COLUMNS[:9000]) + ")**2",
    "a dot to the 20th": ".**20",
    "crossed dots": ".*.*.*.",
    "nested": "(" + "*".join(LETTERS[:13]) + ")/(" + "+".join(COLUMNS[:9000]) + ")",
    "10,001 terms": "+".join(COLUMNS[:10_000]) + " + log(x)",
    "one long product": ":".join(COLUMNS[:10_001]),
    "long labels": "log(" + "z" * 50_000 + ")*" + "*".join(LETTERS[:12]),
    "long text": "+".join(["a"] * 60_000),
    "long text with calls": "log(a) + " * 20_000 + "a",
}


#: Those that are as long as they may be, and take a second each.
LONG = ("9000 squared", "10,001 terms")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=name, marks=SLOW if name in LONG else ())
        for name, text in HUGE.items()
    ],
)
def test_a_formula_that_gives_too_many_terms_is_refused_in_every_role(text):
    for parse in (
        lambda: parse_formula(f"y ~ {text}", tuple(LETTERS)),
        lambda: parse_one_sided(f"~ {text}", tuple(LETTERS), "nominal"),
        lambda: parse_one_sided(text, tuple(LETTERS), "scale"),
    ):
        with pytest.raises(FormulaError, match=LIMITS) as caught:
            parse()
        assert len(str(caught.value)) < 700  # the formula is not repeated in full


@pytest.mark.parametrize(
    "call", ["update", "add1", "step", "lower", "nominal", "scale"]
)
def test_every_argument_that_takes_a_formula_has_the_limits(call):
    wine = datasets.load("wine").assign(z=np.arange(72) % 7 - 3.0)
    fit = ordfit("rating ~ temp", wine)
    text = "*".join(f"I(z + {i})" for i in range(25))
    calls = {
        "update": lambda: fit.update(f"~ . + {text}"),
        "add1": lambda: fit.add1(f"~ . + {text}"),
        "step": lambda: fit.step(scope=f"~ . + {text}"),
        "lower": lambda: fit.step(scope={"lower": f"~ {text}"}),
        "nominal": lambda: ordfit("rating ~ temp", wine, nominal=f"~ {text}"),
        "scale": lambda: fit.update(scale=f"~ {text}"),
    }
    with pytest.raises(FormulaError, match=LIMITS):
        calls[call]()


def test_dots_of_an_update_are_not_filled_in_beyond_the_limit():
    wine = datasets.load("wine").assign(z=np.arange(72) % 7 - 3.0)
    fit = ordfit(
        "rating ~ " + " + ".join(f"I(z^{i})" for i in range(1, 6)) + " + temp" * 2000,
        wine,
    )
    with pytest.raises(
        FormulaError, match=rf"characters with every dot filled in.*{LIMITS}"
    ):
        fit.update("~ " + " + ".join(["."] * 20_000))


@pytest.mark.parametrize(
    "text",
    [
        "I(" + "-" * 90_000 + "x)",
        "I(" + "+".join(["x"] * 40_000) + ")",
        "I(" + "(" * 5000 + "x" + ")" * 5000 + ")",
        "log(" * 300 + "x" + ")" * 300,
        "I(x" + ".x" * 5000 + ")",
        "ns(x, df=" + "-" * 900 + "3)",
        "I(" + "'" * 80_001 + ")",
        "I(" + "'\\" * 40_000 + "x)",
        "I(" + "9" * 5000 + " * x)",
        "(" * 90_000,
        "[" * 9_000,
        "`" * 90_000,
        "~" * 90_000,
        " " * 90_000 + "!",
        "a:-" * 3_000 + "x",
        "(x+z)**" + "9" * 50_000,
        "(x+z)**100",
        "(" * 20_000 + "x" + ")" * 20_000,
        "(x + " * 51 + "z" + ")" * 51,
        "I(x > 0" + " | x > 0" * 20_000 + ")",
        "(1 | z) + " * 20_000 + "x",
        "bs(x, knots=[" + ", ".join(str(1 + k / 1000) for k in range(6000)) + "])",
        "ns(x, df=100_000)",
        "x**(10**10)",
        "x**-1",
        "(x + z)**1.5",
        "()",
        "x y",
        "x + * z",
        "x)",
        "2:x",
        "x + 2",
        "x == z",
        "x\0",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_ends_in_an_error_in_words(text):
    data = pd.DataFrame(
        {"y": [1, 2, 3, 1, 2, 3], "x": [0.5, 1, 2, 3, 5, 8], "z": [1.0, 0, 2, 1, 5, 3]}
    )
    with pytest.raises((FormulaError, ValueError)) as caught:
        build(f"y ~ {text}", data)
    assert type(caught.value).__module__ == "ordstat.exceptions"
    assert len(str(caught.value)) < 1000


def test_deep_expressions_that_python_can_hold_are_read():
    x = np.array([0.5, 1, 2, 3, 5, 8])
    design = build(
        "y ~ I(" + "+".join(["x"] * 100) + ")",
        pd.DataFrame({"y": [1, 2, 3, 1, 2, 3], "x": x}),
    )
    np.testing.assert_allclose(design.sample.X[:, 0], 100 * x, rtol=1e-14)


def test_which_factors_are_coded_in_full_follows_from_the_definition():
    """R's rule, written out: by contrasts where the term without the factor is empty or
    within an earlier term.
    """
    rng = random.Random(1)
    for _ in range(300):
        chosen = [
            rng.sample("abcdef", rng.randint(1, 4)) for _ in range(rng.randint(1, 8))
        ]
        actual = full_codings(
            [Term(tuple(column_expression(name) for name in term)) for term in chosen]
        )
        expected = []
        for position, term in enumerate(chosen):
            margins = [{*term} - {name} for name in term]
            earlier = [{*other} for other in chosen[:position]]
            expected.append(
                tuple(
                    bool(m) and not any(m <= other for other in earlier)
                    for m in margins
                )
            )
        assert actual == expected


def test_thousands_of_interactions_of_high_order_are_coded():
    data = pd.DataFrame(
        np.random.default_rng(0).normal(size=(6, 13)), columns=LETTERS[:13]
    )
    design = build("y ~ " + "*".join(LETTERS[:13]), data.assign(y=[1, 2, 3, 1, 2, 3]))
    assert design.sample.X.shape == (6, 2**13 - 1)
    np.testing.assert_allclose(design.sample.X[:, -1], data.prod(axis=1), rtol=1e-12)


def test_interactions_with_too_many_columns_are_counted_and_not_formed():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60), "y": np.arange(60) % 3})
    conditions = ":".join(f"I(x > {i / 20 - 0.6:.2f})" for i in range(25))
    with pytest.raises(
        FormulaError, match=r"gives 33,554,432 columns; at most 100,000 are allowed"
    ):
        build(f"y ~ {conditions}", data)
    with pytest.raises(FormulaError, match=r"gives 33,554,432 columns"):
        build("y ~ x", data, scale=f"~ {conditions}")
    assert build(
        f"y ~ {':'.join(conditions.split(':')[:10])}", data
    ).sample.X.shape == (60, 2**10)


def test_tests_of_a_product_of_many_numbers_are_at_hand():
    """The change of coding of a term is found from as many rows as it has columns, not
    from 2^25.
    """
    wine = datasets.load("wine").assign(z=np.arange(72) % 7 / 7)
    fit = ordfit("rating ~ temp + " + ":".join(f"I(z + {i})" for i in range(25)), wine)
    smaller = ordfit("rating ~ temp", wine)
    np.testing.assert_allclose(
        fit.drop1()["lrt"].iloc[-1], 2 * (fit.loglik - smaller.loglik), rtol=1e-6
    )
    wald = (fit.coef / fit.se[fit.coef.index]) ** 2
    for kind in ("II", "III"):
        np.testing.assert_allclose(fit.anova(type=kind)["chisq"], wald, rtol=1e-6)


def test_a_power_of_one_term_says_how_to_write_a_square():
    assert terms("(x + x)^98", ["x"]) == ["x"]
    for _ in range(2):  # parses are cached
        with pytest.warns(DataWarning, match=r"Write I\(x\^2\) for a square"):
            ordfit("rating ~ temp^2", datasets.load("wine"))
