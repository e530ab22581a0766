"""The end of an ascent: the optimum over the dual variables strictly inside their boxes, by one linear system.

Once the right variables are at their bounds, the others F solve the stationarity conditions

    (G d)_n + b - theta_k = Y_nk - f_n    for (n, k) in F,  d the change of u,

with theta_k = -gamma^2 s_k, or theta free and the change of s given, and sum beta = 0. A variable that would leave its
box is held on the bound, and the rest is solved anew. The answer is exact where coordinate ascent or an interior
point would need many further steps; whether it is better than the start, its certificate says. `Finish` says when an
ascent tries to end so, and when it is hopeless.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf, dpotrs

from ..._typing import FloatArray, IntArray
from .dual import DualSolution, ExtendedDual, certify

# Free variables beyond which a factorisation takes longer than what it saves.
_MOST_FREE = 4000
# Solves, each with more of the variables held.
_ROUNDS = 6
# Where more than this share of the variables would leave their boxes at once, the free ones are not yet the right ones.
_UNSETTLED = 0.1
# Added to the diagonal, as a share of its largest element: repeated rows make the system singular.
_REGULAR = 1e-10
# Solves of one system, the later ones for what the regularisation left.
_REFINED = 3
# What an update of a score costs, in multiplications of a factorisation; the factorisations of an attempt to finish by
# the free variables, and what goes with them, in epochs.
_UPDATE, _SOLVES, _AROUND = 2.0, 1.5, 20.0
# Relative gap of the first attempt, at most, and the share by which the number of free variables may then change from
# one certificate to the next: they are mostly the right ones. The share of the gap of a failed attempt at which the
# next one is made.
_POLISH, _STEADY, _AGAIN = 0.3, 0.05, 0.4
# An attempt whose gain in the dual value is this share of the gap, or which leaves at most that share of the gap, is
# followed by another: that frees what the first wrongly put onto a bound.
_GAIN, _LEFT = 0.05, 0.5
# From this gap on the free variables will finish; an ascent is hopeless where its pace asks for so many times the
# epochs left to get there.
_END, _HOPELESS = 1e-3, 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Polished:
    """A certified point, with the solver's own offset and thresholds (Q,)."""

    solution: DualSolution
    b: float
    theta: FloatArray


class _System:
    """The linear system M d + B m = r, B' d = -e of the free variables' change d (F,).

    M is G, plus gamma^2 where two variables share a threshold. `B` (F, R) holds the effect of what else is unknown: b,
    or the free thresholds, then the multipliers of the variables held on a bound, so that one factorisation serves all
    rounds. Thresholds that are tied by their order count as one.

    Parameters
    ----------
    problem : ExtendedDual
    point : DualSolution
    rows, columns : (F,) the free variables

    Raises
    ------
    numpy.linalg.LinAlgError
        The system is singular in spite of the regularisation.
    """

    def __init__(self, problem: ExtendedDual, point: DualSolution, rows: IntArray, columns: IntArray) -> None:
        self.problem = problem
        # At the optimum thresholds that the order keeps apart differ, those that it ties are equal.
        steps = np.diff(point.theta) > 0 if problem.ordered else np.ones(point.theta.size - 1)
        self.group = np.concatenate([[0], np.cumsum(steps)]).astype(np.intp)
        self.n_groups = int(self.group[-1]) + 1
        # theta_g = -pull_g s_g minimises the penalty of a group.
        self.pull = np.zeros(self.n_groups) if problem.free else problem.gamma**2 / np.bincount(self.group)
        s, own = self.totals(point.u), self.group[columns]
        shared = own[:, None] == own
        M = problem.gram.block(rows)
        if not problem.free:
            np.add(M, self.pull[own], out=M, where=shared)
        scale = float(M.diagonal().max())
        # B'd is known, so that its square may be added: it tells the variables of one row apart, which M may not.
        np.add(M, scale, out=M, where=shared if problem.free else True)
        member = own[:, None] == np.arange(self.n_groups)
        self.B = member.astype(np.float64) if problem.free else np.ones((own.size, 1))
        self.excess = s if problem.free else s.sum(keepdims=True)
        self.n_unknown = self.excess.size
        self.right = problem.labels[rows, columns] - point.scores[rows] - (self.pull * s)[own]
        self.right -= scale * self.B @ self.excess
        self._factorise(M, _REGULAR * scale)
        self.MB = self._solved(self.B)

    def _factorise(self, M: FloatArray, lift: float) -> None:
        """Put the factor of M + lift I into one triangle of M; the other stays as it is, but for the diagonal."""
        diagonal = M.diagonal().copy()
        M[np.diag_indices_from(M)] += lift
        self.factor, failed = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError("the system of the free variables is singular")
        self.lost = diagonal - self.factor.diagonal()

    def _product(self, d: FloatArray) -> FloatArray:
        """M d."""
        return np.asarray(dsymv(1.0, self.factor, d, lower=0) + self.lost * d)

    def _solved(self, right: FloatArray) -> FloatArray:
        return np.asarray(dpotrs(self.factor, right, lower=1)[0])

    def totals(self, u: FloatArray) -> FloatArray:
        """(R,) sums of u (N, Q) over the thresholds of a group."""
        return np.asarray(np.bincount(self.group, weights=u.sum(axis=0), minlength=self.n_groups).astype(np.float64))

    def hold(self, places: IntArray, changes: FloatArray) -> None:
        """From now on some variables change by so much."""
        held = np.zeros((self.right.size, places.size))
        held[places, np.arange(places.size)] = 1.0
        self.B, self.MB = np.hstack([self.B, held]), np.hstack([self.MB, self._solved(held)])
        self.excess = np.concatenate([self.excess, -changes])

    def change(self) -> tuple[FloatArray, FloatArray]:
        """The change d (F,) of the free variables, and the multipliers: b, or minus theta_g."""
        inverse = np.linalg.pinv(self.B.T @ self.MB)
        d, multipliers = np.zeros(self.right.size), np.zeros(self.excess.size)
        for _ in range(_REFINED):
            part = self._solved(self.right - self._product(d) - self.B @ multipliers)
            step = inverse @ (self.B.T @ (part + d) + self.excess)
            d += part - self.MB @ step
            multipliers += step
        return d, multipliers[: self.n_unknown]

    def thresholds(self, u: FloatArray, multipliers: FloatArray) -> FloatArray:
        """(Q,) theta of the solve."""
        grouped = -multipliers if self.problem.free else -self.pull * self.totals(u)
        return np.asarray(grouped[self.group])


