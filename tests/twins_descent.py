"""Plain NumPy twin of `ordstat.compiled.descent`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ordstat.likelihood.proximal import Shrinkage

SWEEPS = 4


def minimise(
    Q, starts, bound, l1, l2, lower, upper, b, r, tolerance, rounds, factor, kept
):
    """Twin of `ordstat.compiled.descent.minimise`, which keeps no factor."""
    weights = {"l1": l1, "l2": l2}
    bounds = {"lower": lower, "upper": upper, "bounded": True}
    penalty = Shrinkage(starts=starts, **weights, **bounds)
    for _ in range(rounds):
        signs = np.sign(b)
        for _ in range(SWEEPS):
            _sweep(Q, penalty, bound, b, r)
        if np.abs(penalty.residual(r, b)).max() <= tolerance:
            return
        if np.array_equal(np.sign(b), signs):
            for solved in _solved(Q, penalty, b, r):
                left = r - Q @ (solved - b)
                change = penalty.value(solved) - penalty.value(b)
                if change - 0.5 * (solved - b) @ (left + r) <= 0.0:
                    b[:] = solved
                    r[:] = left
                    break
            if np.abs(penalty.residual(r, b)).max() <= tolerance:
                return


def _sweep(Q, penalty, bound, b, r):
    """Proximal steps group by group."""
    for g, (start, end) in enumerate(pairwise(penalty.starts)):
        own = slice(start, end)
        scale = bound[g] + penalty.l2[g]
        if scale <= 0.0:
            continue
        pull = r[own] + bound[g] * b[own]
        norm = np.linalg.norm(pull)
        shrunk = max(1.0 - penalty.l1[g] / norm, 0.0) if norm else 0.0
        limits = penalty.lower[own], penalty.upper[own]
        new = np.clip(shrunk * pull / scale, *limits)
        r -= Q[:, own] @ (new - b[own])
        b[own] = new


def _solved(Q, penalty, b, r):
    """Steps towards the minimum over the coefficients that are neither 0 nor at a
    bound: each cut where it would leave its sign or its bounds, and all cut where the
    first of them would.
    """
    corner = (penalty.sizes == 1)[penalty.group] & (penalty.l1 > 0.0)[penalty.group]
    low = np.where(corner & (b > 0.0), 0.0, penalty.lower)
    high = np.where(corner & (b < 0.0), 0.0, penalty.upper)
    used = np.flatnonzero(b)
    inside = (b > low)[used] & (b < high)[used]
    free = used[inside]
    if not free.size:
        return
    bend = penalty.curvature(b)[np.ix_(inside, inside)]
    square = Q[np.ix_(free, free)] + bend
    if np.linalg.eigvalsh(square)[0] <= 0.0:
        return
    step = np.linalg.solve(square, penalty.residual(r, b)[free])
    each = b.copy()
    each[free] = np.clip(b[free] + step, low[free], high[free])
    yield each
    room = np.where(step < 0.0, low[free], high[free]) - b[free]
    shares = np.where(np.abs(step) > np.abs(room), room / step, 1.0)
    first = int(np.argmin(shares))
    together = b.copy()
    together[free] += shares[first] * step
    if shares[first] < 1.0:
        end = low[free[first]] if step[first] < 0.0 else high[free[first]]
        together[free[first]] = end
    yield together
