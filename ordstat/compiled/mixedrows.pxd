# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The probability of a row of a logit or probit model and its derivatives up to the third.

Formulas in likelihood/family.py; plain forms, False where values are too far out.
"""

from libc.math cimport INFINITY, erfc, exp, expm1, fabs, isinf, log, log1p

cdef extern from *:
    """
    #define FAR 600.0
    #define NARROW 1e-6
    #define HALF_LOG_2PI 0.91893853320467274178
    #define SQRT_HALF_PI 1.25331413731550025121
    #define SQRT_HALF 0.70710678118654752440
    static const double NODES[8] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
                                    0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
    static const double NODE_WEIGHTS[8] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873,
                                           0.3626837833783620, 0.3626837833783620, 0.3137066458778873,
                                           0.2223810344533745, 0.1012285362903763};
    """
    const double FAR  # largest argument of exp()
    const double NARROW, HALF_LOG_2PI, SQRT_HALF_PI, SQRT_HALF
    const double NODES[8]
    const double NODE_WEIGHTS[8]

cdef enum:
    LOGIT = 0

cdef struct Row:
    double log_p, a, b, c, W, r_u, r_l, W_u, W_l


cdef inline void logit_row(double e_u, double e_l, double D, Row *at) noexcept nogil:
    """From exp(-u), exp(-lo) and 1 - exp(-d)."""
    cdef double F_u = 1.0 / (1.0 + e_u), G_u = e_u * F_u, F_l = 1.0 / (1.0 + e_l)
    cdef double G_l = 1.0 if isinf(e_l) else e_l * F_l, f_u = F_u * G_u, f_l = F_l * G_l
    at.log_p = F_u * G_l * D  # p; the caller takes the logarithm
    at.c = G_u - F_l
    at.W = f_u + f_l
    at.r_u, at.r_l = -f_u, -f_l
    at.a = G_u / (G_l * D)
    at.b = F_l / (F_u * D)
    at.W_u, at.W_l = f_u * (G_u - F_u), f_l * (G_l - F_l)


cdef inline double mills(double t) noexcept nogil:
    """Phi(t) / phi(t)."""
    return SQRT_HALF_PI * exp(0.5 * t * t) * erfc(-t * SQRT_HALF)


cdef inline bint probit_row(double u, double lo, double d, Row *at) noexcept nogil:
    """From the lower tail; False if it is too far out."""
    cdef bint flip = u + lo > 0.0
    cdef double upper = -lo if flip else u, lower = -u if flip else lo, q, ratio, missing, half, t, both
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
    # the score of the density is -u, its slope -1
    both = at.a * at.b * d if at.a != 0.0 and at.b != 0.0 else 0.0
    at.r_u = -at.a * (upper + at.c) if at.a != 0.0 else 0.0
    at.r_l = at.b * (lower + at.c) if at.b != 0.0 else 0.0
    at.W = (at.b * d if at.b != 0.0 else 0.0) + at.c * (upper + at.c) if at.a != 0.0 else -at.r_l
    at.W_u = (at.r_u * (2.0 * at.c + upper) + at.a if at.a != 0.0 else 0.0) - both
    at.W_l = (at.r_l * (2.0 * at.c + lower) - at.b if at.b != 0.0 else 0.0) + both
    if flip:
        at.a, at.b, at.c = at.b, at.a, -at.c
        at.r_u, at.r_l = at.r_l, at.r_u
        at.W_u, at.W_l = -at.W_l, -at.W_u
    return True
