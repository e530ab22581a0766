"""Slopes of the latent mean where the scale moves with the variable: one unit for the whole grid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=2000) + 3.0, rng.choice(["a", "b"], 2000)
    latent = x * np.where(group == "b", 2.0, 1.0) + np.exp(0.4 * x) * rng.logistic(size=2000)
    return pd.DataFrame({"x": x, "g": group, "z": rng.normal(size=2000), "y": np.digitize(latent, [2.0, 5.0, 9.0])})


def test_slopes_are_those_of_the_location_in_the_unit_of_the_grid(data: pd.DataFrame) -> None:
    fit = ordfit("y ~ x * g", data, scale="~ x")
    slopes = fit.emtrends("g", "x", at={"x": 3.0})
    b = fit.params
    location = np.array([b["x"], b["x"] + b["x:g[T.b]"]])
    np.testing.assert_allclose(slopes.frame["estimate"], np.exp(-3.0 * b["scale.x"]) * location, rtol=1e-9)
    # so that they differ where the interaction does
    test = fit.test("x:g[T.b] = 0")
    np.testing.assert_allclose(slopes.contrasts()["estimate"], np.exp(-3.0 * b["scale.x"]) * b["x:g[T.b]"], rtol=1e-9)
    assert slopes.contrasts()["p_value"][0] < 1e-5 and test["p_value"].iloc[0] < 1e-5


def test_slopes_are_differences_of_means(data: pd.DataFrame) -> None:
    fit = ordfit("y ~ x * g", data, scale="~ x + g")
    at = [3.0 - 1e-3, 3.0 + 1e-3]
    means = fit.emmeans("x", by="g", at={"x": at}).contrasts()
    slopes = fit.emtrends("g", "x", at={"x": 3.0}).frame
    np.testing.assert_allclose(slopes[["estimate", "std_error"]], means[["estimate", "std_error"]] / 2e-3, rtol=1e-8)


def test_a_variable_of_the_scale_alone_has_no_slope(data: pd.DataFrame) -> None:
    slopes = ordfit("y ~ x", data, scale="~ z").emtrends("x", "z", at={"x": [0.0, 3.0]})
    assert (slopes.frame[["estimate", "std_error", "lower", "upper"]] == 0.0).all(axis=None)
    assert slopes.contrasts()["p_value"].isna().all()
