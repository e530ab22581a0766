"""Plain NumPy twins of `ordstat.compiled.mixed` and `effects`: the same signatures, the
readable specification.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp
from seams import LINKS

from ordstat.likelihood.cumulative import curvature_slopes

#: Links of `ordstat.compiled.mixed`, by their number there.
MIXED_LINKS = ("logit", "probit")


def _moved_rows(link, u, lo, d, move):
    """The link's interval terms at ends that moved, and the third derivatives there."""
    upper = u - move
    lower = lo - move
    at = LINKS[MIXED_LINKS[link]].interval(upper, lower, d)
    return at, curvature_slopes(LINKS[MIXED_LINKS[link]], upper, lower, d)


def full_terms(link, u, lo, d, s, shift, out):
    """Twin of `ordstat.compiled.mixed.full_terms`."""
    at, (by_u, by_l) = _moved_rows(link, u, lo, d, s * shift)
    out[:] = np.stack([at.a, at.b, at.c, at.W, at.r_u, at.r_l, by_u, by_l], axis=1)
    return True


def location_terms(link, u, lo, d, s, shift, log_p, score, curvature):
    """Twin of `ordstat.compiled.mixed.location_terms`."""
    at, _ = _moved_rows(link, u, lo, d, s * shift)
    log_p[:], score[:], curvature[:] = at.log_p, -s * at.c, s * s * at.W
    return True


def total_derivatives(terms, u, lo, s, shift, w, variance, t, kappa):
    """Twin of `ordstat.compiled.mixed.total_derivatives`: kappa = score - variance T /
    2 - t curvature_H.
    """
    a, b, c, W, r_u, r_l, by_u, by_l = terms.T
    upper, lower = (np.where(np.isinf(end), 0.0, end - s * shift) for end in (u, lo))
    score = np.stack([s * a, -s * b, -s * c, b * lower - a * upper])
    T = np.stack(
        [
            s**3 * by_u,
            s**3 * by_l,
            -(s**3) * (by_u + by_l),
            -s * s * (2 * W + by_u * upper + by_l * lower),
        ]
    )
    bent = np.stack(
        [s * s * r_u, s * s * r_l, s * s * W, -s * (r_u * upper + r_l * lower + c)]
    )
    kappa[:] = w * (score - 0.5 * variance * T - t * bent)


def schur_complement(starts, columns, B, V, S):
    """Twin of `ordstat.compiled.mixed.schur_complement`."""
    matrices = [
        csr_array((values, columns, starts), shape=(len(starts) - 1, len(S)))
        for values in (B, V)
    ]
    S -= np.tril((matrices[0].T @ matrices[1]).toarray())


def coupled(starts, columns, V, P, out):
    """Twin of `ordstat.compiled.mixed.coupled`."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    out[:] = (csr_array((V, columns, starts), shape=(len(starts) - 1, len(P))) @ P)[
        rows, columns
    ]


def integrate_logit(
    common, starts, theta, score, y, sigma, z, w, points, logs, v, H, by_score, by_theta
):
    """Twin of `ordstat.compiled.mixed.integrate_logit`, group by group; modes by halved
    Newton steps.
    """
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    totals = np.zeros(3)
    u = ends[y + 1] - score
    lo = ends[y] - score
    d = np.diff(ends)[y]
    kappa = np.empty((4, y.size))
    for group, (first, last) in enumerate(pairwise(starts)):
        rows = slice(first, last)
        group_values = [
            values[rows] for values in (u, lo, d, sigma * z, z, np.ones(y.size), w)
        ]
        actual = _integrated_group(0, *group_values, points, logs, v[group])
        v[group], H[group], kappa[:, rows] = actual[:3]
        totals[:2] += actual[3:5]
        totals[2] = max(totals[2], actual[5])
    by_score[:] = kappa[2]
    by_theta[:] = [
        kappa[0][y == k].sum() + kappa[1][y == k + 1].sum() for k in range(theta.size)
    ]
    return tuple(totals)


def _h(link, u, lo, d, m, w, v):
    """h, h' and -h'' of one group."""
    at, _ = _moved_rows(link, u, lo, d, m * v)
    value = w @ at.log_p - 0.5 * v * v
    return (
        value,
        -(w * m) @ at.c - v,
        1.0 + (w * m * m) @ at.W,
        1.0 + (w * m * m) @ np.maximum(at.W, 0.0),
    )


def _integrated_group(link, u, lo, d, x, z, s, w, points, logs, v):
    m = s * x
    for _ in range(200):
        value, slope, H, positive = _h(link, u, lo, d, m, w, v)
        if slope * slope / positive <= 1e-22:
            break
        step = slope / positive
        while _h(link, u, lo, d, m, w, v + step)[0] < value - 1e-13 * (
            1.0 + abs(value)
        ):
            step *= 0.5
        v += step
    tau = H**-0.5
    nodes = v + np.sqrt(2.0) * tau * points
    at_nodes = [_h(link, u, lo, d, m, w, node) for node in nodes]
    h, slopes = (np.array([one[k] for one in at_nodes]) for k in (0, 1))
    loglik = (
        logsumexp(h + logs) + np.log(np.sqrt(2.0) * tau) - 0.5 * np.log(2.0 * np.pi)
    )
    share = np.exp(h + logs - logsumexp(h + logs))
    pushed = share @ slopes
    widened = 1.0 + np.sqrt(2.0) * tau * share @ (points * slopes)
    terms = np.empty((u.size, 8))
    kappa = np.empty((4, u.size))
    means = np.zeros((5, u.size))
    full_terms(link, u, lo, d, s, x * v, terms)
    for node, part in zip(nodes, share, strict=True):
        there = np.empty((u.size, 8))
        score = np.empty((4, u.size))
        full_terms(link, u, lo, d, s, x * node, there)
        total_derivatives(
            there, u, lo, s, x * node, w, np.zeros(u.size), np.zeros(u.size), score
        )
        means += part * np.vstack([score, score[2] * node])
    variance = x * x / H * widened
    q = ((0.5 * w * x * variance * s**3) @ (terms[:, 6] + terms[:, 7]) + pushed) / H
    total_derivatives(terms, u, lo, s, x * v, w, variance, x * q, kappa)
    at_mode = np.empty((4, u.size))
    total_derivatives(
        terms, u, lo, s, x * v, w, np.zeros(u.size), np.zeros(u.size), at_mode
    )
    moved = kappa - at_mode
    by_sigma = z @ (
        means[4]
        + moved[2] * v
        - w * s * s * terms[:, 3] * x / H * widened
        + at_mode[2] * q
    )
    return v, H, means[:4] + moved, loglik, by_sigma, slope * slope / positive
