"""Laplace's approximation: modes, value and gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.mixed import full_terms, total_derivatives
from ..likelihood.family import LocationTerms, RowTerms
from ..likelihood.predictor import Predictor
from .blocks import BlockMatrix, Effects, Factor, factor
from .model import MixedModel

#: Newton's decrement at which the modes are known to half the digits of a double, an effect.
_SMALL = 1e-22
#: Conditional variance of an effect whose variance is 1 beyond which there is no saying where its mode is.
_WIDEST = 20.0
#: Steps, and halvings of one.
_STEPS, _HALVINGS = 100, 40


@dataclass(frozen=True, eq=False, kw_only=True)
class Point:
    """Effects with the rows there.

    Attributes
    ----------
    v : Effects
    shift : (n,)
        What they add to the scores.
    h : float
    terms : LocationTerms
        Of the rows there, without weights.
    """

    v: Effects
    shift: FloatArray
    h: float
    terms: LocationTerms


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes(Point):
    """The modes at some psi.

    Attributes
    ----------
    factor : Factor
        H there.
    decrement : float
        Of the Newton step that was not taken any more.
    """

    factor: Factor
    decrement: float


def conditional_modes(model: MixedModel, predictor: Predictor, x: list[FloatArray], start: Effects) -> Modes | None:
    """The modes, from a start; None outside the domain, or where H is not positive definite at them.

    Parameters
    ----------
    model : MixedModel
    predictor : Predictor
        Without random effects.
    x : list of (n, q)
        Columns z Lambda of each term.
    start : Effects
    """
    at = _point(model, predictor, x, start)
    if at is None:
        at = _point(model, predictor, x, [np.zeros_like(part) for part in start])
    if at is None:
        return None
    least = _SMALL * max(1.0, float(sum(part.size for part in start)))
    for _ in range(_STEPS):
        found = _newton(model, x, at)
        if found is None:
            return None
        own, step, decrement = found
        if decrement <= least:
            return _settled(model, x, at, own, decrement)
        moved = _search(model, predictor, x, at, step, decrement)
        if moved is None:
            return _settled(model, x, at, own, decrement)
        at = moved
    return None


def _point(model: MixedModel, predictor: Predictor, x: list[FloatArray], v: Effects) -> Point | None:
    shift = model.shift(x, v)
    terms = model.located(predictor, shift)
    if terms is None:
        return None
    h = float(model.weights @ terms.log_p) - 0.5 * sum(float(np.vdot(part, part)) for part in v)
    return Point(v=v, shift=shift, h=h, terms=terms) if np.isfinite(h) else None


def _newton(model: MixedModel, x: list[FloatArray], at: Point) -> tuple[Factor, Effects, float] | None:
    """H (where it is not positive definite, with positive curvatures alone), the step and its decrement."""
    curvature = model.weights * at.terms.curvature
    own = factor(model.structure.gram(x, curvature), model.structure)
    if own is None and not model.family.concave:
        own = factor(model.structure.gram(x, np.maximum(curvature, 0.0)), model.structure)
    if own is None:
        return None
    score = model.gathered(x, model.weights * at.terms.score)
    slope = [part - v for part, v in zip(score, at.v, strict=True)]
    step = own.solve(slope)
    return own, step, sum(float(np.vdot(a, b)) for a, b in zip(slope, step, strict=True))


def _search(
    model: MixedModel, predictor: Predictor, x: list[FloatArray], at: Point, step: Effects, decrement: float
) -> Point | None:
    """The longest of the steps 1, 1/2, ... that raises h; None where rounding is all that is left."""
    slack, length = 1e-13 * (1.0 + abs(at.h)), 1.0
    for _ in range(_HALVINGS):
        moved = [v + length * part for v, part in zip(at.v, step, strict=True)]
        found = _point(model, predictor, x, moved)
        if found is not None and found.h >= at.h + 1e-4 * length * decrement - slack:
            return found
        length *= 0.5
    return None


def _settled(model: MixedModel, x: list[FloatArray], at: Point, own: Factor, decrement: float) -> Modes | None:
    """The modes with the true H; None where that is not positive definite, or hardly."""
    if not model.family.concave:
        exact = factor(model.structure.gram(x, model.weights * at.terms.curvature), model.structure)
        if exact is None or hardly_a_mode(exact.inverse):
            return None
        own = exact
    return Modes(v=at.v, shift=at.shift, h=at.h, terms=at.terms, factor=own, decrement=decrement)


def hardly_a_mode(inverse: FloatArray) -> bool:
    """Whether effects vary more given the data than without them, as (G, q, q) says, by far.

    Where two modes of a group become one, H is singular, and Laplace's approximation infinite [not concave families].
    """
    return bool(np.einsum("gaa->ga", inverse).max() > _WIDEST)


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
