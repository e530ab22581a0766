"""The maximum of an integrated likelihood: quasi-Newton from an information that is nearly right, then Newton.

BFGS begins at an inverse information that is nearly right (`start.py`), which is what makes ten to twenty evaluations
enough. The Hessian is one of central differences of the exact gradient, at the end alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...._typing import BoolArray, FloatArray
from .blocks import Effects
from .laplace import Evaluation, Objective
from .model import MixedModel
from .start import pseudo_inverse, start_covariance

#: A quasi-Newton search ends where its step is shorter than 1e-5 of a standard error.
_NEAR = 1e-10
#: Largest change of phi in one step, factor of a step refused, and how many are tried.
_CAP, _SHORTER, _TRIES = 1.0, 0.4, 30
#: Step of the differences, and how much shorter it may be near the end of the domain.
_STEP, _SHORTENED = 1e-4, (1.0, 0.1, 0.01)
#: Gradient that Newton's method goes on to, that which is enough, and that where a Hessian is as good as at the end.
_GOAL, _ENOUGH, _CLOSE = 1e-9, 1e-7, 1e-2
#: Gradient up to which a search has converged.
_CONVERGED = 1e-6
#: Where a family is not concave, groups may have two modes, and the integral jumps as they go from one to the other.
JUMPS = "no further progress, as modes of random effects jump: use more quadrature nodes"
#: Steps on one Hessian, and Hessians.
_NEWTON, _HESSIANS = 6, 8


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """Where a search ended.

    Attributes
    ----------
    at : Evaluation
    information : (P + m, P + m)
        Negative Hessian there.
    logliks : list of float
    message : str
    """

    at: Evaluation
    information: FloatArray
    logliks: list[float]
    message: str


def maximise(model: MixedModel, objective: Objective, psi: FloatArray, free: BoolArray, max_iter: int) -> Found | None:
    """The maximum over the free components of psi, from a start; None where that is outside the domain."""
    at = objective(psi, zero_effects(model))
    if at is None:
        return None
    logliks = [at.loglik]
    B = np.where(free[:, None] & free, start_covariance(model, objective, at), 0.0)
    at, message = quasi_newton(objective, at, B, free, max_iter, logliks, model.n_fixed)
    for _ in range(_HESSIANS):
        information = negative_hessian(objective, at, free)
        reached, message = _newton(objective, at, information, free, logliks, message)
        near = np.abs(at.gradient[free]).max(initial=0.0) <= _CLOSE  # so near that its Hessian is that of the end
        done = np.abs(reached.gradient[free]).max(initial=0.0) <= _ENOUGH
        stuck, at = reached is at, reached
        if stuck or (done and near):
            break
    if message == "converged" and np.abs(at.gradient[free]).max(initial=0.0) > _CONVERGED:
        message = "no further progress"
    if message == "no further progress" and not model.family.concave:
        message = JUMPS
    return Found(at=at, information=information, logliks=logliks, message=message)


def zero_effects(model: MixedModel) -> Effects:
    """All random effects 0."""
    return [np.zeros((term.n_groups, term.q)) for term in model.terms]


def quasi_newton(
    objective: Objective,
    at: Evaluation,
    B: FloatArray,
    free: BoolArray,
    max_iter: int,
    logliks: list[float],
    n_fixed: int,
) -> tuple[Evaluation, str]:
    """BFGS from an inverse B of the information, 0 where psi is not free; logs the log-likelihood of every step."""
    for _ in range(max_iter):
        step = B @ at.gradient  # 0 where psi is not free, as B is
        slope = float(at.gradient @ step)
        if slope <= _NEAR:
            return at, "converged"
        largest = max(map(abs, step[n_fixed:].tolist()), default=0.0)
        if largest > _CAP:
            step *= _CAP / largest
            slope = float(at.gradient @ step)
        moved = _search(objective, at, step, slope)
        if moved is None:
            return at, "no further progress"
        B = _updated(B, moved.psi - at.psi, np.where(free, at.gradient - moved.gradient, 0.0))
        at = moved
        logliks.append(at.loglik)
    return at, "iteration limit reached"


def _search(objective: Objective, at: Evaluation, step: FloatArray, slope: float) -> Evaluation | None:
    """The longest of the steps 1, 0.4, 0.16, ... with enough of a gain."""
    length, slack = 1.0, 1e-13 * (1.0 + abs(at.loglik))
    for _ in range(_TRIES):
        trial = objective(at.psi + length * step, at.v)
        if trial is not None and trial.loglik >= at.loglik + 1e-4 * length * slope - slack:
            return trial
        length *= _SHORTER
    return None


def _updated(B: FloatArray, s: FloatArray, y: FloatArray) -> FloatArray:
    """BFGS update of an inverse from a step and the change of the (negative) gradient."""
    product = float(s @ y)
    if product <= 1e-12 * math.sqrt(float(s @ s) * float(y @ y)):
        return B
    moved, column = B @ y, s[:, None]
    turn = moved[:, None] * s
    return np.asarray(B - (turn + turn.T) / product + (1.0 + float(y @ moved) / product) / product * (column * s))


def _newton(
    objective: Objective,
    at: Evaluation,
    information: FloatArray,
    free: BoolArray,
    logliks: list[float],
    message: str,
) -> tuple[Evaluation, str]:
    """Steps on one Hessian, as long as the gradient falls."""
    inverse = _inverse(information, free)
    for _ in range(_NEWTON):
        size = np.abs(at.gradient[free]).max(initial=0.0)
        if size <= _GOAL:
            break
        gradient = np.where(free, at.gradient, 0.0)
        step = inverse @ gradient
        moved = objective(at.psi + step, at.v)
        lowest = at.loglik - 1e-9 * (1.0 + abs(at.loglik))
        if moved is None or moved.loglik < lowest or np.abs(moved.gradient[free]).max() >= size:
            # far from quadratic, as near a variance of 0: a shorter step that gains, where there is something to gain
            moved = _search(objective, at, step, float(gradient @ step)) if size > _ENOUGH else None
            if moved is None or moved.loglik <= at.loglik:
                break
        at, message = moved, "converged"
        logliks.append(at.loglik)
    return at, message


def _inverse(information: FloatArray, free: BoolArray) -> FloatArray:
    """Of the free part, directions of no positive curvature left out; 0 elsewhere."""
    out = np.zeros_like(information)
    out[np.ix_(free, free)] = pseudo_inverse(information[free][:, free])
    return out


def negative_hessian(objective: Objective, at: Evaluation, free: BoolArray) -> FloatArray:
    """Central differences of the gradient; 0 outside the free part, NaN where the domain ends too near."""
    size = at.psi.size
    out = np.zeros((size, size))
    for j in np.flatnonzero(free):
        length = max(1.0, abs(at.psi[j]))
        out[j] = _slope(objective, at, length * np.eye(size)[j]) / length
    out[:, ~free] = 0.0
    return np.asarray(0.5 * (out + out.T))


def information_along(objective: Objective, at: Evaluation, moves: FloatArray) -> FloatArray:
    """(P + m, P + m) negative Hessian in the space of some orthonormal moves (P + m, r) of psi."""
    bent = moves.T @ np.stack([_slope(objective, at, move) for move in moves.T], axis=1)
    return np.asarray(0.5 * moves @ (bent + bent.T) @ moves.T)


def _slope(objective: Objective, at: Evaluation, along: FloatArray) -> FloatArray:
    """Minus the derivative of the gradient along a move, by the longest step that stays inside the domain."""
    for shorter in _SHORTENED:
        move = shorter * _STEP * along
        ahead = objective(at.psi + move, at.v)
        if ahead is None:
            continue
        mirrored = [2.0 * here - there for here, there in zip(at.v, ahead.v, strict=True)]
        behind = objective(at.psi - move, mirrored)
        if behind is not None:
            return np.asarray((behind.gradient - ahead.gradient) / (2.0 * shorter * _STEP))
    return np.full(at.psi.size, np.nan)
