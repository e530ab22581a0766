"""Names of columns: look-alikes are different columns, blanks need backticks, control
characters are refused.
"""

import numpy as np
import pandas as pd
import pytest
from expected import no_column

from ordstat import (
    DataError,
    FormulaError,
    OrdinalClassifier,
    OrdstatError,
    datasets,
    ordfit,
)
from ordstat.formula.columns import Columns

ALIKE = [
    ("x", "\uff58"),
    ("\u00b5g", "\u03bcg"),
    ("e\u0301", "\u00e9"),
    ("K", "\u212a"),
    ("a", "\u1d43"),
    ("fi", "\ufb01"),
]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("names", ALIKE, ids=ascii)
def test_names_that_look_alike_are_different_columns(names, seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.uniform(1, 2, (60, 2)), columns=list(names)).assign(
        y=rng.integers(0, 3, 60)
    )
    plain = data.set_axis(["one", "other", "y"], axis=1)
    for call in (
        "I({}**2)",
        "log({})",
        "poly({}, 2)",
        "{}",
        "offset({}) + {}",
        "`{}`",
        "I({} > 1.5)",
    ):
        for name, stands_for in zip(names, ("one", "other"), strict=True):
            fit = ordfit(f"y ~ {call.format(name, name)}", data)
            expected = ordfit(f"y ~ {call.format(stands_for, stands_for)}", plain)
            np.testing.assert_array_equal(fit.coef, expected.coef)
            np.testing.assert_array_equal(fit.predict(data), expected.predict(plain))
    both = ordfit(f"y ~ I({names[0]} + 1) + I({names[1]} + 1)", data)
    assert len(both.coef.dropna()) == 2


def test_look_alike_names_elsewhere():
    data = pd.DataFrame(
        {
            "x": np.arange(40.0),
            "\uff58": np.arange(40.0)[::-1] + 1,
            "y": np.arange(40) % 3,
        }
    )
    fit = ordfit("y ~ 1", data, subset="\uff58 > 20", weights="\uff58 + 1")
    assert fit.design.sample.n == 20
    with no_column("\uff58\uff58"):
        ordfit("y ~ log(\uff58\uff58)", data)


def test_names_like_those_that_stand_in_for_others():
    data = pd.DataFrame(
        {
            "x": np.arange(40.0),
            "quoted_name_ff": np.arange(40.0)[::-1],
            "y": np.arange(40) % 3,
        }
    )
    with no_column("quoted_name_fe"):
        ordfit("y ~ I(quoted_name_fe + 1)", data)
    fit = ordfit("y ~ I(quoted_name_ff + 1)", data)
    np.testing.assert_array_equal(fit.design.sample.X[:, 0], data["quoted_name_ff"] + 1)
    with pytest.raises(FormulaError, match="list of numbers"):
        ordfit("y ~ I(x in [[1,2],[3]])", data)


@pytest.mark.parametrize(
    "character", ["\x1b[31m", "\x07", "\x00", "\n", "\x9b", "\x7f"], ids=ascii
)
@pytest.mark.parametrize("where", ["column", "level", "response", "group"])
def test_control_characters_in_names_are_refused(character, where):
    data = pd.DataFrame(
        {"x": list("ab") * 20, "g": list("abcd") * 10, "y": np.arange(40) % 3}
    )
    bad = f"bad{character}name"
    formula = "y ~ x + (1 | g)" if where == "group" else "y ~ x"
    if where == "column":
        data = data.rename(columns={"x": bad})
        formula = "y ~ ."
    elif where == "response":
        data["y"] = pd.Categorical.from_codes(
            data["y"], ["low", bad, "high"], ordered=True
        )
    else:
        data[{"level": "x", "group": "g"}[where]] = data["g"].replace({"a": bad})
    with pytest.raises(DataError, match="control character") as error:
        ordfit(formula, data)
    assert character not in str(error.value)


WINE = datasets.load("wine").assign(
    **{"wine type": lambda d: d["judge"], "sat text": lambda d: d["rating"]}
)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (
            "rating ~ temp + wine type",
            "no operator stands between 'wine' and 'type'.*backticks around one name",
        ),
        ("rating ~ log(wine) type", r"between 'log\(wine\)' and 'type'"),
        ("rating ~ temp temp", "Put \\+ between two terms"),
        (
            "rating ~ temp + log(wine type)",
            "backticks around a name with blanks: `wine type`",
        ),
        ("sat text ~ temp", "Cannot read 'sat text'.*: `sat text`"),
        ("sat text ~ temp + log(contact)", "Cannot read 'sat text'.*: `sat text`"),
    ],
)
def test_a_name_with_a_blank_asks_for_backticks(formula, words):
    with pytest.raises(FormulaError, match=words) as actual:
        ordfit(formula, WINE)
    assert (
        "unknown" not in str(actual.value)
        and "line 1" not in str(actual.value)
        and "v1" not in str(actual.value)
    )


def test_backticks_are_the_cure():
    assert (
        ordfit("`sat text` ~ temp + `wine type`", WINE).design.names[1]
        == "wine type[T.2]"
    )


