# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One epoch of row-exact coordinate ascent on the dual of an extended SVM.

The readable twin is `tests/twins.py`; `ordstat/solvers/coordinate.py` says what is solved and drives the epochs.
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


def sweep(const double[:, ::1] gram, const double[::1] lengths, const double[:, ::1] labels, const double[:, ::1] caps, double[:, ::1] u,
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


def sweep_linear(const double[:, ::1] X, const double[::1] lengths, const double[:, ::1] labels,
                 const double[:, ::1] caps, double[:, ::1] u, double[::1] beta, double[::1] w, double[::1] theta,
                 double[::1] mu, Py_ssize_t[::1] order, double weight, double offset, double penalty, double skip,
                 double shrink):
    """`sweep` for gram = X X' (X (N, D), D > 0), with w = X' beta (D,) in the place of f: O(D) a row."""
    cdef double violation = 0.0
    cdef Py_ssize_t kept = 0
    with nogil:
        visit(&X[0, 0], <int> X.shape[1], True, lengths, labels, caps, u, beta, w, theta, mu, order, weight, offset,
              penalty, skip, shrink, &violation, &kept)
    return violation, kept
