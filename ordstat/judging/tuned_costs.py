"""Costs that data tell: levels that count the same however rare they are, and thresholds tuned for an agreement.

A cost is what `cost=` of any method takes: a K x K matrix [true rank, predicted rank]. Probability models then predict
the rank of least expected cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..checks import generator, one_of, whole
from ..exceptions import DataError, OptionError
from ..fit import least_expected
from ..fitted import FittedRanker
from ..formula.columns import read
from ..formula.inputs import check_levels, read_response
from .costs import CostMatrix
from .errors import LARGER_IS_BETTER, Predictions, one_measure
from .evaluation import crossvalidate

#: Measures of predicted ranks that thresholds can be tuned for.
TUNED = (
    "quadratic kappa", "linear kappa", "Kendall tau-b", "Spearman", "classification error", "absolute error",
    "squared error", "macro classification error", "macro absolute error", "macro squared error",
)  # fmt: skip
# Thresholds tried, and passes over all of them at most.
_GRID = tuple(np.arange(2, 19) / 20)
_MOST_PASSES = 20
_BETTER = 1e-9


def macro_cost(y: Any, *, levels: Sequence[Any] | None = None, weights: Any = None) -> FloatArray:
    """The absolute cost with all levels counting the same, |j - k| / (K share_j): its mean is the macro absolute error.

    Parameters
    ----------
    y : (N,) labels
        The response of the fit: numbers, booleans or an ordered categorical; missing ones are left out.
    levels : sequence, optional
        Labels in order, lowest first, where they do not tell.
    weights : (N,) array, optional
        Case weights.

    Returns
    -------
    (K, K) array
        For the K levels that have rows.

    Raises
    ------
    DataError
        Labels without an order, rows of fewer than two levels, or weights of another length or below 0.

    References
    ----------
    Baccianella, Esuli & Sebastiani (2009), Evaluation measures for ordinal regression, ISDA, eq. 3.

    Examples
    --------
    >>> from ordstat import datasets, macro_cost, ordfit
    >>> macro_cost([1, 1, 1, 2]).round(2).tolist()
    [[0.0, 0.67], [2.0, 0.0]]
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, cost=macro_cost(wine["rating"]))
    >>> found = fit.errors()["training"]
    >>> bool(abs(found["cost"] - found["macro absolute error"]) < 1e-12)
    True
    """
    column = read(y if isinstance(y, pd.Series) else pd.Series(y))
    response = read_response(column, "y", None if levels is None else check_levels(levels))
    given = np.ones(response.codes.size) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != response.codes.shape or not (np.isfinite(given) & (given >= 0)).all():
        raise DataError(
            f"weights must be {response.codes.size} finite numbers of 0 or more, one a label; got shape {given.shape}."
        )
    there = response.codes >= 0
    counts = np.bincount(response.codes[there], given[there], len(response.declared))
    counts = counts[counts > 0]
    if counts.size < 2:
        raise DataError(f"y must have rows of two levels or more; got {counts.size}.")
    rank = np.arange(counts.size)
    return np.asarray(np.abs(rank[:, None] - rank) * (counts.sum() / (counts.size * counts))[:, None])


def threshold_cost(thresholds: Any) -> FloatArray:
    """The cost under which "above level k" is the better answer where P(y > k) exceeds threshold k.

    A row of rank k or less that is put above k costs t_k, a row above it that is not costs 1 - t_k. All thresholds 1/2
    are half the absolute cost, and give the median; thresholds below 1/2 higher ranks.

    Parameters
    ----------
    thresholds : (K-1,) numbers in (0, 1)

    Returns
    -------
    (K, K) array

    Raises
    ------
    OptionError
        Other thresholds.

    Examples
    --------
    >>> from ordstat import threshold_cost
    >>> threshold_cost([0.5, 0.25])
    array([[0.  , 0.5 , 0.75],
           [0.5 , 0.  , 0.25],
           [1.25, 0.75, 0.  ]])
    """
    t = np.asarray(thresholds, dtype=np.float64)
    if t.ndim != 1 or t.size == 0 or not ((t > 0) & (t < 1)).all():
        raise OptionError(f"thresholds must be K-1 numbers between 0 and 1, one for each pair of levels; got {t!r}.")
    above = np.arange(t.size + 1)[:, None] > np.arange(t.size)  # (K, K-1)
    return np.asarray(~above @ (above * t).T + above @ (~above * (1.0 - t)).T)


def tuned_cost(
    fit: Any, measure: str = "quadratic kappa", *, folds: int = 5, seed: int | np.random.Generator = 0
) -> FloatArray:
    """The `threshold_cost` that is best for a measure, such as quadratic kappa, in predictions of rows held out.

    The method is fitted without each fold in turn; thresholds on these P(y > k) start from 1/2 and move one by one
    among 0.1, 0.15, ..., 0.9 until none makes the measure of all held-out rows better. Only `cost` changes:
    `fit.update(cost=tuned_cost(fit))` has the same probabilities. The measure that is reached here is that of the best
    of many thresholds, and flatters them: judge the new fit on other rows.

    Parameters
    ----------
    fit : results of a method with probabilities
        Which predicts the rank of least expected cost: likelihood models, "ordboost", "rps-forest", "kernel-clm",
        "nominal-classifier", "blend"; a blend makes one of any ranker.
    measure : str
        One of `errors()` that depends on the predicted ranks.
    folds : int
        2 or more.
    seed : int or numpy.random.Generator

    Returns
    -------
    (K, K) array

    Raises
    ------
    OptionError
        Another measure, or a fit that does not predict by its probabilities.

    Examples
    --------
    >>> from ordstat import datasets, ordfit, tuned_cost
    >>> fit = ordfit("PID ~ selfLR + age", datasets.load("anes96")[:300])
    >>> tuned = fit.update(cost=tuned_cost(fit, folds=3))
    >>> kappa = [one.errors().loc["quadratic kappa", "training"] for one in (fit, tuned)]
    >>> bool(kappa[1] > kappa[0])
    True
    """
    one_of("measure", measure, TUNED)
    whole("folds", folds, 2)
    if not isinstance(fit, FittedRanker) or not isinstance(getattr(fit.fit.rule, "cost", None), CostMatrix):
        what = repr(fit.method) if isinstance(fit, FittedRanker) else type(fit).__name__
        raise OptionError(
            f"fit must be one whose predictions minimise a cost by its probabilities; got {what}. Make it a member, "
            "ordfit(..., method='blend', members=[...])."
        )
    held_out = crossvalidate(fit.learner, fit.divisible, folds, generator(seed), fit.probabilities_of)
    pooled = _pooled(held_out.predictions)
    return threshold_cost(_best_thresholds(pooled, measure))


def _pooled(parts: Sequence[Predictions]) -> Predictions:
    """The held-out rows of all folds."""
    names = ("y", "codes", "scores", "weights", "probabilities")
    whole_ = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Predictions(n_levels=parts[0].n_levels, **cast(Any, whole_))


def _best_thresholds(held_out: Predictions, measure: str) -> FloatArray:
    """(K-1,) thresholds that no move of one makes better."""
    sign = 1.0 if measure in LARGER_IS_BETTER else -1.0
    probabilities = held_out.probabilities
    assert probabilities is not None

    def worth(t: FloatArray) -> float:
        codes = least_expected(probabilities, CostMatrix.parse(threshold_cost(t)))
        value = sign * one_measure(replace(held_out, codes=codes), measure)
        return value if np.isfinite(value) else -np.inf

    t = np.full(held_out.n_levels - 1, 0.5)
    best, moved = worth(t), True
    for _ in range(_MOST_PASSES):
        moved = False
        for k in range(t.size):
            tried = [np.where(np.arange(t.size) == k, value, t) for value in _GRID]
            values = [worth(one) for one in tried]
            if max(values) > best + _BETTER:
                best, t, moved = max(values), tried[int(np.argmax(values))], True
        if not moved:
            break
    return t
