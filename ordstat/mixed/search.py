"""The maximum of an integrated likelihood: quasi-Newton, then Newton.

BFGS starts from a close approximation of the inverse information, so ten to twenty
evaluations are enough: blockdiag((J - C'H^-1 C)^-1, 1 / G), J the information of the
fixed parameters at the modes, C = d2h / dv dpsi, G the number of groups of each phi.
The Hessian is computed only at the end, by central differences of the exact gradient.

Variances at their boundary, 0, are verified by the one-sided derivative and left out of
the covariance. l is even in every column of Lambda, so its derivative by a standard
deviation is always 0 at 0; the sign of dl / d(sigma^2) = (d2l / d sigma^2) / 2 at 0
decides: it is not positive at a boundary.

A penalty keeps covariances off that boundary: + log det Lambda for every term. For one
column that is log sd, the gamma density of shape 2 and rate 0 of Chung, Rabe-Hesketh,
Dorie, Gelman and Liu (2013, Psychometrika 78, 685-709); for q correlated columns the
Wishart density of q + 2 degrees of freedom, infinite scale, |Sigma|^(1/2), of Chung,
Gelman, Rabe-Hesketh, Liu and Dorie (2015, JEBS 40, 136-157). Rescaling or recombining
columns adds a constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray, FloatArray
from ..newton import Ended
from .blocks import Effects
from .integral import IntegratedLikelihood, Objective, State
from .model import MixedModel

#: A quasi-Newton search ends where its step is shorter than 1e-5 of a standard error.
_NEAR = 1e-10
#: Largest change of phi in one step, factor that shortens a rejected step, and most
#: trials.
_CAP = 1.0
_SHORTER = 0.4
_TRIES = 30
#: Step of the differences, and factors that shorten it near the limits of the domain.
_STEP = 1e-4
_SHORTENED = (1.0, 0.1, 0.01)
#: Gradients: where Newton's method stops, what is enough, and below which the Hessian
#: equals that of the maximum.
_GOAL = 1e-9
_ENOUGH = 1e-7
_CLOSE = 1e-2
#: Gradient up to which a search has converged.
_CONVERGED = 1e-6
#: Most steps with one Hessian, and most Hessians.
_NEWTON = 6
_HESSIANS = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class Maximum:
    """The result of a search.

    Attributes
    ----------
    at : IntegratedLikelihood
    information : (P + m, P + m)
        Negative Hessian at the maximum.
    logliks : list of float
    ended : Ended
    """

    at: IntegratedLikelihood
    information: FloatArray
    logliks: list[float]
    ended: Ended


def maximise(
    model: MixedModel,
    objective: Objective,
    psi: FloatArray,
    free: BoolArray,
    max_iter: int,
) -> Maximum | None:
    """The maximum over the free components of psi; None if the start is outside the
    domain.
    """
    at = objective(psi, zero_effects(model))
    if at is None:
        return None
    logliks = [at.loglik]
    B = np.where(free[:, None] & free, start_covariance(model, at), 0.0)
    at, ended = quasi_newton(objective, at, B, free, max_iter, logliks, model.n_fixed)
    for _ in range(_HESSIANS):
        information = negative_hessian(objective, at, free)
        reached, ended = _newton(objective, at, information, free, logliks, ended)
        near = np.abs(at.gradient[free]).max(initial=0.0) <= _CLOSE
        done = np.abs(reached.gradient[free]).max(initial=0.0) <= _ENOUGH
        stuck = reached is at
        at = reached
        if stuck or (done and near):
            break
    if (
        ended is Ended.CONVERGED
        and np.abs(at.gradient[free]).max(initial=0.0) > _CONVERGED
    ):
        ended = Ended.NO_PROGRESS
    if ended is Ended.NO_PROGRESS and not model.family.concave:
        # there may be two modes in a group, and the integral jumps where the higher
        # one changes
        ended = Ended.MODES_JUMP
    return Maximum(at=at, information=information, logliks=logliks, ended=ended)


def zero_effects(model: MixedModel) -> Effects:
    """All random effects 0."""
    return [np.zeros((term.n_groups, term.q)) for term in model.terms]


def quasi_newton(
    objective: Objective,
    at: IntegratedLikelihood,
    B: FloatArray,
    free: BoolArray,
    max_iter: int,
    logliks: list[float],
    n_fixed: int,
) -> tuple[IntegratedLikelihood, Ended]:
    """BFGS from an inverse information B, 0 where psi is not free; appends the
    log-likelihood of every step.
    """
    for _ in range(max_iter):
        step = B @ at.gradient  # 0 where psi is not free, as B is
        slope = float(at.gradient @ step)
        if slope <= _NEAR:
            return at, Ended.CONVERGED
        largest = max(map(abs, step[n_fixed:].tolist()), default=0.0)
        if largest > _CAP:
            step *= _CAP / largest
            slope = float(at.gradient @ step)
        moved = _search(objective, at, step, slope)
        if moved is None:
            return at, Ended.NO_PROGRESS
        B = _updated(
            B, moved.psi - at.psi, np.where(free, at.gradient - moved.gradient, 0.0)
        )
        at = moved
        logliks.append(at.loglik)
    return at, Ended.MOST_ITERATIONS


def _search(
    objective: Objective, at: IntegratedLikelihood, step: FloatArray, slope: float
) -> IntegratedLikelihood | None:
    """The longest of the steps 1, 0.4, 0.16, ... that gains enough."""
    length = 1.0
    slack = 1e-13 * (1.0 + abs(at.loglik))
    for _ in range(_TRIES):
        trial = objective(at.psi + length * step, at.v)
        if (
            trial is not None
            and trial.loglik >= at.loglik + 1e-4 * length * slope - slack
        ):
            return trial
        length *= _SHORTER
    return None


def _updated(B: FloatArray, s: FloatArray, y: FloatArray) -> FloatArray:
    """BFGS update of an inverse from a step and the change of the (negative)
    gradient.
    """
    product = float(s @ y)
    if product <= 1e-12 * math.sqrt(float(s @ s) * float(y @ y)):
        return B
    moved = B @ y
    column = s[:, None]
    turn = moved[:, None] * s
    return (
        B
        - (turn + turn.T) / product
        + (1.0 + float(y @ moved) / product) / product * (column * s)
    )


def _newton(
    objective: Objective,
    at: IntegratedLikelihood,
    information: FloatArray,
    free: BoolArray,
    logliks: list[float],
    ended: Ended,
) -> tuple[IntegratedLikelihood, Ended]:
    """Steps with one Hessian while the gradient falls."""
    inverse = _inverse(information, free)
    for _ in range(_NEWTON):
        size = np.abs(at.gradient[free]).max(initial=0.0)
        if size <= _GOAL:
            break
        gradient = np.where(free, at.gradient, 0.0)
        step = inverse @ gradient
        moved = objective(at.psi + step, at.v)
        lowest = at.loglik - 1e-9 * (1.0 + abs(at.loglik))
        if (
            moved is None
            or moved.loglik < lowest
            or np.abs(moved.gradient[free]).max() >= size
        ):
            # not quadratic, for instance near a variance of 0: try a shorter step that
            # gains
            if size > _ENOUGH:
                moved = _search(objective, at, step, float(gradient @ step))
            else:
                moved = None
            if moved is None or moved.loglik <= at.loglik:
                break
        at = moved
        ended = Ended.CONVERGED
        logliks.append(at.loglik)
    return at, ended


def _inverse(information: FloatArray, free: BoolArray) -> FloatArray:
    """Inverse of the free part without directions of curvature <= 0; 0 elsewhere."""
    out = np.zeros_like(information)
    out[np.ix_(free, free)] = pseudo_inverse(information[free][:, free])
    return out


def negative_hessian(
    objective: Objective, at: IntegratedLikelihood, free: BoolArray
) -> FloatArray:
    """Central differences of the gradient; 0 outside the free part, NaN too near the
    limits of the domain.
    """
    size = at.psi.size
    out = np.zeros((size, size))
    for j in np.flatnonzero(free):
        length = max(1.0, abs(at.psi[j]))
        out[j] = _slope(objective, at, length * np.eye(size)[j]) / length
    out[:, ~free] = 0.0
    return 0.5 * (out + out.T)


def information_along(
    objective: Objective, at: IntegratedLikelihood, moves: FloatArray
) -> FloatArray:
    """(P + m, P + m) negative Hessian in the space of orthonormal moves (P + m, r) of
    psi.
    """
    bent = moves.T @ np.stack([_slope(objective, at, move) for move in moves.T], axis=1)
    return 0.5 * moves @ (bent + bent.T) @ moves.T


def _slope(
    objective: Objective, at: IntegratedLikelihood, along: FloatArray
) -> FloatArray:
    """Minus the derivative of the gradient along a move, by the longest step that stays
    inside the domain.
    """
    for shorter in _SHORTENED:
        move = shorter * _STEP * along
        ahead = objective(at.psi + move, at.v)
        if ahead is None:
            continue
        mirrored = [
            2.0 * mode - mode_ahead
            for mode, mode_ahead in zip(at.v, ahead.v, strict=True)
        ]
        behind = objective(at.psi - move, mirrored)
        if behind is not None:
            return (behind.gradient - ahead.gradient) / (2.0 * shorter * _STEP)
    return np.full(at.psi.size, np.nan)


# Start


def start_covariance(model: MixedModel, at: IntegratedLikelihood) -> FloatArray:
    """(P + m, P + m) approximate inverse information; 0 in directions without
    information.
    """
    P = model.n_fixed
    size = at.psi.size
    out = np.zeros((size, size))
    out[:P, :P] = pseudo_inverse(_information(at.state))
    groups = [
        term.size // term.width for term in model.terms for _ in range(term.n_phi)
    ]
    np.fill_diagonal(out[P:, P:], 1.0 / np.array(groups))
    return out


def _information(at: State) -> FloatArray:
    """(P, P) J - C'H^-1 C."""
    model = at.model
    P = at.model.n_fixed
    jacobian = model.jacobian(at.terms.places)
    H_row = len(at.terms.places)
    curvature = model.weights * at.terms.second()
    J = np.empty((P, P))
    for p, unit in enumerate(np.eye(P)[:, :, None]):
        moves = jacobian.apply(unit)[:, :, 0].T
        J[p] = jacobian.total(np.einsum("qrn,rn->qn", curvature, moves))
    C = []
    for term, x in zip(model.terms, at.x, strict=True):
        parts = [
            jacobian.totals(-column * curvature[H_row], term.codes, term.n_groups)
            for column in x.T
        ]
        C.append(np.stack(parts, axis=1))
    solved = [at.modes.factor.solve([part[:, :, p] for part in C]) for p in range(P)]
    moved = np.array(
        [np.concatenate([part.reshape(-1) for part in effects]) for effects in solved]
    )
    schur = J - moved @ np.concatenate([part.reshape(-1, P) for part in C])
    return np.asarray(0.5 * (schur + schur.T))


