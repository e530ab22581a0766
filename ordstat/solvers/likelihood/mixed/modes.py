"""Conditional modes of the random effects: v^ = argmax h(v), h = sum log p - v'v/2, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._typing import FloatArray
from ....model.likelihood.family import LocationTerms
from ....model.likelihood.predictor import Predictor
from .blocks import Effects, Factor, factor
from .model import MixedModel

#: Newton's decrement at which the modes are known to half the digits of a double, an effect.
_SMALL = 1e-22
#: Conditional variance of an effect whose variance is 1 beyond which there is no saying where its mode is.
_WIDEST = 20.0
#: Steps, and halvings of one.
_STEPS, _HALVINGS = 100, 40


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes:
    """The modes at some psi.

    Attributes
    ----------
    v : Effects
    shift : (n,)
        What they add to the scores.
    h : float
    terms : LocationTerms
        Of the rows there, without weights.
    factor : Factor
        H there.
    decrement : float
        Of the Newton step that was not taken any more.
    """

    v: Effects
    shift: FloatArray
    h: float
    terms: LocationTerms
    factor: Factor
    decrement: float


@dataclass(frozen=True, eq=False)
class _Point:
    v: Effects
    shift: FloatArray
    h: float
    terms: LocationTerms


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


def _point(model: MixedModel, predictor: Predictor, x: list[FloatArray], v: Effects) -> _Point | None:
    shift = model.shift(x, v)
    terms = model.located(predictor, shift)
    if terms is None:
        return None
    h = float(model.weights @ terms.log_p) - 0.5 * sum(float(np.vdot(part, part)) for part in v)
    return _Point(v, shift, h, terms) if np.isfinite(h) else None


def _newton(model: MixedModel, x: list[FloatArray], at: _Point) -> tuple[Factor, Effects, float] | None:
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
    model: MixedModel, predictor: Predictor, x: list[FloatArray], at: _Point, step: Effects, decrement: float
) -> _Point | None:
    """The longest of the steps 1, 1/2, ... that raises h; None where rounding is all that is left."""
    slack, length = 1e-13 * (1.0 + abs(at.h)), 1.0
    for _ in range(_HALVINGS):
        moved = [v + length * part for v, part in zip(at.v, step, strict=True)]
        found = _point(model, predictor, x, moved)
        if found is not None and found.h >= at.h + 1e-4 * length * decrement - slack:
            return found
        length *= 0.5
    return None


def _settled(model: MixedModel, x: list[FloatArray], at: _Point, own: Factor, decrement: float) -> Modes | None:
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
