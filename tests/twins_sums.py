"""Plain NumPy twins of `ordstat.compiled.sums`, made of those in `twins.py`."""

from __future__ import annotations

import numpy as np
from twins import accumulate_terms, aranda_ordaz_interval, interval_ends, interval_terms, logit_interval


def aranda_ordaz_lambda(u, lo, lam):
    """Derivatives of log p by lambda, by u and lambda, by lo and lambda, and twice by lambda: (4, n).

    log p = -H(lo) + log(1 - exp(-D)), D = H(u) - H(lo), H(t) = log(1 + lambda e^t) / lambda, h = H'.
    """
    top, bottom = np.isposinf(u), np.isneginf(lo)
    parts = []
    for t, infinite in ((np.where(top, 0.0, u), top), (np.where(bottom, 0.0, lo), bottom)):
        H, h = np.logaddexp(0.0, t + np.log(lam)) / lam, 1.0 / (np.exp(-t) + lam)
        H_1 = (h - H) / lam
        parts.append([np.where(infinite, 0.0, each) for each in (H, h, H_1, -(h * h + 2.0 * H_1) / lam)])
    (H_u, h_u, first_u, second_u), (H_l, h_l, first_l, second_l) = parts
    r = np.where(top, 0.0, 1.0 / np.expm1(np.where(top, 1.0, H_u - H_l)))
    rise, second_rise = first_u - first_l, second_u - second_l
    by_u, by_l = -h_u * r * (h_u + (1.0 + r) * rise), h_l * (1.0 + r) * (h_l + r * rise)
    return r * rise - first_l, by_u, by_l, r * (second_rise - (1.0 + r) * rise**2) - second_l


def standardise(X, mean, deviation, first, out):
    """Twin of `ordstat.compiled.sums.standardise`."""
    out[:, first : first + X.shape[1]] = (X - mean) / deviation


def interval_sums(
    columns, p, r, w, pattern, y, weights, offset, scale_offset, last, theta, step, by, lam, farthest, largest,
    alpha, pairs, cross, rest, gram, second,
):  # fmt: skip
    """Twin of `ordstat.compiled.sums.interval_sums`: the terms of all rows by the twins above, then their sums."""
    (n, q), tau_end = columns.shape, p + r
    w = np.ones((n, 1)) if w is None else w
    H = columns[:, :p] @ by[:p] + (0.0 if offset is None else offset)
    tau = columns[:, p:tau_end] @ by[p:tau_end] + (0.0 if scale_offset is None else scale_offset)
    first = 0 if pattern is None else pattern * last
    high, low = first + np.minimum(y, last - 1), first + np.maximum(y - 1, 0)
    s, ends, parts = np.exp(-tau), np.empty((3, n)), np.empty((8, n))
    theta_u, theta_l, width = ((w * table[k]).sum(axis=1) for table, k in ((theta, high), (theta, low), (step, high)))
    interval_ends(theta_u, theta_l, width, H, s, y, last, ends)
    if not (np.all(ends[2] > 0.0) and np.all(s <= farthest) and np.all(np.abs(tau) <= largest)):
        return np.nan
    if lam == 1.0 and q == tau_end:
        logit_interval(*ends, parts)
    else:
        aranda_ordaz_interval(*ends, lam, parts)
    log_p, a, b, c, W, r_u, r_l, h_ul = parts
    size = 4 + q - tau_end
    score, curvature = np.empty((size, n)), np.empty((size, size, n))
    interval_terms(a, b, c, W, r_u, r_l, h_ul, s, *ends, score[:4], curvature[:4, :4])
    if q > tau_end:
        by_lam, u_lam, l_lam, lam_lam = aranda_ordaz_lambda(*ends[:2], lam)
        finite = (np.where(np.isinf(end), 0.0, end) for end in ends[:2])
        moved = sum(end * part for end, part in zip(finite, (u_lam, l_lam), strict=True))
        score[4] = by_lam
        curvature[4] = curvature[:, 4] = -s * u_lam, -s * l_lam, s * (u_lam + l_lam), moved, -lam_lam
    sums = alpha, pairs, cross, rest, gram
    places, groups = np.stack([high, low]), np.array([0, p, *range(tau_end, q + 1)])
    weighted = curvature * weights if second else None
    accumulate_terms(w, columns, groups, places, score * weights, weighted, *sums, True)
    return float(weights @ log_p)
