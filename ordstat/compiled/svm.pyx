# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Coordinate ascent on the duals of support vector machines with thresholds, and on pairs of rows.

The readable twins are in `tests/twins.py`; `ordstat/svm/` says what is solved and drives the epochs.
"""

from libc.math cimport fabs, INFINITY
from scipy.linalg.cython_blas cimport daxpy, ddot


cdef enum:
    MAX_NEWTON = 200


cdef inline double clipped(double value, double label, double cap) noexcept nogil:
    """The value moved into the box [0, cap] (label +1) or [-cap, 0] (label -1)."""
    if label > 0.0:
        return 0.0 if value < 0.0 else (cap if value > cap else value)
    return 0.0 if value > 0.0 else (-cap if value < -cap else value)


cdef double row_score(const double* label, const double* cap, const double* u, const double* theta, Py_ssize_t Q,
                      double start, double curvature, double beta, double weight) noexcept nogil:
    """The score g of a row after its exact step: root of (g - start)/curvature + beta - sum_k u_k(g)."""
    cdef double g = start, low = -INFINITY, high = INFINITY
    cdef double h, slope, value, inside, step, inverse = 1.0 / weight
    cdef Py_ssize_t k
    cdef int newton
    for newton in range(MAX_NEWTON):
        h = (g - start) / curvature + beta
        slope = 1.0 / curvature
        for k in range(Q):
            value = u[k] + (label[k] - g + theta[k]) * inverse
            inside = clipped(value, label[k], cap[k])
            h -= inside
            if inside == value:
                slope += inverse
        if h > 0.0:
            high = g
        elif h < 0.0:
            low = g
        else:
            return g
        step = g - h / slope
        if fabs(step - g) <= 1e-15 * (1.0 + fabs(g)):
            return step
        # A step from a flat piece may jump past the other end of the bracket, which then is finite.
        if step <= low or step >= high:
            step = 0.5 * (low + high)
        g = step
    return g


cdef void visit(const double* rows, int size, bint factored, const double[::1] lengths, const double[:, ::1] labels,
                const double[:, ::1] caps, double[:, ::1] u, double[::1] beta, double[::1] state, double[::1] theta,
                double[::1] mu, Py_ssize_t[::1] order, double weight, double offset, double penalty, double skip,
                double shrink, double* violation, Py_ssize_t* kept) noexcept nogil:
    """One epoch, for a matrix G (rows G_n, state G beta) or its factor X (rows x_n, state X' beta)."""
    cdef Py_ssize_t N = labels.shape[0], Q = labels.shape[1], M = order.shape[0], J = mu.shape[0]
    cdef Py_ssize_t i, n, k
    cdef int one = 1
    cdef double total = 0.0
    cdef double phi, e, worst, low, high, margin, g, value, delta, old, moved, inverse = 1.0 / weight
    cdef double* row
    for n in range(N):
        total += beta[n]
    for i in range(M):
        n = order[i]
        row = <double*> rows + n * size
        phi = ddot(&size, row, &one, &state[0], &one) if factored else state[n]
        phi += offset + penalty * total
        worst = 0.0
        margin = INFINITY
        for k in range(Q):
            if caps[n, k] == 0.0:
                continue
            e = labels[n, k] - phi + theta[k]
            low = 0.0 if labels[n, k] > 0.0 else -caps[n, k]
            high = low + caps[n, k]
            value = u[n, k]
            if value < high and e > worst:
                worst = e
            if value > low and -e > worst:
                worst = -e
            if low < value < high:
                margin = 0.0
            elif fabs(e) < margin:
                margin = fabs(e)
        if worst > violation[0]:
            violation[0] = worst
        if worst == 0.0 and margin > shrink:
            continue
        order[kept[0]] = n
        kept[0] += 1
        if worst <= skip:
            continue
        g = row_score(&labels[n, 0], &caps[n, 0], &u[n, 0], &theta[0], Q, phi, lengths[n] + penalty, beta[n], weight)
        delta = 0.0
        for k in range(Q):
            old = u[n, k]
            value = clipped(old + (labels[n, k] - g + theta[k]) * inverse, labels[n, k], caps[n, k])
            moved = value - old
            u[n, k] = value
            theta[k] -= weight * moved
            delta += moved
        beta[n] += delta
        total += delta
        if delta != 0.0:
            daxpy(&size, &delta, row, &one, &state[0], &one)
        for k in range(J):
            old = mu[k]
            value = old - 0.5 * inverse * (theta[k + 1] - theta[k])
            if value < 0.0:
                value = 0.0
            moved = weight * (value - old)
            mu[k] = value
            theta[k] -= moved
            theta[k + 1] += moved


def row_sweep(const double[:, ::1] gram, const double[::1] lengths, const double[:, ::1] labels, const double[:, ::1] caps, double[:, ::1] u,
          double[::1] beta, double[::1] f, double[::1] theta, double[::1] mu, Py_ssize_t[::1] order,
          double weight, double offset, double penalty, double skip, double shrink):
    """Update every row in `order` once, in place; see the twin for the algebra.

    Parameters
    ----------
    gram : (N, N)
    lengths : (N,) its diagonal
    labels, caps : (N, Q)
        +1 or -1; C_nk >= 0.
    u : (N, Q), beta : (N,), f : (N,)
        Signed dual variables, their row sums, gram @ beta.
    theta : (Q,)
        Thresholds that belong to u and mu.
    mu : (Q - 1,) or (0,)
        Multipliers of theta_k <= theta_{k+1}; empty where the order is not asked for.
    order : (M,) rows to visit; rows that cannot move soon are taken out and the rest moved to the front
    weight : gamma^2
    offset, penalty : b0 and rho of the method of multipliers for sum(beta) = 0
    skip : rows whose KKT violation is no larger are left as they are
    shrink : rows at their bounds by more than this are taken out of `order`

    Returns
    -------
    violation : float
        The largest KKT violation met.
    kept : int
        Number of rows left in `order`.
    """
    cdef double violation = 0.0
    cdef Py_ssize_t kept = 0
    with nogil:
        visit(&gram[0, 0], <int> gram.shape[1], False, lengths, labels, caps, u, beta, f, theta, mu, order, weight, offset,
              penalty, skip, shrink, &violation, &kept)
    return violation, kept


def linear_row_sweep(const double[:, ::1] X, const double[::1] lengths, const double[:, ::1] labels,
                 const double[:, ::1] caps, double[:, ::1] u, double[::1] beta, double[::1] w, double[::1] theta,
                 double[::1] mu, Py_ssize_t[::1] order, double weight, double offset, double penalty, double skip,
                 double shrink):
    """`row_sweep` for gram = X X' (X (N, D), D > 0), with w = X' beta (D,) in the place of f: O(D) a row."""
    cdef double violation = 0.0
    cdef Py_ssize_t kept = 0
    with nogil:
        visit(&X[0, 0], <int> X.shape[1], True, lengths, labels, caps, u, beta, w, theta, mu, order, weight, offset,
              penalty, skip, shrink, &violation, &kept)
    return violation, kept


cdef inline double step(double* alpha, double gradient, double curvature, double cap) noexcept nogil:
    """Move alpha to the best place in [0, cap], and tell by how much."""
    cdef double old = alpha[0], value
    if curvature > 0.0:
        value = old + gradient / curvature
    else:
        # Two rows alike in all: the gradient is 1 wherever alpha is.
        value = cap
    value = 0.0 if value < 0.0 else (cap if value > cap else value)
    alpha[0] = value
    return value - old


cdef inline bint visited(double alpha, double gradient, double cap, double shrink, double* violation,
                         double* own) noexcept nogil:
    """Whether a pair stays in the list; notes its violation of the optimality conditions."""
    own[0] = 0.0
    if alpha < cap and gradient > 0.0:
        own[0] = gradient
    elif alpha > 0.0 and gradient < 0.0:
        own[0] = -gradient
    if own[0] > violation[0]:
        violation[0] = own[0]
    return own[0] > 0.0 or fabs(gradient) <= shrink or 0.0 < alpha < cap


def pair_sweep(const double[:, ::1] gram, const int[::1] upper, const int[::1] lower, const double[::1] weights,
          double[::1] alpha, double[::1] f, Py_ssize_t[::1] order, double price, double ridge, double skip,
          double shrink):
    """Update every pair in `order` once, in place; see the twin for the algebra.

    Parameters
    ----------
    gram : (N, N)
    upper, lower : (M,) rows of the higher and of the lower rank in each pair
    weights : (N,) case weights
    alpha : (M,) dual variables, f : (N,) gram @ beta
    order : (L,) pairs to visit; pairs that cannot move soon are taken out and the rest moved to the front
    price : the box of a pair is [0, price w_i w_j]; inf under the squared hinge
    ridge : 1 / (2 C) under the squared hinge, else 0
    skip : pairs whose violation is no larger are left as they are
    shrink : pairs at a bound by more than this are taken out of `order`

    Returns
    -------
    violation : float
        The largest violation of the optimality conditions met.
    kept : int
        Number of pairs left in `order`.
    """
    cdef Py_ssize_t L = order.shape[0], kept = 0, m, p
    cdef int size = <int> f.shape[0], one = 1, i, j
    cdef double violation = 0.0, own, weight, damping, gradient, delta, back
    with nogil:
        for m in range(L):
            p = order[m]
            i = upper[p]
            j = lower[p]
            weight = weights[i] * weights[j]
            damping = ridge / weight
            gradient = 1.0 - (f[i] - f[j]) - damping * alpha[p]
            if not visited(alpha[p], gradient, price * weight, shrink, &violation, &own):
                continue
            order[kept] = p
            kept += 1
            if own <= skip:
                continue
            delta = step(&alpha[p], gradient, gram[i, i] + gram[j, j] - 2.0 * gram[i, j] + damping, price * weight)
            if delta != 0.0:
                back = -delta
                daxpy(&size, &delta, <double*> &gram[i, 0], &one, &f[0], &one)
                daxpy(&size, &back, <double*> &gram[j, 0], &one, &f[0], &one)
    return violation, kept


def linear_pair_sweep(const double[:, ::1] X, const int[::1] upper, const int[::1] lower, const double[::1] weights,
                 double[::1] alpha, double[::1] w, Py_ssize_t[::1] order, double price, double ridge, double skip,
                 double shrink):
    """`pair_sweep` for gram = X X', with w = X' beta (D,) in the place of f: O(D) a pair."""
    cdef Py_ssize_t L = order.shape[0], kept = 0, m, p
    cdef int D = <int> X.shape[1], i, j, d
    cdef double violation = 0.0, own, weight, damping, gradient, delta, score, length, change
    with nogil:
        for m in range(L):
            p = order[m]
            i = upper[p]
            j = lower[p]
            weight = weights[i] * weights[j]
            damping = ridge / weight
            score = 0.0
            length = 0.0
            for d in range(D):
                change = X[i, d] - X[j, d]
                score += change * w[d]
                length += change * change
            gradient = 1.0 - score - damping * alpha[p]
            if not visited(alpha[p], gradient, price * weight, shrink, &violation, &own):
                continue
            order[kept] = p
            kept += 1
            if own <= skip:
                continue
            delta = step(&alpha[p], gradient, length + damping, price * weight)
            if delta != 0.0:
                for d in range(D):
                    w[d] += delta * (X[i, d] - X[j, d])
    return violation, kept


def pairs_below(const double[::1] scores, const Py_ssize_t[::1] y, const double[::1] weights, const double[:, ::1] X,
          double[:, ::1] sums, double[:, ::1] totals):
    """For every row i, sums over the rows j of a lower rank with s_j > s_i - 1.

    Parameters
    ----------
    scores : (N,) growing
    y : (N,) codes 0..K-1
    weights : (N,)
    X : (N, D)
        D = 0 where the sums of the columns are not needed.
    sums : (N, 3 + D)
        Filled with sum w_j, sum w_j s_j, sum w_j s_j^2, then sum w_j x_j.
    totals : (K, 3 + D)
        Zeros; used up as working space.
    """
    cdef Py_ssize_t N = scores.shape[0], K = totals.shape[0], D = X.shape[1], i, j, k, d
    cdef double v, s
    with nogil:
        j = N - 1
        # From the highest score down rows only ever enter: nothing is taken away again, and nothing cancels.
        for i in range(N - 1, -1, -1):
            while j >= 0 and scores[j] > scores[i] - 1.0:
                v = weights[j]
                s = scores[j]
                k = y[j]
                totals[k, 0] += v
                totals[k, 1] += v * s
                totals[k, 2] += v * s * s
                for d in range(D):
                    totals[k, 3 + d] += v * X[j, d]
                j -= 1
            for d in range(3 + D):
                sums[i, d] = 0.0
            for k in range(y[i]):
                for d in range(3 + D):
                    sums[i, d] += totals[k, d]
