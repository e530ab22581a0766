"""Columns as codes of at most 128 bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import AnyArray, FloatArray

#: Codes of a column at most.
MOST_BINS = 128


@dataclass(frozen=True, eq=False, kw_only=True)
class Bins:
    """The codes of rows: the number of cuts of the column below x, a cut lying half way between two values.

    Attributes
    ----------
    codes : (D, N) uint8
    counts : (D,) int32
        Bins of a column, one more than cuts.
    cuts : tuple of D growing arrays
    """

    codes: AnyArray
    counts: AnyArray
    cuts: tuple[FloatArray, ...]

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray, most: int = MOST_BINS) -> Bins:
        """Bins of one value each where a column has few different ones, else of about equal weight.

        Parameters
        ----------
        X : (N, D)
        weights : (N,)
        most : int
            Bins of a column at most.
        """
        cuts = tuple(_cuts(column, weights, most) for column in X.T)
        codes = np.empty((X.shape[1], len(X)), dtype=np.uint8)
        for d, at in enumerate(cuts):
            codes[d] = np.searchsorted(at, X[:, d], side="left")
        return cls(codes=codes, counts=np.array([at.size + 1 for at in cuts], dtype=np.int32), cuts=cuts)


def _cuts(x: FloatArray, weights: FloatArray, most: int) -> FloatArray:
    """Growing cuts, of which none is the largest value."""
    alike = bool((weights == weights[:1]).all())
    order = np.arange(x.size) if alike else np.argsort(x, kind="stable")
    values, last = np.sort(x) if alike else x[order], np.ones(x.size, dtype=np.bool_)
    last[:-1] = values[1:] != values[:-1]
    places = np.flatnonzero(last)
    if places.size > most:
        below = np.cumsum(weights[order])[places]
        shares = below[-1] * np.arange(1, most) / most
        # The last different value that has no more than a share of the weight below it, or at it.
        places = places[np.unique(np.searchsorted(below, shares * (1.0 + 1e-12), side="right") - 1).clip(min=0)]
        places = np.append(np.unique(places), x.size - 1)
    low, high = values[places[:-1]], values[np.minimum(places[:-1] + 1, x.size - 1)]
    middle = low / 2.0 + high / 2.0
    return np.where((low <= middle) & (middle < high), middle, low)
