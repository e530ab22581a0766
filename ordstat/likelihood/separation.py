"""Separation: the directions along which estimates become infinite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..formula.row_blocks import row_blocks
from ..newton import Ended, Optimum
from .columns import TOLERANCE, ColumnScales, triangle_of
from .flexible import mirrored
from .many_levels import MOST_THRESHOLDS, check_not_separated
from .predictor import ModelRows
from .problem import Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Slack of one row, of columns with unit deviation, that counts as strict inequality.
_STRICT = 1e-5
#: Violations and components up to this are rounding of the linear programme.
_ROUNDING = 1e-7
#: Means of this many deviations are far from 0.
_FAR = 1e3
#: Rows added to the programme at a time, for each component of a direction.
_ROWS_SEPARATION = 3
#: Doubles of slacks held at once.
_BUFFER = 1 << 20
#: Components of unit vectors below this are rounding.
_NOTHING = 1e-12
#: Decimals to which two rises count as the same.
_PLACES = 9
#: A probability that counts as 0 beside 1, and the farthest end for links whose tails
#: fall slowly.
_IMPOSSIBLE = 1e-17
_FARTHEST = 1e6
#: The largest log scale that is followed.
_WIDEST = 10.0
#: A coefficient or standard error this large, for a column of unit deviation, starts
#: the linear programme.
_LARGE_EFFECT = 10.0
_LARGE_ERROR = 5.0


@dataclass(frozen=True, eq=False)
class Recession:
    """Directions of recession, along which the likelihood never decreases because ends
    of rows move outwards [Geyer 2009, sec. 3].

    Attributes
    ----------
    moves : (P', r)
        A basis of the directions, in the solver's coordinates; finite ends do not
        change along them.
    slopes : (g, r)
        Rates at which the other ends increase along the basis, each row of length 1.
    inside : (r,)
        A direction along which all of these ends increase.
    least : float
        The multiple of `inside` after which every row has probability 1.
    """

    moves: FloatArray
    slopes: FloatArray
    inside: FloatArray
    least: float


def recession(problem: Problem, optimum: Optimum) -> Recession | None:
    """The directions of recession; None if all estimates are finite.

    Ends that move outwards become infinite. The remaining ends may move along further
    directions [Geyer 2009].

    Raises
    ------
    DataError
        Estimates are, or may be, infinite, and there are more than MOST_THRESHOLDS
        thresholds.
    """
    if not suspicious(optimum) or (problem.in_blocks and at_rest(problem, optimum)):
        return None
    if optimum.factor.V.shape[0] > MOST_THRESHOLDS:
        check_not_separated(problem)
        return None
    ends = row_ends(problem, optimum.x)
    guess = ends.coordinates(optimum.x)
    finite = np.ones(ends.slack.shape[0], dtype=bool)
    direction = np.zeros(ends.slack.shape[1])
    while finite.any():
        further = _direction(ends.slack[np.flatnonzero(finite)], guess)
        if further is None:
            break
        direction = _joined(ends.slack, ~finite, direction, further)
        finite &= ends.slack @ further <= _STRICT
    if finite.all():
        return _level(ends)
    basis = _null_space(ends.slack[np.flatnonzero(finite)])
    rises = ends.slack[np.flatnonzero(~finite)] @ basis
    unit = rises / np.linalg.norm(rises, axis=1, keepdims=True)
    inside = basis.T @ direction
    beyond = ends.certain[~finite] - ends.slack[np.flatnonzero(~finite)] @ guess
    return Recession(
        moves=ends.back @ basis,
        slopes=np.unique(np.round(unit, _PLACES), axis=0),
        inside=inside,
        least=max(float((beyond / (rises @ inside)).max()), 0.0),
    )


def _level(ends: Ends) -> Recession | None:
    """The moves that change no end, where none rises: thresholds that no row of a
    nominal effect lies beside.
    """
    basis = _null_space(ends.slack)
    if not basis.size:
        return None
    rank = basis.shape[1]
    return Recession(
        moves=ends.back @ basis,
        slopes=np.zeros((0, rank)),
        inside=np.zeros(rank),
        least=0.0,
    )


def _direction(slack: csr_array, guess: FloatArray) -> FloatArray | None:
    """(B,) a direction along which as many ends as possible rise, and none falls; None
    if none rises.
    """
    direction = np.zeros(slack.shape[1])
    level = np.ones(slack.shape[0], dtype=bool)
    # a row without slack in the first solution may have slack in another
    while level.any():
        total = np.asarray(
            slack[np.flatnonzero(level)].sum(axis=0), dtype=np.float64
        ).reshape(-1)
        farthest = _farthest(slack, total, guess)
        slacks = slack @ farthest
        if slacks[level].max() <= _STRICT or slacks.min() < -_ROUNDING:
            break
        direction = direction + farthest
        level = level & (slacks <= _STRICT)
    return direction if direction.any() else None


def _joined(
    slack: csr_array, infinite: BoolArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    """A direction along which the ends that rise along either rise."""
    if not infinite.any():
        return second
    rises, falls = (
        slack[np.flatnonzero(infinite)] @ direction for direction in (first, second)
    )
    share = 0.5 * float((rises / np.maximum(-falls, rises)).min())
    return first + share * second


def _null_space(slack: csr_array) -> FloatArray:
    """(B, r) orthonormal basis of the moves that change none of the ends."""
    width = slack.shape[1]
    blocks = row_blocks(slack.shape[0], width, _BUFFER)
    triangle = triangle_of((slack[some].toarray() for some in blocks), width)
    _, sizes, axes = np.linalg.svd(triangle, full_matrices=True)
    rank = int(np.count_nonzero(sizes > TOLERANCE * sizes.max(initial=1.0)))
    basis = axes[rank:].T
    return np.where(np.abs(basis) > _NOTHING, basis, 0.0)


#: A predictor that the next step moves by less has come to rest. Towards an infinite
#: estimate every step moves one by about 1, or by 1 / eta or exp(-eta) under links with
#: light tails.
_AT_REST = 1e-3


def at_rest(problem: Problem, optimum: Optimum) -> bool:
    """Whether the next step changes no predictor of the rows in memory, so that the
    search ended in a maximum.

    If few rows are in memory, other rows may contradict a direction that separates
    these.
    """
    if optimum.damping > 0.0 or not optimum.converged:
        return False
    rows = problem.rows.model_rows(slice(None))
    before, after = (
        _predictors(problem, rows, x) for x in (optimum.x, optimum.x + optimum.step)
    )
    return bool(np.abs(after - before).max() < _AT_REST)


def _predictors(problem: Problem, rows: ModelRows, x: FloatArray) -> FloatArray:
    """(n, K-1) at a point in the solver's coordinates."""
    return problem.rows.predictor(rows, problem.full(x)).eta()


def suspicious(optimum: Optimum) -> bool:
    """Whether convergence was slow or failed, or an effect or a standard error is huge;
    rare in ordinary data.
    """
    factor = optimum.factor
    effects = optimum.x[factor.V.shape[0] :]
    return (
        optimum.slow
        or optimum.ended is not Ended.CONVERGED
        or optimum.damping > 0.0
        or bool((np.abs(effects) > _LARGE_EFFECT).any())
        or bool((factor.schur_inverse.diagonal() > _LARGE_ERROR**2).any())
        # of a threshold, those after it held
        or bool(1.0 / factor.band[0].min() > _LARGE_ERROR)
    )


def _farthest(slack: csr_array, total: FloatArray, guess: FloatArray) -> FloatArray:
    """(B,) where total'x is largest, all slacks being at least 0; 0 if the programme
    fails.

    Few rows determine the optimum: the programme begins with the rows of least slack at
    the estimates `guess`, and adds the rows that its solution violates.
    """
    from scipy.optimize import linprog

    used = np.argsort(slack @ guess, kind="stable")[: _ROWS_SEPARATION * guess.size]
    while True:
        solution = linprog(  # type: ignore[call-overload]  # the stubs know no sparse arrays
            -total,
            A_ub=-slack[used],
            b_ub=np.zeros(used.size),
            bounds=(-1.0, 1.0),
            method="highs",
            options={
                "primal_feasibility_tolerance": 1e-9,
                "dual_feasibility_tolerance": 1e-9,
            },
        )
        if solution.x is None:
            return np.zeros(guess.size)
        slacks = slack @ solution.x
        slacks[used] = 0.0
        broken = np.flatnonzero(slacks < -_ROUNDING)
        if not broken.size:
            return np.where(np.abs(solution.x) < _ROUNDING, 0.0, solution.x)
        worst = broken[
            np.argsort(slacks[broken], kind="stable")[: _ROWS_SEPARATION * guess.size]
        ]
        used = np.concatenate([used, worst])


@dataclass(frozen=True, eq=False)
class Ends:
    """The finite ends of the intervals of all rows, as linear functions whose increase
    makes the row more probable.

    Attributes
    ----------
    slack : (R, B)
        Coefficients on thresholds and location effects, for columns that are scaled but
        not centred, so that zeros stay 0.
    back : (P', B)
        The map back to the solver's coordinates.
    rows : (R,)
        The row of each end.
    offset : (R,)
        Contribution of the offset of the row.
    tau : (R,)
        The log scale of the row.
    far : float
        Ends beyond this many scale units no longer matter for the probability of a row.
    """

    slack: csr_array
    back: FloatArray
    rows: IntArray
    offset: FloatArray
    tau: FloatArray
    far: float

    @property
    def certain(self) -> FloatArray:
        """(R,) value from which an end no longer matters, for scales >= 1."""
        return self.far * np.exp(np.clip(self.tau, 0.0, _WIDEST)) + self.offset

    def coordinates(self, x: FloatArray) -> FloatArray:
        """(B,) coordinates of a point (P',)."""
        return np.asarray(np.linalg.lstsq(self.back, x, rcond=None)[0])

    def values(self, x: FloatArray) -> FloatArray:
        """(R,) values of the ends at a point (P',), in scale units."""
        distances = self.slack @ self.coordinates(x) - self.offset
        return distances * np.exp(-self.tau)


def row_ends(problem: Problem, x: FloatArray) -> Ends:
    """The ends of the rows of a problem, with the log scales of a point x."""
    rows = problem.rows.model_rows(slice(None))
    count, m = problem.rows.shape
    size = count * m
    p = rows.x.shape[1]
    observed = _observed(problem)
    if problem.structure is not None:
        n_others = len(problem.expansion) - size - p  # log scale and lambda
        used = problem.n_parameters - n_others
        slack = _slack_matrix(rows.x, rows.w, count, observed)
        slack = type(slack)(slack @ problem.expansion[: size + p, :used])
        back = np.eye(problem.n_parameters, used)
    else:
        location, nominal = (
            _shift(columns) for columns in (problem.rows.location, problem.rows.nominal)
        )
        slack = _slack_matrix(
            _moved(rows.x, location),
            _moved(rows.w, np.append(0.0, nominal)),
            count,
            observed,
        )
        back = np.eye(problem.n_parameters, size + p)
        for j, shift in enumerate(nominal, 1):
            back[range(0, size, m), range(j, size, m)] = shift
        back[:size:m, size:] = -location
    tau = rows.z @ x[problem.layout.of_scale] + rows.scale_offset
    # in the order of `_slack_matrix`
    places = np.concatenate([here for here, lines in observed for _ in lines])
    sums = [
        np.full(here.size, line.sum()) for here, lines in observed for line in lines
    ]
    return Ends(
        slack=slack,
        back=back,
        rows=places,
        offset=np.concatenate(sums) * rows.offset[places],
        tau=tau[places],
        far=_certain_from(problem),
    )


class Observed(NamedTuple):
    """Rows with the same answer.

    Attributes
    ----------
    rows : (n,) positions
    lines : (S, K-1)
        See `Family.recession`.
    """

    rows: IntArray
    lines: FloatArray


def _observed(problem: Problem) -> list[Observed]:
    """The rows of each answer, with the lines along which it becomes more probable.

    A censored answer has the upper ends of its highest level and the lower ends of its
    lowest one.
    """
    sample = problem.sample
    lines = problem.family.recession(sample.n_levels)
    if sample.highest is None:
        return [
            Observed(np.flatnonzero(sample.y == level), of_level)
            for level, of_level in enumerate(lines)
        ]
    answers, codes = np.unique(sample.answers, axis=1, return_inverse=True)
    codes = codes.reshape(-1)
    observed = []
    for code, (low, high) in enumerate(answers.T):
        upper = lines[high][lines[high].sum(axis=1) > 0.0]
        lower = lines[low][lines[low].sum(axis=1) < 0.0]
        here = np.flatnonzero(codes == code)
        observed.append(Observed(here, np.vstack([upper, lower])))
    return observed


def _certain_from(problem: Problem) -> float:
    """How many spreads away an end leaves its row certain."""
    link = problem.family.link
    share = np.array([_IMPOSSIBLE])
    far = -min(float(link.ppf(share)[0]), float(mirrored(link).ppf(share)[0]))
    return min(far, _FARTHEST)


def _slack_matrix(
    X: FloatArray, nominal: FloatArray, n_thresholds: int, observed: list[Observed]
) -> csr_array:
    """One row for each line of each row's answer: how fast a'eta rises along (alpha,
    beta).

    Parameters
    ----------
    X : (N, p)
    nominal : (N, m)
    n_thresholds : int
    observed : list of Observed
    """
    from scipy.sparse import csr_array, hstack

    m = nominal.shape[1]
    values = []
    columns = []
    sizes = []
    effects = []
    for rows, lines in observed:
        for a in lines:
            places = np.flatnonzero(a)
            values.append((nominal[rows][:, None, :] * a[places][:, None]).ravel())
            of_row = (places[:, None] * m + np.arange(m)).ravel()
            columns.append(np.tile(of_row, rows.size))
            sizes.append(np.full(rows.size, of_row.size))
            effects.append(-a.sum() * X[rows])
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    of_alpha = csr_array(
        (np.concatenate(values), np.concatenate(columns), starts),
        (starts.size - 1, n_thresholds * m),
    )
    return csr_array(hstack([of_alpha, csr_array(np.vstack(effects))]))


def _shift(columns: ColumnScales) -> FloatArray:
    """Means per deviation; 0 for columns so far from 0 that rounding would make them
    constant.
    """
    shift = columns.mean / columns.deviation
    return np.where(np.abs(shift) < _FAR, shift, 0.0)


def _moved(columns: FloatArray, shift: FloatArray) -> FloatArray:
    """Scaled columns with their means added back; values that were 0 are exactly 0
    again.
    """
    moved = columns + shift
    return np.where(np.abs(moved) > 1e-12, moved, 0.0)
