"""Origins of a feature space that are thought of before the rows are seen, each with the length of its code.

A kernel that is minus a distance counts from any point o of the columns' space: k(x, x) is then twice the distance of
x from o, and bounds are the smaller the nearer o is to the rows. Points with coordinates -1, -1/2, 0, 1/2, 1 are
5^D; to name one of them takes D log 5 nats, and log 2 whether it is one of them or 0.
"""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ...model.kernels.named import Kernel

_STEP = 0.5


def coded_origins(
    kernel: Kernel, X: FloatArray, weights: FloatArray, half_width: float
) -> list[tuple[FloatArray, float]]:
    """The origin 0 and, of columns scaled to a box, the point nearest to their means: (D,) and nats of each.

    Parameters
    ----------
    kernel : Kernel
    X : (N, D) scaled columns
    weights : (N,) case weights
    half_width : float
        Of the box; infinite where there is none.
    """
    zero = np.zeros(X.shape[1])
    if not (kernel.conditionally_definite and kernel.trusted and np.isfinite(half_width)):
        return [(zero, 0.0)]
    centre = np.rint(weights @ X / weights.sum() / _STEP) * _STEP
    points = np.rint(2.0 * half_width / _STEP) + 1.0
    log_two = float(np.log(2.0))
    return [(zero, log_two), (centre, log_two + X.shape[1] * float(np.log(points)))]
