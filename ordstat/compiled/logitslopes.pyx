# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The loss of the cumulative logit with its derivatives by scores and by thresholds; twins in `tests/boosted/naive.py`."""

from libc.math cimport exp, expm1, fabs, log, log1p
from libc.stdlib cimport free, malloc

cdef extern from *:
    """
    #define FAR 50.0
    #define TINY 1e-100
    """
    const double FAR  # exp of less than this cannot overflow in a product of four
    const double TINY  # the product of three such is still a number of full precision


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


cdef bint prepare(Thresholds* t, const double[::1] theta) noexcept nogil:
    """Whether there was memory for what rows share."""
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
    """a = P(at most k), b = P(below k), and 1 less each, by one exponential where nothing can overflow."""
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


cdef double log_p(const Thresholds* t, int k, double H) noexcept nogil:
    """log P(k), where P may be smaller than any number."""
    cdef double total = log(t.wide[k])
    if k < t.Q:
        total -= softplus(H - t.theta[k])
    if k > 0:
        total -= softplus(t.theta[k - 1] - H)
    return total


cdef inline double softplus(double x) noexcept nogil:
    """log(1 + exp(x))."""
    return (x if x > 0.0 else 0.0) + log1p(exp(-fabs(x)))


def logit_slopes(const int[::1] y, const double[::1] H, const double[::1] theta, const double[::1] w, double[::1] g,
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


def logit_thresholds(const int[::1] y, const double[::1] H, const double[::1] theta, const double[::1] w,
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
