"""Conditions in formulas and in subset=, as R and pandas users write them, and R's
other operators.
"""

import numpy as np
import pandas as pd
import pytest
from seams import build

from ordstat import FormulaError, ordfit


@pytest.fixture(scope="module")
def frame():
    i = np.arange(90)
    return pd.DataFrame(
        {
            "y": (i * 7 % 11) % 3,
            "age": 20 + i * 13 % 60,
            "sex": np.where(i % 3 == 0, "m", "f"),
            "site": np.array(list("ABCD"))[i * 5 % 4],
            "smoke": i * 3 % 7 > 3,
            "x": i * 17 % 23,
        }
    )


#: The condition, and the same over the frame's columns in pandas' own way.
CONDITIONS = {
    "age > 50 & sex == 'm'": lambda d: (d.age > 50) & (d.sex == "m"),
    "age > 50 and not sex == 'm'": lambda d: (d.age > 50) & (d.sex != "m"),
    "sex == 'm' | smoke & age < 40": (
        lambda d: (d.sex == "m") | (d.smoke & (d.age < 40))
    ),
    "(sex == 'm' || smoke) & age < 40": (
        lambda d: ((d.sex == "m") | d.smoke) & (d.age < 40)
    ),
    "!smoke": lambda d: ~d.smoke,
    "!(smoke & age > 40)": lambda d: ~(d.smoke & (d.age > 40)),
    "!age > 50": lambda d: d.age <= 50,
    "~smoke & (age > 50)": lambda d: ~d.smoke & (d.age > 50),
    "site %in% c('A', 'B')": lambda d: d.site.isin(["A", "B"]),
    "!site %in% c('A', 'B') & smoke": lambda d: ~d.site.isin(["A", "B"]) & d.smoke,
    "site in ['A', 'B'] and age > 30": lambda d: d.site.isin(["A", "B"]) & (d.age > 30),
    "x %in% c(1, 2, 5)": lambda d: d.x.isin([1, 2, 5]),
    "x %% 3 == 1 & x %/% 5 > 1": lambda d: (d.x % 3 == 1) & (d.x // 5 > 1),
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_bind_as_in_r(frame, text):
    mask = CONDITIONS[text](frame)
    assert 0 < mask.sum() < len(frame)
    fit = ordfit("y ~ x", frame, "cart", subset=text)
    assert fit.design.index.tolist() == frame.index[mask].tolist()
    term = ordfit(f"y ~ I({text})", frame)
    assert term.design.sample.X[:, 0].tolist() == mask.astype(float).tolist()
    one = frame.loc[mask].head(1)  # a row that has one level of each factor
    expected = ordfit("y ~ z", frame.assign(z=mask)).predict(
        one.assign(z=True), type="prob"
    )
    np.testing.assert_allclose(term.predict(one, type="prob"), expected, rtol=1e-9)


def test_quoted_operators_are_text(frame):
    named = frame.assign(site=frame["site"].replace({"A": "A & !B"}))
    fit = ordfit("y ~ x", named, "cart", subset="site == 'A & !B' & smoke")
    assert fit.nobs == ((frame["site"] == "A") & frame["smoke"]).sum()


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ("sex = 'm'", "values are compared by =="),
        ("is.na(age)", "is.na is R's. Rows with missing values are left out"),
        (
            "site %in% c('A', 'Z')",
            r"compare the factor with one of its levels \('A', 'B', 'C', 'D'\)",
        ),
        ("x %in% c('A')", "compares text with numbers"),
        ("sex & age > 3", "'sex' must be true or false in every row"),
        ("age > 50 &", "invalid syntax"),
        ("d$age > 50", "without 'data\\$' before their names"),
    ],
)
def test_refused_conditions(frame, subset, message):
    with pytest.raises(FormulaError, match=message):
        ordfit("y ~ x", frame, subset=subset)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ age %% 10", r"put arithmetic and conditions inside I\(\)"),
        ("y ~ d$age + x", "without 'data\\$' before their names"),
        ("y ~ ifelse(age > 50, 1, 0)", "Write I\\(x > 0\\)"),
        ("y ~ interaction(sex, site)", "Write a:b"),
    ],
)
def test_expressions_of_r_are_refused_with_advice(frame, formula, message):
    with pytest.raises(FormulaError, match=message):
        ordfit(formula, frame)


def test_smallest_and_largest_are_those_of_every_row(frame):
    fit = ordfit("y ~ age + pmax(age - 45, 0) + pmin(x, 10, age / 4)", frame)
    np.testing.assert_array_equal(
        fit.design.sample.X[:, 1], np.maximum(frame["age"] - 45, 0)
    )
    np.testing.assert_array_equal(
        fit.design.sample.X[:, 2],
        np.minimum.reduce([frame.x, 0 * frame.x + 10, frame.age / 4]),
    )


def test_boundary_knots_go_by_rs_name(frame):
    X, same = (
        build(f"y ~ ns(age, df=3, {b}=c(15, 85))", frame).sample.X
        for b in ("Boundary.knots", "boundary_knots")
    )
    np.testing.assert_array_equal(X, same)
