"""Costs of predictions: named costs, matrices, costs of rows, and thresholds of minimal
cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import advice, brief
from ..exceptions import DataError, OptionError
from ..formula.columns import read
from ..formula.inputs import check_cost_labels, check_levels, read_response
from ..formula.sample import Sample

#: Smaller differences, as a share of the range of scores or votes, are rounding.
ROUNDING = 1e-9
# The same, in units of the last digit of the largest score.
_DIGITS = 256.0


def apart(ordered: AnyArray) -> BoolArray:
    """(N,) whether each of the sorted scores exceeds the previous one by more than
    rounding; True for the first.

    Examples
    --------
    >>> apart(np.array([0.3, 0.1 + 0.2, 1.0])).tolist()
    [True, False, True]
    """
    steps: BoolArray = np.ones(ordered.size, dtype=np.bool_)
    if ordered.dtype.kind != "f" or ordered.size == 0:
        steps[1:] = ordered[1:] != ordered[:-1]
    else:
        steps[1:] = np.diff(ordered) > tolerance(ordered)
    return steps


def tolerance(scores: FloatArray) -> float:
    """The largest difference between scores (N,), N > 0, that counts as rounding.

    Examples
    --------
    >>> tolerance(np.array([0.0, 2.0]))
    2e-09
    """
    low = float(scores.min())
    high = float(scores.max())
    return max(
        ROUNDING * (high - low),
        _DIGITS * float(np.finfo(np.float64).eps) * max(abs(low), abs(high)),
    )


def merged(scores: AnyArray) -> AnyArray:
    """Scores (N,) in which scores that differ by rounding are set to the smallest of
    them.

    Examples
    --------
    >>> merged(np.array([0.3, 1.0, 0.1 + 0.2])).tolist()
    [0.3, 1.0, 0.3]
    """
    order = np.argsort(scores)
    ordered = scores[order]
    steps = apart(ordered)
    equal: AnyArray = np.empty_like(ordered)
    equal[order] = ordered[steps][np.cumsum(steps) - 1]
    return equal


def cleared(values: FloatArray, within: float = ROUNDING) -> FloatArray:
    """Set values that differ from 0 by rounding to 0.

    Examples
    --------
    >>> cleared(np.array([-1e-13, 0.5])).tolist()
    [0.0, 0.5]
    """
    return np.where(np.abs(values) > within, values, 0.0)


#: Named costs, as functions of the distance between true and predicted level.
NAMED: dict[str, Callable[[FloatArray], FloatArray]] = {
    "absolute": np.abs,
    "classification": np.sign,
    "squared": np.square,
}


@dataclass(frozen=True)
class NamedDecision:
    """A measure over all rows for which predictions can be optimised.

    Attributes
    ----------
    measure : str
        Its name among the error measures.
    disagreement : str
        The named cost that the measure averages.
    by_chance : bool
        Whether the measure divides by the disagreement expected by chance (kappa);
        others average over levels.
    """

    measure: str
    disagreement: str
    by_chance: bool


#: Decisions from probabilities for a measure of all rows (`judging/decisions.py`).
DECISIONS: dict[str, NamedDecision] = {
    "kappa": NamedDecision("quadratic kappa", "squared", by_chance=True),
    "linear kappa": NamedDecision("linear kappa", "absolute", by_chance=True),
    **{
        f"macro {name}": NamedDecision(f"macro {name} error", name, by_chance=False)
        for name in NAMED
    },
}

#: A cost as a method's field holds it: a name or the rows of a K x K matrix.
CostField = str | tuple[tuple[float, ...], ...]

# Smaller differences of costs, as a share of the largest cost of a row, are rounding.
_ROUNDING = 1e-12


def named_costs(name: str, n_levels: int) -> FloatArray:
    """(K, K) costs [true code, predicted code] by name."""
    rank = np.arange(n_levels, dtype=np.float64)
    return NAMED[name](np.abs(rank[:, None] - rank))


def _refuse(reason: str, hint: str = "") -> NoReturn:
    names = ", ".join(repr(name) for name in NAMED)
    more = ", ".join(repr(name) for name in DECISIONS)
    raise OptionError(
        f"cost must be one of {names}, a K x K matrix of costs [true rank, predicted"
        f" rank], or for a method with probabilities {more}; {reason}.{hint}"
    )


def _check_matrix(table: AnyArray) -> None:
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.shape[0] < 2:
        _refuse(f"got an array of shape {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        i, j = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0]
        _refuse(
            f"entry [{i}, {j}] is {table[i, j]}, and costs are finite and not negative"
        )
    cheapest = table.min(axis=1)
    if (wrong := np.flatnonzero(np.diagonal(table) > cheapest)).size:
        i = int(wrong[0])
        _refuse(
            f"in row {i} the true rank costs {table[i, i]:g}, and rank code"
            f" {int(table[i].argmin())} costs less"
        )


@dataclass(frozen=True)
class CostMatrix:
    """The cost of each predicted level given the true level: a name or a K x K matrix.

    Attributes
    ----------
    value : str or tuple of tuples
        "absolute" |y - k|, "classification" [y != k], "squared" (y - k)^2; or the rows
        of a K x K matrix with the cost of predicting k if the true level is y in entry
        [y, k]. A key of DECISIONS stands for the costs that optimise this measure,
        computed from the probabilities of a fit.

    Raises
    ------
    OptionError
        The name is unknown, or the matrix is not square, finite, non-negative and
        smallest on its diagonal.

    Examples
    --------
    >>> CostMatrix.absolute().matrix(3)
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    >>> CostMatrix.parse([[0, 1], [5, 0]])
    CostMatrix(value=((0.0, 1.0), (5.0, 0.0)))
    """

    value: CostField = "absolute"

    def __post_init__(self) -> None:
        if isinstance(self.value, str):
            if self.value not in NAMED and self.value not in DECISIONS:
                _refuse(f"got {self.value!r}", advice("values of cost", self.value))
        else:
            _check_matrix(np.asarray(self.value, dtype=np.float64))

    @classmethod
    def absolute(cls) -> CostMatrix:
        """|y - k|."""
        return cls("absolute")

    @classmethod
    def classification(cls) -> CostMatrix:
        """[y != k]."""
        return cls("classification")

    @classmethod
    def parse(cls, cost: Any, levels: Sequence[Any] | None = None) -> CostMatrix:
        """Read a cost: a name, a K x K matrix (nested sequences, array or frame) or a
        CostMatrix.

        Raises
        ------
        OptionError
            Any other value, or a frame whose labels are not the `levels` in order.
        """
        if levels is not None and isinstance(cost, pd.DataFrame):
            check_cost_labels(cost, levels, (), by_row=False)
            cost = cost.to_numpy()
        if isinstance(cost, CostMatrix):
            return cost
        if isinstance(cost, str):
            return cls(cost)
        if any(
            type(labels).__name__ != "RangeIndex"
            for labels in getattr(cost, "axes", ())
        ):
            _refuse(
                "got a frame with labels, which are not compared with the levels: pass"
                " its .to_numpy()"
            )
        try:
            table = np.asarray(cost, dtype=np.float64)
        except (TypeError, ValueError):
            _refuse(f"got {cost!r}")
        if table.ndim != 2:
            _refuse(f"got an array of shape {table.shape}")
        return cls(tuple(tuple(float(c) for c in row) for row in table))

    @property
    def decides(self) -> bool:
        """Whether the costs depend on the probabilities of a fit."""
        return isinstance(self.value, str) and self.value in DECISIONS

    @property
    def label(self) -> str:
        """The name, or "K x K matrix"."""
        if isinstance(self.value, str):
            return self.value
        return f"{len(self.value)} x {len(self.value)} matrix"

    def require(self, n_levels: int) -> None:
        """Raise OptionError if the matrix is not K x K."""
        if not isinstance(self.value, str) and len(self.value) != n_levels:
            _refuse(f"got a {self.label} for a response of {n_levels} levels")

    def matrix(self, n_levels: int) -> FloatArray:
        """(K, K) costs [true code, predicted code].

        Raises
        ------
        OptionError
            The matrix is not K x K, or the costs depend on the probabilities of a fit.
        """
        self.require(n_levels)
        if self.decides:
            raise OptionError(
                f"cost must be a cost of single rows here; got {self.value!r}, whose"
                " costs follow from the probabilities of a fit. Give a named cost or a"
                " K x K matrix."
            )
        if isinstance(self.value, str):
            return named_costs(self.value, n_levels)
        return np.array(self.value)

    def rows(self, y: IntArray, n_levels: int) -> FloatArray:
        """(N, K) costs of every prediction for rows of codes y (N,)."""
        return self.matrix(n_levels)[y]


def sample_costs(cost: CostMatrix, sample: Sample) -> FloatArray:
    """(N, K) costs of a sample: costs of single rows if it has them, else `cost`.

    Raises
    ------
    DataError
        Costs of rows are not finite and non-negative, or not N x K.
    """
    if sample.costs is None:
        return cost.matrix(sample.n_levels)[sample.y]
    costs = np.asarray(sample.costs, dtype=np.float64)
    if costs.shape != (sample.n, sample.n_levels):
        raise DataError(
            "costs must have one row per row of data and one column per level, shape"
            f" {(sample.n, sample.n_levels)}; got shape {costs.shape}."
        )
    if (bad := np.argwhere(~(np.isfinite(costs) & (costs >= 0)))).size:
        n, k = bad[0]
        raise DataError(
            f"costs must be finite and not negative; row {n}, rank code {k} holds"
            f" {costs[n, k]}."
        )
    return costs


def split_weights(costs: FloatArray) -> FloatArray:
    """(N, K-1) W_nk = |c_n[k+1] - c_n[k]|, the weight of the question "rank above k?"
    [Lin 2008, eq. 4.4].

    Examples
    --------
    >>> split_weights(CostMatrix("squared").rows(np.array([0, 2]), 3))
    array([[1., 3.],
           [3., 1.]])
    """
    return np.abs(np.diff(costs, axis=1))


def _slack(costs: FloatArray) -> FloatArray:
    """(N, 1) differences of costs that count as rounding."""
    return np.asarray(_ROUNDING * np.abs(costs).max(axis=1, keepdims=True))


def v_break(costs: FloatArray, y: IntArray) -> tuple[int, int] | None:
    """The first (row, level code) at which costs (N, K) are not V-shaped around y; None
    if all rows are V-shaped.

    The step from that level to the next has the wrong sign.
    """
    steps = np.diff(costs, axis=1)
    below = np.arange(steps.shape[1]) < np.asarray(y)[:, None]
    wrong = np.where(below, steps, -steps) > _slack(costs)
    return divmod(int(wrong.argmax()), wrong.shape[1]) if wrong.any() else None


def is_convex(costs: FloatArray) -> bool:
    """Whether every row of costs (N, K) has second differences >= 0, and so is
    V-shaped.
    """
    return bool((np.diff(costs, n=2, axis=1) >= -2.0 * _slack(costs)).all())


def require_v_shaped(costs: FloatArray, y: IntArray, method: str) -> None:
    """Raise DataError, with row and level, if costs are not V-shaped, as `method`
    needs.
    """
    broken = v_break(costs, y)
    if broken is None:
        return
    n, k = broken
    direction = "fall" if k < y[n] else "rise"
    raise DataError(
        f"{method} needs V-shaped costs, cheapest at the true rank and never falling"
        f" away from it: the costs of row {n} (rank code {y[n]}) must {direction} from"
        f" rank code {k} to {k + 1}, and go from {costs[n, k]:g} to"
        f" {costs[n, k + 1]:g}. Change them, or choose a method that takes any cost."
    )


def require_differences(costs: FloatArray, weights: FloatArray) -> None:
    """DataError if all rows of positive weight have equal costs for all levels."""
    if not (costs != costs[:, :1])[weights > 0].any():
        raise DataError(
            "the costs are equal for all ranks, so there is nothing to learn: give"
            " costs that differ."
        )


def mean_excess(costs: FloatArray, codes: IntArray, weights: FloatArray) -> float:
    """Weighted mean of the cost of predicted codes (N,) minus the smallest cost of each
    row (N, K).
    """
    above = costs[np.arange(len(costs)), codes] - costs.min(axis=1)
    return float(weights @ above / weights.sum())


# Cuts whose costs differ by less than this share of all costs are ties; the wider gap
# is chosen.
_TIE = 1e-9


def least_cost_thresholds(
    scores: FloatArray, costs: FloatArray, weights: FloatArray
) -> FloatArray:
    """(K-1,) ordered thresholds that minimise the total cost of the ranks 1 + #{k :
    score > theta_k}.

    Among equal costs the widest gap between scores is chosen, so that reversed levels
    give mirrored thresholds. A threshold lies in the middle of its gap, or half a mean
    gap beyond all scores.

    Parameters
    ----------
    scores : (N,)
        Differences by rounding count as ties.
    costs : (N, K)
    weights : (N,) case weights

    Examples
    --------
    >>> scores = np.array([0.0, 1.0, 2.0, 5.0])
    >>> costs = np.abs(np.array([0, 1, 0, 1])[:, None] - np.arange(2)).astype(float)
    >>> least_cost_thresholds(scores, costs, np.ones(4)).tolist()
    [3.5]
    """
    values, index = np.unique(merged(scores), return_inverse=True)
    gains = (costs[:, :-1] - costs[:, 1:]) * weights[:, None]
    totals = np.zeros((values.size + 1, gains.shape[1]))
    for total, gain in zip(totals.T, gains.T, strict=True):
        np.cumsum(
            np.bincount(index.ravel(), gain, minlength=values.size), out=total[1:]
        )
    if values.size > 1:
        half = 0.5 * (values[-1] - values[0]) / (values.size - 1)
    else:
        half = 0.5
    ends = np.concatenate([[values[0] - 2.0 * half], values, [values[-1] + 2.0 * half]])
    gaps = np.diff(ends)
    bonus = _TIE * np.abs(gains).sum() * gaps / gaps.sum()
    cuts = best_cuts(totals - bonus[:, None])
    return (ends[:-1] / 2.0 + ends[1:] / 2.0)[cuts]


def best_cuts(totals: FloatArray) -> IntArray:
    """(K-1,) positions n_1 <= ... <= n_{K-1} that minimise sum_k totals[n_k, k]; ties
    go to the first.

    Parameters
    ----------
    totals : (N+1, K-1)
        G_k(n); +inf where no cut is allowed.
    """
    best = np.zeros(totals.shape[0])
    tables = []
    for column in totals.T:
        best = column + np.minimum.accumulate(best)
        tables.append(best)
    cuts = np.empty(len(tables), dtype=np.intp)
    last = totals.shape[0] - 1
    for k in range(len(tables) - 1, -1, -1):
        last = int(np.argmin(tables[k][: last + 1]))
        cuts[k] = last
    return cuts


def macro_cost(
    y: Any, *, levels: Sequence[Any] | None = None, weights: Any = None
) -> FloatArray:
    """The absolute cost with equal total weight for all levels, |j - k| / (K share_j);
    its mean is the macro-averaged absolute error.

    Parameters
    ----------
    y : (N,) labels
        The response: numbers, booleans or an ordered categorical; missing values are
        ignored.
    levels : sequence, optional
        Labels from lowest to highest, if `y` has no order.
    weights : (N,) array, optional
        Case weights.

    Returns
    -------
    (K, K) array
        For the K levels that have rows.

    Raises
    ------
    DataError
        `y` has no order or fewer than two levels, or weights have another length or are
        negative.

    References
    ----------
    Baccianella, Esuli & Sebastiani (2009), Evaluation measures for ordinal regression,
    ISDA, eq. 3.

    Examples
    --------
    >>> from ordstat import datasets, macro_cost, ordfit
    >>> macro_cost([1, 1, 1, 2]).round(2).tolist()
    [[0.0, 0.67], [2.0, 0.0]]
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, cost=macro_cost(wine["rating"]))
    >>> errors = fit.errors()["training"]
    >>> bool(abs(errors["cost"] - errors["macro absolute error"]) < 1e-12)
    True
    """
    try:
        labels = y if isinstance(y, pd.Series) else pd.Series(y)
    except (TypeError, ValueError):
        raise DataError(
            f"y must be one column of labels; got {brief(y)}. Give a column of the"
            " data."
        ) from None
    column = read(labels)
    response = read_response(
        column, "y", None if levels is None else check_levels(levels)
    )
    try:
        w = np.asarray(
            np.ones(response.codes.size) if weights is None else weights,
            dtype=np.float64,
        )
    except (TypeError, ValueError):
        raise DataError(
            f"weights must be numbers of 0 or more; got {brief(weights)}."
        ) from None
    if w.shape != response.codes.shape or not (np.isfinite(w) & (w >= 0)).all():
        raise DataError(
            f"weights must be {response.codes.size} finite numbers of 0 or more, one"
            f" for each label; got shape {w.shape}."
        )
    present = response.codes >= 0
    counts = np.bincount(response.codes[present], w[present], len(response.declared))
    counts = counts[counts > 0]
    if counts.size < 2:
        raise DataError(f"y must have rows of two levels or more; got {counts.size}.")
    cost: FloatArray = (
        named_costs("absolute", counts.size)
        * (counts.sum() / (counts.size * counts))[:, None]
    )
    return cost
