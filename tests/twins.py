"""Plain NumPy twins of the compiled loops: the same signature, the readable
specification and the oracle.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def _row_score(label, cap, u, theta, start, curvature, beta, weight):
    """The root g of h(g) = (g - start)/curvature + beta - sum_k u_k(g), by its
    breakpoints.

    u_k(g) = clip(u_k + (Y_k - g + theta_k)/weight) falls in g, so h rises and is linear
    between breakpoints.
    """
    low = np.where(label > 0, 0.0, -cap)
    high = np.where(label > 0, cap, 0.0)

    def h(g):
        return (
            (g - start) / curvature
            + beta
            - np.clip(u + (label - g + theta) / weight, low, high).sum()
        )

    centre = label + theta + weight * u
    knots = np.unique(np.concatenate([centre - weight * low, centre - weight * high]))
    values = np.array([h(g) for g in knots])
    after = int(np.searchsorted(values, 0.0))
    # Outside the outermost knots every variable is at a bound, and h has the slope
    # 1/curvature.
    if after == 0:
        return knots[0] - values[0] * curvature
    if after == len(knots):
        return knots[-1] - values[-1] * curvature
    left = knots[after - 1]
    right = knots[after]
    rise = values[after] - values[after - 1]
    return left - values[after - 1] * (right - left) / rise


def sweep(
    gram,
    factored,
    lengths,
    labels,
    caps,
    u,
    beta,
    f,
    theta,
    mu,
    order,
    weight,
    offset,
    penalty,
    skip,
    shrink,
):
    """Twin of `ordstat.compiled.svm.row_sweep`: one epoch of row-exact coordinate
    ascent, in place.

    Row n maximises, over its own u_n1 ... u_nQ, the dual with the equality's multiplier
    and penalty: with g the row's score after the step, u_k = clip(u_k + (Y_nk - g +
    theta_k)/gamma^2) and g = f_n + b0 + rho S + (G_nn + rho) delta, delta = sum_k u_k -
    beta_n. Then f += delta G_n, theta_k -= gamma^2 (change of u_k), and mu_j <- max(0,
    mu_j - (theta_{j+1} - theta_j)/(2 gamma^2)) in turn.
    """
    violation = 0.0
    kept = 0
    for n in order.copy():
        label = labels[n]
        cap = caps[n]
        low = np.where(label > 0, 0.0, -cap)
        high = np.where(label > 0, cap, 0.0)
        start = f[n] + offset + penalty * beta.sum()
        e = label - start + theta
        used = cap > 0
        worst = max(
            e[used & (u[n] < high)].max(initial=0.0),
            -e[used & (u[n] > low)].min(initial=0.0),
        )
        violation = max(violation, worst)
        inside = used & (u[n] > low) & (u[n] < high)
        margin = 0.0 if inside.any() else np.abs(e[used]).min(initial=np.inf)
        if worst == 0.0 and margin > shrink:
            continue
        order[kept] = n
        kept += 1
        if worst <= skip:
            continue
        g = _row_score(
            label, cap, u[n], theta, start, lengths[n] + penalty, beta[n], weight
        )
        new = np.clip(u[n] + (label - g + theta) / weight, low, high)
        delta = (new - u[n]).sum()
        theta -= weight * (new - u[n])
        u[n] = new
        beta[n] += delta
        f += delta * gram[n]
        for j in range(mu.size):
            moved = max(0.0, mu[j] - (theta[j + 1] - theta[j]) / (2.0 * weight)) - mu[j]
            mu[j] += moved
            theta[j] -= weight * moved
            theta[j + 1] += weight * moved
    return violation, kept


def best_cut(order, distinct, u, slack):
    """Twin of `ordstat.compiled.weak.best_cut`: the cut with the largest |sum_n u_n
    sign(x_nd - t)|, by column.
    """
    total = u.sum()
    best = (abs(total), -1, -1, 1.0 if total >= 0 else -1.0)
    for column, rows in enumerate(order):
        values = total - 2.0 * np.cumsum(u[rows])[:-1]
        for place in np.flatnonzero(distinct[column]):
            if abs(values[place]) > best[0] + slack:
                best = (
                    abs(values[place]),
                    column,
                    int(place),
                    1.0 if values[place] > 0 else -1.0,
                )
    return best


def climb(projections, moves, u, slack, scores, steps):
    """Twin of `ordstat.compiled.weak.climb`: each move to the step t with the largest
    sum_n u_n sign(s_n + t d_n).

    Row n changes its answer at a_n = -s_n / d_n, by which a step beyond it gains b_n =
    sign(d_n) u_n. Steps lie in the middle between two values of a, or 1 beyond the
    last; ties go to the largest.
    """
    for m, move in enumerate(moves):
        d = np.ones(u.size) if move < 0 else projections[move]
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.where(d == 0, np.inf, -scores / d)
        used = np.flatnonzero(np.abs(a) <= 1e30)
        steps[m] = 0.0
        if used.size == 0:
            continue
        knots, place = np.unique(a[used] + 0.0, return_inverse=True)
        gains = np.cumsum(np.bincount(place, weights=np.sign(d[used]) * u[used]))
        options = np.concatenate(
            [[knots[0] - 1.0], 0.5 * (knots[:-1] + knots[1:]), [knots[-1] + 1.0]]
        )
        best = 0.0
        step = options[0]
        for value, option in zip(gains, options[1:], strict=True):
            if value >= best - slack:
                best = max(best, value)
                step = option
        steps[m] = step
        scores += step * d


def best_column(order, distinct, bonus, gains, slack):
    """Twin of `ordstat.compiled.weak.best_column`: F_k(n) = G_k(n) + min_{m <= n}
    F_{k-1}(m), both ways.
    """
    best = (np.inf, 0, 1.0)
    for column, rows in enumerate(order):
        allowed = np.concatenate([[True], distinct[column] > 0, [True]])
        for sign, walk in ((1.0, slice(None)), (-1.0, slice(None, None, -1))):
            G = np.vstack(
                [np.zeros(gains.shape[1]), np.cumsum(gains[rows[walk]], axis=0)]
            )
            extra = np.where(allowed, -bonus[column], np.inf)[walk]
            F = np.zeros(len(G))
            for k in range(gains.shape[1]):
                F = G[:, k] + extra + np.minimum.accumulate(F)
            if F.min() < best[0] - slack:
                best = (F.min(), column, sign)
    return best


def pair_sweep(
    gram, factored, upper, lower, weights, alpha, f, order, price, skip, shrink
):
    """Twin of `ordstat.compiled.svm.pair_sweep`: one epoch over pairs (i, j), y_i >
    y_j, in place.

    The dual has the slope g = 1 - (f_i - f_j) and the curvature G_ii + G_jj - 2 G_ij in
    a, which moves to its best place in [0, price w_i w_j].
    """
    violation = 0.0
    kept = 0
    for p in order.copy():
        i = upper[p]
        j = lower[p]
        cap = price * weights[i] * weights[j]
        g = 1.0 - (f[i] - f[j])
        worst = max(g if alpha[p] < cap else 0.0, -g if alpha[p] > 0.0 else 0.0, 0.0)
        violation = max(violation, worst)
        if worst == 0.0 and abs(g) > shrink and not 0.0 < alpha[p] < cap:
            continue
        order[kept] = p
        kept += 1
        if worst <= skip:
            continue
        curvature = gram[i, i] + gram[j, j] - 2.0 * gram[i, j]
        new = np.clip(alpha[p] + g / curvature, 0.0, cap) if curvature > 0.0 else cap
        f += (new - alpha[p]) * (gram[i] - gram[j])
        alpha[p] = new
    return violation, kept


def below(scores, y, weights, X):
    """Twin of `ordstat.compiled.svm.pairs_below`: sums over rows j of a lower rank with
    s_j > s_i - 1.
    """
    violating = (y[:, None] > y) & (scores > scores[:, None] - 1.0)
    parts = (
        np.column_stack([np.ones_like(scores), scores, scores**2, X]) * weights[:, None]
    )
    return violating @ parts


def structured_answer(gaps, cost, margin):
    """The first rank with the largest sum of the gaps below it plus margin times its
    cost.
    """
    return int(np.argmax(np.concatenate([[0.0], np.cumsum(gaps)]) + margin * cost))


def _count(tally, distance, cost, change, margin, aggressive=False):
    """Add an answer to the tally of `ordstat.compiled.online`."""
    tally += [distance > 0, distance, cost, 0.0]
    if distance:
        tally[3] += cost**2 / change if aggressive else change + 2.0 * margin * cost


def prank_pass(
    X,
    centre,
    factor,
    y,
    costs,
    kinds,
    weights,
    order,
    margin,
    w,
    sums,
    work,
    pocket,
    record,
    seen,
    tally,
):
    """Twin of `ordstat.compiled.online.prank_pass`: PRank over the rows in `order`,
    with a pocket where it has room.
    """
    D = X.shape[1]
    X = (X - centre) * factor if factor.size else X
    costs = costs[kinds]
    for i, n in enumerate(order):
        answer = structured_answer(X[n] @ w[:D] - w[D:], costs[n], margin)
        between = (np.arange(w.size - D) >= min(y[n], answer)) & (
            np.arange(w.size - D) < max(y[n], answer)
        )
        step = np.concatenate(
            [(y[n] - answer) * X[n], -np.sign(y[n] - answer) * between]
        )
        w += step
        sums += (seen + i + 1) * step
        _count(tally, abs(y[n] - answer), costs[n, answer], step @ step, margin)
        if answer != y[n]:
            record[[0, 3]] = 0.0
            continue
        record[0] += 1.0
        if pocket.size and record[0] > record[1]:
            if record[3] == 0.0:
                ranks = (X @ w[:D, None] > w[D:]).sum(axis=1)
                cost = weights @ costs[np.arange(len(X)), ranks]
                record[3] = 1.0
                if cost < record[2]:
                    record[[2, 3]] = cost, 2.0
                    pocket[:] = w
            if record[3] == 2.0:
                record[1] = record[0]


def _cusum_step(gaps, y, answer, cost, square, aggressive):
    """(K-1,) factors of the row in the update of every weight vector."""
    k = np.arange(gaps.size)
    between = ((k >= min(y, answer)) & (k < max(y, answer))).astype(float)
    step = np.sign(y - answer) * between
    if aggressive and y != answer:
        step *= max(cost - step @ gaps, 0.0) / (between.sum() * square)
    return step


def cusum_pass(
    X,
    centre,
    factor,
    y,
    costs,
    kinds,
    order,
    margin,
    aggressive,
    w,
    sums,
    work,
    seen,
    tally,
):
    """Twin of `ordstat.compiled.online.cusum_pass`: CuSum Rank over the rows in
    `order`.
    """
    X = (X - centre) * factor if factor.size else X
    costs = costs[kinds]
    for i, n in enumerate(order):
        x = np.append(X[n], -1.0)
        answer = structured_answer(w @ x, costs[n], margin)
        step = (
            _cusum_step(w @ x, y[n], answer, costs[n, answer], x @ x, aggressive)[
                :, None
            ]
            * x
        )
        distance = abs(y[n] - answer)
        _count(
            tally, distance, costs[n, answer], distance * (x @ x), margin, aggressive
        )
        w += step
        sums += (seen + i + 1) * step


def kernel_prank_pass(
    gram,
    y,
    costs,
    kinds,
    order,
    margin,
    beta,
    sums,
    b,
    b_sums,
    scores,
    work,
    seen,
    tally,
):
    """Twin of `ordstat.compiled.online.kernel_prank_pass`."""
    costs = costs[kinds]
    for i, n in enumerate(order):
        answer = structured_answer(scores[n] - b, costs[n], margin)
        k = np.arange(b.size)
        step = -np.sign(y[n] - answer) * (
            (k >= min(y[n], answer)) & (k < max(y[n], answer))
        )
        move = y[n] - answer
        _count(
            tally,
            abs(move),
            costs[n, answer],
            move**2 * gram[n, n] + step @ step,
            margin,
        )
        beta[n] += move
        sums[n] += (seen + i + 1) * move
        scores += move * gram[n]
        b += step
        b_sums += (seen + i + 1) * step


def kernel_cusum_pass(
    gram,
    y,
    costs,
    kinds,
    order,
    margin,
    aggressive,
    beta,
    sums,
    scores,
    work,
    seen,
    tally,
):
    """Twin of `ordstat.compiled.online.kernel_cusum_pass`."""
    costs = costs[kinds]
    for i, n in enumerate(order):
        answer = structured_answer(scores[:, n], costs[n], margin)
        step = _cusum_step(
            scores[:, n], y[n], answer, costs[n, answer], gram[n, n], aggressive
        )
        distance = abs(y[n] - answer)
        _count(
            tally, distance, costs[n, answer], distance * gram[n, n], margin, aggressive
        )
        beta[:, n] += step
        sums[:, n] += (seen + i + 1) * step
        scores += np.outer(step, gram[n])


def _bits(positive, negative):
    """Weight times entropy."""
    weights = np.array([positive, negative], dtype=float)
    total = weights.sum()
    inside = weights[weights > 0]
    return float(-(inside * np.log2(inside / total)).sum())


def gain_ratio_cut(X, label, w, min_cases):
    """The cut of C4.5 in a node: (column, low, high), or None; a step of
    `ordstat.compiled.trees.grow_c45`.
    """
    total = w.sum()
    positive = w[label == 1].sum()
    if (
        min(positive, total - positive) <= 1e-11 * total
        or total < 2 * min_cases - 1e-11 * total
    ):
        return None
    least = max(min(0.05 * total, 25.0), min_cases) - 1e-11 * total
    best = {}
    for d in range(X.shape[1]):
        values = np.unique(X[:, d])
        for low, high in pairwise(values):
            below = X[:, d] <= low
            sides = [
                (w[s & (label == 1)].sum(), w[s & (label == 0)].sum())
                for s in (below, ~below)
            ]
            if min(sum(side) for side in sides) < least:
                continue
            gain = _bits(positive, total - positive) - sum(
                _bits(*side) for side in sides
            )
            if d not in best or gain > best[d][0] + 1e-11 * total:
                best[d] = (
                    max(gain, 0.0),
                    _bits(*(sum(side) for side in sides)),
                    low,
                    high,
                )
    if not best:
        return None
    mean = np.mean([gain for gain, *_ in best.values()])
    chosen = None
    ratio = 0.0
    for d, (gain, split, low, high) in best.items():
        if (
            gain > 1e-11 * total
            and gain >= mean - 1e-11 * total
            and gain / split > ratio + 1e-11
        ):
            chosen = (d, low, high)
            ratio = gain / split
    return chosen


def add_shares(columns, roots, column, cut, children, shares, totals):
    for row, total in zip(columns.T, totals, strict=True):
        for root in roots:
            node = min(root, 0)
            while node >= 0:
                at = root + node
                node = children[at, int(row[column[at]] > cut[at])]
            total += shares[-1 - node]


def split_mix(state):
    """The state after a step of SplitMix64, and a number in [0, 1)."""
    whole = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & whole
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & whole
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & whole
    return state, ((z ^ (z >> 31)) >> 11) / 2.0**53


def grow_tree(
    columns,
    y,
    w,
    K,
    min_leaf,
    drawn,
    seed,
    column,
    cut,
    children,
    shares,
    falls,
):
    """By recursion, with masks of rows."""
    D, N = columns.shape
    above = (y[:, None] > np.arange(K - 1)).astype(float)
    made = {"state": seed, "cuts": 0, "leaves": 0}
    order = list(range(D))

    def drawn_number():
        made["state"], number = split_mix(made["state"])
        return number

    def error(rows):
        mean = np.average(above[rows], axis=0, weights=w[rows])
        return float(w[rows] @ ((above[rows] - mean) ** 2).sum(axis=1))

    def tried(d, rows):
        """Whether the column varies, and its random cut with the fall, if allowed."""
        x = columns[d]
        low, high = x[rows].min(), x[rows].max()
        if low == high:
            return False, None
        at = np.float32(float(low) + drawn_number() * (float(high) - float(low)))
        at = at if at < high else low
        left = rows & (x <= at)
        if min(left.sum(), (rows & ~left).sum()) < min_leaf:
            return True, None
        return True, (error(rows) - error(left) - error(rows & ~left), d, at)

    def node(rows):
        best = None
        varied = False
        slack = 1e-11 * w[rows].sum()
        if np.unique(y[rows]).size > 1 and rows.sum() >= 2 * min_leaf:
            for d in range(D):
                perfect = best is not None and best[0] >= error(rows) - slack
                if perfect or (d >= drawn and varied):
                    break
                i = d + int(drawn_number() * (D - d))
                order[i], order[d] = order[d], order[i]
                varies, found = tried(order[d], rows)
                varied |= varies
                if found and (best is None or found[0] > best[0] + slack):
                    best = found
        if best is None:
            shares[made["leaves"]] = np.average(above[rows], axis=0, weights=w[rows])
            made["leaves"] += 1
            return -made["leaves"]
        fall, d, at = best
        place = made["cuts"]
        made["cuts"] += 1
        column[place], cut[place] = d, at
        falls[d] += fall
        children[place, 0] = node(rows & (columns[d] <= at))
        children[place, 1] = node(rows & (columns[d] > at))
        return place

    node(np.ones(N, dtype=bool))
    return made["cuts"], made["leaves"]
