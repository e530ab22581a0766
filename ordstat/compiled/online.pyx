# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Passes of the online rankers over examples; the readable twins are in `tests/twins.py`.

Common arguments: y codes 0..K-1, Q = K-1 gaps per row, costs (C, K), `kinds` (N,) index of each row's costs, order (M,)
rows in order of presentation. Ranks are predicted before the update, with the cost times `margin`; ties go to the lower
rank. `seen` is the number of earlier examples; sums are of updates times the number of the example, so that
((c + 1) w - sums) / c is the mean of w. Added to tally (4,): wrong answers, their |y - yhat|, the cost of all answers,
and the largest possible growth of the squared norm of the weights: with h = |Phi(y) - Phi(yhat)|^2, the sum of h + 2 margin
cost; or of cost^2 / h for passive-aggressive steps, whose hinge is at most the cost.
"""

from libc.stdlib cimport free, malloc

from ordstat.compiled.signals cimport let_interrupt, require_lengths


cdef inline double dot(const double* x, const double* w, Py_ssize_t n) noexcept nogil:
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        a += x[i] * w[i]
        b += x[i + 1] * w[i + 1]
        c += x[i + 2] * w[i + 2]
        d += x[i + 3] * w[i + 3]
        i += 4
    while i < n:
        a += x[i] * w[i]
        i += 1
    return (a + b) + (c + d)


cdef inline void add(double* w, double step, const double* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        w[i] += step * x[i]


cdef inline void gaps_of(const double* x, const double* w, Py_ssize_t n, Py_ssize_t q_count, double* gaps) noexcept nogil:
    """gaps[q] = w_q'x - w_q[n], with w of q_count rows of n + 1."""
    cdef Py_ssize_t q
    for q in range(q_count):
        gaps[q] = dot(x, w + q * (n + 1), n) - w[q * (n + 1) + n]


cdef inline Py_ssize_t best_rank(const double* gaps, const double* cost, Py_ssize_t Q, double margin) noexcept nogil:
    """The first rank with the largest sum of the gaps below it, plus margin times its cost."""
    cdef double score = 0.0, top = 0.0, value
    cdef Py_ssize_t k, rank = 0
    if margin > 0.0:
        top = margin * cost[0]
    for k in range(Q):
        score += gaps[k]
        value = score + margin * cost[k + 1] if margin > 0.0 else score
        rank = k + 1 if value > top else rank
        top = value if value > top else top
    return rank


cdef inline Py_ssize_t count_above(double score, const double* b, Py_ssize_t Q) noexcept nogil:
    cdef Py_ssize_t k, rank = 0
    for k in range(Q):
        rank += score > b[k]
    return rank


cdef inline const double* scaled(const double* x, const double[::1] centre, const double[::1] factor, double* z,
                                 Py_ssize_t n) noexcept nogil:
    """(x - centre) * factor, or x if there is no factor."""
    cdef Py_ssize_t i
    if factor.shape[0] == 0:
        return x
    for i in range(n):
        z[i] = (x[i] - centre[i]) * factor[i]
    return z


cdef inline Py_ssize_t rank_between(double score, const double* b, double* gaps, const double* cost, Py_ssize_t Q,
                                    double margin) noexcept nogil:
    """The answer of thresholds b to a score."""
    cdef Py_ssize_t k
    if margin > 0.0:
        for k in range(Q):
            gaps[k] = score - b[k]
        return best_rank(gaps, cost, Q, margin)
    return count_above(score, b, Q)


cdef inline void move(double* b, double* sums, Py_ssize_t low, Py_ssize_t high, double step, double number) noexcept nogil:
    """Subtract a step from thresholds low..high-1."""
    cdef Py_ssize_t k
    for k in range(low, high):
        b[k] -= step
        sums[k] -= step * number


cdef inline double tau(const double* gaps, double cost, Py_ssize_t low, Py_ssize_t high, double sign, double square,
                       bint aggressive) noexcept nogil:
    """Step of CuSum Rank: `sign`, or just enough that the true rank leads by the cost, for a row of this squared length."""
    cdef double lead = cost
    cdef Py_ssize_t k
    if not aggressive:
        return sign
    for k in range(low, high):
        lead -= sign * gaps[k]
    if lead < 0.0:
        lead = 0.0
    return sign * lead / ((high - low) * square)


