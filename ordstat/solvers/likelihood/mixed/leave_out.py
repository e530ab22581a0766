"""Estimates without a cluster of whole groups, by one Newton step with its exact score and curvature taken out.

The log-likelihood is a sum over clusters, and at the estimates its gradient without cluster c is -s_c. With the
information I and the cluster's part of it I_c
  psi - psi(-c) = (I - I_c)^-1 s_c   [Pregibon 1981, Ann. Statist. 9, 705-724, for whole groups].
"""

from __future__ import annotations

import numpy as np

from ...._typing import FloatArray


def one_step(scores: FloatArray, parts: FloatArray, information: FloatArray) -> FloatArray:
    """(G, p) estimates less those without each cluster; NaN where the others leave them open.

    Parameters
    ----------
    scores : (G, p)
    parts : (G, p, p)
        Of the information.
    information : (p, p)
    """
    left = information - 0.5 * (parts + parts.transpose(0, 2, 1))
    unknown = np.linalg.eigvalsh(left)[:, 0] <= 0.0
    left[unknown] = np.eye(len(information))
    moved = np.linalg.solve(left, scores[:, :, None])[:, :, 0]
    moved[unknown] = np.nan
    return np.asarray(moved)
