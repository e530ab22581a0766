"""Small random samples, many of them with singular covariances: every fit ends with a certificate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ordstat import ordfit

TERMS = ("(1 | g)", "(1 + x | g)", "(1 + x || g)", "(1 | g) + (1 | h)", "(1 | h/g)", "(1 + x | g) + (1 | h)", "(f | g)")
LINKS = ("logit", "probit", "cloglog", "loglog")


def sample(seed: int) -> tuple[pd.DataFrame, float]:
    """Rows of a latent score with effects of g and h, whose standard deviation may be 0."""
    rng = np.random.default_rng(seed)
    n, groups, others, K = rng.integers((80, 5, 3, 2), (300, 30, 9, 6))
    sd = float(rng.choice([0.0, 0.4, 1.5]))
    x, g, h, f = (
        rng.standard_normal(n),
        rng.integers(0, groups, n),
        rng.integers(0, others, n),
        rng.choice(list("abc"), n),
    )
    u, slope, v = rng.standard_normal(groups), rng.standard_normal(groups), rng.standard_normal(others)
    latent = 0.7 * x + sd * (u[g] + 0.5 * slope[g] * x + 0.5 * v[h]) + rng.logistic(size=n)
    y = np.digitize(latent, np.quantile(latent, np.arange(1, K) / K))
    return pd.DataFrame({"y": y, "x": x, "g": g, "h": h, "f": f}), sd


@pytest.mark.filterwarnings("ignore::ordstat.DataWarning")
@pytest.mark.parametrize("seed", range(21))
def test_every_fit_has_its_certificate(seed: int) -> None:
    data, _ = sample(seed)
    fit = ordfit(f"y ~ x + {TERMS[seed % len(TERMS)]}", data, LINKS[seed % len(LINKS)])
    marginal = fit.fit.marginal
    assert marginal is not None
    assert fit.certificate.reached
    assert fit.loglik >= marginal.plain_loglik - 1e-8
    for effects in marginal.terms:
        assert all(derivative <= 0.0 for derivative in effects.boundary.values())
    here = marginal.likelihood
    assert np.linalg.eigvalsh(here.information[np.ix_(here.free, here.free)])[0] > 0.0
    assert np.isfinite(fit.se).all()


def test_a_flat_variance_is_followed_to_its_maximum() -> None:
    """A standard deviation of 0.1 whose curvature changes fast: Newton's steps on one Hessian are too long there."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(6):
        g = np.repeat(np.arange(8), 30)
        latent = rng.logistic(size=g.size) + 0.12 * rng.standard_normal(8)[g]
        data = pd.DataFrame({"y": np.digitize(latent, [-1.0, 0.5]), "g": g})
        fit = ordfit("y ~ 1 + (1 | g)", data)
        found.append(fit.certificate.value)
    assert max(found) <= 1e-6
