"""Which rows a fit with aliased columns can speak about."""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray
from ..model.fit import LikelihoodFit
from ..model.sample import Rows

#: A new value of an aliased column may differ by this share of its size from what the other columns say.
_SAME = 1e-6


def estimable(fit: LikelihoodFit, trained: Rows, rows: Rows) -> BoolArray:
    """(n,) whether every aliased column of new rows is what the columns kept say it is, as in the rows of the fit.

    Where it is not, the data have nothing to say about the row, and a prediction that takes the effect of the aliased
    column as 0 would depend on the coding.
    """
    q = 0 if trained.nominal is None else trained.nominal.shape[1]
    nominal = fit.aliased[: fit.n_alpha].reshape(1 + q, -1)[1:].all(axis=1)
    location = fit.aliased[fit.n_alpha : fit.n_alpha + fit.n_beta]
    first = fit.n_alpha + fit.n_beta
    gone = np.concatenate([[False], nominal, location])
    same = _follows(_matrix(trained), _matrix(rows), gone)
    if trained.scale is not None and rows.scale is not None:
        same &= _follows(trained.scale, rows.scale, fit.aliased[first : first + fit.n_zeta])
    return same


def _matrix(rows: Rows) -> FloatArray:
    ones = np.ones((rows.n, 1))
    return np.hstack([ones, rows.X] if rows.nominal is None else [ones, rows.nominal, rows.X])


def _follows(trained: FloatArray, new: FloatArray, gone: BoolArray) -> BoolArray:
    if not gone.any():
        return np.ones(len(new), dtype=np.bool_)
    size = np.maximum(np.abs(trained).max(axis=0), 1e-300)
    kept, other = trained[:, ~gone] / size[~gone], trained[:, gone] / size[gone]
    relation = np.linalg.lstsq(kept, other, rcond=None)[0]
    distance = np.abs(new[:, gone] / size[gone] - new[:, ~gone] / size[~gone] @ relation)
    return np.asarray((distance <= _SAME * (1.0 + np.abs(new[:, gone] / size[gone]))).all(axis=1))
