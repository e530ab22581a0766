"""Plain NumPy twin of `ordstat.compiled.descent`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def descend(Q, starts, bound, l1, l2, lower, upper, b, r, sweeps):
    """Twin of `ordstat.compiled.descent.descend`: proximal steps group by group."""
    for _ in range(sweeps):
        for g, (start, end) in enumerate(pairwise(starts)):
            own = slice(start, end)
            if bound[g] + l2[g] <= 0.0:
                continue
            pull = r[own] + bound[g] * b[own]
            norm = np.linalg.norm(pull)
            shrunk = max(1.0 - l1[g] / norm, 0.0) if norm else 0.0
            new = np.clip(shrunk * pull / (bound[g] + l2[g]), lower[own], upper[own])
            r -= Q[:, own] @ (new - b[own])
            b[own] = new
