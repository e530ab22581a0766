"""Twins of compiled loops that sum by groups of rows; the others are in twins.py."""

from __future__ import annotations

import numpy as np
from twins import logit_pass


def logit_groups(X, y, weights, offset, shift, beta, theta, codes, levels, score):
    """Twin of `ordstat.compiled.cumulative.logit_groups`: `logit_pass` without curvatures of the rows of each group."""
    v, value = np.ones(len(X)) if weights is None else weights, 0.0
    for g in range(len(score)):
        rows = codes == g
        some = X[rows], y[rows], v[rows], None if offset is None else offset[rows]
        if rows.any():
            value += logit_pass(*some, shift, beta, theta, levels[g, :, :2], score[g], None, None)
        levels[g, :, 2] += np.bincount(y[rows], v[rows], minlength=len(theta) + 1)
    return value
