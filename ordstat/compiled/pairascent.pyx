# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One epoch of coordinate ascent over pairs of rows of different rank.

The readable twin is `tests/twins.py`; `ordstat/solvers/pairwise.py` says what is solved and drives the epochs.
"""

from libc.math cimport fabs
from scipy.linalg.cython_blas cimport daxpy


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


def sweep(const double[:, ::1] gram, const int[::1] upper, const int[::1] lower, const double[::1] weights,
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


def sweep_linear(const double[:, ::1] X, const int[::1] upper, const int[::1] lower, const double[::1] weights,
                 double[::1] alpha, double[::1] w, Py_ssize_t[::1] order, double price, double ridge, double skip,
                 double shrink):
    """`sweep` for gram = X X', with w = X' beta (D,) in the place of f: O(D) a pair."""
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
