# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over rows, and over pairs of groups that meet, of fits with any random effects.

Formulas in solvers/likelihood/mixed/laplace.py and blocks.py. The NumPy twins are in tests/mixed/twins_mixed.py.
"""

from libc.math cimport isinf


def total_derivatives(const double[:, ::1] terms, const double[::1] u, const double[::1] lo, const double[::1] s,
                      const double[::1] shift, const double[::1] w, const double[::1] variance, const double[::1] t,
                      double[:, ::1] kappa):
    """kappa (4, n) of laplace.py by theta_y, theta_{y-1}, H and tau, from `full_terms` (n, 8)."""
    cdef Py_ssize_t i
    cdef double a, b, c, W, r_u, r_l, W_u, W_l, up, low, own, half
    with nogil:
        for i in range(u.shape[0]):
            a, b, c, W = terms[i, 0], terms[i, 1], terms[i, 2], terms[i, 3]
            r_u, r_l, W_u, W_l = terms[i, 4], terms[i, 5], terms[i, 6], terms[i, 7]
            own, half = s[i], 0.5 * variance[i]
            up = 0.0 if isinf(u[i]) else u[i] - own * shift[i]
            low = 0.0 if isinf(lo[i]) else lo[i] - own * shift[i]
            kappa[0, i] = w[i] * own * (a - own * (half * own * W_u + t[i] * r_u))
            kappa[1, i] = w[i] * own * (-b - own * (half * own * W_l + t[i] * r_l))
            kappa[2, i] = w[i] * own * (-c + own * (half * own * (W_u + W_l) - t[i] * W))
            kappa[3, i] = w[i] * (b * low - a * up + half * own * own * (2.0 * W + W_u * up + W_l * low)
                                  + t[i] * own * (r_u * up + r_l * low + c))


def schur_complement(const Py_ssize_t[::1] starts, const Py_ssize_t[::1] columns, const double[::1] B,
                     const double[::1] V, double[:, ::1] S):
    """Subtract B'V, sparse matrices with the same entries, from the lower triangle of S (R, R).

    Row g of both has its entries from starts[g] to starts[g + 1], in the growing `columns`.
    """
    cdef Py_ssize_t g, i, j
    cdef double own
    with nogil:
        for g in range(starts.shape[0] - 1):
            for i in range(starts[g], starts[g + 1]):
                own = B[i]
                for j in range(starts[g], i + 1):
                    S[columns[i], columns[j]] -= own * V[j]


def coupled(const Py_ssize_t[::1] starts, const Py_ssize_t[::1] columns, const double[::1] V, const double[:, ::1] P,
            double[::1] out):
    """The entries of V P, P (R, R) symmetric, at those of the sparse V; see `schur_complement`."""
    cdef Py_ssize_t g, i, j
    cdef double total
    with nogil:
        for g in range(starts.shape[0] - 1):
            for i in range(starts[g], starts[g + 1]):
                total = 0.0
                for j in range(starts[g], starts[g + 1]):
                    total += V[j] * P[columns[i], columns[j]]
                out[i] = total
