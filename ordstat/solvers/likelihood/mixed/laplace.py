"""Laplace's approximation of the likelihood with random effects integrated out, and its exact gradient.

l(psi) = h(v^) - log|H| / 2, and nothing further is approximated in its derivatives [Kristensen et al. 2016]. With
s_i = x_i'H^-1 x_i the conditional variance of a row's score, T = derivatives of its curvature W by its predictors,
rho = -s T_H / 2, q = H^-1 X'rho and t_i = x_i'q, the total derivative by the predictors of a row is
  kappa = score - s T / 2 - t curvature_H
(score and curvature of log p; all times the weight), and that by Lambda_t[r, c]
  sum_i z_ir (kappa_H v_gc - W e_ic + score_H q_gc),   e_i = H^-1 x_i within the row's own groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...._typing import FloatArray, IntArray
from ....compiled.effects import total_derivatives
from ....compiled.mixed import full_terms
from ....model.likelihood.family import RowTerms
from ....model.likelihood.predictor import Predictor
from .blocks import BlockMatrix, Effects
from .model import MixedModel
from .modes import Modes, conditional_modes


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The integrated log-likelihood at some psi.

    Attributes
    ----------
    model : MixedModel
    psi : (P + m,)
    loglik : float
    gradient : (P + m,)
    v : Effects
        The modes.
    decrement : float
        Of the Newton step that they are away from theirs.
    curvature : (G,) or None
        H, where one pass gives it: one random effect a group.
    """

    model: MixedModel
    psi: FloatArray
    loglik: float
    gradient: FloatArray
    v: Effects
    decrement: float
    curvature: FloatArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what is worked out again when asked for."""
        return {name: value for name, value in self.__dict__.items() if name != "state"}

    @cached_property
    def state(self) -> State:
        """The rows at the modes."""
        found = state_at(self.model, self.psi, self.v)
        assert found is not None
        return found

    def covariances(self) -> list[FloatArray]:
        """(G, q, q) of the effects of the groups of each term given psi."""
        if self.curvature is not None:
            return [1.0 / self.curvature[:, None, None]]
        return self.state.modes.factor.selected().diagonal


#: psi and where to seek the modes -> value and gradient; None outside the domain.
Objective = Callable[[FloatArray, Effects], Evaluation | None]


@dataclass(frozen=True, eq=False)
class State:
    """The modes at some psi, the columns x = z Lambda (n, q) of each random term, and the predictor with and without.

    Attributes
    ----------
    model : MixedModel
    modes : Modes
    x : list of (n, q)
    bare, predictor : Predictor
        Without the random effects, and at their modes.
    """

    model: MixedModel
    modes: Modes
    x: list[FloatArray]
    bare: Predictor
    predictor: Predictor

    @cached_property
    def terms(self) -> RowTerms:
        """Of the rows at the modes."""
        found = self.model.family.terms(self.predictor, self.model.y)
        assert found is not None
        return found


def state_at(model: MixedModel, psi: FloatArray, start: Effects) -> State | None:
    """The modes, sought from `start`; None outside the domain."""
    fixed, phi = psi[: model.n_fixed], psi[model.n_fixed :]
    predictor = model.predictor(fixed)
    if predictor is None:
        return None
    x = model.columns(phi)
    modes = conditional_modes(model, predictor, x, start)
    if modes is None:
        return None
    return State(model, modes, x, predictor, replace(predictor, H=predictor.H + modes.shift))


def evaluate(model: MixedModel, psi: FloatArray, start: Effects) -> Evaluation | None:
    """Laplace's approximation at psi, the modes sought from `start`; None outside the domain."""
    at = state_at(model, psi, start)
    if at is None:
        return None
    loglik = at.modes.h - 0.5 * at.modes.factor.logdet
    return if_finite(Evaluation(model, psi, loglik, row_scores(at).total(), at.modes.v, at.modes.decrement))


def if_finite(at: Evaluation) -> Evaluation | None:
    """None if the value or its gradient is not finite."""
    return at if np.isfinite(at.loglik) and np.isfinite(at.gradient).all() else None


