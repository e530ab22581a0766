"""Scores that differ by rounding alone are equal: what is made of them must not depend on it.

Equal rows may get scores that differ in their last digits, and other ones in another batch.
"""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, FloatArray

#: Share of the range of scores, or of a vote, below which a difference is rounding.
ROUNDING = 1e-9
# The same in units of the last digit of the largest score.
_DIGITS = 256.0


def merged(scores: AnyArray) -> AnyArray:
    """Scores (N,) with those that differ by rounding made equal, to the least of them; codes as they are.

    Examples
    --------
    >>> merged(np.array([0.3, 1.0, 0.1 + 0.2])).tolist()
    [0.3, 1.0, 0.3]
    """
    if scores.dtype.kind != "f" or scores.size == 0:
        return scores
    order = np.argsort(scores)
    ordered = scores[order]
    spread = ordered[-1] - ordered[0]
    largest = max(abs(ordered[0]), abs(ordered[-1]))
    apart = np.diff(ordered, prepend=ordered[0]) > max(ROUNDING * spread, _DIGITS * np.finfo(np.float64).eps * largest)
    apart[0] = True
    equal: FloatArray = np.empty_like(ordered)
    equal[order] = ordered[apart][np.cumsum(apart) - 1]
    return equal


def cleared(values: FloatArray, scale: float = 1.0) -> FloatArray:
    """Values with those that are 0 but for rounding, in a unit of `scale`, made 0.

    Examples
    --------
    >>> cleared(np.array([-1e-13, 0.5])).tolist()
    [0.0, 0.5]
    """
    kept: FloatArray = np.where(np.abs(values) > ROUNDING * scale, values, 0.0)
    return kept
