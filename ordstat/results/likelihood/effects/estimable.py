"""Whether a fit with aliased columns can speak about rows: whether the columns are what they were in the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...._typing import BoolArray, FloatArray
from ....model.likelihood_fit import LikelihoodFit
from ....model.sample import Rows

#: A new value of an aliased column may differ by this share of its size from what the other columns say.
_SAME = 1e-6


def estimable(fit: LikelihoodFit, trained: Rows, rows: Rows) -> BoolArray:
    """(n,) whether every aliased column of new rows is what the columns kept say it is, as in the rows of the fit.

    Where it is not, the data have nothing to say about the row, and a prediction that takes the effect of the aliased
    column as 0 would depend on the coding.
    """
    told = np.ones(rows.n, dtype=np.bool_)
    for matrix, gone in _parts(fit, trained):
        found, expected = _gone(matrix(trained), matrix(rows), gone)
        told &= (np.abs(found - expected) <= _SAME * (1.0 + np.abs(found))).all(axis=1)
    return told


def aliased_gaps(fit: LikelihoodFit, trained: Rows, rows: Rows, weights: FloatArray) -> FloatArray:
    """(h, U) aliased columns less what the columns kept say they are, in sums of rows by weights (h, n); or 0."""
    gaps = [np.zeros((len(weights), 0))]
    for matrix, gone in _parts(fit, trained):
        columns = matrix(rows)
        found, expected = _gone(matrix(trained), weights @ columns, gone)
        largest = (np.abs(weights) @ np.abs(columns / _sizes(matrix(trained)))).max(axis=1, keepdims=True)
        gaps.append(np.where(np.abs(found - expected) > _SAME * largest, found - expected, 0.0))
    return np.hstack(gaps)


def estimable_tangent(fit: LikelihoodFit, trained: Rows, tangent: Rows) -> BoolArray:
    """(n,) whether the aliased columns change as the columns kept say, where rows move along a tangent."""
    told = np.ones(tangent.n, dtype=np.bool_)
    for matrix, gone in _parts(fit, trained):
        moved = matrix(tangent)
        moved[:, 0] = 0.0  # the ones stay ones
        found, expected = _gone(matrix(trained), moved, gone)
        largest = np.abs(moved / _sizes(matrix(trained))).max(axis=1, keepdims=True)
        told &= (np.abs(found - expected) <= _SAME * largest).all(axis=1)
    return told


def _parts(fit: LikelihoodFit, trained: Rows) -> Iterator[tuple[Callable[[Rows], FloatArray], BoolArray]]:
    """What gives the columns of the nominal and location effects, and of the scale, with which of them are aliased.

    A column of ones comes first.
    """
    if not fit.aliased.any():
        return
    q = 0 if trained.nominal is None else trained.nominal.shape[1]
    ends = np.cumsum([fit.n_alpha, fit.n_beta, fit.n_zeta])
    thresholds, location, scale, _ = np.split(fit.aliased, ends)
    nominal = thresholds.reshape(1 + q, -1)[1:].all(axis=1)
    matrices = (lambda rows: _with_ones(rows.nominal, rows.X), lambda rows: _with_ones(rows.scale))
    for matrix, gone in zip(matrices, (np.concatenate([nominal, location]), scale), strict=True):
        if gone.any():
            yield matrix, np.append(False, gone)


def _with_ones(*blocks: FloatArray | None) -> FloatArray:
    """Columns side by side, those that there are, after one of ones (the thresholds, or the unit of the scale)."""
    given = [block for block in blocks if block is not None]
    return np.hstack([np.ones((len(given[0]), 1)), *given])


def _sizes(trained: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.abs(trained).max(axis=0), 1e-300))


def _gone(trained: FloatArray, new: FloatArray, gone: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The columns `gone` of new rows, and what they are if the others make them up as in the rows of the fit.

    Both in units of the size of each column.
    """
    unit = _sizes(trained)
    relation = np.linalg.lstsq(trained[:, ~gone] / unit[~gone], trained[:, gone] / unit[gone], rcond=None)[0]
    return new[:, gone] / unit[gone], new[:, ~gone] / unit[~gone] @ relation
