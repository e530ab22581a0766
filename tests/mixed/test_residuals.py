"""Residuals of fits with random effects: those at the modes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from ordstat import datasets, ordfit

WINE = datasets.load("wine")


def test_generalised_residuals_balance_the_modes() -> None:
    """A mode is where the sum of its group's scores is b / sd^2: the equation that defines it."""
    fit = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    sums = fit.residuals("generalised").groupby(WINE["judge"], observed=True).sum()
    expected = fit.ranef()["mode"] / fit.varcorr()["variance"].iloc[0]
    assert sums.tolist() == pytest.approx(expected.tolist(), abs=1e-9)


def test_surrogate_residuals_lie_in_their_intervals() -> None:
    """The score at the modes plus the latent error lies between the thresholds of the observed level."""
    fit = ordfit("rating ~ temp + contact + (1 + contact | judge)", WINE)
    latent = fit.predict(type="score", re="mode") + fit.residuals("surrogate", seed=4)
    ends = np.concatenate([[-np.inf], fit.thresholds, [np.inf]])
    y = WINE["rating"].cat.codes.to_numpy()
    assert np.all((ends[y] < latent) & (latent < ends[y + 1]))


def test_surrogate_residuals_of_large_groups_are_logistic() -> None:
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=4000), "g": np.arange(4000) % 20})
    latent = data["x"] + 2.0 * rng.normal(size=20)[data["g"]] + rng.logistic(size=4000)
    fit = ordfit("y ~ x + (1 | g)", data.assign(y=np.digitize(latent, [-1.0, 1.0])))
    residuals = fit.residuals("surrogate", seed=1)
    assert kstest(residuals, "logistic").pvalue > 0.05
