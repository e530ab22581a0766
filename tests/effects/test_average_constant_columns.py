"""Effects of columns that do not vary: in the fit they have none that the data can
tell, in new rows they may.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data

from ordstat import ordfit
from ordstat.effects.average import SCALES
from ordstat.exceptions import DataWarning
from ordstat.likelihood.differences import stencil

pytestmark = pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
STATISTICS = ["estimate", "std_error", "statistic", "p_value", "lower", "upper"]


def wine() -> pd.DataFrame:
    return load_data("wine").assign(
        one=1.0, zero=0.0, minus=-3.0, seven=7, z=lambda d: np.arange(len(d)) % 7 - 3.0
    )


@pytest.mark.parametrize("scale", [name for name in SCALES if name != "quantile"])
@pytest.mark.parametrize(
    ("formula", "sides"),
    [
        ("rating ~ temp + z + one", {}),
        ("rating ~ temp * one + z + zero + minus + seven", {}),
        ("rating ~ temp + z", {"nominal": "~ one"}),
        ("rating ~ temp + z", {"scale": "~ one"}),
        ("rating ~ temp + z + one", {"scale": "~ seven", "nominal": "~ minus"}),
    ],
)
def test_a_constant_column_has_no_effect_and_leaves_the_others_alone(
    scale, formula, sides
) -> None:
    without = ordfit("rating ~ temp + z", wine()).marginal_effects(scale=scale).frame
    with pytest.warns(DataWarning, match="a column that others determine"):
        table = ordfit(formula, wine(), **sides).marginal_effects(scale=scale).frame
    affected = table["term"].isin(["temp", "z"])
    np.testing.assert_allclose(
        table.loc[affected, STATISTICS], without[STATISTICS], rtol=1e-5, atol=1e-8
    )
    assert table.loc[~affected, STATISTICS].isna().all(axis=None) and (~affected).any()


@pytest.mark.parametrize("step", [1e-3, 1e-6])
def test_a_column_that_is_constant_but_for_rounding_has_no_effect(step: float) -> None:
    """1e9 and a millionth: the fit takes it for a multiple of the intercept."""
    table = (
        ordfit("rating ~ temp + off", wine().assign(off=lambda d: 1e9 + step * d["z"]))
        .marginal_effects("off")
        .frame
    )
    assert table[STATISTICS].isna().all(axis=None)


def logistic_slopes(fit, temp: str, z: float) -> np.ndarray:
    """d P(rating = k) / dz, by calculus."""
    estimates = fit.tidy().set_index("term")["estimate"]
    eta = (
        fit.thresholds.to_numpy()
        - estimates["temp[T.warm]"] * (temp == "warm")
        - estimates["z"] * z
    )
    cumulative = 1 / (1 + np.exp(-eta))
    return np.diff(-estimates["z"] * cumulative * (1 - cumulative), prepend=0, append=0)


def test_slopes_where_a_number_is_the_same_in_all_rows() -> None:
    data = wine()
    fit = ordfit("rating ~ temp + z", data)
    row = fit.marginal_effects("z", newdata=data.iloc[[1]]).frame["estimate"]
    np.testing.assert_allclose(
        row, logistic_slopes(fit, data["temp"].iloc[1], data["z"].iloc[1]), rtol=1e-8
    )
    share = (data["temp"] == "warm").mean()
    fixed = (1 - share) * logistic_slopes(fit, "cold", 2.0) + share * logistic_slopes(
        fit, "warm", 2.0
    )
    np.testing.assert_allclose(
        fit.marginal_effects("z", at={"z": 2.0}).frame["estimate"], fixed, rtol=1e-8
    )
    np.testing.assert_allclose(
        fit.marginal_effects("z", newdata=data.assign(z=2.0)).frame["estimate"],
        fixed,
        rtol=1e-8,
    )
    for z, group in fit.marginal_effects("z", by="z").frame.groupby("z"):
        warm = (data.loc[data["z"] == z, "temp"] == "warm").mean()
        expected = (1 - warm) * logistic_slopes(
            fit, "cold", z
        ) + warm * logistic_slopes(fit, "warm", z)
        np.testing.assert_allclose(group["estimate"], expected, rtol=1e-8)


def test_slopes_at_one_value_stay_inside_the_range_of_the_fit() -> None:
    """log(x) and a spline at the least and the largest value: a point outside would not
    be a number, or bend.
    """
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": np.exp(rng.normal(size=300))})
    data["y"] = np.searchsorted(
        [-1, 0.5, 1.5], np.log(data["x"]) + rng.logistic(size=300)
    )
    fit = ordfit("y ~ log(x)", data)
    beta = fit.tidy()["estimate"].iloc[-1]
    for x in (data["x"].min(), data["x"].max()):
        actual = fit.marginal_effects(
            "x", scale="latent", newdata=pd.DataFrame({"x": [x]})
        ).frame
        np.testing.assert_allclose(actual["estimate"], beta / x, rtol=1e-8)
    spline = ordfit("y ~ bs(x, df=5)", data)
    for at, h in ((data["x"].min(), 1e-5), (data["x"].max(), -1e-5)):
        near = pd.DataFrame({"x": at + h * np.arange(3.0)})
        mean = spline.predict(near, type="mean").to_numpy()
        one_sided = (-3 * mean[0] + 4 * mean[1] - mean[2]) / (2 * h)
        actual = spline.marginal_effects(
            "x", scale="mean", newdata=near.iloc[[0]]
        ).frame["estimate"]
        np.testing.assert_allclose(actual, one_sided, rtol=1e-4)


def test_the_slope_of_a_constant_offset_is_known() -> None:
    fit = ordfit("rating ~ temp + offset(log(seven))", wine())
    np.testing.assert_allclose(
        fit.marginal_effects("seven", scale="latent").frame["estimate"],
        1 / 7,
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        fit.marginal_effects("seven", scale="log_odds").frame["estimate"],
        1 / 7,
        rtol=1e-9,
    )


def test_a_column_whose_name_is_a_number_has_effects() -> None:
    numbered = wine().rename(columns={"z": 0})
    expected = (
        ordfit("rating ~ temp + z", wine()).marginal_effects("z").frame[STATISTICS]
    )
    np.testing.assert_allclose(
        ordfit("rating ~ temp + `0`", numbered).marginal_effects("0").frame[STATISTICS],
        expected,
        rtol=1e-10,
    )


@pytest.mark.parametrize("size", [1e-280, 1e-150, 1.0, 1e150, 1e280])
def test_stencil_of_numbers_of_any_size(size: float) -> None:
    for x in (
        np.array([2.0]),
        np.array([-3.0, -3.0]),
        np.array([1.0, 4.0, 9.0]),
        np.array([-1.0, 2.0]),
    ):
        points, weights = stencil(x * size)
        assert np.isfinite(points).all()
        np.testing.assert_allclose(
            (weights * (points / size) ** 3).sum(axis=1) * size, 3 * x**2, rtol=1e-8
        )


def test_stencil_of_a_constant_and_of_numbers_that_differ_in_their_last_digits():
    for x in (
        np.zeros(3),
        np.full(3, 1e9),
        1e9 + 1e-6 * np.arange(3.0),
        1e17 + np.array([0.0, 16.0]),
    ):
        points, weights = stencil(x)
        np.testing.assert_allclose(
            (weights * (points - x[:, None])).sum(axis=1), 1.0, rtol=1e-12
        )
