"""Estimates without a cluster of whole groups, by one Newton step with its exact score and curvature taken out.

The log-likelihood is a sum over clusters, and at the estimates its gradient without cluster c is -s_c. With the
information I and the cluster's part of it I_c, by central differences of the scores,
  psi - psi(-c) = (I - I_c)^-1 s_c   [Pregibon 1981, for whole groups].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...._typing import FloatArray, IntArray

if TYPE_CHECKING:
    from .estimate import MarginalLikelihood


def moved_by_clusters(likelihood: MarginalLikelihood, codes: IntArray, size: int) -> FloatArray:
    """(size, P' + m) estimates less those without each cluster, by the user's parameters; NaN where they are open.

    Parameters
    ----------
    likelihood : MarginalLikelihood
    codes : (n,)
        The cluster of each row of the sample.
    size : int
    """
    free = np.flatnonzero(likelihood.free)
    curvature = np.empty((size, free.size, free.size))
    for k, (_, behind, ahead, distance) in enumerate(likelihood.steps()):
        ends = [likelihood.scores(codes, size, psi)[:, free] for psi in (ahead, behind)]
        curvature[:, k] = (ends[1] - ends[0]) / distance
    curvature = 0.5 * (curvature + curvature.transpose(0, 2, 1))
    left = likelihood.information[np.ix_(free, free)] - curvature
    open_ = np.linalg.eigvalsh(left)[:, 0] <= 0.0
    left[open_] = np.eye(free.size)
    moved = np.zeros((size, likelihood.free.size))
    moved[:, free] = np.linalg.solve(left, likelihood.scores(codes, size)[:, free, None])[:, :, 0]
    moved[open_] = np.nan
    return np.asarray(moved @ likelihood.to_user().T)
