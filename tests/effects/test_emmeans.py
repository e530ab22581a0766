"""Marginal means against R's emmeans package, and the grids they are averaged over."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from seams import LikelihoodResults

from ordstat import ordfit
from ordstat.exceptions import OptionError

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)
R = pd.read_csv(Path(__file__).parents[1] / "golden" / "r" / "emmeans.csv")
MODES = {
    "latent": "latent",
    "prob": "prob",
    "mean.class": "mean",
    "cum.prob": "cum_prob",
}
CASES = {
    "weighted": ("y ~ f + x2", "logit", {"weights": "w"}),
    "two_values": ("y ~ f + x1 + b", "logit", {"weights": "w"}),
    "crossed": ("y ~ f * b + I(x1^2) + g", "probit", {}),
    "scale": ("y ~ f + x1 + b", "logit", {"scale": "~ g + b", "weights": "w"}),
    "own_scale": ("y ~ f + x1", "cloglog", {"scale": "~ f"}),
    "nominal": ("y ~ f + x1", "loglog", {"nominal": "~ b"}),
}


def data() -> pd.DataFrame:
    return load_data("sim500").assign(b=lambda d: np.where(d["x3"] > 0.5, 3, 1))


@lru_cache
def fitted(case: str) -> LikelihoodResults:
    formula, link, options = CASES[case]
    return ordfit(formula, data(), link, **options)


@pytest.mark.parametrize(
    "what",
    [tuple(k) for k in R[["case", "variable", "mode"]].drop_duplicates().to_numpy()],
)
def test_with_the_defaults_of_r_for_numbers_the_means_are_those_of_r(
    what: tuple[str, str, str],
) -> None:
    """tests/golden/r/emmeans.R: emmeans(fit, specs, mode = mode) with nothing else
    given.
    """
    case, variable, mode = what
    of_fit = set(fitted(case).design.spec.columns)
    numbers = {"x1": [data()["x1"].mean()], "x2": [data()["x2"].mean()], "b": [1, 3]}
    at = {name: values for name, values in numbers.items() if name in of_fit}
    expected = R[
        (R["case"] == case) & (R["variable"] == variable) & (R["mode"] == mode)
    ]
    table = fitted(case).emmeans(variable, scale=MODES[mode], at=at).frame
    assert table[variable].astype(str).tolist() == expected["value"].tolist()
    np.testing.assert_allclose(
        table["estimate"], expected["estimate"], rtol=2e-6, atol=1e-8
    )
    np.testing.assert_allclose(table["std_error"], expected["std_error"], rtol=2e-5)


def test_contrasts_of_scale_models_are_differences_of_location() -> None:
    """beta in units of the geometric mean of the three scales, which are 1 and two
    exponents.
    """
    fit = fitted("own_scale")
    estimates = fit.tidy().set_index("term")["estimate"]
    unit = np.exp((estimates["scale.f[T.mid]"] + estimates["scale.f[T.hi]"]) / 3)
    actual = fit.emmeans("f").contrasts("reference")["estimate"]
    np.testing.assert_allclose(
        actual, estimates[["f[T.mid]", "f[T.hi]"]] / unit, rtol=1e-10
    )


def test_a_variable_of_the_scale_alone_does_not_move_the_latent_mean() -> None:
    fit = ordfit("y ~ f", data(), scale="~ g")
    means = fit.emmeans("g")
    assert means.frame["estimate"].nunique() == 1
    contrasts = means.contrasts()
    assert (contrasts["estimate"] == 0.0).all() and contrasts["p_value"].isna().all()
    assert (fit.emmeans("g", scale="prob").contrasts()["std_error"] > 0).all()


def test_nominal_effects_move_the_latent_mean() -> None:
    """By the mean of their effects on the thresholds; R averages those over the grid,
    and shows no difference.
    """
    fit = ordfit("y ~ x1", data(), nominal="~ f")
    estimates = fit.tidy().set_index("term")["estimate"]
    expected = [
        -estimates.filter(like=f"f[T.{level}]").mean() for level in ("mid", "hi")
    ]
    np.testing.assert_allclose(
        fit.emmeans("f").contrasts("reference")["estimate"], expected, rtol=1e-10
    )


def by_hand(fit: LikelihoodResults, grid: dict[str, list], level: str) -> float:
    rows = pd.DataFrame(list(product(*grid.values())), columns=list(grid))
    return float(fit.predict(rows[rows["f"] == level], type="mean").mean())


@pytest.mark.parametrize(
    ("options", "x1", "b"),
    [
        ({}, "weighted", "weighted"),
        ({"at": {"b": [1, 3]}}, "weighted", [1, 3]),
        ({"at": {"b": 1}}, "weighted", [1]),
    ],
)
def test_what_numbers_are_in_the_grid(options: dict, x1: object, b: object) -> None:
    fit = fitted("two_values")
    d = data()
    grid = {"f": ["lo", "mid", "hi"]}
    for name, wanted in (("x1", x1), ("b", b)):
        grid[name] = (
            [float(np.average(d[name], weights=d["w"]))]
            if isinstance(wanted, str)
            else wanted
        )
    table = fit.emmeans("f", scale="mean", **options).frame
    expected = [by_hand(fit, grid, level) for level in grid["f"]]
    np.testing.assert_allclose(table["estimate"], expected, rtol=1e-12)


def test_rows_of_weight_zero_are_no_rows_of_the_grid() -> None:
    d = data().assign(v=lambda d: np.where(np.arange(len(d)) < 400, 1, 0))
    d.loc[d["v"] == 0, "x1"] += 50.0
    d.loc[d.index[-1], "b"] = 2
    actual = ordfit("y ~ f + x1 + b", d, weights="v").emmeans("f").frame["estimate"]
    expected = ordfit("y ~ f + x1 + b", d.head(400)).emmeans("f").frame["estimate"]
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_a_number_has_a_mean_for_each_value_given() -> None:
    means = fitted("crossed").emmeans("b", by="f", at={"b": [1, 3]})
    assert means.cells.to_dict("list") == {
        "b": [1, 1, 1, 3, 3, 3],
        "f": ["lo", "mid", "hi"] * 2,
    }
    assert means.contrasts()["contrast"].tolist() == ["1 - 3"] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at": {"nope": 1}}, "the formula has no variable 'nope'"),
        ({"at": {"x1": []}}, "at= gives no value of 'x1'"),
        ({"at": {"x1": [None]}}, "'x1' is a number; got the value None"),
        (
            {"at": {"x1": range(100_000), "b": range(10)}},
            "the grid of all levels has 3,000,000 rows.*at=, such as 'x1'",
        ),
    ],
)
def test_refusals(options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        fitted("two_values").emmeans("f", **options)
