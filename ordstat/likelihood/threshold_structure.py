"""Symmetric and equally spaced thresholds, as linear maps of fewer parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..exceptions import DataError


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
        """(t,) c with jacobian @ c = 1, so that all thresholds can move together; None
        if they cannot.
        """
        ones = np.ones(self.jacobian.shape[0])
        # whole numbers, as the map itself
        c = np.round(np.linalg.lstsq(self.jacobian, ones, rcond=None)[0])
        return c if np.array_equal(self.jacobian @ c, ones) else None


#: Structures of the thresholds: each free; symmetric about a free middle; symmetric
#: about 0; equally spaced.
THRESHOLDS = ("flexible", "symmetric", "symmetric2", "equidistant")


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
    if name == "flexible":
        return None
    n = n_thresholds
    half = n_thresholds // 2
    order = np.arange(n_thresholds)
    if n < 2:
        raise DataError(
            f"threshold={name!r} must have a response with rows in at least 3 levels;"
            f" this one has {n + 1}. Use threshold='flexible'."
        )
    if name == "equidistant":
        jacobian = np.column_stack([np.ones(n), order]).astype(np.float64)
        return ThresholdMap(names=("threshold.1", "spacing"), jacobian=jacobian)
    # column j: the j-th threshold above the middle
    above = order[:, None] == order[n - half :]
    spacing = above.astype(np.float64) - above[::-1]
    central = np.ones((n, 1))
    if name == "symmetric2":  # the model has no free location
        return ThresholdMap(
            names=tuple(f"spacing.{j + 1}" for j in range(half)), jacobian=spacing
        )
    names = ["central"]
    # both middle ones are free, and distances from them equal on either side
    if n % 2 == 0:
        spacing = spacing[:, 1:]
        names = ["central.1", "central.2"]
        central = np.column_stack([order < half, order >= half]).astype(np.float64)
    names += [f"spacing.{j + 1}" for j in range(spacing.shape[1])]
    return ThresholdMap(names=tuple(names), jacobian=np.hstack([central, spacing]))
