"""A formula from somebody else must not run code, and columns do not hide functions."""

import numpy as np
import pandas as pd
import pytest
from expected import no_column
from seams import build

from ordstat.exceptions import DataError, FormulaError, OrdstatError

DATA = pd.DataFrame({"y": [1, 2, 3, 1, 2, 3], "x": [0.5, 1, 2, 3, 5, 8]})

ATTACKS = [
    "I(__import__('pathlib').Path({path!r}).touch())",
    "{{__import__('pathlib').Path({path!r}).touch() or x}}",
    "I(open({path!r}, 'w').close() or x)",
    "open({path!r}, 'w')",
    "exec('open({path!r}, \"w\")')",
    "eval('open({path!r}, \"w\")')",
    "I([open({path!r}, 'w') for i in x])",
    "I((lambda: open({path!r}, 'w'))())",
    "C(x, open({path!r}, 'w'))",
    "ns(x, df=open({path!r}, 'w'))",
    "log(*open({path!r}, 'w'))",
    "log(x, **open({path!r}, 'w'))",
    "offset(open({path!r}, 'w'))",
    "I(().__class__.__base__.__subclasses__())",
    "I(x.__class__)",
    "x.__class__",
    "np.exp(x)",
    "I(x.sum())",
    "I(x[0])",
    "I(f'{{x.__class__}}')",
    "I((z := x))",
    "I(x if x else x)",
    "getattr(x, 'sum')",
    "Q(open({path!r}, 'w'))",
    "`__import__`",
    "__builtins__",
    "I('a' * 10**10)",
    "I(9**9**9**9**9)",
]


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    "where", ["formula", "nominal", "scale", "weights", "offset", "subset", "response"]
)
def test_code_in_a_formula_is_refused_before_it_runs(attack, where, tmp_path):
    path = tmp_path / "made"
    term = attack.format(path=str(path))
    arguments = {"formula": "y ~ x"}
    if where == "formula":
        arguments = {"formula": f"y ~ {term}"}
    elif where == "response":
        arguments = {"formula": f"{term} ~ x"}
    else:
        arguments[where] = f"~ {term}" if where in ("nominal", "scale") else term
    with pytest.raises(OrdstatError):
        build(data=DATA, **arguments)
    assert not path.exists()


def test_the_callers_names_are_not_seen():
    secret = np.ones(6)
    with no_column("secret"):
        build("y ~ x + secret", DATA)
    with pytest.raises(FormulaError, match="Formulas do not have the function"):
        build("y ~ secret(x)", DATA)
    assert secret.sum() == 6


def test_a_bar_that_is_no_random_term_is_refused_with_the_right_form():
    with pytest.raises(
        FormulaError, match=r"Cannot read the formula 'u \+ 1\|g'.*\(1 \| group\)"
    ):
        build(
            "y ~ u + 1|g",
            pd.DataFrame(
                {"y": [1, 2, 1, 2], "u": [0.0, 1.0, 2.0, 1.0], "g": list("aabb")}
            ),
        )


NAMES = [
    "my col",
    "C",
    "log",
    "I",
    "offset",
    "ns",
    "class",
    "None",
    "if",
    "a.b",
    "1st",
    "größe",
    "v0",
    "np",
    "a~b",
    "a:b",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_any_name_is_a_variable_and_hides_no_function(name):
    values = np.arange(1.0, 7)
    frame = DATA.assign(**{name: values, "f": list("ababab")})
    quoted = (
        name
        if name.isidentifier() and name not in ("class", "None", "if")
        else f"`{name}`"
    )
    formula = (
        f"y ~ `{name}` + log({quoted}) + I({quoted}^2) + C(f) + offset({quoted}) +"
        f" ns({quoted}, df=1)"
    )
    design = build(formula, frame)
    expected = np.column_stack([values, np.log(values), values**2, [0, 1] * 3])
    np.testing.assert_allclose(design.sample.X[:, :4], expected, rtol=1e-15)
    np.testing.assert_array_equal(design.sample.rows.offset, values)
    assert design.names[0] == name and design.names[3] == "C(f)[T.b]"


def test_columns_that_are_not_text_are_found_by_their_text():
    design = build(
        "y ~ `0` + `1`", pd.DataFrame({"y": [1, 2, 1], 0: [1.0, 2, 4], 1: [5.0, 3, 1]})
    )
    np.testing.assert_array_equal(design.sample.X, [[1, 5], [2, 3], [4, 1]])


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2.0, 3.0], [2, 3.0, 1.0]], columns=["y", "x", "x"])
    with pytest.raises(DataError, match="2 columns named 'x'"):
        build("y ~ x", frame)
