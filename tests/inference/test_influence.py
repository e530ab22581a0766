"""Influence against refits without the row, dense algebra from finite differences, and
identities.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from expected import aliased
from likelihood.samples import PARTS, make
from seams import Rows, Sample

from inference.samples import fitted, frame
from ordstat import CumulativeLink, datasets, ordfit
from ordstat.exceptions import OptionError, SeparationWarning
from ordstat.inference.influence import row_influence
from ordstat.likelihood.scores import fit_jacobian, rule_terms

EVERY = [
    (parts, link)
    for parts in PARTS
    for link in ("logit", "probit", "cloglog", "loglog", "cauchit")
]


#: Error allowed of a change as large as a standard error, and of one so small that one
#: step is exact.
SECOND_ORDER = 0.25
FIRST_ORDER = 0.05


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog"])
@pytest.mark.parametrize(
    ("parts", "n_levels"),
    [*((parts, 4) for parts in PARTS), ("plain", 12), ("scale", 12)],
)
def test_against_fits_without_the_row(parts: str, link: str, n_levels: int) -> None:
    """One step is close to the exact change of the effects; what it misses is of second
    order.
    """
    sample = make(PARTS[parts], n=150, n_levels=n_levels)
    method = CumulativeLink(link=link)
    fit = method.fit(sample, np.random.default_rng(0))
    actual = row_influence(fit.rule, fit, sample)
    errors = np.sqrt(fit.model_covariance.variances)
    effects = slice(fit.n_alpha, None)
    for i in (*np.argsort(-actual.cook)[:4], 0, 50, 100):
        without = method.fit(sample.take(np.arange(150) != i), np.random.default_rng(0))
        exact = (fit.coefficients - without.coefficients) / errors
        missed = np.abs(actual.dfbeta[i] / errors - exact)[effects].max()
        size = np.nanmax(np.abs(exact))
        assert missed <= SECOND_ORDER * size**2 + FIRST_ORDER * size


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_every_row_a_level_of_its_own(link: str) -> None:
    """Leaving a row out merges two thresholds; the effect changes as the refit says."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 1))
    sample = Sample(
        rows=Rows(X=X),
        y=np.argsort(np.argsort(X[:, 0] + rng.logistic(size=60))),
        n_levels=60,
    )
    method = CumulativeLink(link=link)
    fit = method.fit(sample, rng)
    actual = row_influence(fit.rule, fit, sample)
    error = np.sqrt(fit.model_covariance.variances[-1])
    for i in range(0, 60, 7):
        exact = (
            fit.coefficients[-1]
            - method.fit(sample.take(np.arange(60) != i), rng).coefficients[-1]
        )
        assert actual.dfbeta[i, -1] == pytest.approx(exact, abs=0.03 * error)
        gone = {sample.y[i] - 1, sample.y[i]} & set(range(59))
        assert set(np.flatnonzero(np.isnan(actual.dfbeta[i])).tolist()) == gone


@pytest.mark.parametrize(("parts", "link"), EVERY)
def test_against_dense_algebra(parts: str, link: str) -> None:
    """Leverage and dfbeta from a row's own gradient and Hessian by finite differences
    of its log-likelihood.
    """
    sample = make(PARTS[parts], n=80)
    fit = CumulativeLink(link=link).fit(sample, np.random.default_rng(0))
    actual = row_influence(fit.rule, fit, sample)
    V = fit.model_covariance.dense()
    for i in (
        *np.flatnonzero(sample.y == 0)[:2],
        *np.flatnonzero(sample.y == 2)[:2],
        *np.flatnonzero(sample.y == 3)[:2],
    ):
        gradient, hessian = row_derivatives(fit, sample, i)
        np.testing.assert_allclose(
            actual.leverage[i], -np.trace(hessian @ V), rtol=1e-4, atol=1e-5
        )
        # one end: no barrier, the step is Newton's
        if sample.y[i] in (0, sample.n_levels - 1):
            step = np.linalg.solve(np.linalg.inv(V) + hessian, gradient)
            np.testing.assert_allclose(actual.dfbeta[i], step, rtol=1e-3, atol=1e-5)


def row_derivatives(fit, sample, i: int) -> tuple[np.ndarray, np.ndarray]:
    """(P,) and (P, P) of one row's weighted log-likelihood, by central differences over
    the coefficients.
    """
    row = sample.take([i])
    P = fit.coefficients.size

    def loglik(b: np.ndarray) -> float:
        K = sample.n_levels
        q = 0 if sample.rows.nominal is None else sample.rows.nominal.shape[1]
        alpha = b[: fit.n_alpha].reshape(1 + q, K - 1).T
        beta = b[fit.n_alpha : fit.n_alpha + fit.n_beta]
        zeta = b[fit.n_alpha + fit.n_beta :]
        rule = replace(fit.rule, alpha=alpha, beta=beta, zeta=zeta)
        return float(
            row.case_weights[0] * np.log(rule.probabilities(row.rows)[0, row.y[0]])
        )

    h = 3e-4
    unit = np.eye(P)
    b = fit.coefficients
    gradient = np.array([loglik(b + h * e) - loglik(b - h * e) for e in unit]) / (2 * h)
    cells = [
        [
            loglik(b + h * (e + f))
            - loglik(b + h * (e - f))
            - loglik(b - h * (e - f))
            + loglik(b - h * (e + f))
            for f in unit
        ]
        for e in unit
    ]
    return gradient, np.array(cells) / (4 * h * h)