def free_variables(problem: ExtendedDual, C: float, point: DualSolution) -> int:
    """How many variables of a point are strictly inside their boxes."""
    size = np.abs(point.u)
    return int(np.count_nonzero((size > 0.0) & (size < C * problem.weights)))


def polished(problem: ExtendedDual, C: float, point: DualSolution) -> Polished | None:
    """The optimum over the free variables of a point.

    None where they are too many or not yet the right ones, or the system is singular.
    """
    size = np.abs(point.u)
    caps = C * problem.weights
    rows, columns = np.nonzero((size > 0.0) & (size < caps))
    if not 0 < rows.size <= _MOST_FREE:
        return None
    try:
        system = _System(problem, point, rows, columns)
    except np.linalg.LinAlgError:
        return None
    start, room = point.u[rows, columns], caps[rows, columns]
    bottom = np.where(problem.labels[rows, columns] > 0, 0.0, -room)
    placed, held = start, np.zeros(rows.size, dtype=np.bool_)
    for _ in range(_ROUNDS):
        d, multipliers = system.change()
        wanted = np.where(held, placed, start + d)
        placed = np.clip(wanted, bottom, bottom + room)
        leaving = np.flatnonzero(wanted != placed)
        if leaving.size > _UNSETTLED * rows.size:
            return None
        if not leaving.size:
            break
        held[leaving] = True
        system.hold(leaving, (placed - start)[leaving])
    u = point.u.copy()
    u[rows, columns] = placed
    theta = system.thresholds(u, multipliers)
    b = 0.0 if problem.free else float(multipliers[0])
    return Polished(solution=certify(problem, C, u, theta), b=b, theta=theta)


class Finish:
    """Follows the certificates of one ascent and makes its attempts.

    Parameters
    ----------
    problem : ExtendedDual
    C, tol : float
        The relative duality gap `tol` is the ascent's aim.

    Attributes
    ----------
    again : bool
        Whether the last attempt gained so much that the next certificate is followed by another one.
    """

    def __init__(self, problem: ExtendedDual, C: float, tol: float) -> None:
        self.problem, self.C, self.tol = problem, C, tol
        self.again = False
        self._below = _POLISH
        self._free, self._steady = 0, False
        self._epoch, self._gap, self._falls = 0, np.inf, np.inf

    def note(self, epoch: int, point: DualSolution) -> None:
        """Take down the certified point after an epoch."""
        fell = 0.0 < point.gap < self._gap
        self._falls = float(np.log(self._gap / point.gap)) / (epoch - self._epoch) if fell else 0.0
        self._epoch, self._gap = epoch, point.gap
        before, self._free = self._free, free_variables(self.problem, self.C, point)
        self._steady = abs(self._free - before) <= _STEADY * before

    def hopeless(self, left: int) -> bool:
        """Whether so many further epochs will not do, at the pace between the last two certificates."""
        return self._epochs_to(max(self.tol, _END)) > _HOPELESS * left

    def due(self) -> bool:
        """Whether to try now: the free variables are about the right ones, and epochs would take longer."""
        return self.tol < self._gap < self._below and (self.again or (self._steady and self._slow()))

    def attempt(self, point: DualSolution) -> tuple[DualSolution, Polished | None]:
        """The better of the point and its polished form, and the latter if its dual value is the higher."""
        found = polished(self.problem, self.C, point)
        better, self.again = point, False
        if found is not None and found.solution.dual > point.dual:
            better = min(point, found.solution, key=lambda p: p.gap)
            gain = found.solution.dual - point.dual
            self.again = gain > _GAIN * (point.primal - point.dual) or better.gap <= _LEFT * point.gap
        else:
            found = None
        self._gap = better.gap
        self._below = np.inf if self.again else _AGAIN * better.gap
        return better, found

    def _epochs_to(self, target: float) -> float:
        """Epochs to a gap from here; infinite where the gap did not fall."""
        if self._gap <= target:
            return 0.0
        return float(np.log(self._gap / target)) / self._falls if self._falls > 0.0 else np.inf

    def _slow(self) -> bool:
        """Whether the epochs left take longer than a linear system of the free variables."""
        epoch = _UPDATE * self.problem.gram.n * self.problem.gram.rank_limit
        return self._epochs_to(self.tol) * epoch > _SOLVES * self._free**3 / 3.0 + _AROUND * epoch
