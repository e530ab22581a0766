# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Coordinate ascent on the duals of support vector machines with thresholds, and on pairs of rows.

The readable twins are in `tests/twins.py`; `ordstat/svm/` says what is solved and drives the epochs.
"""

from libc.math cimport fabs, INFINITY
from scipy.linalg.cython_blas cimport daxpy, ddot

from ordstat.compiled.signals cimport let_interrupt, require_lengths


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
        # A step from a flat piece may pass the other end of the bracket, which is then finite.
        if step <= low or step >= high:
            step = 0.5 * (low + high)
        g = step
    return g


def row_sweep(const double[:, ::1] array, bint factored, const double[::1] lengths, const double[:, ::1] labels,
              const double[:, ::1] caps, double[:, ::1] u, double[::1] beta, double[::1] state, double[::1] theta,
              double[::1] mu, Py_ssize_t[::1] order, double weight, double offset, double penalty, double skip,
              double shrink):
    """Update every row in `order` once, in place; see the twin for the algebra.

    Parameters
    ----------
    array : (N, N) kernel matrix G, or (N, D) its factor X with G = X X', D > 0, for O(D) a row
    factored : bool
    lengths : (N,) diagonal of G
    labels, caps : (N, Q)
        +1 or -1; C_nk >= 0.
    u : (N, Q), beta : (N,)
        Signed dual variables, their row sums.
    state : (N,) G beta, or (D,) X' beta
    theta : (Q,)
        Thresholds that belong to u and mu.
    mu : (Q - 1,) or (0,)
        Multipliers of theta_k <= theta_{k+1}; empty if the order is no constraint.
    order : (M,) rows to visit; rows that will not move soon are removed and the rest is moved to the front
    weight : gamma^2
    offset, penalty : b0 and rho of the method of multipliers for sum(beta) = 0
    skip : rows with a KKT violation of at most this are left unchanged
    shrink : rows at their bounds by more than this are removed from `order`

    Returns
    -------
    violation : float
        The largest KKT violation of the visited rows.
    kept : int
        Number of rows left in `order`.
    """
    cdef Py_ssize_t N = labels.shape[0], Q = labels.shape[1], M = order.shape[0], J = mu.shape[0]
    cdef Py_ssize_t i, n, k, kept = 0
    cdef int size = <int> array.shape[1], one = 1
    cdef double total = 0.0, violation = 0.0, done = 0.0
    cdef double phi, e, worst, low, high, margin, g, value, delta, old, moved, inverse = 1.0 / weight
    cdef double* row
    require_lengths(
        array.shape[0] == lengths.shape[0] == caps.shape[0] == u.shape[0] == beta.shape[0] == N
        and caps.shape[1] == u.shape[1] == theta.shape[0] == Q and state.shape[0] == size and J < max(Q, 1),
        "row_sweep",
    )
    with nogil:
        for n in range(N):
            total += beta[n]
        for i in range(M):
            let_interrupt(&done, 2 * size + 20 * Q)
            n = order[i]
            row = <double*> &array[n, 0]
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
            if worst > violation:
                violation = worst
            if worst == 0.0 and margin > shrink:
                continue
            order[kept] = n
            kept += 1
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
    return violation, kept


def pair_sweep(const double[:, ::1] array, bint factored, const int[::1] upper, const int[::1] lower,
               const double[::1] weights, double[::1] alpha, double[::1] state, Py_ssize_t[::1] order, double price,
               double skip, double shrink):
    """Update every pair in `order` once, in place; see the twin for the algebra.

    Parameters
    ----------
    array, factored, state
        As for `row_sweep`.
    upper, lower : (M,) rows of the higher and of the lower rank in each pair
    weights : (N,) case weights
    alpha : (M,) dual variables
    order : (L,) pairs to visit; pairs that will not move soon are removed and the rest is moved to the front
    price : alpha of a pair is at most price w_i w_j
    skip : pairs with a violation of at most this are left unchanged
    shrink : pairs at a bound by more than this are removed from `order`

    Returns
    -------
    violation : float
        The largest violation of the optimality conditions among the visited pairs.
    kept : int
        Number of pairs left in `order`.
    """
    cdef Py_ssize_t L = order.shape[0], kept = 0, m, p
    cdef int size = <int> array.shape[1], one = 1, i, j, d
    cdef double violation = 0.0, done = 0.0, worst, cap, gradient, curvature, delta, back, value, change
    require_lengths(
        lower.shape[0] == alpha.shape[0] == upper.shape[0] and weights.shape[0] == array.shape[0]
        and state.shape[0] == size,
        "pair_sweep",
    )
    with nogil:
        for m in range(L):
            let_interrupt(&done, 2 * size)
            p = order[m]
            i = upper[p]
            j = lower[p]
            cap = price * weights[i] * weights[j]
            if factored:
                gradient, curvature = 1.0, 0.0
                for d in range(size):
                    change = array[i, d] - array[j, d]
                    gradient -= change * state[d]
                    curvature += change * change
            else:
                gradient, curvature = 1.0 - (state[i] - state[j]), array[i, i] + array[j, j] - 2.0 * array[i, j]
            worst = 0.0
            if alpha[p] < cap and gradient > 0.0:
                worst = gradient
            elif alpha[p] > 0.0 and gradient < 0.0:
                worst = -gradient
            if worst > violation:
                violation = worst
            if worst == 0.0 and fabs(gradient) > shrink and not 0.0 < alpha[p] < cap:
                continue
            order[kept] = p
            kept += 1
            if worst <= skip:
                continue
            # Two rows with the same columns: the gradient is 1 whatever alpha is.
            value = alpha[p] + gradient / curvature if curvature > 0.0 else cap
            value = 0.0 if value < 0.0 else (cap if value > cap else value)
            delta = value - alpha[p]
            alpha[p] = value
            if delta != 0.0:
                back = -delta
                daxpy(&size, &delta, <double*> &array[i, 0], &one, &state[0], &one)
                daxpy(&size, &back, <double*> &array[j, 0], &one, &state[0], &one)
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
        D = 0 if the sums of the columns are not needed.
    sums : (N, 3 + D)
        Filled with sum w_j, sum w_j s_j, sum w_j s_j^2, then sum w_j x_j.
    totals : (K, 3 + D)
        Zeros; overwritten.
    """
    cdef Py_ssize_t N = scores.shape[0], K = totals.shape[0], D = X.shape[1], i, j, k, d
    cdef double v, s, done = 0.0
    require_lengths(
        y.shape[0] == weights.shape[0] == X.shape[0] == sums.shape[0] == N
        and sums.shape[1] == totals.shape[1] == 3 + D,
        "pairs_below",
    )
    with nogil:
        j = N - 1
        # From the highest score down rows only enter the sums, so that nothing cancels.
        for i in range(N - 1, -1, -1):
            let_interrupt(&done, (3 + D) * (K + 1))
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
