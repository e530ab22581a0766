"""Cells of rows within which a variable hardly depends on the others, and permutations that stay within them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .permuted import Exchange, exchange

#: Numbers of cells that cross-validation chooses from, rows of a cell at least, and folds.
CELLS, _LEAST, _FOLDS = (1, 2, 4, 8, 16, 32, 64), 20, 5
#: A larger partition must lower the held-out error by this share of that of one cell.
_WORTH = 0.005


def cells(values: FloatArray, others: FloatArray, weights: FloatArray, nominal: bool) -> IntArray:
    """(N,) cells of a tree that predicts a variable from the others, their number by cross-validation.

    Parameters
    ----------
    values : (N,) of the variable, or codes
    others : (N, P) of the others
    weights : (N,) > 0
    nominal : bool
        Whether the values are codes without order.
    """
    n = values.size
    if n < 2 * _LEAST or others.shape[1] == 0 or (values == values[0]).all():
        return np.zeros(n, dtype=np.intp)
    folds = np.random.default_rng(0).permutation(n) % _FOLDS
    errors = np.array([_held_out(values, others, weights, nominal, folds, size) for size in CELLS])
    chosen = CELLS[int(np.argmax(errors <= errors.min() + _WORTH * errors[0]))]
    if chosen == 1:
        return np.zeros(n, dtype=np.intp)
    target = _indicators(values) if nominal else values
    tree = _tree(chosen).fit(others, target, sample_weight=weights)
    return np.unique(tree.apply(others), return_inverse=True)[1].astype(np.intp)


def _tree(size: int) -> Any:
    """On numbers, or on indicators of codes, where it is a classification tree by the Gini index."""
    kind = import_module("sklearn.tree").DecisionTreeRegressor
    return kind(max_leaf_nodes=size, min_samples_leaf=_LEAST, random_state=0)


def _held_out(
    values: FloatArray, others: FloatArray, weights: FloatArray, nominal: bool, folds: IntArray, size: int
) -> float:
    """Squared error, of numbers or of the probabilities of codes, of rows held out."""
    total, target = 0.0, _indicators(values) if nominal else values[:, None]
    for fold in range(_FOLDS):
        held, rest = folds == fold, folds != fold
        if size == 1:
            found = np.broadcast_to(weights[rest] @ target[rest] / weights[rest].sum(), target[held].shape)
        else:
            model = _tree(size).fit(others[rest], target[rest], sample_weight=weights[rest])
            found = model.predict(others[held]).reshape(-1, target.shape[1])
        total += float(weights[held] @ np.square(target[held] - found).sum(axis=1))
    return total


def _indicators(codes: FloatArray) -> FloatArray:
    """(N, C) of codes (N,)."""
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)


def exchange_within(weights: FloatArray, groups: IntArray, rng: np.random.Generator) -> Exchange:
    """`exchange` of the rows of each cell among themselves."""
    places = [np.flatnonzero(groups == cell) for cell in range(int(groups.max()) + 1)]
    parts = [exchange(weights[own], rng) for own in places]
    return Exchange(
        rows=np.concatenate([own[part.rows] for own, part in zip(places, parts, strict=True)]),
        donors=np.concatenate([own[part.donors] for own, part in zip(places, parts, strict=True)]),
        weights=np.concatenate([part.weights for part in parts]),
    )
