# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The loss of the cumulative logit with its derivatives by scores and by thresholds; twins in `tests/boosted/naive.py`."""

from libc.math cimport log
from libc.stdint cimport uint16_t
from libc.stdlib cimport free

from ordstat.compiled.logit cimport TINY, Tails, Thresholds, log_p, prepare, tails


def logit_slopes(const uint16_t[::1] y, const double[::1] H, const double[::1] theta, const double[::1] w, double[::1] g,
                 double[::1] h):
    """-log P(y_n) of the cumulative logit, the weighted sum, and its first two derivatives by every H_n.

    With a = P(at most y) and b = P(below y), the slope is 1 - a - b and the curvature a (1 - a) + b (1 - b): nothing
    is divided by the probability a (1 - b) (1 - exp(theta_{y-1} - theta_y)).

    Parameters
    ----------
    y : (N,) codes 0..K-1
    H : (N,)
    theta : (K-1,) rising
    w : (N,) weights, or none where all are 1
    g, h : (N,) out, of weight 1; or none
    """
    cdef Py_ssize_t n, N = y.shape[0]
    cdef bint sloped = g.shape[0] > 0, unit = w.shape[0] == 0
    cdef double p, product = 1.0, loss = 0.0
    cdef Thresholds t
    cdef Tails q
    if not prepare(&t, theta):
        raise MemoryError("the thresholds do not fit into memory")
    with nogil:
        for n in range(N):
            q = tails(&t, y[n], H[n])
            if sloped:
                g[n] = q.not_a - q.b
                h[n] = q.a * q.not_a + q.b * q.not_b
            p = q.a * q.not_b * t.wide[y[n]]
            if not unit and w[n] != 1.0:
                if w[n] > 0.0:
                    loss -= w[n] * (log(p) if p > TINY else log_p(&t, y[n], H[n]))
                continue
            # One logarithm for many rows.
            if p > TINY:
                product *= p
            else:
                loss -= log_p(&t, y[n], H[n])
            if product < TINY * TINY:
                loss -= log(product)
                product = 1.0
        free(t.odds)
    return loss - log(product)


def logit_thresholds(const uint16_t[::1] y, const double[::1] H, const double[::1] theta, const double[::1] w,
                     double[::1] gradient, double[::1] diagonal, double[::1] beside):
    """First and second derivatives of the same sum by the thresholds.

    Parameters
    ----------
    y, H, theta, w
        As in `logit_slopes`.
    gradient, diagonal : (K-1,) out
    beside : (K-1,) out
        Second derivatives by theta_{k-1} and theta_k; the first is 0.
    """
    cdef Py_ssize_t n, N = y.shape[0]
    cdef int k
    cdef double weight = 1.0, r, s
    cdef Thresholds t
    cdef Tails q
    if not prepare(&t, theta):
        raise MemoryError("the thresholds do not fit into memory")
    gradient[:] = 0.0
    diagonal[:] = 0.0
    beside[:] = 0.0
    with nogil:
        for n in range(N):
            k = y[n]
            if w.shape[0] > 0:
                weight = w[n]
                if weight == 0.0:
                    continue
            q = tails(&t, k, H[n])
            # Densities over the probability.
            r, s = q.not_a / (q.not_b * t.wide[k]), q.b / (q.a * t.wide[k])
            if k < t.Q:
                gradient[k] -= weight * r
                diagonal[k] += weight * (r * r - r * (q.not_a - q.a))
            if k > 0:
                gradient[k - 1] += weight * s
                diagonal[k - 1] += weight * (s * s + s * (q.not_b - q.b))
                if k < t.Q:
                    beside[k] -= weight * r * s
        free(t.odds)
