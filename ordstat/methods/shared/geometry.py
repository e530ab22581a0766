"""What margins are measured by: the ball of a kernel's feature space, the hull of weak hypotheses."""

from __future__ import annotations

import numpy as np

from ..._typing import FloatArray
from ...model.fit import BallGeometry, HullGeometry
from ...model.kernels.named import Kernel


def ball(kernel: Kernel, Z: FloatArray, scaling: str | None, squared_norm: float, theta: FloatArray) -> BallGeometry:
    """Norms in the feature space of the scaled columns Z (N, D) of the training rows.

    The radius is that of the box [-1, 1]^D where scaling="range", or of a kernel that is bounded everywhere; otherwise
    it is the largest length among the training rows, which is not fixed before seeing data, and bounds that use it hold
    only for rows no longer than that.
    """
    lengths = kernel.diagonal(Z)
    largest = kernel.radius(Z.shape[1], 1.0 if scaling == "range" else np.inf)
    if not np.isfinite(largest):
        largest = float(lengths.max())
    radius = float(np.sqrt(largest + 1.0))
    return BallGeometry(norm=float(np.sqrt(squared_norm)), squared_lengths=lengths, theta=theta, radius=radius)


def hull(
    round_weights: FloatArray, theta: FloatArray, log_size: float, squared_lengths: FloatArray | None
) -> HullGeometry:
    """The hull of a class of `exp(log_size)` label vectors, or of real-valued hypotheses, with K-1 thresholds."""
    both = np.log([2.0, 2.0 * theta.size])
    if squared_lengths is None:
        with np.errstate(invalid="ignore"):  # NaN where the class is of unknown size
            both = np.logaddexp(log_size, both)
    return HullGeometry(
        norm=float(np.abs(round_weights).sum()),
        theta=theta,
        log_size=float(both[0]),
        log_size_own=float(both[1]),
        squared_lengths=squared_lengths,
    )
