"""Correlated effects of columns that are nearly multiples of each other: the fit does
not depend on where years begin.

With b = (b_0, b_1) of (1, since) and year = since + c, the effects of (1, year) are T
b, T = [[1, -c], [0, 1]].
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from seams import LikelihoodResults

from ordstat import ordfit

ORIGIN = 20_000


def panel(seed: int, slope: float) -> pd.DataFrame:
    """600 rows of 30 groups with random intercepts, and slopes where `slope` is not
    0.
    """
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"g": rng.integers(0, 30, 600), "since": np.arange(600) % 20})
    effects = rng.normal(size=(30, 2)) * [0.9, slope]
    latent = (
        effects[data["g"], 0]
        + effects[data["g"], 1] * data["since"]
        + rng.logistic(size=600)
    )
    return data.assign(
        year=ORIGIN + data["since"], y=np.digitize(latent, [-1.5, 0.0, 1.5])
    )


@pytest.fixture(scope="module")
def fits() -> tuple[LikelihoodResults, LikelihoodResults]:
    data = panel(5, 0.12)
    return ordfit("y ~ since + (1 + since | g)", data), ordfit(
        "y ~ year + (1 + year | g)", data
    )


def moved(values: np.ndarray) -> np.ndarray:
    """(sd_0, sd_1, correlation) of the effects of (1, year) from those of (1,
    since).
    """
    sd = np.diag(values[:2])
    T = np.array([[1.0, -ORIGIN], [0.0, 1.0]])
    S = T @ sd @ np.array([[1.0, values[2]], [values[2], 1.0]]) @ sd @ T.T
    deviations = np.sqrt(np.diag(S))
    return np.array([*deviations, S[0, 1] / deviations.prod()])


def test_estimates_and_errors(
    fits: tuple[LikelihoodResults, LikelihoodResults],
) -> None:
    """Errors by numerical derivatives of the map between the two, from the covariance
    of the fit on years since.
    """
    near, far = fits
    assert far.certificate.reached and far.trace.iterations < 30
    assert far.loglik == pytest.approx(near.loglik, abs=1e-9)
    own = near.random_parameters
    other = far.random_parameters
    np.testing.assert_allclose(other.estimates, moved(own.estimates), rtol=1e-4)
    steps = 1e-6 * np.eye(3)
    J = np.stack(
        [(moved(own.estimates + h) - moved(own.estimates - h)) / 2e-6 for h in steps],
        axis=1,
    )
    covariance = J @ own.joint()[-3:, -3:] @ J.T
    np.testing.assert_allclose(other.errors, np.sqrt(np.diag(covariance)), rtol=1e-3)


def test_what_does_not_depend_on_the_origin(
    fits: tuple[LikelihoodResults, LikelihoodResults],
) -> None:
    near, far = fits
    assert far.edf == near.edf
    assert far.se["year"] == pytest.approx(near.se["since"], rel=1e-5)
    new = panel(6, 0.12)
    for re in ("mode", "zero", "marginal"):
        one, two = (
            fit.predict(new, type="prob", re=re, se=re != "mode") for fit in fits
        )
        np.testing.assert_allclose(two, one, rtol=1e-4, atol=1e-8)
    modes = [
        fit.ranef().pivot(index="level", columns="name", values=["mode", "sd"])
        for fit in fits
    ]
    np.testing.assert_allclose(
        modes[1]["mode", "year"], modes[0]["mode", "since"], rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(
        modes[1]["sd", "year"], modes[0]["sd", "since"], rtol=1e-4
    )
