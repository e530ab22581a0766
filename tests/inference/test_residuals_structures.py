"""Residuals and influence under threshold structures and links with a parameter, by
finite differences.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from likelihood.samples import make
from scipy import integrate, stats
from seams import FLEXIBLE, LikelihoodFit, Sample

from ordstat import CumulativeLink
from ordstat.inference.influence import row_influence
from ordstat.inference.residuals import residuals
from ordstat.likelihood.cumulative import drawn, latent_mean
from ordstat.likelihood.scores import fit_jacobian, rule_terms

METHODS = {
    "equidistant": (CumulativeLink(threshold="equidistant"), ("nominal", "scale")),
    "symmetric": (
        CumulativeLink(threshold="symmetric", link="probit"),
        ("scale", "weights"),
    ),
    "symmetric2": (CumulativeLink(threshold="symmetric2"), ()),
    "aranda-ordaz": (CumulativeLink(link="aranda-ordaz"), ()),
    "log-gamma": (CumulativeLink(link="log-gamma"), ("scale",)),
    "both": (CumulativeLink(link="log-gamma", threshold="equidistant"), ("weights",)),
    "fixed": (CumulativeLink(link=("log-gamma", 0.4)), ("nominal",)),
}


def fitted(name: str) -> tuple[LikelihoodFit, Sample]:
    method, parts = METHODS[name]
    sample = make(parts, n=400, n_levels=5, seed=3)
    return method.fit(sample, np.random.default_rng(0)), sample


def loglik(fit: LikelihoodFit, sample: Sample, b: np.ndarray) -> float:
    """Weighted log-likelihood of some rows at other coefficients."""
    q = 0 if sample.rows.nominal is None else sample.rows.nominal.shape[1]
    a = b[: fit.n_alpha].reshape(1 + q, -1).T
    beta = b[fit.n_alpha : fit.n_alpha + fit.n_beta]
    rest = b[fit.n_alpha + fit.n_beta :]
    link = (
        FLEXIBLE[fit.rule.link.name].at(float(rest[-1]))
        if fit.n_lambda
        else fit.rule.link
    )
    alpha = a if fit.jacobian is None else fit.jacobian @ a
    rule = replace(
        fit.rule,
        family=fit.rule.family.at(link),
        alpha=alpha,
        beta=beta,
        zeta=rest[: fit.n_zeta],
    )
    return float(
        sample.case_weights
        @ np.log(rule.probabilities(sample.rows)[np.arange(sample.n), sample.y])
    )


@pytest.mark.parametrize("name", METHODS)
def test_influence_by_finite_differences(name: str) -> None:
    fit, sample = fitted(name)
    actual = row_influence(fit.rule, fit, sample)
    V = fit.model_covariance.dense()
    b = fit.coefficients
    unit = np.eye(fit.coefficients.size)
    h = 2e-4
    for i in (
        *np.flatnonzero(sample.y == 0)[:2],
        *np.flatnonzero(sample.y == 2)[:2],
        *np.flatnonzero(sample.y == 4)[:2],
    ):
        row = sample.take([i])
        gradient = np.array(
            [loglik(fit, row, b + h * e) - loglik(fit, row, b - h * e) for e in unit]
        ) / (2 * h)
        corners = [
            [
                [
                    s * t * loglik(fit, row, b + h * (s * e + t * f))
                    for s in (1, -1)
                    for t in (1, -1)
                ]
                for f in unit
            ]
            for e in unit
        ]
        hessian = np.sum(corners, axis=2) / (4 * h * h)
        np.testing.assert_allclose(
            actual.leverage[i], -np.trace(hessian @ V), rtol=1e-3, atol=1e-4
        )
        if sample.y[i] in (0, 4):
            step = np.linalg.solve(np.linalg.inv(V) + hessian, gradient)
            np.testing.assert_allclose(actual.dfbeta[i], step, rtol=5e-3, atol=1e-4)
    assert actual.leverage.sum() == pytest.approx(b.size, rel=1e-5)
    terms = rule_terms(fit.rule, sample, fit.n_lambda)
    total = fit_jacobian(fit, sample, terms).total(sample.case_weights * terms.score)
    np.testing.assert_allclose(total, 0.0, atol=1e-4)


@pytest.mark.parametrize("name", ["equidistant", "symmetric", "both"])
def test_influence_against_fits_without_the_row(name: str) -> None:
    fit, sample = fitted(name)
    actual = row_influence(fit.rule, fit, sample)
    errors = np.sqrt(fit.model_covariance.variances)
    for i in (int(np.argmax(actual.cook)), 0, 200):
        without = METHODS[name][0].fit(
            sample.take(np.arange(400) != i), np.random.default_rng(0)
        )
        exact = (fit.coefficients - without.coefficients) / errors
        missed = np.abs(actual.dfbeta[i] / errors - exact).max()
        size = np.abs(exact).max()
        assert missed <= 0.3 * size**2 + 0.1 * size


@pytest.mark.parametrize(
    ("family", "lam"),
    [
        ("aranda-ordaz", 0.3),
        ("aranda-ordaz", 2.5),
        *(("log-gamma", x) for x in (-1.2, -1e-4, 0.0, 0.7)),
    ],
)
def test_surrogates_of_flexible_links(family: str, lam: float) -> None:
    """Mean by quadrature of the density; draws over the whole line are a sample from
    the distribution.
    """
    link = FLEXIBLE[family].at(lam)
    mean = integrate.quad(
        lambda t: t * float(link.pdf(np.array([t]))[0]), -60, 60, limit=500
    )[0]
    assert latent_mean(link) == pytest.approx(mean, abs=1e-7)
    n = 4000
    ends = np.repeat([[-np.inf, -0.3], [-0.3, 0.8], [0.8, np.inf]], n, axis=0)
    points = drawn(link, ends[:, 1], ends[:, 0], np.random.default_rng(0).random(3 * n))
    assert np.all((points >= ends[:, 0]) & (points <= ends[:, 1]))
    for k in range(3):
        low = link.cdf(ends[k * n])
        high = link.cdf(ends[k * n, ::-1])[0]
        share = (link.cdf(points[k * n : (k + 1) * n]) - low[0]) / (high - low[0])
        assert stats.kstest(share, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("name", METHODS)
def test_residuals_have_mean_zero(name: str) -> None:
    """Where thresholds are free the likelihood equations say so exactly; else they are
    nearly centred.
    """
    fit, sample = fitted(name)
    weights = sample.case_weights
    for type in ("surrogate", "probability-scale", "generalised"):
        actual = residuals(fit.rule, sample, type, np.random.default_rng(0))
        assert abs(np.average(actual, weights=weights)) < 0.1 * actual.std()