cdef inline void count(double* tally, double distance, double cost, double change, double margin,
                       bint aggressive) noexcept nogil:
    """Count a mistake; `change` is |Phi(y) - Phi(yhat)|^2."""
    tally[0] += 1.0
    tally[1] += distance
    tally[3] += cost * cost / change if aggressive else change + 2.0 * margin * cost


cdef double total_cost(const double[:, ::1] X, const double[:, ::1] costs, const Py_ssize_t[::1] kinds,
                       const double[::1] weights, const double* w, Py_ssize_t D, Py_ssize_t Q) noexcept nogil:
    """Weighted cost of the threshold ranker w on all rows."""
    cdef double total = 0.0
    cdef Py_ssize_t n
    for n in range(X.shape[0]):
        total += weights[n] * costs[kinds[n], count_above(dot(&X[n, 0], w, D), w + D, Q)]
    return total


def prank_pass(const double[:, ::1] X, const double[::1] centre, const double[::1] factor, const Py_ssize_t[::1] y,
               const double[:, ::1] costs, const Py_ssize_t[::1] kinds, const double[::1] weights,
               const Py_ssize_t[::1] order, double margin, double[::1] w, double[::1] sums, double[::1] work,
               double[::1] pocket, double[::1] record, Py_ssize_t seen, double[::1] tally):
    """PRank: u += (y - yhat) x, b_k -= sign(y - yhat) for the thresholds between.

    Parameters
    ----------
    X : (N, D), D >= 1
    centre, factor : (D,)
        Columns are (x - centre) * factor; (0,) if X is scaled already.
    weights : (N,) case weights, for the cost of the pocket
    w : (D + Q,) u, then b; changed in place
    sums : (D + Q,)
    work : (D + Q,)
    pocket : (D + Q,) the best weights so far, in place; (0,) for no pocket, then `weights` is not used
    record : (4,)
        Present run of exact hits, run and cost of the pocket, whether the present weights were compared with it.
    """
    cdef Py_ssize_t D = X.shape[1], Q = w.shape[0] - X.shape[1], M = order.shape[0]
    cdef Py_ssize_t i, n, rank, low, high
    cdef bint keeps = pocket.shape[0] > 0
    cdef double done = 0.0
    cdef double step, cost
    cdef const double* x
    cdef const double* price
    require_lengths(
        y.shape[0] == X.shape[0] == kinds.shape[0] and costs.shape[1] == Q + 1 and Q >= 0
        and centre.shape[0] == factor.shape[0] and factor.shape[0] in (0, D)
        and (not keeps or (pocket.shape[0] == D + Q and weights.shape[0] == X.shape[0]))
        and sums.shape[0] == D + Q and work.shape[0] >= D + Q and record.shape[0] >= 4 and tally.shape[0] >= 4,
        "prank_pass",
    )
    with nogil:
        for i in range(M):
            let_interrupt(&done, 10 * D + 50)
            n = order[i]
            x = scaled(&X[n, 0], centre, factor, &work[0], D)
            price = &costs[kinds[n], 0]
            rank = rank_between(dot(x, &w[0], D), &w[D], &work[D], price, Q, margin)
            tally[2] += price[rank]
            seen += 1
            if rank != y[n]:
                low, high = min(rank, y[n]), max(rank, y[n])
                step = <double> (y[n] - rank)
                add(&w[0], step, x, D)
                add(&sums[0], step * seen, x, D)
                move(&w[D], &sums[D], low, high, 1.0 if step > 0.0 else -1.0, seen)
                count(&tally[0], high - low, price[rank], step * step * dot(x, x, D) + (high - low), margin, False)
                record[0] = 0.0
                record[3] = 0.0
            elif keeps:
                record[0] += 1.0
                if record[0] > record[1]:
                    if record[3] == 0.0:
                        record[3] = 1.0
                        cost = total_cost(X, costs, kinds, weights, &w[0], D, Q)
                        if cost < record[2]:
                            record[2] = cost
                            record[3] = 2.0
                            pocket[:] = w
                    if record[3] == 2.0:
                        record[1] = record[0]


