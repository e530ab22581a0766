"""Newton's method for the likelihood of a cumulative link model, with halving and damping.

Step: J step = score, J = negative Hessian. Where J is not positive definite (cauchit, scale effects, separated data)
its diagonal is raised until it is. The step is halved while it breaks the order of the thresholds or lowers the
log-likelihood. The order needs no reparametrisation: log p is its own barrier.
Where a cheaper evaluation of the score alone is given, short steps share the information [Shamanskii 1967], which is
taken anew where the step to come is negligible; the last evaluation then only confirms the score. A shared step whose
decrement is not a hundredth of the one before is the last such.
Stop: max |score| <= tol and decrement score' J^-1 score <= (tol / 1000)^2, which is the squared length of the step in
standard errors. Decrements below 1e-10 that no longer shrink to a quarter mean rounding or separation: stop too.
The score is a sum over the cases; where they weigh W < 1 together, tol and the decrements count in units of W, and
beyond W = 1e-14 tol^-1 rounding allows no more than max |score| = 1e-14 W.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError
from .blocks import Blocks, Factor

#: Derivatives as long as this overflow where they are multiplied.
_LARGEST = 1e150


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """Log-likelihood, score and information at one point.

    Attributes
    ----------
    loglik : float
    score_alpha : (K-1, m)
    score_rest : (q,)
    information : Blocks
    """

    loglik: float
    score_alpha: FloatArray
    score_rest: FloatArray
    information: Blocks

    @property
    def finite(self) -> bool:
        """Whether nothing has overflowed, nor would in a product."""
        blocks = self.information
        return (
            math.isfinite(self.loglik)
            and _bounded(self.score_alpha)
            and _bounded(self.score_rest)
            and _bounded(blocks.diagonal)
            and _bounded(blocks.rest)
        )

    @property
    def largest_score(self) -> float:
        rest = np.abs(self.score_rest).max() if self.score_rest.size else 0.0
        return float(max(np.abs(self.score_alpha).max(), rest))


def _bounded(values: FloatArray) -> bool:
    """Whether none is as long as to overflow in a product."""
    return bool(np.vdot(values, values) < _LARGEST**2)


#: Steps without a gain after which the search is given up.
_STALL = 6

#: A decrement that may be rounding where it shrinks no more.
_LITTLE = 1e-10

#: An information matrix that needed more damping than this is not that of a maximum; less may be rounding, as it is on
#: the way to an infinite estimate.
_INDEFINITE = 1e-6

#: Share of the total weight that is rounding in a sum of scores.
_ROUNDING = 1e-14

#: (alpha (K-1, m), rest (q,)) -> Evaluation, or None outside the domain (thresholds out of order).
Objective = Callable[[FloatArray, FloatArray], Evaluation | None]
#: The same at a point near one whose information is given, which it may return as its own.
Slope = Callable[[FloatArray, FloatArray, Blocks], Evaluation | None]

#: Lengths of steps, the root mean square by which they move the scores in units of the latent spread: up to _SAME in
#: all the information counts as unchanged (standard errors to 8 digits), up to _SHORT it serves for further steps.
_SAME, _SHORT = 1e-8, 0.01


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimum:
    """Where Newton's method stopped.

    Attributes
    ----------
    alpha : (K-1, m)
    rest : (q,)
    at : Evaluation
    information : Blocks
        Negative Hessian, its diagonal raised by the share `damping` where it was not positive definite.
    factor : Factor
        Factor of `information`.
    damping : float
    step_alpha, step_rest : the Newton step not taken any more, an estimate of the remaining error
    logliks : (iterations + 1,)
    decrements : (iterations + 1,)
    unit : float
        min(1, total weight), the unit of the decrements.
    tolerance : float
        Bound on max |score|.
    message : str
    """

    alpha: FloatArray
    rest: FloatArray
    at: Evaluation
    information: Blocks
    factor: Factor
    damping: float
    step_alpha: FloatArray
    step_rest: FloatArray
    logliks: FloatArray
    decrements: FloatArray
    unit: float
    tolerance: float
    message: str

    @property
    def iterations(self) -> int:
        return int(self.logliks.size) - 1

    @property
    def converged(self) -> bool:
        """Whether the search ended because the score vanished, by the tolerance or to rounding."""
        return self.message.startswith("converged")

    @property
    def indefinite(self) -> bool:
        """Whether the information is not that of a maximum, by more than rounding."""
        return self.damping > _INDEFINITE

    @property
    def slow(self) -> bool:
        """Whether decrements below 1 shrank only linearly for a while, as on the way to an infinite estimate."""
        before, after = self.decrements[:-1] / self.unit, self.decrements[1:] / self.unit
        linear = (before < 1.0) & (after > 1e-20) & (after > 0.05 * before)
        return bool(np.any(linear[:-1] & linear[1:]))


def positive_factor(blocks: Blocks) -> tuple[Blocks, Factor, float]:
    """The matrix with its diagonal raised as little as needed, its Cholesky factors, and the share it was raised by.

    Raises
    ------
    DataError
        The matrix holds values that are not finite.
    """
    used, factor, damping = blocks, blocks.factor(), 0.0
    while factor is None:
        damping = 1e-10 if damping == 0.0 else 10.0 * damping
        if damping > 1e20:
            raise DataError(
                "The information matrix must be finite; it is not at the values reached: "
                "rescale the columns, weights or offsets."
            )
        used = blocks.damped(damping)
        factor = used.factor()
    return used, factor, damping


def maximise(
    objective: Objective,
    alpha: FloatArray,
    rest: FloatArray,
    *,
    tol: float,
    max_iter: int,
    total_weight: float,
    slope: Slope | None = None,
    at: Evaluation | None = None,
) -> Optimum:
    """Maximise from a point inside the domain; formulas and stopping rule at the head of this file.

    Where the objective is known at that point, it is `at`.

    Raises
    ------
    DataError
        The log-likelihood has no finite value at the starting point.
    """
    at = objective(alpha, rest) if at is None else at
    if at is None:
        raise DataError(
            "The log-likelihood must be finite at the starting values (cumulative shares, no effects); it is not: "
            "weights or offsets are too large or too different in size; rescale them."
        )
    unit = min(1.0, total_weight)
    tolerance = max(tol * unit, _ROUNDING * total_weight)
    least = (1e-3 * tol) ** 2 * unit
    logliks: list[float] = [at.loglik]
    decrements: list[float] = []
    kept, age = None, 0.0  # the information in use, and how far from its point the iteration has moved
    while True:
        if at.information is not kept:
            kept, age = at.information, 0.0
            information, factor, damping = positive_factor(kept)
        step_alpha, step_rest = factor.solve(at.score_alpha, at.score_rest)
        decrements.append(float(np.vdot(step_alpha, at.score_alpha) + step_rest @ at.score_rest))
        if age > 0.0 and decrements[-1] > max(least, 0.01 * decrements[-2]):
            slope = None  # no short way to a maximum at infinity, or far off along a flat ridge
        near = decrements[-1] <= max(least, _LITTLE * unit)  # further off the score does not matter
        flat = near and at.largest_score <= tolerance
        message = stop_message(flat, decrements, least, unit, max_iter) or stalled(logliks)
        accepted = None
        if not message:
            length = float(np.sqrt(max(decrements[-1], 0.0) / total_weight))
            reuse = damping == 0.0 and _serves(age, length)
            use = _keeping(slope, kept) if slope is not None and reuse else objective
            accepted = uphill(use, alpha, rest, at, step_alpha, step_rest)
            message = "no step along the Newton direction improves the likelihood"
        if accepted is not None:
            alpha, rest, at = accepted
            logliks.append(at.loglik)
            age += length
        elif age > _SAME and (fresh := objective(alpha, rest)) is not None:
            at = fresh
            del decrements[-1]
        else:
            break
    return Optimum(
        alpha=alpha,
        rest=rest,
        at=at,
        information=information,
        factor=factor,
        damping=damping,
        step_alpha=step_alpha,
        step_rest=step_rest,
        logliks=np.array(logliks),
        decrements=np.array(decrements),
        unit=unit,
        tolerance=tolerance,
        message=message,
    )


def stop_message(flat: bool, decrements: list[float], least: float, unit: float, max_iter: int) -> str:
    """Why the iteration ends at this point, empty where it goes on."""
    last = decrements[-1]
    if flat and last <= least:
        return "converged"
    if len(decrements) > 1 and last <= _LITTLE * unit and last >= 0.25 * decrements[-2]:
        return "converged to rounding" if flat else "no further progress"
    return f"stopped after {max_iter} iterations" if len(decrements) > max_iter else ""


def stalled(logliks: list[float]) -> str:
    """A message where several steps in a row have raised the log-likelihood by rounding alone."""
    if len(logliks) <= _STALL or logliks[-1] - logliks[-1 - _STALL] > 1e-12 * (1.0 + abs(logliks[-1])):
        return ""
    return "no further progress"


def _keeping(slope: Slope, information: Blocks) -> Objective:
    """The objective on information that is at hand."""
    return lambda alpha, rest: slope(alpha, rest, information)


def _serves(age: float, length: float) -> bool:
    """Whether the information, `age` away from this point, serves at the end of a step of `length` too.

    A step on it leaves about length (age + length). New information is best taken where what is left counts as nothing.
    """
    moved = age + length
    return moved <= _SAME or (moved <= _SHORT and length * moved > _SAME)


def uphill(
    objective: Objective, alpha: FloatArray, rest: FloatArray, at: Evaluation, d_alpha: FloatArray, d_rest: FloatArray
) -> tuple[FloatArray, FloatArray, Evaluation] | None:
    """The longest of the steps 1, 1/2, 1/4, ... that keeps the domain and does not lower the log-likelihood."""
    least = at.loglik - 1e-13 * (1.0 + abs(at.loglik))
    for _ in range(50):
        trial_alpha, trial_rest = alpha + d_alpha, rest + d_rest
        trial = objective(trial_alpha, trial_rest)
        if trial is not None and trial.loglik >= least:
            return trial_alpha, trial_rest, trial
        d_alpha, d_rest = 0.5 * d_alpha, 0.5 * d_rest
    return None
