"""Means of nested factors and of all rows together, from fits without the outer
factor.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from expected import no_standard_errors
from seams import LikelihoodResults

from ordstat import ordfit
from ordstat.exceptions import DataWarning

NUMBERS = ["estimate", "std_error", "lower", "upper"]
#: Schools of each region; one region has a single school.
REGIONS = {"N": "ab", "S": "cde", "W": "f"}
OF_SCHOOL = {
    school: region for region, schools in REGIONS.items() for school in schools
}


def schools(seed: int = 1, n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    school = rng.choice(list(OF_SCHOOL), n, p=[0.1, 0.3, 0.2, 0.1, 0.1, 0.2])
    effects = dict(zip(OF_SCHOOL, rng.normal(size=6), strict=True))
    x = rng.normal(size=n)
    latent = pd.Series(school).map(effects).to_numpy() + x / 2 + rng.logistic(size=n)
    sex = rng.choice(["f", "m"], n)
    within = (
        pd.Series(school).map(lambda s: REGIONS[OF_SCHOOL[s]].index(s) + 1).astype(str)
    )
    return pd.DataFrame(
        {
            "school": school,
            "region": pd.Series(school).map(OF_SCHOOL),
            "number": within,
            "x": x,
            "sex": sex,
            "y": np.digitize(latent, [-1.0, 0.0, 1.0]),
        }
    )


def quiet(formula: str, data: pd.DataFrame, **options: object) -> LikelihoodResults:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return ordfit(formula, data, **options)


def same(
    actual: pd.DataFrame, expected: pd.DataFrame, columns: list[str] = NUMBERS
) -> None:
    np.testing.assert_allclose(
        actual[columns].to_numpy(dtype=float),
        expected[columns].to_numpy(dtype=float),
        rtol=1e-5,
        atol=1e-6,
    )


FORMULAS = [
    "y ~ region + school + x + sex",
    "y ~ school + x + region + sex",
    "y ~ region / school + x + sex",
    "y ~ x + sex + region / number",
]


@pytest.mark.parametrize("scale", ["latent", "prob", "mean"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_means_of_nested_factors_are_those_without_the_outer_factor(
    formula: str, scale: str
) -> None:
    data = schools()
    plain = ordfit("y ~ school + x + sex", data).emmeans("school", scale=scale)
    fit = quiet(formula, data)
    inner = "number" if "number" in formula else "school"
    actual = fit.emmeans(inner, scale=scale)
    table = actual.frame.sort_values(["region", inner], kind="stable")
    same(table, plain.frame)
    assert table["region"].tolist()[:: len(table) // 6] == list(OF_SCHOOL.values())
    assert "Combinations without rows are left out" in repr(actual)
    if scale != "latent":
        return
    shares = {
        region: [1 / len(inside) if s in inside else 0.0 for s in OF_SCHOOL]
        for region, inside in REGIONS.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        outer = fit.emmeans("region")
    same(outer.frame, plain.contrasts(shares))
    assert "involvement" not in repr(outer)
    # Differences of regions, and of schools within each region that has several.
    expected = plain.contrasts(
        {
            f"{one}-{two}": np.subtract(shares[one], shares[two])
            for one, two in (("N", "S"), ("N", "W"), ("S", "W"))
        }
    )
    same(outer.contrasts(adjust="none"), expected)
    within = fit.emmeans(inner, by="region").contrasts(adjust="none")
    every = plain.contrasts(adjust="none").set_index("contrast")
    names = ["a - b", "c - d", "c - e", "d - e"]
    same(within, every.loc[names])
    assert within["region"].tolist() == ["N", "S", "S", "S"]


def test_weights_of_means_over_nested_factors() -> None:
    data = schools(2)
    fit = quiet("y ~ region + school + x", data)
    plain = ordfit("y ~ school + x", data).emmeans("school")
    counts = data["school"].value_counts()
    shares = {
        region: [
            counts[s] / sum(counts[list(inside)]) if s in inside else 0.0
            for s in OF_SCHOOL
        ]
        for region, inside in REGIONS.items()
    }
    for weights in ("proportional", "cells"):
        same(fit.emmeans("region", weights=weights).frame, plain.contrasts(shares))


@pytest.mark.parametrize(
    "formula", ["y ~ region + school + x", "y ~ region / school + x"]
)
def test_joint_tests_of_nested_factors(formula: str) -> None:
    """Regions: means over their schools. Schools: differences within regions."""
    data = schools(3)
    actual = quiet(formula, data).joint_tests().set_index("term")
    plain = ordfit("y ~ school + x", data)
    b, c, d, e, f = (f"school[T.{s}]" for s in "bcdef")
    regions = f"{b} / 2 - ({c} + {d} + {e}) / 3 = 0, {b} / 2 - {f} = 0"
    inside = f"{b} = 0, {c} = {d}, {d} = {e}"
    for term, equations in {
        "region": regions,
        "school": inside,
        "x": "x = 0, 2 * x = 0",
    }.items():
        expected = plain.test(equations).loc["joint"]
        assert actual.loc[term, "df"] == expected["df"]
        assert actual.loc[term, "chisq"] == pytest.approx(expected["chisq"], rel=1e-5)
    assert sorted(actual.index) == ["region", "school", "x"]


def test_trends_within_nested_factors() -> None:
    data = schools(4)
    actual = quiet("y ~ region + school * x", data).emtrends("school", "x")
    same(actual.frame, ordfit("y ~ school * x", data).emtrends("school", "x").frame)


def test_three_levels_of_nesting() -> None:
    """Classes in schools in regions: each average is taken within the next factor."""
    data = schools(5, 900)
    rng = np.random.default_rng(0)
    data["klass"] = data["school"] + rng.choice(list("12"), len(data))
    data.loc[data["school"] == "c", "klass"] = "c1"
    fit = quiet("y ~ region + school + klass + x", data)
    plain = ordfit("y ~ klass + x", data).emmeans("klass")
    classes = sorted(data["klass"].unique())
    of_school = {s: np.array([float(k[0] == s) for k in classes]) for s in OF_SCHOOL}
    of_school = {s: row / row.sum() for s, row in of_school.items()}
    same(fit.emmeans("school").frame, plain.contrasts(of_school))
    of_region = {
        region: np.mean([of_school[s] for s in inside], axis=0)
        for region, inside in REGIONS.items()
    }
    same(fit.emmeans("region").frame, plain.contrasts(of_region))


def test_an_empty_cell_is_no_nesting() -> None:
    """Towers have no row of the middle group, but factors cross: R has NA there too."""
    data = schools(6)
    data = data[~((data["sex"] == "m") & (data["school"] == "b"))]
    with no_standard_errors():
        frame = quiet("y ~ school * sex", data).emmeans("school").frame
    assert frame["estimate"].isna().tolist() == [s == "b" for s in "abcdef"]


@pytest.mark.parametrize("scale", ["latent", "prob", "mean"])
def test_the_mean_and_slope_of_all(scale: str) -> None:
    fit = ordfit("y ~ sex * x + school", schools(7))
    by_sex = fit.emmeans("sex", scale=scale)
    shares = {"all": [0.5, 0.5]}
    columns = ["estimate", "std_error"]
    same(fit.emmeans("~ 1", scale=scale).frame, by_sex.contrasts(shares), columns)
    slopes = fit.emtrends("sex", "x", scale=scale)
    overall = fit.emtrends("~ 1", "x", scale=scale)
    same(overall.frame, slopes.contrasts(shares), columns)
    within = fit.emmeans("~ 1 | sex", scale=scale).frame
    same(within, by_sex.frame)


def test_joint_tests_of_a_curve_say_what_they_test() -> None:
    data = schools(8)
    curved = ordfit("y ~ ns(x, 3) + sex", data)
    notes = " ".join(repr(curved.joint_tests()).split())
    assert "x is compared at" in notes
    assert "Use test('ns(x, 3)')" in notes
    values = list(np.quantile(data["x"], [0.1, 0.4, 0.6, 0.9]))
    table = curved.joint_tests(at={"x": values}).set_index("term")
    assert table.loc["x", "df"] == 3
    whole = curved.test("ns(x, 3)").loc["joint"]
    assert table.loc["x", "chisq"] == pytest.approx(whole["chisq"], rel=1e-6)
    assert "compared at" not in repr(curved.joint_tests(at={"x": values}))
    assert "compared at" not in repr(ordfit("y ~ x + sex", data).joint_tests())


def test_slopes_of_probabilities_in_an_empty_cell() -> None:
    """The slope of the latent score is that of all rows; that of a probability changes
    with the place.
    """
    data = schools(9)
    data = data[~((data["sex"] == "m") & (data["school"] == "b"))]
    fit = quiet("y ~ school * sex + x", data)
    at = {"sex": ["m"]}
    latent = fit.emtrends("school", "x", at=at).frame
    np.testing.assert_allclose(latent["estimate"], fit.coef["x"], rtol=1e-10)
    with no_standard_errors():
        table = fit.emtrends("school", "x", at=at, scale="prob").frame
    empty = table["school"] == "b"
    assert table.loc[empty, ["estimate", "std_error"]].isna().all(axis=None)
    full = data.assign(cell=data["school"] + data["sex"])
    cells = (
        ordfit("y ~ cell + x", full)
        .emtrends("cell", "x", scale="prob")
        .frame.set_index(["cell", "level"])
    )
    for row in table[~empty].itertuples():
        assert row.estimate == pytest.approx(
            cells.loc[(row.school + "m", row.level), "estimate"], rel=1e-5
        )


def test_a_constant_column_has_no_score_test_and_the_table_says_so() -> None:
    fit = quiet("y ~ flag + x + sex", schools(10).assign(flag=0))
    assert "no test of flag" in repr(fit.score_test())
