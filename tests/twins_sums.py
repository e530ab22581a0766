"""Plain NumPy twins of `ordstat.compiled.sums`."""

from __future__ import annotations

import numpy as np
from seams import LINKS


def spreads(X, weights, shift, sums, squares):
    """Twin of `ordstat.compiled.sums.spreads`: sums of columns and of their squares
    about `shift`.
    """
    v = np.ones(len(X)) if weights is None else weights
    sums += v @ (X - shift)
    squares += v @ (X - shift) ** 2


def gather(columns, places, matrix, squares):
    """Twin of `ordstat.compiled.sums.gather`: columns side by side, and their sums of
    squares.
    """
    for column, place in zip(columns, places, strict=True):
        matrix[:, place] = column
        squares[place] += matrix[:, place] @ matrix[:, place]


def row_terms(interval, s, upper, lower, width):
    """Score (4, n) by theta_y, theta_{y-1}, H and tau, and curvature (4, 4, n), from
    the derivatives of intervals.
    """
    a, b, c, W, r_u, r_l, h_ul = interval
    u, lo, d = (np.where(np.isinf(end), 0.0, end) for end in (upper, lower, width))
    e = np.where(
        np.isinf(upper), -b * lo, np.where(np.isinf(lower), a * u, c * u + b * d)
    )
    rows = (
        (
            -s * s * (r_u - h_ul),
            -s * s * h_ul,
            s * s * r_u,
            s * (r_u * u - h_ul * d + a),
        ),
        (-s * s * (r_l - h_ul), s * s * r_l, s * (r_l * lo + h_ul * d - b)),
        (s * s * W, -s * (r_u * u + r_l * lo + c)),
        (-(r_u * u * u + r_l * lo * lo - h_ul * d * d + e),),
    )
    curvature = np.empty((4, 4, s.size))
    for i, row in enumerate(rows):
        for j, values in enumerate(row, i):
            curvature[i, j] = curvature[j, i] = values
    return np.stack([s * a, -s * b, -s * c, -e]), curvature


def interval_sums(
    X,
    Z,
    w,
    pattern,
    y,
    open_end,
    weights,
    offset,
    scale_offset,
    mean,
    inverse,
    last,
    theta,
    step,
    by,
    farthest,
    largest,
    link,
    parts,
    alpha,
    pairs,
    cross,
    rest,
    gram,
    second,
):
    """Twin of `ordstat.compiled.sums.interval_sums`: by row, the outer products of the
    lines of its Jacobian.
    """
    (n, p), (count, m) = X.shape, theta.shape
    z = np.zeros((n, 0)) if Z is None else Z * inverse[p:]
    x = (X - mean[:p]) * inverse[:p]
    w = np.ones((n, 1)) if w is None else w
    H = x @ by[:p] + (0.0 if offset is None else offset)
    tau = z @ by[p:] + (0.0 if scale_offset is None else scale_offset)
    v = np.ones(n) if weights is None else weights
    s = np.exp(-tau)
    first = 0 if pattern is None else pattern * last
    high = first + np.minimum(y, last - 1)
    low = first + np.maximum(y - 1, 0)
    theta_u, theta_l, width = (
        (w * table[k]).sum(axis=1)
        for table, k in ((theta, high), (theta, low), (step, high))
    )
    opened = np.zeros(n, dtype=int) if open_end is None else open_end
    top = (y == last) | (opened > 0)
    bottom = (y == 0) | (opened < 0)
    ends = (
        np.where(top, np.inf, s * (theta_u - H)),
        np.where(bottom, -np.inf, s * (theta_l - H)),
    )
    width = np.where(top | bottom, np.inf, s * width)
    if parts is None:
        if not (
            np.all(width > 0.0)
            and np.all(s <= farthest)
            and np.all(np.abs(tau) <= largest)
        ):
            return np.nan
        at = list(LINKS.values())[link - 1].interval(*ends, width)
        parts = np.stack([at.log_p, at.a, at.b, at.c, at.W, at.r_u, at.r_l, at.h_ul])
    score, curvature = row_terms(parts[1:], s, *ends, width)
    size = count * m
    for i in range(n):
        J = np.zeros((4, size + by.size))
        J[0, high[i] * m : (high[i] + 1) * m] = 0.0 if top[i] else w[i]
        J[1, low[i] * m : (low[i] + 1) * m] = 0.0 if bottom[i] else w[i]
        J[2, size : size + p], J[3, size + p :] = x[i], z[i]
        total = v[i] * score[:, i] @ J
        alpha += total[:size].reshape(count, m)
        rest += total[size:]
        if second:
            info = J.T @ (v[i] * curvature[:, :, i]) @ J
            blocks = info[:size, :size].reshape(count, m, count, m)
            for k in range(count):
                pairs[0, k] += blocks[k, :, k]
                if k + 1 < count:
                    pairs[1, k] += blocks[k + 1, :, k]
            cross += info[:size, size:].reshape(cross.shape)
            gram += info[size:, size:]
    return float(v @ parts[0])


