"""Folds of weighted rows: each copy of a row goes to a fold of its own."""

from __future__ import annotations

import numpy as np

from ..._typing import AnyArray, FloatArray
from ...model.folds import stratified_folds

# Copies of rows dealt out one by one at most.
_MOST_COPIES = 1_000_000


def held_weights(y: AnyArray, weights: FloatArray, folds: int, rng: np.random.Generator) -> FloatArray:
    """(F, N) the weight of every row that each fold holds out; F = 0 where nothing can be held out.

    A row of weight w is dealt out as w rows where all weights are whole. Every level keeps a row outside of every fold.

    Parameters
    ----------
    y : (N,) codes
    weights : (N,) > 0
    folds : int
        As many at most.
    rng : numpy.random.Generator
    """
    whole = bool((weights == np.rint(weights)).all()) and weights.sum() <= _MOST_COPIES
    copies = np.repeat(np.arange(y.size), weights.astype(np.intp)) if whole else np.arange(y.size)
    each = np.ones(copies.size) if whole else weights
    several = np.bincount(y[copies])[y[copies]] > 1
    copies, each = copies[several], each[several]
    folds = min(folds, copies.size)
    if folds < 2:
        return np.zeros((0, y.size))
    n_levels = int(y.max()) + 1
    fold = stratified_folds(y[copies].astype(np.intp), n_levels, folds, rng)
    return np.stack([np.bincount(copies[fold == f], each[fold == f], y.size) for f in range(folds)])
