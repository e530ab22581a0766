"""Gauss-Hermite quadrature over nested random terms, (1 | a/b), and its exact gradient: rules inside rules.

Given the effects v of a group of the outermost term, its likelihood is a product over the groups within it, each an
integral of its own [Pinheiro and Chao 2006]:
  log L_g = log int exp(h_g(v)) phi(v) dv,   h_g(v) = sum_{c in g} log L_c(v),
with log L_c by the same rule, modes and all, of the rows at scores moved by x'v; of one term it is that of
`quadrature.py`, and one node is Laplace's approximation. The nodes stand about the joint mode v^ by B B' = S_g^-1,
upper triangular, S_g = H_gg - H_gr H_rr^-1 H_rg what elimination of the terms within leaves: no maximum of h_g is
sought, and a rule is right wherever its nodes stand.

With U = H_rr^-1 H_rg and y_i = x_i - U'x_ri, <E, dS> = sum_i (y_i'E y_i dW_i + 2 W_i (E y_i)'(dx_i - U'dx_ri)). So
y_i'E y_i stands for s_i, and E y_i and -U E y_i for e_i, in the gradient of quadrature.py, E as there from the
posterior means of h'x_j'. The derivatives h' and all explicit ones come from the rules within.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...._typing import FloatArray, IntArray
from .blocks import Effects, block_sums, factor
from .laplace import Evaluation, RowScores, State, state_at
from .model import MixedModel
from .modes import conditional_modes
from .quadrature import Nodes, grid_of, moved_inverse, scores_by_nodes, upper_root


@dataclass(frozen=True, eq=False)
class Integral:
    """Log-likelihoods (G,) of the groups of the outermost term, and what each row adds to the gradient of their sum."""

    values: FloatArray
    scores: RowScores


def evaluate_by_nodes(model: MixedModel, quadrature: int, psi: FloatArray, start: Effects) -> Evaluation | None:
    """The integrated log-likelihood at psi by |quadrature| nodes a column; None outside the domain."""
    at = state_at(model, psi, start)
    found = None if at is None else integral(at, quadrature)
    if at is None or found is None:
        return None
    loglik, gradient = float(found.values.sum()), found.scores.total()
    if not (np.isfinite(loglik) and np.isfinite(gradient).all()):
        return None
    return Evaluation(
        model=model, psi=psi, loglik=loglik, gradient=gradient, v=at.modes.v, decrement=at.modes.decrement
    )


def row_scores_by_nodes(at: State, quadrature: int) -> RowScores:
    """Of the approximation by |quadrature| nodes a column."""
    found = integral(at, quadrature)
    assert found is not None
    return found.scores


def integral(at: State, quadrature: int) -> Integral | None:
    """By |quadrature| nodes a column of each term; None outside the domain."""
    if len(at.model.terms) > 1:
        return _over_outermost(at, quadrature)
    nodes = Nodes.of(at, quadrature)
    return None if nodes is None else Integral(nodes.values(), scores_by_nodes(at, nodes))


def _over_outermost(at: State, quadrature: int) -> Integral | None:
    outer = at.model.terms[-1]
    around, grid, means = Around.of(at), grid_of(quadrature, outer.q), _Means.empty(at)
    if around is None:
        return None
    for j, (point, log_weight) in enumerate(zip(grid.points, grid.log_weights, strict=True)):
        v = grid.at(j, at.modes.v[-1], around.B)
        there = within(at, around, v)
        found = None if there is None else integral(there, quadrature)
        if found is None:
            return None
        means.add(node_heights(at, around, found.values, v) + log_weight, found.scores, point, v)
    values = means.largest + np.log(means.total) + grid.size(around.B)
    means.divide()
    if not grid.adaptive:
        return Integral(values, RowScores(at.model, at.terms.places, means.kappa, means.inner))
    return Integral(values, _moved(at, around, means))


def node_heights(at: State, around: Around, values: FloatArray, v: FloatArray) -> FloatArray:
    """(G,) h at effects v (G, q) of the outermost term, from the log-likelihoods of the groups within."""
    inner = np.bincount(around.parents[-1], values, minlength=at.model.terms[-1].n_groups)
    return np.asarray(inner - 0.5 * np.einsum("gq,gq->g", v, v))


def within(at: State, around: Around, v: FloatArray) -> State | None:
    """The other terms at their modes, given the effects v (G, q) of the outermost one; None outside the domain."""
    model, x, H = at.model.within, at.x[:-1], at.bare.H + at.model.shift_of(-1, at.x[-1], v)
    assert model is not None
    bare, moved = replace(at.bare, H=H), v - at.modes.v[-1]
    own = zip(at.modes.v[:-1], around.U, around.parents, strict=True)
    modes = conditional_modes(model, bare, x, [mode - _times(U, moved[of]) for mode, U, of in own])
    if modes is None:
        return None
    return State(model, modes, x, bare, replace(bare, H=H + modes.shift))


def _times(blocks: FloatArray, vectors: FloatArray) -> FloatArray:
    """(n, a) blocks (n, a, b) times vectors (n, b)."""
    return np.asarray(np.einsum("nab,nb->na", blocks, vectors))


@dataclass(frozen=True, eq=False)
class Around:
    """How the outermost term stands to the others at the joint modes.

    Attributes
    ----------
    parents : list of (G_t,)
        The outermost group that each group of the other terms lies in.
    U : list of (G_t, q_t, q)
        H_rr^-1 H_rg by the same groups.
    y : (n, q)
    B : (G, q, q)
    """

    parents: list[IntArray]
    U: list[FloatArray]
    y: FloatArray
    B: FloatArray

    @classmethod
    def of(cls, at: State) -> Around | None:
        """None where what is left is not positive definite."""
        model, x, within = at.model, at.x, at.model.within
        assert within is not None
        outer, curvature = model.terms[-1], model.weights * at.modes.terms.curvature
        eliminated = factor(within.structure.gram(x[:-1], curvature), within.structure)
        if eliminated is None:
            return None
        columns = [eliminated.solve(within.gathered(x[:-1], curvature * column)) for column in x[-1].T]
        U = [np.stack(own, axis=2) for own in zip(*columns, strict=True)]
        y = x[-1] - np.stack([within.shift(x[:-1], column) for column in columns], axis=1)
        S = block_sums(outer.codes, outer.n_groups, x[-1], y, curvature) + np.eye(outer.q)
        B = upper_root(np.asarray(np.linalg.inv(0.5 * (S + S.transpose(0, 2, 1))), dtype=np.float64))
        return None if B is None else cls([parents_of(term.codes, outer.codes) for term in within.terms], U, y, B)


def parents_of(codes: IntArray, outer: IntArray) -> IntArray:
    """(G,) the outer group that each group lies in, from those of the rows."""
    found = np.zeros(int(codes.max()) + 1, dtype=np.intp)
    found[codes] = outer
    return found


@dataclass(eq=False)
class _Means:
    """Sums over the nodes seen so far, times exp(-largest) in each group: O(n) whatever their number.

    Attributes
    ----------
    at : State
    largest, total : (G,)
        The largest height, and the sum of the posterior weights.
    kappa : (M + 2, n)
    inner : list of (n, q_t)
        Scores, as in `RowScores`.
    slope : (G, q)
        h'.
    turn : (G, q, q)
        h'x_j'.
    """

    at: State
    largest: FloatArray
    total: FloatArray
    kappa: FloatArray
    inner: list[FloatArray]
    slope: FloatArray
    turn: FloatArray

    @classmethod
    def empty(cls, at: State) -> _Means:
        outer, n = at.model.terms[-1], at.model.y.size
        G, q = outer.n_groups, outer.q
        inner = [np.zeros_like(x) for x in at.x]
        kappa = np.zeros((len(at.terms.places) + 2, n))
        return cls(at, np.full(G, -np.inf), np.zeros(G), kappa, inner, np.zeros((G, q)), np.zeros((G, q, q)))

    def add(self, heights: FloatArray, scores: RowScores, point: FloatArray, v: FloatArray) -> None:
        """A node of all groups: log posterior weights (G,) up to a constant, the scores there, x_j and v_j."""
        model, codes = self.at.model, self.at.model.terms[-1].codes
        location = scores.kappa[len(scores.places)]
        slope = model.gathered_of(-1, self.at.x[-1], location) - v
        largest = np.maximum(self.largest, heights)
        old, new = np.exp(self.largest - largest), np.exp(heights - largest)
        self.scale(old)
        self.largest, share = largest, new[codes]
        self.total += new
        self.kappa += share * scores.kappa
        for mean, own in zip(self.inner, [*scores.inner, location[:, None] * v[codes]], strict=True):
            mean += share[:, None] * own
        slope *= new[:, None]
        self.slope += slope
        self.turn += slope[:, :, None] * point

    def scale(self, by: FloatArray) -> None:
        """All sums of a group times a number (G,)."""
        share = by[self.at.model.terms[-1].codes]
        self.total *= by
        self.kappa *= share
        for mean in self.inner:
            mean *= share[:, None]
        self.slope *= by[:, None]
        self.turn *= by[:, None, None]

    def divide(self) -> None:
        """Sums to means."""
        self.scale(1.0 / self.total)


def _moved(at: State, around: Around, means: _Means) -> RowScores:
    """The means, and what parameters do to the nodes."""
    model, place, weights, modes = at.model, len(at.terms.places), at.model.weights, at.modes
    slopes, bent = model.family.curvature_slopes(at.predictor, model.y), at.terms.second()[place]
    outer = _times(moved_inverse(around.B, means.turn)[model.terms[-1].codes], around.y)
    s = np.einsum("nq,nq->n", around.y, outer)
    e = [-_times(U[term.codes], outer) for U, term in zip(around.U, model.terms, strict=False)] + [outer]
    rho = model.gathered(at.x, -0.5 * weights * s * slopes[place])
    q = modes.factor.solve([*rho[:-1], rho[-1] + means.slope])
    moved = -0.5 * s * slopes - model.shift(at.x, q) * bent
    inner = []
    for term, mean, v, own, by_v in zip(model.terms, means.inner, modes.v, e, q, strict=True):
        extra = moved[place][:, None] * v[term.codes] - bent[place][:, None] * own
        extra += at.terms.score[place][:, None] * by_v[term.codes]
        inner.append(mean + weights[:, None] * extra)
    return RowScores(model, at.terms.places, means.kappa + weights * moved, inner)
