"""The parametric bootstrap of fits with random effects, and errors where a covariance is singular."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.exceptions import OptionError

WINE = datasets.load("wine")


def drawn(groups: int = 80, size: int = 10) -> pd.DataFrame:
    rng = np.random.default_rng(9)
    n = groups * size
    data = pd.DataFrame({"x": rng.normal(size=n), "g": np.arange(n) % groups})
    slopes = 1.0 + 0.8 * rng.normal(size=groups)
    latent = slopes[data["g"]] * data["x"] + rng.normal(size=groups)[data["g"]] + rng.logistic(size=n)
    return data.assign(y=pd.Categorical(np.digitize(latent, [-1.5, 0.0, 1.5]), ordered=True))


def test_bootstrap_has_the_spread_of_the_estimates() -> None:
    """Against the errors by the information, in a sample large enough for both."""
    fit = ordfit("y ~ x + (1 | g)", drawn(60, 15))
    draws = fit.bootstrap(80, seed=2)
    errors = fit.se.tolist() + fit.varcorr()["std_error"].tolist()
    ratio = draws.se.to_numpy() / errors
    assert np.all((ratio > 0.7) & (ratio < 1.35))
    assert draws.estimate.tolist() == pytest.approx([*fit.params, *fit.varcorr()["sd"]])
    assert "Bootstrap of responses simulated with new random effects, 80 replicates" in repr(draws)


def test_bootstrap_of_a_statistic_by_seed() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    one, two = (fit.bootstrap(6, seed=5, statistic=lambda f: f.varcorr()["variance"].iloc[0]) for _ in range(2))
    assert one.replicates.equals(two.replicates) and one.replicates["statistic"].nunique() == 6


def test_bootstraps_that_are_refused() -> None:
    fit = ordfit("rating ~ temp + (1 | judge)", WINE)
    with pytest.raises(OptionError, match="cluster must be left out where the fit has random effects"):
        fit.bootstrap(5, cluster="judge")
    weighted = ordfit("rating ~ temp + (1 | judge)", WINE, weights=1 + np.arange(72) % 2)
    with pytest.raises(OptionError, match="simulates one response a row"):
        weighted.bootstrap(5)


def near_singular() -> pd.DataFrame:
    """15 groups of 8 rows with little variance: the correlation of (1 + x | g) is at its boundary."""
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(15), 8)
    data = pd.DataFrame({"g": g, "x": rng.normal(size=120), "z": rng.normal(size=120)})
    latent = data["x"] + 0.7 * rng.normal(size=15)[g] * (1.0 + 0.8 * data["x"]) + rng.logistic(size=120)
    return data.assign(y=pd.Categorical(np.digitize(latent, [-1.0, 1.0]), ordered=True))


def test_a_correlation_of_one_has_no_error() -> None:
    fit = ordfit("y ~ x + (1 + x | g)", near_singular())
    name = "cor_x.(Intercept)|g"
    assert abs(fit.random_parameters.estimates[-1]) == pytest.approx(1.0, abs=1e-12)
    assert fit.random_parameters.names[-1] == name and np.isnan(fit.random_parameters.errors[-1])
    assert np.isnan(fit.vcov().loc[name, name]) and np.isfinite(fit.random_parameters.errors[:-1]).all()