def cusum_pass(const double[:, ::1] X, const double[::1] centre, const double[::1] factor, const Py_ssize_t[::1] y,
               const double[:, ::1] costs, const Py_ssize_t[::1] kinds, const Py_ssize_t[::1] order, double margin,
               bint aggressive, double[:, ::1] w, double[:, ::1] sums, double[::1] work, Py_ssize_t seen,
               double[::1] tally):
    """CuSum Rank: w_k += tau (x, -1) for the k between y and yhat.

    Parameters
    ----------
    X : (N, D), D >= 1
    centre, factor : (D,)
        As for `prank_pass`.
    aggressive : bool
        tau is the step after which the true rank leads by its cost; otherwise +-1.
    w : (Q, D + 1) weights of "rank above k?", the last for the constant -1; changed in place
    sums : (Q, D + 1)
    work : (D + Q,)

    Notes
    -----
    The gaps of a row are computed before the previous row is predicted, so that the processor does not wait.
    """
    cdef Py_ssize_t D = X.shape[1], Q = w.shape[0], M = order.shape[0]
    cdef Py_ssize_t i, k, n, label, rank, low, high
    cdef double done = 0.0
    cdef double step, square, product = 0.0
    cdef double* z_after = &work[0]
    cdef double* gaps_after = &work[D]
    cdef double* z
    cdef double* gaps
    cdef const double* x
    cdef const double* x_after
    cdef const double* price
    require_lengths(
        y.shape[0] == X.shape[0] == kinds.shape[0] and costs.shape[1] == Q + 1
        and centre.shape[0] == factor.shape[0] and factor.shape[0] in (0, D)
        and w.shape[1] == sums.shape[1] == D + 1 and sums.shape[0] == Q
        and work.shape[0] >= D + Q and tally.shape[0] >= 4,
        "cusum_pass",
    )
    if M == 0:
        return
    cdef double* more = <double*> malloc((D + Q) * sizeof(double))
    if more == NULL:
        raise MemoryError()
    z, gaps = more, more + D
    try:
        with nogil:
            x_after = scaled(&X[order[0], 0], centre, factor, z_after, D)
            gaps_of(x_after, &w[0, 0], D, Q, gaps_after)
            for i in range(M):
                let_interrupt(&done, 4 * D * Q + 50)
                n = order[i]
                x, z, z_after = x_after, z_after, z
                gaps, gaps_after = gaps_after, gaps
                if i + 1 < M:  # the next row; the step below moves its gaps by step * product
                    x_after = scaled(&X[order[i + 1], 0], centre, factor, z_after, D)
                    gaps_of(x_after, &w[0, 0], D, Q, gaps_after)
                    product = dot(x, x_after, D) + 1.0
                price = &costs[kinds[n], 0]
                rank = best_rank(gaps, price, Q, margin)
                tally[2] += price[rank]
                seen += 1
                label = y[n]
                if rank != label:
                    low = rank if rank < label else label
                    high = rank + label - low
                    square = dot(x, x, D) + 1.0
                    step = tau(gaps, price[rank], low, high, <double> ((label > rank) - (label < rank)), square, aggressive)
                    for k in range(low, high if step != 0.0 else low):  # no step for rows whose squares overflow
                        add(&w[k, 0], step, x, D)
                        add(&sums[k, 0], step * seen, x, D)
                        move(&w[k, 0], &sums[k, 0], D, D + 1, step, seen)
                        gaps_after[k] += step * product
                    count(&tally[0], high - low, price[rank], (high - low) * square, margin, aggressive)
    finally:
        free(more)


