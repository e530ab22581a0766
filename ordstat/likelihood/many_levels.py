"""Separation among very many levels, found without a matrix of all pairs of them.

Location effects are infinite along b if no row has a larger score x'b than a row with a
higher answer, and some scores differ: thresholds between them can follow. The linear
programme of `separation.py` then needs the effects alone.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import DataError, SeparatedError
from .problem import Problem

#: With more thresholds the limiting model, which has a matrix of all pairs of
#: parameters, takes minutes.
MOST_THRESHOLDS = 300
#: Scores, of columns with unit deviation, that differ by more are not rounding.
_APART = 1e-5
#: Violations up to this are rounding of the linear programme.
_ROUNDING = 1e-7
#: Pairs of rows added to the programme at a time, for each column.
_PAIRS = 5


def check_not_separated(problem: Problem) -> None:
    """Raise an error if the columns separate the levels of the rows.

    Raises
    ------
    SeparatedError
        Some location effects are infinite, or the search does not converge for nominal
        effects.
    DataError
        The search does not converge for a model that is not cumulative.
    """
    if problem.sample.rows.nominal is not None:
        raise SeparatedError(problem.nominal.kept.astype(np.float64), nominal=True)
    if not _by_effects_alone(problem):
        raise DataError(
            "The response must have at most"
            f" {MOST_THRESHOLDS + 1} levels where the search for the estimates of such"
            f" a model does not settle; it has {problem.sample.n_levels:,}. Round the"
            " response, give a ridge (penalty=1.0), or fit a cumulative model with"
            " location effects alone, such as method='clm'."
        )
    direction = separating(*_answered(problem))
    if direction is not None:
        _refuse(problem, direction)


def check_columns_alone(problem: Problem) -> None:
    """Raise an error, before a long search, if single columns separate the levels at
    many thresholds.

    Raises
    ------
    SeparatedError
        Some location effects are infinite.
    """
    few = problem.sample.n_levels <= MOST_THRESHOLDS + 1
    if few or problem.in_blocks or not _by_effects_alone(problem):
        return
    direction = separating_alone(*_answered(problem))
    if direction.any():
        _refuse(problem, direction)


def _by_effects_alone(problem: Problem) -> bool:
    """Whether thresholds can follow every move of the effects."""
    simple = problem.family.local and problem.structure is None
    return simple and problem.sample.rows.nominal is None


def _answered(problem: Problem) -> tuple[FloatArray, IntArray, IntArray, int]:
    """Scaled columns (n, p), the lowest and highest level of each answer, and K."""
    sample = problem.sample
    highest = sample.y if sample.highest is None else sample.highest
    columns = problem.rows.model_rows(slice(None)).x
    return columns, sample.y, highest, sample.n_levels


def _refuse(problem: Problem, direction: FloatArray) -> NoReturn:
    moves = np.zeros(problem.location.kept.size)
    moves[problem.location.kept] = direction
    raise SeparatedError(moves)


def separating_alone(
    X: FloatArray, low: IntArray, high: IntArray, n_levels: int
) -> FloatArray:
    """(p,) 1 for columns that never decrease as answers increase, -1 for those that
    never increase, 0 for others; parameters as in `separating`.

    Examples
    --------
    >>> X = np.array([[-1.0, 0.5], [-1.0, -1.5], [1.0, -0.5], [1.0, 1.5]])
    >>> level = np.array([0, 1, 2, 3])
    >>> separating_alone(X, level, level, 4).tolist()
    [1.0, 0.0]
    """
    by_high = np.argsort(high, kind="stable")
    by_low = np.argsort(low, kind="stable")
    cuts = np.arange(n_levels - 1)
    beneath = np.searchsorted(high[by_high], cuts, side="right")
    first = np.searchsorted(low[by_low], cuts, side="right")
    compared = (beneath > 0) & (first < low.size)
    direction = np.zeros(X.shape[1])
    if not compared.any():
        return direction
    last, first = beneath[compared] - 1, first[compared]
    for j, column in enumerate(X.T):
        for sign in (1.0, -1.0):
            up = sign * column
            largest = np.maximum.accumulate(up[by_high])[last]
            least = np.minimum.accumulate(up[by_low][::-1])[::-1][first]
            if (largest <= least).all() and np.ptp(column) > _APART:
                direction[j] = sign
    return direction


def separating(
    X: FloatArray, low: IntArray, high: IntArray, n_levels: int
) -> FloatArray | None:
    """(p,) a direction of effects along which scores increase with the answers, 0 for
    effects that can stay finite; None if there is none.

    It maximises the sum of the score differences of all pairs of rows. Few pairs
    determine the optimum: pairs that a solution violates are added.

    Parameters
    ----------
    X : (n, p) with unit deviations
    low, high : (n,) the lowest and the highest level that each answer allows
    n_levels : int

    Examples
    --------
    >>> X = np.array([[-1.0, 0.5], [-1.0, -1.5], [1.0, -0.5], [1.0, 1.5]])
    >>> level = np.array([0, 1, 2, 3])
    >>> separating(X, level, level, 4).tolist()
    [1.0, 0.0]
    """
    from scipy.optimize import linprog

    if X.shape[1] == 0:
        return None
    higher = low.size - np.searchsorted(np.sort(low), high, side="right")
    lower = np.searchsorted(np.sort(high), low, side="left")
    total = (lower - higher) @ X
    total = total / max(float(np.abs(total).max()), 1.0)
    pairs = np.zeros((0, 2), dtype=np.intp)
    while True:
        solution = linprog(
            -total,
            A_ub=X[pairs[:, 0]] - X[pairs[:, 1]],
            b_ub=np.zeros(len(pairs)),
            bounds=(-1.0, 1.0),
            method="highs",
        )
        if solution.x is None:
            return None
        direction = np.where(np.abs(solution.x) < _ROUNDING, 0.0, solution.x)
        scores = X @ direction
        if np.ptp(scores) <= _APART:
            return None
        broken = _broken(scores, low, high, n_levels, _PAIRS * X.shape[1])
        if not len(broken):
            return direction
        pairs = np.concatenate([pairs, broken])


def _broken(
    scores: FloatArray, low: IntArray, high: IntArray, n_levels: int, most: int
) -> IntArray:
    """(m, 2) rows of which the first has the larger score and the lower answer: the
    worst between each two levels, and of these the `most` worst.
    """
    first = _largest(scores, high, n_levels - 1)
    second = _largest(-scores, n_levels - 1 - low, n_levels - 1)[::-1]
    excess = scores[first] - scores[second]
    worst = np.argsort(-excess, kind="stable")[:most]
    worst = worst[excess[worst] > _ROUNDING]
    return np.unique(np.column_stack([first, second])[worst], axis=0)


def _largest(scores: FloatArray, places: IntArray, count: int) -> IntArray:
    """(count,) the row of the largest score among those at place 0 to k, for each
    k.
    """
    order = np.argsort(places, kind="stable")
    in_order = scores[order]
    leads = in_order == np.maximum.accumulate(in_order)
    leader = np.maximum.accumulate(np.where(leads, np.arange(scores.size), 0))
    last = np.searchsorted(places[order], np.arange(count), side="right") - 1
    return order[leader[last]]
