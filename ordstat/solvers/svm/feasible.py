"""Dual variables moved onto the dual's constraints, so that the dual value is a bound."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray


def boxed(labels: FloatArray, caps: FloatArray, u: FloatArray) -> FloatArray:
    """u moved into its boxes, [0, C_nk] under a positive label and [-C_nk, 0] under a negative one."""
    positive = labels > 0
    return np.clip(u, np.where(positive, 0.0, -caps), np.where(positive, caps, 0.0))


def balanced(
    labels: FloatArray, caps: FloatArray, u: FloatArray, *, by_column: bool = False, ordered: bool = False
) -> FloatArray:
    """u (N, Q), inside its boxes, moved so that it sums to zero.

    What is too much is taken from the variables strictly inside their boxes, in proportion to their room, so that
    those at a bound stay there; only where that is not enough, from all of one sign.

    Parameters
    ----------
    labels, caps, u : (N, Q)
    by_column : bool
        Every column sums to zero, as free thresholds ask.
    ordered : bool
        With by_column: the columns together sum to zero and no partial sum is above 0, as free thresholds in order ask.
    """
    if not by_column:
        column = (-1, 1)
        flat = _drained(labels.reshape(column), caps.reshape(column), u.reshape(column), np.array([u.sum()]))
        return flat.reshape(u.shape)
    totals = u.sum(axis=0)
    return _drained(labels, caps, u, totals - (falling(totals) if ordered else 0.0))


def falling(totals: FloatArray) -> FloatArray:
    """Column sums that add up to zero with no partial sum above 0, each between 0 and the one given."""
    if totals.sum() >= 0.0:
        return np.diff(np.minimum(np.cumsum(totals), 0.0), prepend=0.0)
    return -np.diff(np.maximum(np.cumsum(totals[::-1])[::-1], 0.0), append=0.0)


def _drained(labels: FloatArray, caps: FloatArray, u: FloatArray, excess: FloatArray) -> FloatArray:
    """u (M, J) with the total of column j lowered by excess (J,), which lies between 0 and that total."""
    if not excess.any():
        return u
    floor, ceiling = np.where(labels > 0, 0.0, -caps), np.where(labels > 0, caps, 0.0)
    room = np.where((u > floor) & (u < ceiling), np.where(excess > 0, u - floor, ceiling - u), 0.0)
    # Towards zero room is never short: the other sign's total is what is left of this one's.
    room = np.where(room.sum(axis=0) < np.abs(excess), np.maximum(np.sign(excess) * u, 0.0), room)
    total = room.sum(axis=0)
    return boxed(labels, caps, u - room * np.divide(excess, total, out=np.zeros_like(total), where=total > 0))
