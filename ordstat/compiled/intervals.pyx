# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Intervals of the Aranda-Ordaz distribution F(t) = 1 - (1 + lambda e^t)^(-1/lambda).

The functions fill arrays given by the caller and have plain NumPy twins in tests/twins.py. The thresholds must be in
order, d = u - lo > 0; an outermost interval has u = inf or lo = -inf, and d = inf.
"""

from libc.math cimport INFINITY, exp, expm1, fabs, isinf, log, log1p

cdef double LOG_2 = 0.69314718055994530942
cdef double SMALL = 1e-8  # below this mass 1 - exp(-mass) is mass (1 - mass / 2)

cdef struct Mass:
    # of an interval: cumulative hazard D with its logarithm, and log(1 + lambda e^lo)
    double mass, log_mass, rise_l


cdef inline double _log1mexp(double x) noexcept nogil:
    """log(1 - exp(-x)) for x > 0."""
    return log(-expm1(-x)) if x < LOG_2 else log1p(-exp(-x))


cdef inline double _softplus(double x) noexcept nogil:
    """log(1 + exp(x))."""
    return (x if x > 0.0 else 0.0) + log1p(exp(-fabs(x)))


cdef inline void _mass(double u, double lo, double d, double lam, double log_lam, Mass *at) noexcept nogil:
    """Small D keeps its relative accuracy: lambda D = log(1 + lambda e^lo expm1(d) / (1 + lambda e^lo))."""
    cdef double log_rise
    at.rise_l = _softplus(lo + log_lam)
    if isinf(u):
        at.mass, at.log_mass = INFINITY, INFINITY
        return
    log_rise = (u if isinf(lo) else lo - at.rise_l + d + _log1mexp(d)) + log_lam
    at.mass = _softplus(log_rise) / lam
    at.log_mass = log_rise - log_lam if log_rise < -30.0 else log(at.mass)


cdef inline double _log_p(const Mass *at, double lam) noexcept nogil:
    """-H(lo) + log(1 - exp(-D)), H the cumulative hazard."""
    cdef double inner
    if isinf(at.mass):
        inner = 0.0
    elif at.mass < SMALL:
        inner = at.log_mass - 0.5 * at.mass
    else:
        inner = _log1mexp(at.mass)
    return inner - at.rise_l / lam


def aranda_ordaz_log(const double[::1] u, const double[::1] lo, const double[::1] d, double lam, double[::1] out):
    """log p of n intervals, into out (n,)."""
    cdef Py_ssize_t i
    cdef double log_lam = log(lam)
    cdef Mass at
    with nogil:
        for i in range(u.shape[0]):
            _mass(u[i], lo[i], d[i], lam, log_lam, &at)
            out[i] = _log_p(&at, lam)


def aranda_ordaz_interval(const double[::1] u, const double[::1] lo, const double[::1] d, double lam,
                          double[:, ::1] out):
    """log p of n intervals and its derivatives, into out (8, n) in the order of `Interval`.

    Narrow intervals lose digits here; `with_series` of model/likelihood/interval_probability.py puts them right.
    """
    cdef Py_ssize_t i
    cdef double log_lam = log(lam), h_u, h_l, rise, a, b, c, difference, s_u, s_l, r_l
    cdef bint top, bottom
    cdef Mass at
    with nogil:
        for i in range(u.shape[0]):
            top, bottom = isinf(u[i]), isinf(lo[i])
            _mass(u[i], lo[i], d[i], lam, log_lam, &at)
            h_u = 0.0 if top else exp(u[i] - _softplus(u[i] + log_lam))
            h_l = 0.0 if bottom else exp(lo[i] - at.rise_l)
            rise = exp(at.log_mass) if at.mass < SMALL else expm1(at.mass)
            a = 0.0 if top else h_u / rise
            b = 0.0 if bottom else h_l / (rise if at.mass < SMALL else -expm1(-at.mass))
            difference = h_u if bottom else h_u * -expm1(-d[i]) * exp(-at.rise_l)  # h_u - h_l without cancellation
            c = (0.0 if top else difference / rise) - h_l
            s_u, s_l = 1.0 - (1.0 + lam) * h_u, 1.0 - (1.0 + lam) * h_l
            r_l = 0.0 if b == 0.0 else -b * (s_l - c)
            out[0, i], out[1, i], out[2, i], out[3, i] = _log_p(&at, lam), a, b, c
            out[4, i] = -r_l if a == 0.0 else (0.0 if b == 0.0 else b * (1.0 + lam) * difference) - c * (s_u - c)
            out[5, i] = 0.0 if a == 0.0 else a * (s_u - c)
            out[6, i], out[7, i] = r_l, a * b
