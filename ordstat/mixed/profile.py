"""The likelihood of a fit with random effects, for what asks `LikelihoodFit.likelihood`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import UnavailableError
from ..likelihood.fit import Marginal
from .laplace import Evaluation
from .search import diagonals, quasi_newton

if TYPE_CHECKING:
    from .estimate import MarginalLikelihood

#: Accuracy of the root of the deviance, steps towards an end, and evaluations at one value.
_ROOT, _STEPS, _MOST = 1e-7, 60, 60
#: Lengths, in standard errors, from which a profile is flat, and so short that no maximum within them means an edge.
_FAR, _NEAR = 1e4, 1e-6
#: Standard errors, for every unit that the root rises by, within which it does not rise but jump.
_JUMP = 0.02
#: A standard deviation that tells whether one of 0 still belongs there.
_AWAY = 0.05
FLAT = "the likelihood levels off before it has fallen far enough"
EDGE = "the profile could not be followed to where the likelihood has fallen far enough"
JUMP = "modes of random effects jump on its way: use more quadrature nodes"
BENT = (
    "only the first standard deviation of a random term, and one without correlations, has a profile: take "
    "bootstrap(), or use type='wald'"
)


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
        if even and direction < 0 and not wall and (centre == 0.0 or self._root(self._maximum(a, 0.0)) <= target):
            return 0.0, ""
        step = sign * direction * self._error(a)
        reached, reason = self._crossing(a, centre, step, target, abs(centre / step) if wall else np.inf)
        return (direction * np.inf if reason == FLAT else sign * reached), reason

    def span(self, place: int) -> tuple[float, float]:
        """The values that `curve` knows."""
        return -np.inf, np.inf

    def curve(self, place: int, values: FloatArray) -> FloatArray:
        """Maximised log-likelihood at values of the parameter; NaN where none is found."""
        found = self._functional(place)
        if found is None:
            raise UnavailableError(f"No profile: {BENT}.")
        a, _ = found
        centre, logliks = float(a @ self.likelihood.at.psi), np.full(values.size, np.nan)
        for side in (values >= centre, values < centre):
            at = self.likelihood.at
            for place in np.flatnonzero(side)[np.argsort(np.abs(values[side] - centre))]:
                held = self._maximum(a, float(values[place]), at)
                if held is None:
                    break
                at, logliks[place] = held, held.loglik
        return logliks

    def _functional(self, place: int) -> tuple[FloatArray, bool] | None:
        """a, and whether the parameter is a standard deviation; None where it is no element of a covariance factor."""
        here, P = self.likelihood, self.likelihood.model.n_fixed
        if place < P:
            return here.to_user[place], False
        row = _deviation_row(here, place - P)
        return None if row is None else (here.to_user[row], True)

    def _error(self, a: FloatArray) -> float:
        """Standard error, or what the curvature at a boundary gives for one."""
        variance = float(a @ np.nan_to_num(self.likelihood.inner_covariance) @ a)
        return float(np.sqrt(variance)) if variance > 0.0 else 0.5 * float(np.abs(a).max())

    def _root(self, held: Evaluation | None) -> float:
        """Root of the deviance of a constrained maximum."""
        if held is None:
            return float("inf")
        return float(np.sqrt(max(2.0 * (self.likelihood.at.loglik - held.loglik), 0.0)))

    def _crossing(self, a: FloatArray, centre: float, step: float, target: float, wall: float) -> tuple[float, str]:
        """Where the root of the deviance is `target`, from the centre in the direction of the step; or why it is not.

        `wall` is the number of steps to where the root is infinite.
        """
        near, at, far = (0.0, 0.0), self.likelihood.at, None if np.isinf(wall) else (wall, np.inf)
        length = min(target, 0.5 * wall)
        for _ in range(_STEPS):
            held = self._maximum(a, centre + length * step, at)
            if held is None:  # too far from the last maximum, or beyond the domain
                if length - near[0] < _NEAR:
                    return float("nan"), EDGE
                length = near[0] + 0.25 * (length - near[0])
                continue
            root = self._root(held)
            if abs(root - target) <= _ROOT:
                return centre + length * step, ""
            if root < target:
                near, at = (length, root), held
            else:
                far = length, root
            if far is not None and far[0] - near[0] < _JUMP * (far[1] - near[1]) < np.inf:
                return float("nan"), JUMP
            if far is None and length > _FAR * target:
                return float("nan"), FLAT
            length = _longer(length, root, target) if far is None else _between(near, far, target)
        return (float("nan"), EDGE) if far is None else (centre + length * step, "")

    def _maximum(self, a: FloatArray, value: float, near: Evaluation | None = None) -> Evaluation | None:
        """The maximum among psi with a'psi = value, from one near it; None where no start is inside the domain."""
        here, near = self.likelihood, near or self.likelihood.at
        V = np.nan_to_num(here.inner_covariance)
        known = float(a @ V @ a) > 0.0
        along = V @ a if known else a
        B = V - np.outer(along, along) / float(a @ along) if known else V
        start = self._start(a, value, here.at, along) or self._start(a, value, near, along)
        if start is None:
            return None
        at = self._climb(start, B, ~here.free & (start.psi != 0.0) & (a == 0.0))
        return at if here.free.all() else self._left(at, a, B)

    def _climb(self, start: Evaluation, B: FloatArray, left: BoolArray) -> Evaluation:
        """The maximum from a start, components of phi that have left their boundary free as well."""
        here, wider = self.likelihood, B + np.diag(np.where(left, 0.1, 0.0))
        return quasi_newton(here.objective, start, wider, here.free | left, _MOST, [start.loglik], here.model.n_fixed)[
            0
        ]

    def _start(self, a: FloatArray, value: float, near: Evaluation, along: FloatArray) -> Evaluation | None:
        """By the linear prediction, or less of it for the other parameters where that leaves the domain."""
        move = along * ((value - float(a @ near.psi)) / float(a @ along))
        for shorter in (1.0, 0.5, 0.0):
            own = np.where(a != 0.0, move, shorter * move)
            own = own + a * ((value - float(a @ (near.psi + own))) / float(a @ a))
            start = self.likelihood.objective(near.psi + own, near.v)
            if start is not None:
                return start
        return None

    def _left(self, at: Evaluation, a: FloatArray, B: FloatArray) -> Evaluation:
        """The maximum again where a variance at its boundary wants to be positive once the parameter has moved."""
        here = self.likelihood
        away = np.zeros(a.size)
        away[here.model.n_fixed :][diagonals(here.model)] = _AWAY
        away[here.free | (a != 0.0)] = 0.0
        away[at.psi != 0.0] = 0.0
        moved = here.objective(at.psi + away, at.v) if away.any() else None
        if moved is None or moved.loglik <= at.loglik:
            return at
        return self._climb(moved, B, ~here.free & (moved.psi != 0.0) & (a == 0.0))


