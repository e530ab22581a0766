"""Averages over random effects that are wide, or whose predictors are steep, against adaptive quadrature."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from ordstat import CumulativeLink, ordfit
from ordstat.results.likelihood.results import LikelihoodResults


def drawn(sd: float, spread: float) -> pd.DataFrame:
    """600 rows of 30 groups with random intercepts, and a scale effect of s."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=600), "s": rng.normal(size=600), "g": rng.integers(0, 30, 600)})
    latent = data["x"] + sd * rng.normal(size=30)[data["g"]] + rng.logistic(size=600) * np.exp(spread * data["s"])
    return data.assign(y=pd.Categorical(np.digitize(latent, [-1.5, 0.0, 1.5]), ordered=True))


def integrals(fit: LikelihoodResults, x: float, steep: float) -> list[float]:
    """Probabilities of a row of a new group by SciPy's adaptive quadrature, cut where the predictor is zero."""
    sd, cdf = float(fit.varcorr()["sd"].iloc[0]), fit.rule.link.cdf
    below = [0.0]
    for end in fit.thresholds - fit.coef["x"] * x:
        curve = partial(lambda v, end: cdf(np.array([steep * (end - sd * v)]))[0] * norm.pdf(v), end=end)
        place = min(max(end / sd, -8.9), 8.9)
        near = sorted({max(min(place + step / (steep * sd), 8.99), -8.99) for step in (-20.0, -4.0, 0.0, 4.0, 20.0)})
        below.append(quad(curve, -9.0, 9.0, points=near, limit=500, epsabs=1e-13)[0])
    return np.diff([*below, 1.0]).tolist()


@pytest.mark.parametrize("link", ["logit", "cloglog", "cauchit"])
def test_averages_beside_scale_effects(link: str) -> None:
    fit = ordfit("y ~ x + (1 | g)", drawn(0.9, 0.5), CumulativeLink(link=link), scale="s")
    zeta = float(fit.params.filter(like="scale").iloc[0])
    new = pd.DataFrame({"x": 0.3, "s": [0.0, -2.0, -4.0, -6.0], "g": 999})
    found = fit.predict(new, type="prob", re="marginal").to_numpy()
    for own, s in zip(found, new["s"], strict=True):
        assert own.tolist() == pytest.approx(integrals(fit, 0.3, np.exp(-zeta * s)), abs=1e-9)


@pytest.mark.parametrize("link", ["logit", "cauchit"])
def test_averages_over_wide_effects(link: str) -> None:
    fit = ordfit("y ~ x + (1 | g)", drawn(10.0, 0.0), CumulativeLink(link=link))
    new = pd.DataFrame({"x": [0.3, -2.0], "g": 999})
    found = fit.predict(new, type="prob", re="marginal").to_numpy()
    for own, x in zip(found, new["x"], strict=True):
        assert own.tolist() == pytest.approx(integrals(fit, x, 1.0), abs=1e-9)


def test_a_steep_row_changes_no_other() -> None:
    """Rows are averaged in blocks by steepness; each has what it has alone."""
    fit = ordfit("y ~ x + (1 | g)", drawn(0.9, 1.0), scale="s")
    new = pd.DataFrame({"x": [0.3, 0.1, -0.4], "s": [1.0, -5.0, 0.0], "g": 999})
    together = fit.predict(new, type="cum_prob", re="marginal")
    for i in range(3):
        alone = fit.predict(new.iloc[[i]], type="cum_prob", re="marginal")
        np.testing.assert_allclose(together.iloc[[i]], alone, atol=1e-13)
