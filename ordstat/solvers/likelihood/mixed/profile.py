"""The profile likelihood of a fit with random effects: of fixed parameters and of standard deviations.

A parameter is a linear functional t = a'psi. The maximum at given t is sought by BFGS within {a'psi = t}, from the
linear prediction V a (t - t^) / a'V a and with V - V a a'V / a'V a for inverse: every step keeps t. Ends of intervals
are roots of the signed root of the deviance, which is nearly a line. l is even in a standard deviation, whose lower end
is 0 where the deviance at 0 is too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...._typing import FloatArray
from ....exceptions import UnavailableError
from .laplace import Evaluation
from .search import quasi_newton

if TYPE_CHECKING:
    from .estimate import MarginalLikelihood

#: Accuracy of the root of the deviance, steps towards an end, and evaluations at one value.
_ROOT, _STEPS, _MOST = 1e-7, 40, 60
FLAT = "the likelihood levels off before it has fallen far enough"
BENT = "it is no single element of a covariance factor: use type='wald'"


@dataclass(frozen=True, eq=False)
class MixedProfile:
    """Profiles by place: the estimated fixed parameters, then standard deviations and correlations as in `confint`.

    Attributes
    ----------
    likelihood : MarginalLikelihood
    """

    likelihood: MarginalLikelihood

    def end(self, place: int, direction: int, drop: float) -> tuple[float, str]:
        """Where the deviance has risen by `drop` below (-1) or above (+1) the estimate, and why it is infinite."""
        found = self._functional(place)
        if found is None:
            return float("nan"), BENT
        here, (a, even) = self.likelihood, found
        centre, target = float(a @ here.at.psi), float(np.sqrt(drop))
        sign = 1.0 if not even or centre >= 0.0 else -1.0  # a standard deviation is |t|
        wall = even and direction < 0 and here.penalised  # the penalised likelihood falls without end towards 0
        if even and direction < 0 and not wall and (centre == 0.0 or self._root(a, 0.0) <= target):
            return 0.0, ""
        step = sign * direction * self._error(a)
        reached = self._crossing(a, centre, step, target, abs(centre / step) if wall else np.inf)
        return (direction * np.inf, FLAT) if reached is None else (sign * reached, "")

    def curve(self, place: int, values: FloatArray) -> FloatArray:
        """Maximised log-likelihood at values of the parameter."""
        found = self._functional(place)
        if found is None:
            raise UnavailableError(f"No profile: {BENT}.")
        a, _ = found
        return np.array([self._maximum(a, float(value)).loglik for value in values])

    def _functional(self, place: int) -> tuple[FloatArray, bool] | None:
        """a, and whether the parameter is a standard deviation; None where it is no element of a covariance factor."""
        here, P = self.likelihood, self.likelihood.model.n_fixed
        if place < P:
            return here.to_user()[place], False
        row = _deviation_row(here, place - P)
        return None if row is None else (here.to_user()[row], True)

    def _error(self, a: FloatArray) -> float:
        """Standard error, or what the curvature at a boundary gives for one."""
        variance = float(a @ np.nan_to_num(self.likelihood.inner_covariance()) @ a)
        return float(np.sqrt(variance)) if variance > 0.0 else 0.5 * float(np.abs(a).max())

    def _root(self, a: FloatArray, value: float) -> float:
        """Root of the deviance at the best psi with a'psi = value."""
        fall = 2.0 * (self.likelihood.at.loglik - self._maximum(a, value).loglik)
        return float(np.sqrt(max(fall, 0.0)))

    def _crossing(self, a: FloatArray, centre: float, step: float, target: float, wall: float) -> float | None:
        """Where the root of the deviance is `target`, from the centre in the direction of the step.

        `wall` is the number of steps to where the root is infinite.
        """
        near, far = (0.0, 0.0), None if np.isinf(wall) else (wall, np.inf)
        length = min(target, 0.5 * wall)
        for _ in range(_STEPS):
            root = self._root(a, centre + length * step)
            if abs(root - target) <= _ROOT:
                return centre + length * step
            if root < target:
                near = length, root
            else:
                far = length, root
            if far is None:
                if length > 1e4 * target:
                    return None
                length *= min(max(1.05 * target / root, 1.2), 3.0) if root > 0.0 else 3.0
            else:
                share = 0.5 if np.isinf(far[1]) else (target - near[1]) / (far[1] - near[1])
                length = near[0] + min(max(share, 0.02), 0.98) * (far[0] - near[0])
        return centre + length * step

    def _maximum(self, a: FloatArray, value: float) -> Evaluation:
        """The maximum among psi with a'psi = value."""
        here = self.likelihood
        V = np.nan_to_num(here.inner_covariance())
        free = here.free | (a != 0.0)
        along = V @ a if float(a @ V @ a) > 0.0 else a
        B = V - np.outer(V @ a, V @ a) / float(a @ V @ a) if float(a @ V @ a) > 0.0 else V
        move = along * ((value - float(a @ here.at.psi)) / float(a @ along))
        start = None
        for shorter in (1.0, 0.5, 0.0):  # less of the prediction for the others, where that leaves the domain
            own = np.where(a != 0.0, move, shorter * move) if shorter < 1.0 else move
            own = own + a * ((value - float(a @ (here.at.psi + own))) / float(a @ a))
            start = here.objective(here.at.psi + own, here.at.v)
            if start is not None:
                break
        if start is None:
            raise ArithmeticError("the profile leaves the domain of the likelihood")
        logliks = [start.loglik]
        at, _ = quasi_newton(here.objective, start, B, free, _MOST, logliks, here.model.n_fixed)
        return at


def _deviation_row(likelihood: MarginalLikelihood, index: int) -> int | None:
    """Row of `to_user` of a standard deviation, by its place in the results' list; None of any other parameter."""
    model, start = likelihood.model, likelihood.model.n_fixed
    inverse = [model.order.index(place) for place in range(len(model.terms))]
    for k in inverse:
        term, (rows, columns) = model.terms[k], model.user_entries(k)
        q = term.width
        count = q + (q * (q - 1) // 2 if term.correlated else 0)
        if index < count:
            if index >= q or (rows == index).sum() > 1:
                return None
            return start + int(np.flatnonzero((rows == index) & (columns == index))[0])
        index, start = index - count, start + rows.size
    return None
