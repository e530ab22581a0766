"""Gauss-Hermite quadrature over the effects of one random term with few columns, and its exact gradient.

Adaptive [Liu and Pierce 1994; Pinheiro and Bates 1995]: with B upper triangular, B B' = H_g^-1, and the nodes
v_j = v^ + sqrt(2) B x_j of a product grid, of weights w_j,
  log L_g = log sum_j w_j exp(x_j'x_j + h_g(v_j)) + log |B| - (q / 2) log(pi);
one node is Laplace's approximation. In its gradient, with posterior weights pi_j of the nodes, the explicit terms are
means over the nodes; sum_j pi_j h'(v_j) is added to X'rho before solving for q, since v^ moves all nodes; and H moves
B: from B'HB = I and B triangular, dB = -B up(B' dH B), up = the part above the diagonal and half of this [Murray 2016,
arXiv 1602.07527]. With U = up(Gamma), Gamma = sqrt(2) sum_j pi_j B'h'(v_j) x_j', all that H does to log L_g is
-<E, dH> / 2 with E = B (I + U + U') B', which stands for H^-1 in s and e. The posterior means of the scores alone
(Fisher's identity) are not the gradient of this sum. Without modes the nodes are x_j, as in R, and stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import logsumexp

from .._typing import FloatArray
from ..compiled.mixed import integrate_logit
from ..exceptions import OptionError
from ..formula.sample import RandomColumns
from .blocks import Effects
from .laplace import Evaluation, RowScores, State, if_finite, state_at
from .model import MixedModel

#: Columns of a term, and nodes of a group, that a grid may have.
MOST_COLUMNS, MOST_POINTS = 3, 10_000
#: Posterior weight of a node, in all groups, below which it adds nothing to a mean.
_NOTHING = 1e-20
_SQRT_2 = float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class Grid:
    """Nodes (J, q) of all groups before they are moved, and the logarithms (J,) of what h is weighted by."""

    points: FloatArray
    log_weights: FloatArray
    adaptive: bool

    def at(self, j: int, modes: FloatArray, B: FloatArray) -> FloatArray:
        """(G, q) v_j."""
        if not self.adaptive:
            return np.broadcast_to(self.points[j], modes.shape)
        return np.asarray(modes + _SQRT_2 * B @ self.points[j])

    def size(self, B: FloatArray) -> FloatArray:
        """(G,) logarithms of what a sum over the nodes is to be multiplied by."""
        normal = -0.5 * B.shape[1] * float(np.log(2.0 * np.pi))
        if not self.adaptive:
            return np.full(len(B), normal)
        return np.asarray(np.log(_SQRT_2 * np.einsum("gaa->ga", B)).sum(axis=1) + normal)


@cache
def grid_of(quadrature: int, q: int) -> Grid:
    points, weights = np.polynomial.hermite.hermgauss(abs(quadrature))
    places = np.stack(np.meshgrid(*[np.arange(points.size)] * q, indexing="ij"), axis=-1).reshape(-1, q)
    logs = np.log(weights) + points**2
    return Grid(np.ascontiguousarray(points[places]), logs[places].sum(axis=1), quadrature > 0)


def check_grid(model: MixedModel, quadrature: int) -> None:
    """OptionError unless there is one random term of few columns, whose groups are independent."""
    terms, laplace = model.terms, "Use quadrature=1, Laplace's approximation."
    if any(term.alike for term in terms):
        raise OptionError(f"quadrature={quadrature} needs independent groups; cov= makes them dependent. {laplace}")
    count = sum(term.q for term in terms)
    if len(terms) > 1 or count > MOST_COLUMNS:
        raise OptionError(
            f"quadrature={quadrature} needs one random term of at most {MOST_COLUMNS} columns, such as (1 | group) or "
            f"(1 + x | group); got {count} columns in {len(terms)} terms. {laplace}"
        )
    most = int(MOST_POINTS ** (1.0 / count) + 1e-9)
    if abs(quadrature) > most:
        raise OptionError(
            f"quadrature must be at most {most} for a random term of {count} columns, as the nodes of a group grow "
            f"with its power {count}; got {quadrature}. Use fewer nodes."
        )


def evaluate_by_nodes(model: MixedModel, quadrature: int, psi: FloatArray, start: Effects) -> Evaluation | None:
    """The integrated log-likelihood at psi by |quadrature| nodes a column; None outside the domain."""
    at = state_at(model, psi, start)
    nodes = None if at is None else Nodes.of(at, quadrature)
    if at is None or nodes is None:
        return None
    loglik, gradient = float(nodes.values().sum()), scores_by_nodes(at, nodes).total()
    return if_finite(Evaluation(model, psi, loglik, gradient, at.modes.v, at.modes.decrement))


def evaluate_compiled(model: MixedModel, quadrature: int, psi: FloatArray, start: Effects) -> Evaluation | None:
    """The same of a `model.compiled`, one node being Laplace's approximation; None where values are too far out."""
    full = psi[:-1] if model.expand is None else model.expand @ psi[:-1]
    count, grid, v = model.n_thresholds, grid_of(quadrature, 1), start[0][:, 0].copy()
    score = model.rows.x @ full[count:] + model.rows.offset
    H, by_score, by_theta = np.empty(v.size), np.empty(score.size), np.empty(count)
    rows = full[:count], score, model.y, psi[-1], model.first_column, model.weights
    nodes = grid.points[:, 0], grid.log_weights
    loglik, by_sigma, decrement = integrate_logit(model.common, model.starts, *rows, *nodes, v, H, by_score, by_theta)
    by_full = np.concatenate([by_theta, by_score @ model.rows.x])
    gradient = np.append(by_full if model.expand is None else by_full @ model.expand, by_sigma)
    return if_finite(Evaluation(model, psi, loglik, gradient, [v[:, None]], decrement, H))


