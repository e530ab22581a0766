# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Passes of the online rankers over examples; the readable twins are in `tests/twins.py`.

Everywhere: y codes 0..K-1, Q = K-1 gaps a row, costs (N, K), order (M,) rows as they are presented, answers (M,) out:
the rank answered before the update, under the cost times `margin`; ties go to the lower rank. `seen` examples came
before; sums hold the updates times the number of the example, so that ((c + 1) w - sums) / c is the mean of w.
"""


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


cdef inline Py_ssize_t best_rank(const double* gaps, const double* cost, Py_ssize_t Q, double margin) noexcept nogil:
    """The first rank with the largest sum of the gaps below it, plus margin times its cost."""
    cdef double score = 0.0, top = 0.0, value
    cdef Py_ssize_t k, rank = 0
    if margin > 0.0:
        top = margin * cost[0]
    for k in range(Q):
        score += gaps[k]
        value = score + margin * cost[k + 1] if margin > 0.0 else score
        if value > top:
            top = value
            rank = k + 1
    return rank


cdef inline Py_ssize_t count_above(double score, const double* b, Py_ssize_t Q) noexcept nogil:
    cdef Py_ssize_t k, rank = 0
    for k in range(Q):
        rank += score > b[k]
    return rank


cdef double total_cost(const double[:, ::1] X, const double[:, ::1] costs, const double[::1] weights, const double* w,
                       Py_ssize_t D, Py_ssize_t Q) noexcept nogil:
    """Weighted cost of the threshold ranker w on all rows."""
    cdef double total = 0.0
    cdef Py_ssize_t n
    for n in range(X.shape[0]):
        total += weights[n] * costs[n, count_above(dot(&X[n, 0], w, D), w + D, Q)]
    return total


def prank_pass(const double[:, ::1] X, const int[::1] y, const double[:, ::1] costs, const double[::1] weights,
               const Py_ssize_t[::1] order, double margin, double[::1] w, double[::1] sums, double[::1] gaps,
               double[::1] pocket, double[::1] record, Py_ssize_t seen, int[::1] answers):
    """PRank: u += (y - yhat) x, b_k -= sign(y - yhat) for the thresholds between.

    Parameters
    ----------
    X : (N, D), D >= 1
    w : (D + Q,) u, then b; changed in place
    sums : (D + Q,)
    gaps : (Q,) workspace
    pocket : (D + Q,) the best weights so far, in place; (0,) keeps no pocket
    record : (4,)
        Run of exact hits now and at the pocket, cost of the pocket, whether the weights of now were compared with it.
    weights : (N,) case weights of the pocket's cost
    """
    cdef Py_ssize_t D = X.shape[1], Q = w.shape[0] - X.shape[1], M = order.shape[0]
    cdef Py_ssize_t i, k, n, rank, truth, low, high
    cdef bint keeps = pocket.shape[0] > 0
    cdef double score, step, cost
    with nogil:
        for i in range(M):
            n = order[i]
            score = dot(&X[n, 0], &w[0], D)
            if margin > 0.0:
                for k in range(Q):
                    gaps[k] = score - w[D + k]
                rank = best_rank(&gaps[0], &costs[n, 0], Q, margin)
            else:
                rank = count_above(score, &w[D], Q)
            answers[i] = <int> rank
            seen += 1
            if rank != y[n]:
                step = <double> (y[n] - rank)
                add(&w[0], step, &X[n, 0], D)
                add(&sums[0], step * seen, &X[n, 0], D)
                truth = y[n]
                low = rank if rank < truth else truth
                high = truth if rank < truth else rank
                step = 1.0 if step > 0.0 else -1.0
                for k in range(low, high):
                    w[D + k] -= step
                    sums[D + k] -= step * seen
                record[0] = 0.0
                record[3] = 0.0
            elif keeps:
                record[0] += 1.0
                if record[0] > record[1]:
                    if record[3] == 0.0:
                        record[3] = 1.0
                        cost = total_cost(X, costs, weights, &w[0], D, Q)
                        if cost < record[2]:
                            record[2] = cost
                            record[3] = 2.0
                            pocket[:] = w
                    if record[3] == 2.0:
                        record[1] = record[0]


def cusum_pass(const double[:, ::1] X, const int[::1] y, const double[:, ::1] costs, const Py_ssize_t[::1] order,
               double margin, bint aggressive, double[:, ::1] w, double[:, ::1] sums, double[::1] gaps, Py_ssize_t seen,
               int[::1] answers):
    """CuSum Rank: w_k += tau (x, -1) for the k between y and yhat.

    Parameters
    ----------
    X : (N, D), D >= 1
    aggressive : bool
        tau is the step after which the true rank leads by its cost; otherwise +-1.
    w : (Q, D + 1) weights of "rank above k?", the last one of the constant -1; changed in place
    sums : (Q, D + 1)
    gaps : (Q,) workspace
    """
    cdef Py_ssize_t D = X.shape[1], Q = w.shape[0], M = order.shape[0]
    cdef Py_ssize_t i, k, n, rank, truth, low, high
    cdef double step, lead
    with nogil:
        for i in range(M):
            n = order[i]
            for k in range(Q):
                gaps[k] = dot(&X[n, 0], &w[k, 0], D) - w[k, D]
            rank = best_rank(&gaps[0], &costs[n, 0], Q, margin)
            answers[i] = <int> rank
            seen += 1
            if rank != y[n]:
                truth = y[n]
                low = rank if rank < truth else truth
                high = truth if rank < truth else rank
                step = 1.0 if y[n] > rank else -1.0
                if aggressive:
                    lead = costs[n, rank]
                    for k in range(low, high):
                        lead -= step * gaps[k]
                    if lead < 0.0:
                        lead = 0.0
                    step *= lead / ((high - low) * (dot(&X[n, 0], &X[n, 0], D) + 1.0))
                for k in range(low, high):
                    add(&w[k, 0], step, &X[n, 0], D)
                    w[k, D] -= step
                    add(&sums[k, 0], step * seen, &X[n, 0], D)
                    sums[k, D] -= step * seen


def kernel_prank_pass(const double[:, ::1] gram, const int[::1] y, const double[:, ::1] costs,
                      const Py_ssize_t[::1] order, double margin, double[::1] beta, double[::1] sums, double[::1] b,
                      double[::1] b_sums, double[::1] scores, double[::1] gaps, Py_ssize_t seen, int[::1] answers):
    """PRank in dual form: beta_n += y - yhat.

    Parameters
    ----------
    gram : (N, N) kernel matrix
    beta, sums : (N,) coefficients of the rows; changed in place
    b, b_sums : (Q,) thresholds; changed in place
    scores : (N,) potential of every row, kept up to date
    gaps : (Q,) workspace
    """
    cdef Py_ssize_t N = gram.shape[0], Q = b.shape[0], M = order.shape[0]
    cdef Py_ssize_t i, k, n, rank, truth, low, high
    cdef double step
    with nogil:
        for i in range(M):
            n = order[i]
            if margin > 0.0:
                for k in range(Q):
                    gaps[k] = scores[n] - b[k]
                rank = best_rank(&gaps[0], &costs[n, 0], Q, margin)
            else:
                rank = count_above(scores[n], &b[0], Q)
            answers[i] = <int> rank
            seen += 1
            if rank != y[n]:
                step = <double> (y[n] - rank)
                beta[n] += step
                sums[n] += step * seen
                add(&scores[0], step, &gram[n, 0], N)
                truth = y[n]
                low = rank if rank < truth else truth
                high = truth if rank < truth else rank
                step = 1.0 if step > 0.0 else -1.0
                for k in range(low, high):
                    b[k] -= step
                    b_sums[k] -= step * seen


def kernel_cusum_pass(const double[:, ::1] gram, const int[::1] y, const double[:, ::1] costs,
                      const Py_ssize_t[::1] order, double margin, bint aggressive, double[:, ::1] beta,
                      double[:, ::1] sums, double[:, ::1] scores, double[::1] gaps, Py_ssize_t seen, int[::1] answers):
    """CuSum Rank in dual form: beta_nk += tau for the k between y and yhat.

    Parameters
    ----------
    gram : (N, N) kernel matrix, the constant's 1 added
    beta, sums : (Q, N) coefficients of the rows; changed in place
    scores : (Q, N) gaps of every row, kept up to date
    gaps : (Q,) workspace
    """
    cdef Py_ssize_t N = gram.shape[0], Q = beta.shape[0], M = order.shape[0]
    cdef Py_ssize_t i, k, n, rank, truth, low, high
    cdef double step, lead
    with nogil:
        for i in range(M):
            n = order[i]
            for k in range(Q):
                gaps[k] = scores[k, n]
            rank = best_rank(&gaps[0], &costs[n, 0], Q, margin)
            answers[i] = <int> rank
            seen += 1
            if rank != y[n]:
                truth = y[n]
                low = rank if rank < truth else truth
                high = truth if rank < truth else rank
                step = 1.0 if y[n] > rank else -1.0
                if aggressive:
                    lead = costs[n, rank]
                    for k in range(low, high):
                        lead -= step * gaps[k]
                    if lead < 0.0:
                        lead = 0.0
                    step *= lead / ((high - low) * gram[n, n])
                for k in range(low, high):
                    beta[k, n] += step
                    sums[k, n] += step * seen
                    add(&scores[k, 0], step, &gram[n, 0], N)
