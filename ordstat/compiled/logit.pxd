# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Probabilities of the cumulative logit and their tails, for the passes over rows."""

from libc.math cimport exp, expm1, fabs, log, log1p
from libc.stdlib cimport malloc

cdef extern from *:
    """
    #define FAR 50.0
    #define TINY 1e-100
    """
    const double FAR  # a product of four exp() below this cannot overflow
    const double TINY  # a product of three of these keeps full precision


cdef struct Tails:
    double a
    double not_a
    double b
    double not_b


cdef struct Thresholds:
    int Q
    const double* theta
    double centre
    bint near
    double* odds  # exp(centre - theta_k) from k = -1 on
    double* wide  # 1 - exp(theta_{k-1} - theta_k) from k = 0 on


cdef inline bint prepare(Thresholds* t, const double[::1] theta) noexcept nogil:
    """Allocate the values that rows share; False if there is not enough memory."""
    cdef int k, Q = <int>theta.shape[0]
    t.Q, t.theta = Q, &theta[0]
    t.centre = 0.5 * (theta[0] + theta[Q - 1])
    t.near = theta[Q - 1] - t.centre < FAR
    t.odds = <double*>malloc((2 * Q + 3) * sizeof(double))
    if t.odds == NULL:
        return False
    t.wide = t.odds + Q + 2
    t.odds[0], t.odds[Q + 1] = 1e200, 0.0
    t.wide[0] = t.wide[Q] = 1.0
    for k in range(Q):
        t.odds[k + 1] = exp(t.centre - theta[k])
        if k > 0:
            t.wide[k] = -expm1(theta[k - 1] - theta[k])
    return True


cdef inline void sigmoid(double x, double* p, double* q) noexcept nogil:
    """1 / (1 + exp(-x)) and 1 / (1 + exp(x))."""
    cdef double e = exp(-fabs(x))
    p[0], q[0] = 1.0 / (1.0 + e), e / (1.0 + e)
    if x < 0.0:
        p[0], q[0] = q[0], p[0]


cdef inline Tails tails(const Thresholds* t, int k, double H) noexcept nogil:
    """a = P(at most k), b = P(below k), and 1 minus each, by one exponential if nothing can overflow."""
    cdef Tails p
    cdef double e, u, l, r, x = H - t.centre
    if t.near and fabs(x) < FAR:
        e = exp(x)
        u, l = e * t.odds[k + 1], e * t.odds[k]
        r = 1.0 / ((1.0 + u) * (1.0 + l))
        p.a, p.b = (1.0 + l) * r, (1.0 + u) * r
        p.not_a, p.not_b = u * p.a, l * p.b
        return p
    p.a, p.not_a, p.b, p.not_b = 1.0, 0.0, 0.0, 1.0
    if k < t.Q:
        sigmoid(t.theta[k] - H, &p.a, &p.not_a)
    if k > 0:
        sigmoid(t.theta[k - 1] - H, &p.b, &p.not_b)
    return p


cdef inline double softplus(double x) noexcept nogil:
    """log(1 + exp(x))."""
    return (x if x > 0.0 else 0.0) + log1p(exp(-fabs(x)))


cdef inline double log_p(const Thresholds* t, int k, double H) noexcept nogil:
    """log P(k), where P may be smaller than any number."""
    cdef double total = log(t.wide[k])
    if k < t.Q:
        total -= softplus(H - t.theta[k])
    if k > 0:
        total -= softplus(t.theta[k - 1] - H)
    return total
