"""Thresholds of least cost for given scores, by dynamic programming [Lin 2008, sec. 3.2.1].

With the rows in the order of their scores and G_k(n) the sum over the first n rows of c[k] - c[k+1], cuts
n_1 <= ... <= n_{K-1} cost sum_k G_k(n_k) plus a constant, and

    F_k(n) = G_k(n) + min_{m <= n} F_{k-1}(m)

finds the best in O(N K). Rows of equal score stay on one side of a cut.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from ..model.ties import merged

# Cuts whose costs differ by less than this share of all costs are ties, which the wider gap wins.
_TIE = 1e-9


def least_cost_thresholds(scores: FloatArray, costs: FloatArray, weights: FloatArray) -> FloatArray:
    """(K-1,) ordered thresholds whose ranks 1 + #{k : score > theta_k} cost least in all.

    Among cuts of equal cost those in wider gaps between scores are taken, so that reversed ranks mirror them. A
    threshold lies in the middle of its gap; one that no score, or every score, is below lies half the mean gap beyond
    the last score.

    Parameters
    ----------
    scores : (N,)
        Those that differ by rounding count as equal.
    costs : (N, K)
    weights : (N,) case weights

    Examples
    --------
    >>> scores = np.array([0.0, 1.0, 2.0, 5.0])
    >>> costs = np.abs(np.array([0, 1, 0, 1])[:, None] - np.arange(2)).astype(float)
    >>> least_cost_thresholds(scores, costs, np.ones(4)).tolist()
    [3.5]
    """
    values, place = np.unique(merged(scores), return_inverse=True)
    gains = (costs[:, :-1] - costs[:, 1:]) * weights[:, None]
    totals = np.zeros((values.size + 1, gains.shape[1]))
    for total, gain in zip(totals.T, gains.T, strict=True):
        np.cumsum(np.bincount(place.ravel(), gain, minlength=values.size), out=total[1:])
    half = 0.5 * (values[-1] - values[0]) / (values.size - 1) if values.size > 1 else 0.5
    ends = np.concatenate([[values[0] - 2.0 * half], values, [values[-1] + 2.0 * half]])
    gaps = np.diff(ends)
    bonus = _TIE * np.abs(gains).sum() * gaps / gaps.sum()
    cuts = best_cuts(totals - bonus[:, None])
    return np.asarray((ends[:-1] / 2.0 + ends[1:] / 2.0)[cuts])


def best_cuts(totals: FloatArray) -> IntArray:
    """(K-1,) places n_1 <= ... <= n_{K-1} that minimise sum_k totals[n_k, k], the first of equals.

    Parameters
    ----------
    totals : (N+1, K-1)
        G_k(n), with +inf where no cut may be.
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