def _wine() -> pd.DataFrame:
    return datasets.load("wine").rename(columns={"rating": "y"})


def _drawn(seed: int, cuts: list[float]) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=50)
    return pd.DataFrame({"x": x, "y": np.searchsorted(cuts, x + rng.logistic(size=50))})


@pytest.mark.parametrize(
    ("data", "formula", "options", "within"),
    [
        (_wine(), "y ~ temp + contact", {}, 0.05),
        (_drawn(3, [-0.8, 0.8]), "y ~ x", {"method": "cratio"}, 0.1),
        (_drawn(4, [-1.5, 0.0, 1.0]), "y ~ x", {"method": "acat"}, 0.1),
        (_drawn(5, [-0.5, 1.0]), "y ~ x", {"link": "probit"}, 0.1),
    ],
)
def test_rows_are_near_the_fit_without_them(
    data: pd.DataFrame, formula: str, options: dict[str, str], within: float
) -> None:
    """What the documentation says of one step, level by level."""
    fit = ordfit(formula, data, **options)
    dfbetas = fit.influence().dfbeta / fit.se
    gaps = []
    for i in data.index[::2]:
        without = ordfit(formula, data.drop(index=i), **options)
        exact = (fit.params - without.params) / fit.se
        gaps.append((dfbetas.loc[i] - exact).abs().max())
    assert max(gaps) < within
    assert dfbetas.abs().max().max() > 2.0 * within


@pytest.mark.parametrize(("parts", "link"), EVERY)
def test_leverages_add_up_to_the_parameters(parts: str, link: str) -> None:
    sample = make(PARTS[parts], n=150)
    fit = CumulativeLink(link=link).fit(sample, np.random.default_rng(0))
    assert row_influence(fit.rule, fit, sample).leverage.sum() == pytest.approx(
        fit.coefficients.size, rel=1e-8
    )
    terms = rule_terms(fit.rule, sample, fit.n_lambda)
    total = fit_jacobian(fit, sample, terms).total(sample.case_weights * terms.score)
    np.testing.assert_allclose(total, 0.0, atol=1e-6)


def test_a_weight_is_a_block_of_equal_cases() -> None:
    """A row of weight 3 leaves as a whole; its leverage is that of its three copies
    together.
    """
    data = frame(n=120)
    data["w"] = 1.0 + 2.0 * (np.arange(120) == 7)
    weighted = ordfit("y ~ x + f", data, weights="w").influence()
    copies = ordfit(
        "y ~ x + f", data.loc[data.index.repeat(data["w"].astype(int))]
    ).influence()
    assert weighted.hat.loc[7] == pytest.approx(copies.hat.loc[7].sum(), rel=1e-9)
    np.testing.assert_allclose(weighted.hat.drop(7), copies.hat.drop(7), rtol=1e-9)
    without = ordfit("y ~ x + f", data.drop(index=7))
    exact = ordfit("y ~ x + f", data, weights="w").params - without.params
    np.testing.assert_allclose(
        weighted.dfbeta.loc[7], exact, atol=0.1 * exact.abs().max()
    )


def test_aliased_columns_and_labels() -> None:
    data = frame().assign(twice=lambda d: 2.0 * d["x"])
    with aliased():
        fit = ordfit("y ~ x + twice + f", data)
    actual = fit.influence()
    plain = fitted().influence()
    assert actual.dfbeta["twice"].isna().all()
    np.testing.assert_allclose(
        actual.dfbeta.drop(columns="twice"), plain.dfbeta, atol=1e-10
    )
    np.testing.assert_allclose(actual.cooks, plain.cooks, rtol=1e-8)
    pd.testing.assert_frame_equal(
        actual.dfbetas["x"].to_frame(), actual.dfbeta[["x"]] / fit.se["x"]
    )
    assert (
        actual.largest(3).index.tolist()
        == actual.cooks.sort_values(ascending=False).index[:3].tolist()
    )
    assert (
        "Largest Cook's distances" in repr(actual) and "<table" in actual._repr_html_()
    )


def test_separated_fits_are_refused() -> None:
    data = pd.DataFrame({"y": [1, 1, 2, 2, 3, 3], "x": [0.0, 1, 2, 3, 4, 5]})
    with pytest.warns(SeparationWarning):
        fit = ordfit("y ~ x", data)
    with pytest.raises(OptionError, match="separated"):
        fit.influence()
