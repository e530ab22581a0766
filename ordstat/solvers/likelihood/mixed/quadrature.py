"""Gauss-Hermite quadrature over the effects of one random term with one column, and its exact gradient.

Adaptive [Liu and Pierce 1994; Pinheiro and Bates 1995]: with tau = H_g^-1/2 and nodes v_j = v^ + sqrt(2) tau x_j,
  log L_g = log sum_j w_j exp(x_j^2 + h_g(v_j)) + log tau - log(pi) / 2;
one node is Laplace's approximation. In its gradient, with posterior weights pi_j of the nodes, the explicit terms are
means over the nodes; A = sum_j pi_j h'(v_j) is added to X'rho before solving for q, since v^ moves all nodes; and s, e
are multiplied by m = tau + sqrt(2) tau^2 sum_j pi_j x_j h'(v_j), since H moves their spread. The posterior means of the
scores alone (Fisher's identity) are not the gradient of this sum. Without modes the nodes are x_j, as in R, and stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import logsumexp

from ...._typing import FloatArray
from ....exceptions import OptionError
from ....model.likelihood.predictor import Predictor
from ....model.random_effects import RandomColumns
from .blocks import Effects
from .laplace import Evaluation, RowScores, State, state_at
from .model import MixedModel

_SQRT_2 = float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Nodes (G, Q) of every group, h there and the logarithms of what it is weighted by."""

    v: FloatArray
    log_weights: FloatArray
    slopes: FloatArray  # h' (G, Q)
    posterior: FloatArray
    loglik: float


def check_scalar(terms: tuple[RandomColumns, ...], quadrature: int) -> None:
    """OptionError where the random effects of a group are more than one number."""
    if any(term.alike for term in terms):
        raise OptionError(
            f"quadrature={quadrature} must go with independent groups; cov= makes them dependent. Use quadrature=1, "
            "Laplace's approximation."
        )
    if len(terms) > 1 or terms[0].q > 1:
        raise OptionError(
            f"quadrature={quadrature} must go with one random term of one column, such as (1 | group); got "
            f"{sum(term.q for term in terms)} columns in {len(terms)} terms. Use quadrature=1, Laplace's approximation."
        )


def evaluate_by_nodes(model: MixedModel, quadrature: int, psi: FloatArray, start: Effects) -> Evaluation | None:
    """The integrated log-likelihood at psi by |quadrature| nodes; None outside the domain."""
    at = state_at(model, psi, start)
    nodes = None if at is None else _nodes(at, quadrature)
    if at is None or nodes is None:
        return None
    tau = _spread(at)
    spread = float(np.log(_SQRT_2 * tau).sum()) if quadrature > 0 else 0.0
    loglik = nodes.loglik + spread - 0.5 * tau.size * float(np.log(2.0 * np.pi))
    gradient = _row_scores(at, nodes, quadrature).total()
    if not (np.isfinite(loglik) and np.isfinite(gradient).all()):
        return None
    return Evaluation(
        model=model, psi=psi, loglik=loglik, gradient=gradient, v=at.modes.v, decrement=at.modes.decrement
    )


def row_scores_by_nodes(at: State, quadrature: int) -> RowScores:
    """Of the approximation by |quadrature| nodes."""
    nodes = _nodes(at, quadrature)
    assert nodes is not None
    return _row_scores(at, nodes, quadrature)


@cache
def _rule(quadrature: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights."""
    points, weights = np.polynomial.hermite.hermgauss(abs(quadrature))
    return points, weights


def _spread(at: State) -> FloatArray:
    """(G,) tau."""
    return np.sqrt(at.modes.factor.inverse[:, 0, 0])


def _nodes(at: State, quadrature: int) -> _Nodes | None:
    points, weights = _rule(quadrature)
    tau = _spread(at)
    v = at.modes.v[0] + _SQRT_2 * tau[:, None] * points if quadrature > 0 else np.tile(points, (tau.size, 1))
    return _at_nodes(at.model, at.bare, at, v, np.log(weights) + points**2)


def _at_nodes(
    model: MixedModel, predictor: Predictor, at: State, v: FloatArray, log_weights: FloatArray
) -> _Nodes | None:
    term, x = model.terms[0], at.x[0][:, 0]
    h, slopes = np.empty_like(v), np.empty_like(v)
    for j in range(v.shape[1]):
        terms = model.family.by_location(replace(predictor, H=predictor.H + x * v[term.codes, j]), model.y)
        if terms is None:
            return None
        h[:, j] = _sums(term, model.weights * terms.log_p) - 0.5 * v[:, j] ** 2
        slopes[:, j] = _sums(term, model.weights * x * terms.score) - v[:, j]
    totals = logsumexp(h + log_weights, axis=1)
    return _Nodes(v, log_weights, slopes, np.exp(h + log_weights - totals[:, None]), float(totals.sum()))


def _row_scores(at: State, nodes: _Nodes, quadrature: int) -> RowScores:
    model, predictor, tau = at.model, at.bare, _spread(at)
    points = _rule(quadrature)[0]
    term, x, weights, place = model.terms[0], at.x[0][:, 0], model.weights, len(at.terms.places)
    codes = term.codes
    mean, mean_v = np.zeros_like(at.terms.score), np.zeros(codes.size)
    for j in range(points.size):
        v = nodes.v[codes, j]
        terms = model.family.terms(replace(predictor, H=predictor.H + x * v), model.y, second=False)
        assert terms is not None
        share = nodes.posterior[codes, j]
        mean += share * terms.score
        mean_v += share * terms.score[place] * v
    if quadrature < 0:
        return RowScores(model, at.terms.places, weights * mean, [(weights * mean_v)[:, None]])
    pushed = (nodes.posterior * nodes.slopes).sum(axis=1)
    spread = (nodes.posterior * nodes.slopes * points).sum(axis=1)
    m = 1.0 + _SQRT_2 * tau * spread
    there = replace(predictor, H=predictor.H + at.modes.shift)
    slopes, bent = model.family.curvature_slopes(there, model.y), at.terms.second()[place]
    e = (tau**2 * m)[codes] * x
    s = x * e
    q = tau**2 * (_sums(term, -0.5 * weights * s * slopes[place] * x) + pushed)
    t = x * q[codes]
    moved = -0.5 * s * slopes - t * bent
    inner = mean_v + moved[place] * at.modes.v[0][codes, 0] - bent[place] * e + at.terms.score[place] * q[codes]
    return RowScores(model, at.terms.places, weights * (mean + moved), [(weights * inner)[:, None]])


def _sums(term: RandomColumns, values: FloatArray) -> FloatArray:
    """(G,) by group."""
    return np.asarray(np.bincount(term.codes, values, minlength=term.n_groups), dtype=np.float64)