def kernel_prank_pass(const double[:, ::1] gram, const Py_ssize_t[::1] y, const double[:, ::1] costs,
                      const Py_ssize_t[::1] kinds, const Py_ssize_t[::1] order, double margin, double[::1] beta,
                      double[::1] sums, double[::1] b, double[::1] b_sums, double[::1] scores, double[::1] work,
                      Py_ssize_t seen, double[::1] tally):
    """PRank in dual form: beta_n += y - yhat.

    Parameters
    ----------
    gram : (N, N) kernel matrix
    beta, sums : (N,) coefficients of the rows; changed in place
    b, b_sums : (Q,) thresholds; changed in place
    scores : (N,) potential of every row, kept up to date
    work : (Q,)
    """
    cdef Py_ssize_t N = gram.shape[0], Q = b.shape[0], M = order.shape[0]
    cdef Py_ssize_t i, n, rank, low, high
    cdef double done = 0.0
    cdef double step
    cdef const double* price
    require_lengths(
        gram.shape[1] == y.shape[0] == kinds.shape[0] == N and costs.shape[1] == Q + 1
        and beta.shape[0] == sums.shape[0] == scores.shape[0] == N and b_sums.shape[0] == Q
        and work.shape[0] >= Q and tally.shape[0] >= 4,
        "kernel_prank_pass",
    )
    with nogil:
        for i in range(M):
            let_interrupt(&done, N + 50)
            n = order[i]
            price = &costs[kinds[n], 0]
            rank = rank_between(scores[n], &b[0], &work[0], price, Q, margin)
            tally[2] += price[rank]
            seen += 1
            if rank != y[n]:
                low, high = min(rank, y[n]), max(rank, y[n])
                step = <double> (y[n] - rank)
                beta[n] += step
                sums[n] += step * seen
                add(&scores[0], step, &gram[n, 0], N)
                move(&b[0], &b_sums[0], low, high, 1.0 if step > 0.0 else -1.0, seen)
                count(&tally[0], high - low, price[rank], step * step * gram[n, n] + (high - low), margin, False)


def kernel_cusum_pass(const double[:, ::1] gram, const Py_ssize_t[::1] y, const double[:, ::1] costs,
                      const Py_ssize_t[::1] kinds, const Py_ssize_t[::1] order, double margin, bint aggressive,
                      double[:, ::1] beta, double[:, ::1] sums, double[:, ::1] scores, double[::1] work,
                      Py_ssize_t seen, double[::1] tally):
    """CuSum Rank in dual form: beta_nk += tau for the k between y and yhat.

    Parameters
    ----------
    gram : (N, N) kernel matrix plus 1, for the constant
    beta, sums : (Q, N) coefficients of the rows; changed in place
    scores : (Q, N) gaps of every row, kept up to date
    work : (Q,)
    """
    cdef Py_ssize_t N = gram.shape[0], Q = beta.shape[0], M = order.shape[0]
    cdef Py_ssize_t i, k, n, rank, low, high
    cdef double done = 0.0
    cdef double step
    cdef const double* price
    require_lengths(
        gram.shape[1] == y.shape[0] == kinds.shape[0] == N and costs.shape[1] == Q + 1
        and beta.shape[1] == sums.shape[1] == scores.shape[1] == N and sums.shape[0] == scores.shape[0] == Q
        and work.shape[0] >= Q and tally.shape[0] >= 4,
        "kernel_cusum_pass",
    )
    with nogil:
        for i in range(M):
            let_interrupt(&done, N * Q + 50)
            n = order[i]
            price = &costs[kinds[n], 0]
            for k in range(Q):
                work[k] = scores[k, n]
            rank = best_rank(&work[0], price, Q, margin)
            tally[2] += price[rank]
            seen += 1
            if rank != y[n]:
                low, high = min(rank, y[n]), max(rank, y[n])
                step = tau(&work[0], price[rank], low, high, 1.0 if y[n] > rank else -1.0, gram[n, n], aggressive)
                for k in range(low, high):
                    beta[k, n] += step
                    sums[k, n] += step * seen
                    add(&scores[k, 0], step, &gram[n, 0], N)
                count(&tally[0], high - low, price[rank], (high - low) * gram[n, n], margin, aggressive)
