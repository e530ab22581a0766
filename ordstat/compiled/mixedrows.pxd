# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The probability of a row of a cumulative model and its derivatives up to the third, by link.

Formulas in model/likelihood/interval_probability.py and third.py; plain forms, False where values are too far out.
"""

from libc.math cimport INFINITY, atan2, erfc, exp, expm1, fabs, isinf, log, log1p

cdef extern from *:
    """
    #define FAR 600.0
    #define NARROW 1e-6
    #define HALF_LOG_2PI 0.91893853320467274178
    #define SQRT_HALF_PI 1.25331413731550025121
    #define SQRT_HALF 0.70710678118654752440
    #define LOG_PI 1.14472988584940017414
    static const double NODES[8] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
                                    0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
    static const double NODE_WEIGHTS[8] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873,
                                           0.3626837833783620, 0.3626837833783620, 0.3137066458778873,
                                           0.2223810344533745, 0.1012285362903763};
    """
    const double FAR  # exp() of what lies further out is not formed
    const double NARROW, HALF_LOG_2PI, SQRT_HALF_PI, SQRT_HALF, LOG_PI
    const double NODES[8]
    const double NODE_WEIGHTS[8]

cdef enum:
    LOGIT = 0
    PROBIT = 1
    CLOGLOG = 2
    LOGLOG = 3
    CAUCHIT = 4

cdef struct Row:
    double log_p, a, b, c, W, r_u, r_l, W_u, W_l

cdef struct Scores:
    # S = f'/f and S' at both ends, and S(lo) - S(u)
    double u, lo, slope_u, slope_l, gap


cdef inline void logit_row(double e_u, double e_l, double D, Row *at) noexcept nogil:
    """From exp(-u), exp(-lo) and 1 - exp(-d)."""
    cdef double F_u = 1.0 / (1.0 + e_u), G_u = e_u * F_u, F_l = 1.0 / (1.0 + e_l)
    cdef double G_l = 1.0 if isinf(e_l) else e_l * F_l, f_u = F_u * G_u, f_l = F_l * G_l
    at.log_p = F_u * G_l * D  # p: its logarithm is taken where it is wanted
    at.c = G_u - F_l
    at.W = f_u + f_l
    at.r_u, at.r_l = -f_u, -f_l
    at.a = G_u / (G_l * D)
    at.b = F_l / (F_u * D)
    at.W_u, at.W_l = f_u * (G_u - F_u), f_l * (G_l - F_l)


cdef inline void fill(const Scores *S, Row *at) noexcept nogil:
    """What follows from log_p, a, b, c and the scores of the density."""
    cdef double both = at.a * at.b * S.gap if at.a != 0.0 and at.b != 0.0 else 0.0
    at.r_u = at.a * (S.u - at.c) if at.a != 0.0 else 0.0
    at.r_l = -at.b * (S.lo - at.c) if at.b != 0.0 else 0.0
    at.W = (at.b * S.gap if at.b != 0.0 else 0.0) - at.c * (S.u - at.c) if at.a != 0.0 else -at.r_l
    at.W_u = (at.r_u * (2.0 * at.c - S.u) - at.a * S.slope_u if at.a != 0.0 else 0.0) - both
    at.W_l = (at.r_l * (2.0 * at.c - S.lo) + at.b * S.slope_l if at.b != 0.0 else 0.0) + both


cdef inline void mirror(Row *at) noexcept nogil:
    """Of the latent variable with its sign changed."""
    at.a, at.b, at.c = at.b, at.a, -at.c
    at.r_u, at.r_l = at.r_l, at.r_u
    at.W_u, at.W_l = -at.W_l, -at.W_u


cdef inline double mills(double t) noexcept nogil:
    """Phi(t) / phi(t)."""
    return SQRT_HALF_PI * exp(0.5 * t * t) * erfc(-t * SQRT_HALF)


cdef inline bint probit_row(double u, double lo, double d, Row *at) noexcept nogil:
    """Measured in the lower tail; False where that is too far out."""
    cdef bint flip = u + lo > 0.0
    cdef double upper = -lo if flip else u, lower = -u if flip else lo, q, ratio, missing, half, t
    cdef Scores S
    cdef int k
    if upper < -25.0 or (d < NARROW):
        return False
    if upper > 5.0:
        missing = 0.5 * (erfc(upper * SQRT_HALF) + erfc(-lower * SQRT_HALF))
        at.log_p = log1p(-missing)
        at.a = exp(-0.5 * upper * upper - HALF_LOG_2PI) / (1.0 - missing)
        at.b = 0.0 if isinf(lower) else exp(-0.5 * lower * lower - HALF_LOG_2PI) / (1.0 - missing)
        at.c = at.a - at.b
        if upper > 37.0:
            at.a = 0.0
        if lower < -37.0:
            at.b = 0.0
    else:
        ratio = -INFINITY if isinf(lower) else 0.5 * d * (upper + lower)
        if d * (1.0 + fabs(upper)) < 0.5:
            half, q = 0.5 * d, 0.0
            for k in range(8):
                t = half * (1.0 + NODES[k])
                q += NODE_WEIGHTS[k] * exp(t * (upper - 0.5 * t))
            q *= half
        else:
            q = mills(upper)
            if lower > -25.0:
                q -= exp(ratio) * mills(lower)
        at.log_p = log(q) - 0.5 * upper * upper - HALF_LOG_2PI
        at.a, at.b, at.c = 1.0 / q, exp(ratio) / q, -expm1(ratio) / q
    S.u, S.lo, S.slope_u, S.slope_l, S.gap = -upper, -lower, -1.0, -1.0, d
    fill(&S, at)
    if flip:
        mirror(at)
    return True


cdef inline bint cloglog_row(double u, double lo, double d, Row *at) noexcept nogil:
    cdef double e_u, e_l, share, D, grown, shrink
    cdef Scores S
    if lo > 20.0 or d < NARROW or u < -FAR:
        return False
    e_l, share = exp(lo), 1.0 if isinf(lo) else -expm1(-d)
    e_u = exp(u) if u < FAR else INFINITY
    D = e_u * share
    if D > 700.0:  # the density at u counts as 0
        at.log_p, at.a, at.b, at.c = -e_l, 0.0, e_l, -e_l
        S.u, S.lo, S.slope_u, S.slope_l, S.gap = 0.0, 1.0 - e_l, 0.0, -e_l, 0.0
        fill(&S, at)
        return True
    grown = expm1(D)
    shrink = D / grown
    at.a = shrink / share
    at.b = 0.0 if isinf(lo) else D * (1.0 + grown) / grown * (1.0 - share) / share
    at.c = shrink - e_l
    at.log_p = log(grown) - D - e_l
    S.u, S.lo, S.slope_u, S.slope_l, S.gap = 1.0 - e_u, 1.0 - e_l, -e_u, -e_l, D
    fill(&S, at)
    return True


cdef inline bint cauchit_row(double u, double lo, double d, Row *at) noexcept nogil:
    cdef double q_u = 1.0 + u * u, q_l = 1.0 + lo * lo, angle
    cdef Scores S
    if d < NARROW or (not isinf(u) and fabs(u) > 1e6) or (not isinf(lo) and fabs(lo) > 1e6):
        return False
    if isinf(lo):
        angle = atan2(1.0, -u)
    elif isinf(u):
        angle = atan2(1.0, lo)
    else:
        angle = atan2(d, 1.0 + u * lo)
    at.log_p = log(angle) - LOG_PI
    at.a = 0.0 if isinf(u) else 1.0 / (angle * q_u)
    at.b = 0.0 if isinf(lo) else 1.0 / (angle * q_l)
    at.c = at.a - at.b if isinf(d) else -(u + lo) * (d / q_u) / (angle * q_l)
    S.u = 0.0 if isinf(u) else -2.0 * u / q_u
    S.lo = 0.0 if isinf(lo) else -2.0 * lo / q_l
    S.slope_u = 0.0 if isinf(u) else -2.0 * (1.0 - u * u) / (q_u * q_u)
    S.slope_l = 0.0 if isinf(lo) else -2.0 * (1.0 - lo * lo) / (q_l * q_l)
    S.gap = 0.0 if isinf(d) else 2.0 * d * ((1.0 - u * lo) / q_u) / q_l
    fill(&S, at)
    return True