@dataclass(frozen=True, eq=False)
class RowScores:
    """What every row adds to the gradient; it depends on rows whose groups are connected with its own alone.

    Attributes
    ----------
    model : MixedModel
    places : (M, n)
        The thresholds that each row depends on.
    kappa : (M + 2, n)
        Derivatives by its predictors, through the modes and the curvature too.
    inner : list of (n, q)
        Those by the rows z_r Lambda of each term, without z_r.
    """

    model: MixedModel
    places: IntArray
    kappa: FloatArray
    inner: list[FloatArray]

    def total(self) -> FloatArray:
        """(P + m,) the gradient."""
        fixed = self.model.jacobian(self.places).total(self.kappa)
        parts = zip(self.model.terms, self.inner, strict=True)
        return np.concatenate([fixed, *(term.by_phi(inner) for term, inner in parts)])

    def totals(self, codes: IntArray, size: int) -> FloatArray:
        """(size, P + m) sums over the rows of each code (n,)."""
        columns = [self.model.jacobian(self.places).totals(self.kappa, codes, size)]
        for term, inner in zip(self.model.terms, self.inner, strict=True):
            sums = [np.bincount(codes, own, minlength=size) for own in term.rows_by_phi(inner)]
            columns.append(np.stack(sums, axis=1))
        return np.hstack(columns)


def row_scores(at: State) -> RowScores:
    """Of Laplace's approximation."""
    model, x, modes = at.model, at.x, at.modes
    rows, weights = _rows(at), model.weights
    e = own_solutions(model, x, modes.factor.selected())
    s = np.asarray(sum(np.einsum("nq,nq->n", a, b) for a, b in zip(x, e, strict=True)))
    q = modes.factor.solve(model.gathered(x, -0.5 * weights * s * rows.slope))
    kappa = rows.derivatives(s, model.shift(x, q))
    score, curvature = weights * modes.terms.score, weights * modes.terms.curvature
    location, parts = kappa[len(rows.places)], []
    for k, term in enumerate(model.terms):
        inner = location[:, None] * modes.v[k][term.codes] - curvature[:, None] * e[k]
        inner += score[:, None] * q[k][term.codes]
        parts.append(inner)
    return RowScores(model, rows.places, kappa, parts)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Third derivatives of the rows: `slope` (n,) of the curvature by H, and kappa from s and t, both (n,)."""

    places: IntArray
    slope: FloatArray
    derivatives: Callable[[FloatArray, FloatArray], FloatArray]


def _rows(at: State) -> _Rows:
    """By the compiled pass where it is for these values."""
    model = at.model
    if model.link is None:
        return _any_rows(at)
    (u, lo, d), s, shift = model.ends(at.bare), at.bare.s, at.modes.shift
    terms = np.empty((model.y.size, 8))
    if not full_terms(model.link, u, lo, d, s, shift, terms):
        return _any_rows(at)

    def derivatives(variance: FloatArray, t: FloatArray) -> FloatArray:
        kappa = np.empty((4, model.y.size))
        total_derivatives(terms, u, lo, s, shift, model.weights, variance, t, kappa)
        return kappa

    return _Rows(model.places, -(s**3) * (terms[:, 6] + terms[:, 7]), derivatives)


def _any_rows(at: State) -> _Rows:
    """Of any family."""
    terms, place = at.terms, len(at.terms.places)
    slopes = at.model.family.curvature_slopes(at.predictor, at.model.y)

    def derivatives(variance: FloatArray, t: FloatArray) -> FloatArray:
        own = terms.score - 0.5 * variance * slopes - t * terms.second()[place]
        return np.asarray(at.model.weights * own)

    return _Rows(terms.places, slopes[place], derivatives)


def own_solutions(model: MixedModel, x: list[FloatArray], selected: BlockMatrix) -> list[FloatArray]:
    """e_i (n, q) of each term: H^-1 x_i within the row's own groups."""
    found = [
        own @ block[0] if len(block) == 1 else np.einsum("nab,nb->na", block[term.codes], own)
        for term, block, own in zip(model.terms, selected.diagonal, x, strict=True)
    ]
    for (s, t), block in selected.pairs.items():
        rows = block[model.structure.patterns[s, t].of]
        found[s] = found[s] + np.einsum("nab,nb->na", rows, x[t])
        found[t] = found[t] + np.einsum("nab,na->nb", rows, x[s])
    return found