def row_scores_by_nodes(at: State, quadrature: int) -> RowScores:
    """Scores of the rows, by |quadrature| nodes a column."""
    nodes = Nodes.of(at, quadrature)
    assert nodes is not None
    return scores_by_nodes(at, nodes)


@dataclass(frozen=True, eq=False)
class Nodes:
    """The grid, the logarithms (G, J) of every group's weighted exp(h) at its nodes, and B (G, q, q)."""

    grid: Grid
    B: FloatArray
    heights: FloatArray

    @classmethod
    def of(cls, at: State, quadrature: int) -> Nodes | None:
        """None outside the domain."""
        term = at.model.terms[0]
        grid, B = grid_of(quadrature, term.q), upper_root(at.modes.factor.inverse)
        if B is None:
            return None
        heights = np.empty((term.n_groups, len(grid.points)))
        for j, logs in enumerate(grid.log_weights):
            found = group_heights(at, grid.at(j, at.modes.v[0], B))
            if found is None:
                return None
            heights[:, j] = found + logs
        return cls(grid, B, heights)

    def values(self) -> FloatArray:
        """(G,) log-likelihoods of the groups."""
        return np.asarray(logsumexp(self.heights, axis=1) + self.grid.size(self.B))

    def posterior(self) -> FloatArray:
        """(G, J) pi."""
        return np.asarray(np.exp(self.heights - logsumexp(self.heights, axis=1, keepdims=True)))


@dataclass(frozen=True, eq=False)
class _Means:
    """Posterior means over the nodes: scores (M + 2, n), those by H times v (n, q), h' (G, q), h'x' (G, q, q)."""

    score: FloatArray
    by_v: FloatArray
    slope: FloatArray
    turn: FloatArray


def _means(at: State, nodes: Nodes) -> _Means:
    model, predictor, term, x = at.model, at.bare, at.model.terms[0], at.x[0]
    place, posterior, q = len(at.terms.places), nodes.posterior(), term.q
    out = _Means(
        np.zeros_like(at.terms.score),
        np.zeros_like(x),
        np.zeros((term.n_groups, q)),
        np.zeros((term.n_groups, q, q)),
    )
    for j in np.flatnonzero(posterior.max(axis=0) > _NOTHING).tolist():
        point, v = nodes.grid.points[j], nodes.grid.at(j, at.modes.v[0], nodes.B)
        there = replace(predictor, H=predictor.H + model.shift(at.x, [v]))
        terms = model.family.terms(there, model.y, second=False)
        assert terms is not None
        share = posterior[term.codes, j]
        score = share * terms.score
        out.score[:] += score
        out.by_v[:] += score[place][:, None] * v[term.codes]
        slope = model.gathered(at.x, model.weights * score[place])[0] - posterior[:, j, None] * v
        out.slope[:] += slope
        out.turn[:] += slope[:, :, None] * point
    return out


def group_heights(at: State, v: FloatArray) -> FloatArray | None:
    """(G,) h at the effects v (G, q) of the groups of a single term; None outside the domain."""
    model, term = at.model, at.model.terms[0]
    terms = model.located(at.bare, model.shift(at.x, [v]))
    if terms is None:
        return None
    return np.asarray(_sums(term, model.weights * terms.log_p) - 0.5 * np.einsum("gq,gq->g", v, v))


def scores_by_nodes(at: State, nodes: Nodes) -> RowScores:
    """What every row adds to the gradient."""
    model, x, weights, place = at.model, at.x, at.model.weights, len(at.terms.places)
    means, codes = _means(at, nodes), model.terms[0].codes
    if not nodes.grid.adaptive:
        return RowScores(model, at.terms.places, weights * means.score, [weights[:, None] * means.by_v])
    slopes, bent = model.family.curvature_slopes(at.predictor, model.y), at.terms.second()[place]
    e = np.einsum("nab,nb->na", moved_inverse(nodes.B, means.turn)[codes], x[0])
    s = np.einsum("nq,nq->n", x[0], e)
    rho = model.gathered(x, -0.5 * weights * s * slopes[place])[0]
    q = at.modes.factor.solve([rho + means.slope])
    moved = -0.5 * s * slopes - model.shift(x, q) * bent
    inner = means.by_v + moved[place][:, None] * at.modes.v[0][codes] - bent[place][:, None] * e
    inner += at.terms.score[place][:, None] * q[0][codes]
    return RowScores(model, at.terms.places, weights * (means.score + moved), [weights[:, None] * inner])


def upper_root(inverse: FloatArray) -> FloatArray | None:
    """(G, q, q) B, upper triangular with B B' = inverse; None where that is not positive definite."""
    try:
        return np.asarray(np.linalg.cholesky(inverse[:, ::-1, ::-1])[:, ::-1, ::-1])
    except np.linalg.LinAlgError:
        return None


def moved_inverse(B: FloatArray, turn: FloatArray) -> FloatArray:
    """(G, q, q) E."""
    U = np.triu(_SQRT_2 * B.transpose(0, 2, 1) @ turn)
    U -= 0.5 * np.einsum("gaa,ab->gab", U, np.eye(U.shape[1]))
    return np.asarray(B @ (np.eye(U.shape[1]) + U + U.transpose(0, 2, 1)) @ B.transpose(0, 2, 1))


def _sums(term: RandomColumns, values: FloatArray) -> FloatArray:
    """(G,) by group."""
    return np.asarray(np.bincount(term.codes, values, minlength=term.n_groups), dtype=np.float64)
