"""Gradients of predictions against finite differences of the rule itself; the stencil
against calculus.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from seams import (
    FLEXIBLE,
    LINKS,
    Adjacent,
    ContinuationRatio,
    CostMatrix,
    CovarianceMatrix,
    Cumulative,
    Family,
    LikelihoodRule,
    Rows,
    StoppingRatio,
)

from ordstat.likelihood import derivatives
from ordstat.likelihood import derivatives as sensitivity
from ordstat.likelihood.differences import stencil
from ordstat.likelihood.sequential import Sequential
from ordstat.mixed.predictions import Predicted

ALL_LINKS = {
    **LINKS,
    "aranda-ordaz": FLEXIBLE["aranda-ordaz"].at(0.7),
    "log-gamma": FLEXIBLE["log-gamma"].at(-0.4),
}
#: All quantities of predictions, and the mean of the levels 1 to 4.
OF_FOUR_LEVELS = {
    **derivatives.QUANTITIES,
    "mean": derivatives.mean_of(np.arange(1.0, 5.0)),
}


def problem(
    link: str, family: type[Family] = Cumulative
) -> tuple[LikelihoodRule, Rows]:
    """Four levels, two location, one nominal and one scale column, offsets in both
    parts.
    """
    rng = np.random.default_rng(3)
    rows = Rows(
        X=rng.normal(size=(6, 2)),
        offset=rng.normal(size=6) / 4,
        nominal=rng.normal(size=(6, 1)) / 4,
        scale=rng.normal(size=(6, 1)),
        scale_offset=rng.normal(size=6) / 4,
    )
    rule = LikelihoodRule(
        family=family(ALL_LINKS[link]),
        alpha=np.array([[-1.0, 0.2], [0.1, -0.1], [1.3, 0.3]]),
        beta=np.array([0.5, -0.4]),
        zeta=np.array([0.3]),
        cost=CostMatrix.classification(),
    )
    return rule, rows


def errors_of(
    rule: LikelihoodRule, rows: Rows, name: str, covariance: np.ndarray
) -> np.ndarray:
    def each(some: Rows) -> tuple[np.ndarray, np.ndarray]:
        return derivatives.QuantityOfRows(OF_FOUR_LEVELS[name], rule, some).rows()

    matrix = CovarianceMatrix(covariance)
    return derivatives.standard_errors(each, rows, rule.n_levels, matrix)


def moved(rule: LikelihoodRule, change: np.ndarray) -> LikelihoodRule:
    alpha, beta, zeta, lam = np.split(change, [6, 8, 9])
    link = (
        rule.link
        if lam.size == 0
        else FLEXIBLE[rule.link.name].at(rule.link.lam + lam[0])
    )
    return replace(
        rule,
        family=rule.family.at(link),
        alpha=rule.alpha + alpha.reshape(2, 3).T,
        beta=rule.beta + beta,
        zeta=rule.zeta + zeta,
    )


def value(rule: LikelihoodRule, rows: Rows, name: str) -> np.ndarray:
    """(n, M) by formulas of their own."""
    s = np.exp(-(rows.scale @ rule.zeta + rows.scale_offset))[:, None]
    eta = s * (
        rule.alpha[:, 0]
        + rows.nominal @ rule.alpha[:, 1:].T
        - (rows.X @ rule.beta + rows.offset)[:, None]
    )
    if isinstance(rule.family, Cumulative):
        below = np.hstack([rule.link.cdf(eta), np.ones((rows.n, 1))])
        prob = np.diff(below, axis=1, prepend=0.0)
        above = rule.link.sf(eta)
    elif isinstance(rule.family, Sequential):
        prob = stages(rule.family, eta)
        below = np.cumsum(prob, axis=1)
        above = np.cumsum(prob[:, ::-1], axis=1)[:, -2::-1]
    else:
        # of each level against the lowest
        odds = np.cumprod(rule.link.cdf(-eta) / rule.link.sf(-eta), axis=1)
        prob = np.hstack([np.ones((rows.n, 1)), odds])
        prob /= prob.sum(axis=1, keepdims=True)
        below = np.cumsum(prob, axis=1)
        above = np.cumsum(prob[:, ::-1], axis=1)[:, -2::-1]
    if name == "hazard":
        return prob[:, :-1] / np.hstack([np.ones((rows.n, 1)), above[:, :-1]])
    return {
        "prob": prob,
        "cum_prob": below,
        "inner_cum_prob": below[:, :-1],
        "exc_prob": above,
        "mean": (prob @ np.arange(1, 5))[:, None],
        "latent": -eta.mean(axis=1)[:, None],
        "linear_predictor": eta,
        "log_odds": np.log(above / below[:, :-1]),
    }[name]


def stages(family: Sequential, eta: np.ndarray) -> np.ndarray:
    """(n, K) P(y = k): a row passes the stages below k, and stops at k unless it is the
    last one.
    """
    stop = family.link.cdf(eta) if family.stops else family.link.sf(-eta)
    go = family.link.sf(eta) if family.stops else family.link.cdf(-eta)
    passed = np.cumprod(np.hstack([np.ones((len(eta), 1)), go]), axis=1)
    return passed * np.hstack([stop, np.ones((len(eta), 1))])


def numeric_jacobian(rule: LikelihoodRule, rows: Rows, name: str) -> np.ndarray:
    """(n, M, F) by central differences."""
    h = 1e-5
    size = rule.n_parameters
    ends = (
        (value(moved(rule, h * e), rows, name), value(moved(rule, -h * e), rows, name))
        for e in np.eye(size)
    )
    return np.stack([(up - down) / (2 * h) for up, down in ends], axis=-1)


@pytest.mark.parametrize("name", OF_FOUR_LEVELS)
@pytest.mark.parametrize("link", ALL_LINKS)
@pytest.mark.parametrize(
    "family", [Cumulative, Adjacent, ContinuationRatio, StoppingRatio]
)
def test_averages_and_errors(
    family: type[Family], link: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "hazard" and not issubclass(family, Sequential):
        pytest.skip("hazards belong to stages")
    rule, rows = problem(link, family)
    monkeypatch.setattr(sensitivity, "_BUFFER", 40)  # several chunks
    expected = numeric_jacobian(rule, rows, name)
    weights = np.array([0.1, 0.3, 0.2, 0.0, 0.25, 0.15])
    values, jacobian = derivatives.averages(OF_FOUR_LEVELS[name], rule, rows, weights)
    np.testing.assert_allclose(values, weights @ value(rule, rows, name), rtol=1e-12)
    np.testing.assert_allclose(
        jacobian, np.einsum("n,nmf->mf", weights, expected), atol=2e-9
    )
    root = np.random.default_rng(0).normal(size=(rule.n_parameters,) * 2) / 3
    errors = errors_of(rule, rows, name, root @ root.T)
    np.testing.assert_allclose(
        errors, np.linalg.norm(expected @ root, axis=-1), rtol=1e-7, atol=1e-9
    )


def test_score_errors_and_complements() -> None:
    rule, rows = problem("probit")
    root = np.random.default_rng(1).normal(size=(9, 9))
    covariance = root @ root.T
    expected = [np.sqrt(x @ covariance[6:8, 6:8] @ x) for x in rows.X]
    np.testing.assert_allclose(
        derivatives.score_errors(rule, rows, CovarianceMatrix(covariance)), expected
    )
    np.testing.assert_allclose(
        rule.family.complements(rule.eta(rows)),
        1 - value(rule, rows, "prob"),
        rtol=1e-12,
    )
    far = replace(rows, offset=np.full(6, 200.0))
    assert (
        rule.family.complements(rule.eta(far))[:, -1] < 1e-300
    ).all()  # 1 - p would be exactly 0 from p alone, or 1e-17


def test_infinite_thresholds_have_no_error() -> None:
    rule, rows = problem("cauchit")
    rule = replace(rule, alpha=np.vstack([[-np.inf, 0.0], rule.alpha[1:]]))
    for name in ("prob", "cum_prob", "mean"):
        errors = errors_of(rule, rows, name, np.eye(9))
        assert np.isfinite(errors).all()
    assert (errors_of(rule, rows, "prob", np.eye(9))[:, 0] == 0).all()


def direction(rows: Rows) -> Rows:
    """Every part of the rows moves, each row in its own way."""
    rng = np.random.default_rng(8)
    parts = ("X", "offset", "nominal", "scale", "scale_offset")
    return Rows(
        **{name: rng.normal(size=getattr(rows, name).shape) / 2 for name in parts}
    )


@pytest.mark.parametrize("family", [Cumulative, Adjacent])
@pytest.mark.parametrize("name", ["prob", "mean", "exc_prob", "latent", "log_odds"])
def test_slopes_of_rows_add_up_and_are_those_of_formulas(
    family: type[Family], name: str
) -> None:
    rule, rows = problem("logit", family)
    tangent = direction(rows)
    weights = np.linspace(0.5, 1.5, rows.n)
    each = Predicted(rule).slopes(OF_FOUR_LEVELS[name], rows, tangent)
    together = Predicted(rule).slope(OF_FOUR_LEVELS[name], rows, tangent, weights)
    for single, total in zip(each, together, strict=True):
        np.testing.assert_allclose(
            np.tensordot(weights, single, axes=1), total, rtol=1e-9, atol=1e-11
        )

    def at(step: float) -> Rows:
        return Rows(
            **{
                part: getattr(rows, part) + step * slope
                for part, slope in vars(tangent).items()
                if part != "random"
            }
        )

    h = 1e-5
    expected = (value(rule, at(h), name) - value(rule, at(-h), name)) / (2 * h)
    np.testing.assert_allclose(each[0], expected, rtol=1e-6, atol=1e-9)
    gradient = (
        numeric_jacobian(rule, at(1e-3), name) - numeric_jacobian(rule, at(-1e-3), name)
    ) / 2e-3
    np.testing.assert_allclose(each[1], gradient, rtol=1e-5, atol=1e-6)


def test_infinite_thresholds_do_not_move() -> None:
    """A level without rows has a threshold at infinity: what lies beyond it has no
    slope, all else keeps its own.
    """
    rule, rows = problem("logit")
    far = Predicted(replace(rule, alpha=np.vstack([rule.alpha[:2], [[np.inf, 0.0]]])))
    values, jacobian = far.slope(
        derivatives.QUANTITIES["prob"], rows, direction(rows), np.ones(rows.n)
    )
    assert np.isfinite(values).all() and np.isfinite(jacobian).all()
    kept = Predicted(rule).slope(
        derivatives.QUANTITIES["prob"], rows, direction(rows), np.ones(rows.n)
    )[0]
    np.testing.assert_allclose(values[:2], kept[:2], rtol=1e-10)
    assert values[3] == 0.0


@pytest.mark.parametrize("link", ["logit", "probit", "cauchit"])
def test_slopes_by_calculus(link: str) -> None:
    """One effect: the slope of P(y <= k) is -beta f(eta), and its derivative by a
    threshold -beta f'(eta).
    """
    rule = problem(link)[0]
    rule = replace(
        rule, alpha=rule.alpha[:, :1], beta=np.array([2.0]), zeta=np.zeros(0)
    )
    x = np.array([-8.0, -3.0, 0.0, 4.0, 9.0])
    eta = rule.alpha[:, 0] - 2.0 * x[:, None]
    f = rule.link.pdf(eta)
    bend = {
        "logit": f * (1 - 2 * rule.link.cdf(eta)),
        "probit": -eta * f,
        "cauchit": -2 * eta / (1 + eta**2) * f,
    }[link]
    one = Rows(X=np.ones((5, 1)))
    values, jacobian = Predicted(rule).slopes(
        derivatives.QUANTITIES["inner_cum_prob"], Rows(X=x[:, None]), one
    )
    np.testing.assert_allclose(values, -2.0 * f, rtol=1e-8, atol=1e-12)
    places = np.arange(3)
    np.testing.assert_allclose(
        jacobian[:, places, places], -2.0 * bend, rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (np.log, lambda x: 1 / x),
        (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
        (lambda x: x**4, lambda x: 4 * x**3),
    ],
)
def test_stencil_stays_inside_the_range(function, slope) -> None:
    x = np.exp(np.random.default_rng(5).normal(size=200) * 2)
    points, weights = stencil(x)
    assert points.min() >= x.min() and points.max() <= x.max()
    np.testing.assert_allclose(
        (weights * function(points)).sum(axis=1), slope(x), rtol=1e-7
    )


@pytest.mark.parametrize(
    "x",
    [
        np.linspace(-3, 5, 9),
        np.array([2000.0, 2001.0, 2005.0]),
        np.array([0.0, 1e-7, 50.0]),
    ],
)
def test_stencil_of_a_smooth_function(x: np.ndarray) -> None:
    points, weights = stencil(x)
    np.testing.assert_allclose(
        (weights * np.sin(points)).sum(axis=1), np.cos(x), atol=2e-8
    )
