"""Threshold structures: theta = J a, fewer parameters a than thresholds [Christensen, ordinal: threshold=]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._typing import FloatArray
from ...exceptions import DataError


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdMap:
    """The linear map theta = jacobian @ a.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters a, as R's ordinal writes them.
    jacobian : (K-1, t)
    """

    names: tuple[str, ...]
    jacobian: FloatArray

    @property
    def intercept(self) -> FloatArray | None:
        """(t,) c with jacobian @ c = 1, so that all thresholds can move together; None where they cannot."""
        one = np.ones(self.jacobian.shape[0])
        c = np.round(np.linalg.lstsq(self.jacobian, one, rcond=None)[0])  # whole numbers, as the map itself
        return c if np.array_equal(self.jacobian @ c, one) else None


def _mirrored(n: int) -> FloatArray:
    """(n, n // 2): column j is +1 at the j-th threshold above the middle and -1 at the j-th below."""
    half = n // 2
    spacing = np.zeros((n, half))
    for j in range(half):
        spacing[n - half + j, j], spacing[half - 1 - j, j] = 1.0, -1.0
    return spacing


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}.{j + 1}" for j in range(count))


def _symmetric(n: int) -> ThresholdMap:
    """The middle threshold (or both middle ones), and equal distances from it on either side."""
    spacing, names = _mirrored(n), ["central"]
    central = np.ones((n, 1))
    if n % 2 == 0:
        lower = np.arange(n) < n // 2
        spacing, names = spacing[:, 1:], ["central.1", "central.2"]
        central = np.column_stack([lower, ~lower]).astype(np.float64)
    names += _numbered("spacing", spacing.shape[1])
    return ThresholdMap(names=tuple(names), jacobian=np.hstack([central, spacing]))


def _symmetric2(n: int) -> ThresholdMap:
    """Symmetric about 0: the model has no free location."""
    return ThresholdMap(names=_numbered("spacing", n // 2), jacobian=_mirrored(n))


def _equidistant(n: int) -> ThresholdMap:
    steps = np.arange(n, dtype=np.float64)
    return ThresholdMap(names=("threshold.1", "spacing"), jacobian=np.column_stack([np.ones(n), steps]))


#: Structure -> map of K-1 thresholds; None where every threshold is a parameter of its own.
THRESHOLDS: dict[str, Callable[[int], ThresholdMap] | None] = {
    "flexible": None,
    "symmetric": _symmetric,
    "symmetric2": _symmetric2,
    "equidistant": _equidistant,
}


def threshold_map(name: str, n_thresholds: int) -> ThresholdMap | None:
    """The map of a structure; None for "flexible".

    Raises
    ------
    DataError
        A structure for fewer than two thresholds (levels with rows less one).

    Examples
    --------
    >>> threshold_map("equidistant", 4).jacobian.astype(int).tolist()
    [[1, 0], [1, 1], [1, 2], [1, 3]]
    """
    build = THRESHOLDS[name]
    if build is None:
        return None
    if n_thresholds < 2:
        raise DataError(
            f"threshold={name!r} needs a response with rows in at least 3 levels; this one has {n_thresholds + 1}."
        )
    return build(n_thresholds)
