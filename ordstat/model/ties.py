"""Scores that differ by rounding alone are equal: what is made of them must not depend on it.

Equal rows may get scores that differ in their last digits, and other ones in another batch.
"""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray

#: Share of the range of scores, or of a vote, below which a difference is rounding.
ROUNDING = 1e-9
# The same in units of the last digit of the largest score.
_DIGITS = 256.0


def apart(ordered: AnyArray) -> BoolArray:
    """(N,) whether each of the growing scores is more than rounding above the one before; the first is.

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
    """The largest difference among scores (N,), N > 0, that is rounding.

    Examples
    --------
    >>> tolerance(np.array([0.0, 2.0]))
    2e-09
    """
    low, high = float(scores.min()), float(scores.max())
    return max(ROUNDING * (high - low), _DIGITS * float(np.finfo(np.float64).eps) * max(abs(low), abs(high)))


def merged(scores: AnyArray) -> AnyArray:
    """Scores (N,) with those that differ by rounding made equal, to the least of them.

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
    """Values with those that are 0 but for rounding made 0.

    Examples
    --------
    >>> cleared(np.array([-1e-13, 0.5])).tolist()
    [0.0, 0.5]
    """
    return np.where(np.abs(values) > within, values, 0.0)
