"""Fitted potentials H(x) of the margin methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, FloatArray
from .kernels import Kernel
from .sample import Rows
from .scaling import Scaling

# Kernel values held at once while predicting (128 MB).
_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelExpansion:
    """H(x) = sum_s coef_s k(x_s, x) + offset, over the support rows x_s and scaled columns.

    Attributes
    ----------
    kernel : Kernel
    scaling : Scaling
        Map of the columns, applied to new rows.
    anchors : (S, ...)
        Support rows as the kernel keeps them (already scaled).
    coef : (S,)
        beta_s, summing to zero over s.
    offset : float
        b.
    """

    kernel: Kernel
    scaling: Scaling
    anchors: AnyArray
    coef: FloatArray
    offset: float

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        step = max(_BLOCK // max(self.coef.size, 1), 1)
        starts = range(0, rows.n, step)
        parts = [self.kernel(self.scaling(rows.X[i : i + step]), self.anchors) @ self.coef for i in starts]
        return np.concatenate([np.zeros(0), *parts]) + self.offset
