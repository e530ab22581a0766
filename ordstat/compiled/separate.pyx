# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Logistic losses of scores of their own for every threshold, and leaves for them; twins in `tests/boosted/`."""

from libc.math cimport exp, fabs, log
from libc.stdint cimport uint16_t

cdef extern from *:
    """
    #define TINY 1e-100
    """
    const double TINY


def separate_loss(const uint16_t[::1] y, const double[:, :] H, const double[::1] theta, const double[::1] w,
                  double[:, ::1] p):
    """sum_n w_n sum_k log(1 + exp(-rho_nk)), rho_nk = H_nk - theta_k where y_n > k, else theta_k - H_nk.

    Parameters
    ----------
    y : (N,) codes
    H : (N, K-1), or (N, 1) for all thresholds
    theta : (K-1,)
    w : (N,) weights, or none where all are 1
    p : (N, K-1) out, 1 / (1 + exp(theta_k - H_nk)); or none
    """
    cdef Py_ssize_t n, k, N = y.shape[0], Q = theta.shape[0]
    cdef bint kept = p.shape[0] > 0, own = H.shape[1] > 1, unit = w.shape[0] == 0
    cdef double x, e, large, small, right, weight, product = 1.0, loss = 0.0
    with nogil:
        for n in range(N):
            weight = 1.0 if unit else w[n]
            for k in range(Q):
                x = H[n, k if own else 0] - theta[k]
                e = exp(-fabs(x))
                large = 1.0 / (1.0 + e)
                small = e * large
                if kept:
                    p[n, k] = large if x >= 0.0 else small
                right = large if (x >= 0.0) == (y[n] > k) else small
                if weight == 1.0 and right > TINY:
                    # One logarithm for many.
                    product *= right
                    if product < TINY * TINY:
                        loss -= log(product)
                        product = 1.0
                elif weight > 0.0:
                    loss += weight * (-log(right) if right > TINY else fabs(x))
    return loss - log(product)


def signed_slopes(const uint16_t[::1] y, const double[:, ::1] p, const double[::1] signs, double[::1] g, double[::1] h):
    """The slopes p_nk - [y_n > k] summed with signs (K-1,) into g (N,), and the curvatures p (1 - p) into h (N,)."""
    cdef Py_ssize_t n, k
    cdef double slope, curvature
    with nogil:
        for n in range(y.shape[0]):
            slope = curvature = 0.0
            for k in range(signs.shape[0]):
                slope += signs[k] * (p[n, k] - (y[n] > k))
                curvature += p[n, k] * (1.0 - p[n, k])
            g[n], h[n] = slope, curvature


def leaf_sums(const uint16_t[::1] y, const double[:, ::1] p, const double[::1] w, const uint16_t[::1] place,
              const int[::1] leaf, double[:, ::1] G, double[:, ::1] V):
    """Add the weighted slopes and curvatures of the rows of every leaf, G and V (L, K-1).

    A row with the node `place` < leaf.shape[0] counts, for the leaf of that number; w (N,) is none where all weights
    are 1.
    """
    cdef Py_ssize_t n, k, Q = G.shape[1]
    cdef int at
    cdef double weight
    with nogil:
        for n in range(y.shape[0]):
            if place[n] >= leaf.shape[0]:
                continue
            at = leaf[place[n]]
            weight = 1.0 if w.shape[0] == 0 else w[n]
            for k in range(Q):
                G[at, k] += weight * (p[n, k] - (y[n] > k))
                V[at, k] += weight * p[n, k] * (1.0 - p[n, k])


def add_leaves(const uint16_t[::1] place, int mask, const int[::1] leaf, const double[:, ::1] values,
               double[:, ::1] H):
    """Add values (L, K-1) of the leaves of nodes `place & mask` to the scores H (N, K-1)."""
    cdef Py_ssize_t n, k
    cdef int at
    with nogil:
        for n in range(H.shape[0]):
            at = leaf[place[n] & mask]
            for k in range(H.shape[1]):
                H[n, k] += values[at, k]