def stage_sums(
    X,
    Z,
    w,
    y,
    weights,
    offset,
    scale_offset,
    mean,
    inverse,
    theta,
    by,
    farthest,
    largest,
    link,
    backward,
    alpha,
    pairs,
    cross,
    rest,
    gram,
    second,
):
    """Twin of `ordstat.compiled.sums.stage_sums`: a binary model for each stage, of
    the rows that reach it.
    """
    loglik = 0.0
    for k, own in enumerate(theta[:, None]):
        reached = y <= k + 1 if backward else y >= k
        by_row = [
            None if values is None else values[reached]
            for values in (X, Z, w, None, y > k, None, weights, offset, scale_offset)
        ]
        sums = alpha[k, None], np.stack([pairs[k, None]] * 2), cross[k, None]
        limits = by, farthest, largest, link, None
        columns = mean, inverse, 1, own, own
        loglik += interval_sums(*by_row, *columns, *limits, *sums, rest, gram, second)
        pairs[k] = sums[1][0, 0]
    return loglik


def level_sums(
    X,
    w,
    y,
    weights,
    offset,
    mean,
    inverse,
    theta,
    by,
    summed,
    alpha,
    pairs,
    cross,
    rest,
    gram,
    second,
):
    """Twin of `ordstat.compiled.sums.level_sums`: by row, with the matrix from
    predictors to scores.
    """
    n = len(X)
    count, m = theta.shape
    v = np.ones(n) if weights is None else weights
    w = np.ones((n, 1)) if w is None else w
    x = (X - mean) * inverse
    H = x @ by + (0.0 if offset is None else offset)
    eta = w @ theta.T - H[:, None]
    of_scores = np.eye(count + 1, count, -1)
    if summed:
        of_scores = -np.tri(count + 1, count, -1)
    first, last = np.triu_indices(count)
    left, right = np.triu_indices(m)
    loglik = 0.0
    for i in range(n):
        scores = of_scores @ eta[i]
        log_p = scores - np.logaddexp.reduce(scores)
        probabilities = np.exp(log_p)
        observed = np.arange(count + 1) == y[i]
        slope = v[i] * (observed - probabilities) @ of_scores
        spread = np.diag(probabilities) - np.outer(probabilities, probabilities)
        curvature = v[i] * of_scores.T @ spread @ of_scores
        loglik += v[i] * log_p[y[i]]
        alpha += np.outer(slope, w[i])
        rest -= slope.sum() * x[i]
        if second:
            of_columns = np.outer(w[i], w[i])[left, right]
            pairs += np.outer(curvature[first, last], of_columns)
            cross -= np.einsum("t,m,q->tmq", curvature.sum(axis=1), w[i], x[i])
            gram += curvature.sum() * np.outer(x[i], x[i])
    return loglik