def _longer(length: float, root: float, target: float) -> float:
    """Where the root would be a little above its target if it were a line through the estimate."""
    return length * (min(max(1.05 * target / root, 1.2), 3.0) if root > 0.0 else 3.0)


def _between(near: tuple[float, float], far: tuple[float, float], target: float) -> float:
    """Where the line between two lengths and their roots has the target."""
    share = 0.5 if np.isinf(far[1]) else (target - near[1]) / (far[1] - near[1])
    return near[0] + min(max(share, 0.02), 0.98) * (far[0] - near[0])


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


@dataclass(frozen=True, eq=False)
class MarginalAtEstimates:
    """Scores of clusters of whole groups, and profiles; other questions are refused in `results/` before they get here.

    Attributes
    ----------
    marginal : Marginal
        The random effects; its `likelihood` is what new questions build upon.
    """

    marginal: Marginal

    def score_products(self, cluster: IntArray) -> FloatArray:
        """(P' + m', P' + m') sum of outer products of the scores of clusters of whole groups."""
        codes = np.unique(cluster, return_inverse=True)[1]
        scores = self.score_totals(codes, int(codes.max()) + 1)
        return scores.T @ scores

    def score_totals(self, codes: IntArray, n_groups: int) -> FloatArray:
        """(G, P' + m') scores of clusters of whole groups, by the parameters of the user."""
        here = self.marginal.likelihood
        return np.asarray(here.scores(codes, n_groups) @ here.from_user())

    def profile(self) -> MixedProfile:
        """The profile likelihood of fixed parameters and standard deviations."""
        return MixedProfile(self.marginal.likelihood)