def pseudo_inverse(matrix: FloatArray) -> FloatArray:
    """Inverse of a symmetric matrix without directions of curvature <= 0; 0 if it is
    not finite.
    """
    if not np.isfinite(matrix).all():
        return np.zeros_like(matrix)
    values, vectors = np.linalg.eigh(matrix)
    positive = values > 1e-12 * max(values[-1], 0.0)
    half = vectors[:, positive] / np.sqrt(values[positive])
    return np.asarray(half @ half.T)


# Variances at their boundary

#: Standard deviations below this, on the scaled columns, are tried at 0.
_SMALL = 1e-3
#: Relative loss of log-likelihood that this may cost.
_LOST = 1e-9
#: Standard deviation with which a search is restarted.
_AWAY = 0.1


@dataclass(frozen=True, eq=False)
class Boundary:
    """A standard deviation that is estimated as 0.

    Attributes
    ----------
    term : int
        Index of the term in the model.
    column : int
        Index of the column of Lambda.
    derivative : float
        Derivative of the log-likelihood by the square of the diagonal element, at 0.
    """

    term: int
    column: int
    derivative: float


def settled(
    model: MixedModel, objective: Objective, maximum: Maximum, max_iter: int
) -> tuple[Maximum, BoolArray, tuple[Boundary, ...]]:
    """The maximum after small standard deviations are tried at 0, its free components
    and its boundaries.

    If the likelihood rises away from 0, the search is repeated from a start away from
    0.
    """
    every = np.ones(maximum.at.psi.size, dtype=np.bool_)
    if (
        all(term.width == 1 for term in model.terms)
        and np.abs(maximum.at.psi[model.n_fixed :]).min() >= _SMALL
    ):
        return maximum, every, ()
    canonical = _canonical(model, maximum.at.psi)
    zero = _zeros(model, canonical)
    at = objective(canonical, maximum.at.v) if zero.any() else None
    if at is None or at.loglik < maximum.at.loglik - _LOST * (
        1.0 + abs(maximum.at.loglik)
    ):
        return maximum, every, ()
    bent = np.diag(negative_hessian(objective, at, zero))
    columns = [
        (k, column)
        for k, term in enumerate(model.terms)
        for column in range(term.width)
    ]
    boundaries = {
        int(index): Boundary(k, column, -0.5 * float(bent[index]))
        for index, (k, column) in zip(model.diagonals, columns, strict=True)
        if zero[index]
    }
    away = [
        index for index, boundary in boundaries.items() if boundary.derivative > 0.0
    ]
    if away:
        start = canonical.copy()
        start[away] = _AWAY
        restarted = maximise(model, objective, start, every, max_iter)
        assert restarted is not None
        return restarted, every, ()
    again = maximise(model, objective, canonical, ~zero, max_iter)
    if again is not None:
        maximum = replace(again, logliks=[*maximum.logliks, *again.logliks[1:]])
    return maximum, ~zero, tuple(boundaries.values())


