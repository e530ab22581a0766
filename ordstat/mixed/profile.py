"""What `LikelihoodFit.likelihood` answers for a fit with random effects: profiles, and scores of clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import UnavailableError
from ..likelihood.fit import Marginal
from ..likelihood.profile import NOT_REACHED, crossing
from .laplace import Evaluation
from .search import diagonals, quasi_newton

if TYPE_CHECKING:
    from .estimate import MarginalLikelihood

#: Evaluations at one value, and how exactly a limit has to have its deviance.
_MOST, _EXACT = 60, 1e-4
#: A standard deviation that tells whether one of 0 still belongs there.
_AWAY = 0.05
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
        """Where the deviance has risen by `drop` below (-1) or above (+1) the estimate, and why it is not finite."""
        functional = self._functional(place)
        if functional is None:
            return math.nan, BENT
        here, (a, is_deviation) = self.likelihood, functional
        centre, last = float(a @ here.at.psi), here.at
        sign = -1.0 if is_deviation and centre < 0.0 else 1.0  # a standard deviation is |a'psi|

        def deviance(value: float) -> float:
            nonlocal last
            held = None if is_deviation and sign * value < 0.0 else self._maximum(a, value, last)
            last = held or last
            return math.nan if held is None else 2.0 * (here.at.loglik - held.loglik)

        if is_deviation and direction < 0 and (centre == 0.0 or deviance(0.0) <= drop):
            return 0.0, ""
        last = here.at
        limit = crossing(deviance, centre, sign * direction * self._error(a), drop)
        if math.isnan(limit):
            return limit, NOT_REACHED
        return (sign * limit, "") if abs(deviance(limit) - drop) <= _EXACT else (math.nan, JUMP)

    def curve(self, place: int, values: FloatArray) -> FloatArray:
        """Maximised log-likelihood at values of the parameter; NaN where none is found."""
        functional = self._functional(place)
        if functional is None:
            raise UnavailableError(f"No profile: {BENT}.")
        a = functional[0]
        centre, logliks = float(a @ self.likelihood.at.psi), np.full(values.size, np.nan)
        for side in (np.flatnonzero(values >= centre), np.flatnonzero(values < centre)):
            at: Evaluation | None = self.likelihood.at
            for i in side[np.argsort(np.abs(values[side] - centre))]:
                at = None if at is None else self._maximum(a, float(values[i]), at)
                logliks[i] = math.nan if at is None else at.loglik
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
        return math.sqrt(variance) if variance > 0.0 else 0.5 * float(np.abs(a).max())

    def _maximum(self, a: FloatArray, value: float, near: Evaluation) -> Evaluation | None:
        """The maximum among psi with a'psi = value, from one near it; None where no start is inside the domain."""
        here = self.likelihood
        V = np.nan_to_num(here.inner_covariance)
        known = float(a @ V @ a) > 0.0
        along = V @ a if known else a
        B = V - np.outer(along, along) / float(a @ along) if known else V
        start = self._start(a, value, here.at, along) or self._start(a, value, near, along)
        if start is None:
            return None
        at = self._climb(start, B, a)
        # A variance at its boundary may want to be positive once the parameter has moved.
        away = np.zeros(a.size)
        away[here.model.n_fixed :][diagonals(here.model)] = _AWAY
        away[here.free | (a != 0.0) | (at.psi != 0.0)] = 0.0
        further = here.objective(at.psi + away, at.v) if away.any() else None
        return at if further is None or further.loglik <= at.loglik else self._climb(further, B, a)

    def _climb(self, start: Evaluation, B: FloatArray, a: FloatArray) -> Evaluation:
        """The maximum from a start, components of phi that have left their boundary free as well."""
        here = self.likelihood
        left: BoolArray = ~here.free & (start.psi != 0.0) & (a == 0.0)
        wider = B + np.diag(np.where(left, 0.1, 0.0))
        return quasi_newton(here.objective, start, wider, here.free | left, _MOST, [start.loglik], here.model.n_fixed)[
            0
        ]

    def _start(self, a: FloatArray, value: float, near: Evaluation, along: FloatArray) -> Evaluation | None:
        """By the linear prediction, or less of it for the other parameters where that leaves the domain."""
        move = along * ((value - float(a @ near.psi)) / float(a @ along))
        for shorter in (1.0, 0.5, 0.0):
            step = np.where(a != 0.0, move, shorter * move)
            step = step + a * ((value - float(a @ (near.psi + step))) / float(a @ a))
            start = self.likelihood.objective(near.psi + step, near.v)
            if start is not None:
                return start
        return None


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