@pytest.mark.parametrize("names", [["a", "b"], [2024, 2025]])
def test_columns_of_several_levels_are_told_how_to_become_flat(names):
    wine = datasets.load("wine")[["rating", "temp"]]
    data = wine.set_axis(pd.MultiIndex.from_arrays([names, wine.columns]), axis=1)
    told = "Every column of the data must have one name; got names of 2 levels"
    with pytest.raises(DataError, match=told) as raised:
        ordfit("rating ~ temp", data)
    with pytest.raises(DataError, match=told):
        OrdinalClassifier().fit(data, wine["rating"])
    advice = str(raised.value).partition("Join them: ")[2].removesuffix(".")
    exec(advice, {"data": data})  # what the message says works
    formula = (
        f"{names[0]}_rating ~ {names[1]}_temp"
        if names[0] == "a"
        else f"`{names[0]}_rating` ~ `{names[1]}_temp`"
    )
    assert ordfit(formula, data).loglik == pytest.approx(
        ordfit("rating ~ temp", wine).loglik, rel=1e-12
    )


def test_rows_of_several_levels():
    wine = datasets.load("wine")
    rows = pd.MultiIndex.from_arrays(
        [wine["judge"].astype(str), np.arange(72)], names=["who", "bottle_number"]
    )
    data = wine.set_index(rows)
    fit = ordfit("rating ~ temp + contact", data, weights=pd.Series(1.0, index=rows))
    plain = ordfit("rating ~ temp + contact", wine)
    predicted = fit.predict(data, type="prob")
    assert predicted.index.equals(rows) and fit.residuals().index.equals(rows)
    np.testing.assert_allclose(predicted, plain.predict(wine, type="prob"), rtol=1e-12)
    with no_column("who", "a level of the row index: give data.reset_index"):
        ordfit("rating ~ temp + who", data)
    with no_column("who", "needed for cluster=; .*data.reset_index"):
        ordfit("rating ~ temp", data, cluster="who")
    ordfit("rating ~ temp + who", data.reset_index())


@pytest.mark.parametrize("gap", [False, True])
def test_many_columns_are_read_as_one_by_one(gap):
    """Numbers of 64 bits together, unless one is missing; others alone."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 20))).rename(columns="x{}".format)
    if gap:
        frame.loc[4, "x7"] = np.nan
    frame["single"] = frame["x3"].astype(np.float32)
    frame["count"] = np.arange(30)
    frame["group"] = pd.Categorical(np.resize(["b", "a"], 30))
    frame["other"] = 1.0
    names = [name for name in frame if name != "other"]
    together, alone = Columns(frame), Columns(frame)
    together.read_together(frozenset(names))
    for name in names:
        found, expected = together.column(name), alone.column(name)
        if name == "group":
            np.testing.assert_array_equal(found.value.codes, expected.value.codes)
            continue
        assert found.value.dtype == expected.value.dtype
        np.testing.assert_array_equal(found.value, expected.value)
        np.testing.assert_array_equal(found.missing, expected.missing)


def test_a_control_character_is_refused_among_many_columns():
    frame = pd.DataFrame(np.zeros((3, 20))).rename(columns="x{}".format)
    frame = frame.rename(columns={"x5": "x\x1b"})
    with pytest.raises(DataError, match="control character"):
        Columns(frame).read_together(frozenset(frame.columns))


@pytest.mark.parametrize("name", ["", None, np.nan])
def test_a_column_without_a_name_is_no_column_of_a_dot(name):
    """It was left out without a word where its name is the empty text."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=40), "y": np.arange(40) % 3})
    nameless = frame.assign(z=rng.normal(size=40)).rename(columns={"z": name})
    message = "whose name is empty" if name == "" else "a column has no name"
    with pytest.raises(OrdstatError, match=message):
        ordfit("y ~ .", nameless)
    with pytest.raises(OrdstatError, match=message):
        OrdinalClassifier().fit(nameless.drop(columns="y"), nameless["y"])
    named = ordfit("y ~ x", nameless).params
    pd.testing.assert_series_equal(named, ordfit("y ~ x", frame).params)


@pytest.mark.parametrize(
    "name",
    ["Trust in AI", "my-trust", "Q1 - a", "trust (1-5)", "a/b"],
)
@pytest.mark.parametrize("place", ["response", "location", "nominal"])
def test_a_bare_name_is_told_its_backticks(name, place):
    data = WINE.rename(columns={"contact" if place != "response" else "rating": name})
    called = {
        "response": (f"{name} ~ temp", {}),
        "location": (f"rating ~ temp + {name} + judge", {}),
        "nominal": ("rating ~ temp", {"nominal": f"~ {name} "}),
    }
    formula, options = called[place]
    with pytest.raises(FormulaError, match="backticks") as raised:
        ordfit(formula, data, **options)
    assert f"`{name}`" in str(raised.value)
    cured = {key: text.replace(name, f"`{name}`") for key, text in options.items()}
    fit = ordfit(formula.replace(name, f"`{name}`"), data, **cured)
    assert name in (fit.design.response, *fit.design.spec.columns)


def test_other_errors_of_formulas_stay_beside_odd_names():
    data = WINE.rename(columns={"contact": "my contact"})
    with pytest.raises(DataError, match="no column 'nothing'"):
        ordfit("rating ~ `my contact` + nothing", data)


def test_a_name_in_another_unicode_form_is_told_how_to_write_it():
    data = WINE.rename(columns={"temp": "cafe\u0301"})
    with pytest.raises(DataError, match="another Unicode form") as raised:
        ordfit("rating ~ caf\u00e9", data)
    cure = str(raised.value).partition("write ")[2].removesuffix(".")
    exec(cure, {"data": data})  # what the message says works
    assert ordfit("rating ~ caf\u00e9", data).design.names == ("caf\u00e9[T.warm]",)