def _canonical(model: MixedModel, psi: FloatArray) -> FloatArray:
    """psi with every Lambda replaced by the Cholesky factor of its covariance; a zero
    pivot gives a zero column.
    """
    out = psi.copy()
    start = model.n_fixed
    for term, Lambda in zip(
        model.terms, model.factors(psi[model.n_fixed :]), strict=True
    ):
        root = semidefinite_factor(Lambda @ Lambda.T) if term.correlated else Lambda
        out[start : start + term.n_phi] = root[term.entries]
        start += term.n_phi
    out[model.diagonals] = np.where(
        np.abs(out[model.diagonals]) < _SMALL, 0.0, out[model.diagonals]
    )
    out[_zeros(model, out)] = 0.0
    return out


def semidefinite_factor(matrix: FloatArray) -> FloatArray:
    """Lower triangular Cholesky factor, with a column of zeros for every
    pivot near 0.
    """
    remainder = matrix.copy()
    out = np.zeros_like(matrix)
    for j in range(len(matrix)):
        if remainder[j, j] > _SMALL**2:
            out[j:, j] = remainder[j:, j] / np.sqrt(remainder[j, j])
            remainder -= np.outer(out[:, j], out[:, j])
    return out


def _zeros(model: MixedModel, psi: FloatArray) -> BoolArray:
    """(P + m,) components in columns of Lambda whose diagonal is 0."""
    return np.concatenate(
        [np.zeros(model.n_fixed, dtype=np.bool_), psi[model.diagonal_of] == 0.0]
    )


# The penalty


def log_determinant(model: MixedModel, psi: FloatArray) -> float:
    """log det Lambda summed over the terms."""
    with np.errstate(divide="ignore"):
        return float(np.log(np.abs(psi[model.diagonals])).sum())


def penalised(model: MixedModel, objective: Objective) -> Objective:
    """An integrated log-likelihood with the penalty; None if a Lambda is singular."""
    diagonals = model.diagonals

    def evaluate(
        psi: FloatArray, start: list[FloatArray]
    ) -> IntegratedLikelihood | None:
        plain = objective(psi, start) if psi[diagonals].all() else None
        if plain is None:
            return None
        gradient = plain.gradient.copy()
        gradient[diagonals] += 1.0 / psi[diagonals]
        return replace(
            plain, loglik=plain.loglik + log_determinant(model, psi), gradient=gradient
        )

    return evaluate
