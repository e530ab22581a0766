# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rows of likelihood models with terms: interval probabilities and their derivatives, sums of outer products.

The readable twins are in `tests/twins.py`.
"""

from libc.math cimport exp, expm1, fabs, INFINITY, isinf, log, log1p
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dgemm


cdef struct Row:
    # log p of an interval and its derivatives, as in model/likelihood/interval_probability.py
    double log_p, a, b, c, W, r_u, r_l, h_ul

cdef double TINY = 1e-250  # probabilities below this are formed by logarithms
cdef double LOG_2 = 0.69314718055994530942


cdef inline void _add(double by, const double *what, Py_ssize_t n, double *into) noexcept nogil:
    """into += by * what."""
    cdef Py_ssize_t j
    for j in range(n):
        into[j] += by * what[j]


cdef inline double _log1mexp(double x) noexcept nogil:
    """log(1 - exp(-x)) for x > 0."""
    return log(-expm1(-x)) if x < LOG_2 else log1p(-exp(-x))


cdef inline double _softplus(double x) noexcept nogil:
    """log(1 + exp(x))."""
    return (x if x > 0.0 else 0.0) + log1p(exp(-fabs(x)))


def accumulate_terms(const double[:, ::1] w, const double[:, ::1] columns, const Py_ssize_t[::1] ends,
                     const Py_ssize_t[:, ::1] places, const double[:, ::1] score, const double[:, :, ::1] curvature,
                     double[:, ::1] alpha, double[:, :, :, ::1] pairs, double[:, :, ::1] cross, double[::1] rest,
                     double[:, ::1] gram, bint local):
    """Add the terms of n rows.

    The predictors of row i are theta at places[:, i], each with the columns w[i], then groups of columns[i]: group g is
    columns[i, ends[g]:ends[g + 1]]. With score (Q, n) and curvature (Q, Q, n), case weights multiplied in, adds to alpha
    (K-1, m), pairs, cross (K-1, m, q), rest (q,) and gram (q, q), which must be symmetric. pairs is (2, K-1, m, m) where
    `local`: the blocks (k, k), and (k, k - 1) at k - 1, whose lower place comes second; else (K-1, K-1, m, m), all pairs.
    Where curvature is None, alpha and rest alone.
    """
    cdef Py_ssize_t n = w.shape[0], q = columns.shape[1], groups = ends.shape[0] - 1, M = places.shape[0]
    cdef double *scaled = NULL
    if curvature is not None:
        scaled = <double *>malloc(<size_t>((n + 1) * q + 1) * sizeof(double))
        if scaled == NULL:
            raise MemoryError()
    with nogil:
        _add_scores(w, columns, ends, places, score, alpha, rest)
        if scaled != NULL:
            _add_pairs(w, places, curvature, pairs, local)
            if q > 0:
                _add_cross(w, columns, ends, places, curvature, scaled, cross)
                _add_gram(columns, ends, M, curvature, scaled, gram)
    free(scaled)


cdef void _add_scores(const double[:, ::1] w, const double[:, ::1] columns, const Py_ssize_t[::1] ends,
                      const Py_ssize_t[:, ::1] places, const double[:, ::1] score, double[:, ::1] alpha,
                      double[::1] rest) noexcept nogil:
    """The scores of the thresholds and of the other columns."""
    cdef Py_ssize_t i, a, g, j, M = places.shape[0], m = w.shape[1]
    for a in range(M):
        for i in range(w.shape[0]):
            _add(score[a, i], &w[i, 0], m, &alpha[places[a, i], 0])
    for g in range(ends.shape[0] - 1):
        for i in range(w.shape[0]):
            for j in range(ends[g], ends[g + 1]):
                rest[j] += score[M + g, i] * columns[i, j]


cdef void _add_pairs(const double[:, ::1] w, const Py_ssize_t[:, ::1] places, const double[:, :, ::1] curvature,
                     double[:, :, :, ::1] pairs, bint local) noexcept nogil:
    """The information of pairs of thresholds."""
    cdef Py_ssize_t n = w.shape[0], m = w.shape[1], i, a, b, j, k, other
    cdef double by
    for a in range(places.shape[0]):
        for b in range(a, places.shape[0]):
            for i in range(n):
                k, other, by = places[a, i], places[b, i], curvature[a, b, i]
                if local and a != b and (k == other or by == 0.0):
                    continue
                for j in range(m):
                    if not local:
                        _add(by * w[i, j], &w[i, 0], m, &pairs[k, other, j, 0])
                    elif a == b:
                        _add(by * w[i, j], &w[i, 0], m, &pairs[0, k, j, 0])
                    else:
                        _add(by * w[i, j], &w[i, 0], m, &pairs[1, other, j, 0])
    if not local:
        for k in range(pairs.shape[0]):
            for other in range(k):
                for a in range(m):
                    for b in range(m):
                        pairs[k, other, a, b] = pairs[other, k, b, a]


cdef void _add_cross(const double[:, ::1] w, const double[:, ::1] columns, const Py_ssize_t[::1] ends,
                     const Py_ssize_t[:, ::1] places, const double[:, :, ::1] curvature, double *own,
                     double[:, :, ::1] cross) noexcept nogil:
    """The information of thresholds and other columns; `own` has room for a row."""
    cdef Py_ssize_t q = columns.shape[1], M = places.shape[0], m = w.shape[1], i, a, g, j
    cdef double *into
    cdef const double *row
    for a in range(M):
        for i in range(w.shape[0]):
            row, into = &columns[i, 0], &cross[places[a, i], 0, 0] if m == 1 else own
            for g in range(ends.shape[0] - 1):
                if m == 1:
                    _add(w[i, 0] * curvature[a, M + g, i], row + ends[g], ends[g + 1] - ends[g], into + ends[g])
                else:
                    for j in range(ends[g], ends[g + 1]):
                        own[j] = curvature[a, M + g, i] * row[j]
            if m > 1:
                for j in range(m):
                    _add(w[i, j], own, q, &cross[places[a, i], j, 0])


cdef void _add_block(const double *buffer, const double *columns, int rows, int pitch, int q, int own, int width,
                     double *gram) noexcept nogil:
    """gram (own, width) += columns' buffer over the rows."""
    cdef double one = 1.0
    cdef char plain = b'N'
    cdef char trans = b'T'
    if own > 0 and rows > 0:
        dgemm(&plain, &trans, &width, &own, &rows, &one, <double *>buffer, &pitch, <double *>columns, &q, &one, gram, &q)


cdef void _add_gram(const double[:, ::1] columns, const Py_ssize_t[::1] ends, Py_ssize_t M,
                    const double[:, :, ::1] curvature, double *scaled, double[:, ::1] gram) noexcept nogil:
    """The information of the other columns, group by group; `scaled` has room for all rows."""
    cdef int q = <int>columns.shape[1]
    cdef Py_ssize_t n = columns.shape[0], g, h, i, j, first
    for g in range(ends.shape[0] - 1):
        first = ends[g]
        for h in range(g, ends.shape[0] - 1):
            for i in range(n):
                for j in range(ends[h], ends[h + 1]):
                    scaled[i * q + j] = curvature[M + g, M + h, i] * columns[i, j]
        if first < ends[g + 1] and n > 0:
            _add_block(scaled + first, &columns[0, first], <int>n, q, q, <int>(ends[g + 1] - first), <int>(q - first),
                       &gram[first, first])
        for i in range(first, ends[g + 1]):
            for j in range(ends[g + 1], q):
                gram[j, i] = gram[i, j]


cdef inline void _logit_row(double u, double lo, double d, Row *at) noexcept nogil:
    """log p of an interval of the logistic distribution and its derivatives, in forms in which nothing cancels."""
    cdef double e = exp(-fabs(u)), small = e / (1.0 + e), large = 1.0 / (1.0 + e), rest, p
    cdef double above = small if u >= 0.0 else large, up = large if u >= 0.0 else small, below, down, g, f_u, f_l
    e = exp(-fabs(lo))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    below, down = large if lo >= 0.0 else small, small if lo >= 0.0 else large
    g = 0.0 if isinf(d) else 1.0 / expm1(d)
    f_u, f_l = above * up, below * down
    rest, p = above + below, up * down / (1.0 + g)  # 1 - p and p
    if rest < 0.5:
        at.log_p = log1p(-rest)
    elif p > TINY:
        at.log_p = log(p)
    else:
        at.log_p = _log1mexp(d) - _softplus(-u) - _softplus(lo)
    at.a, at.b, at.c, at.W, at.r_u, at.r_l, at.h_ul = above + g, below + g, above - below, f_u + f_l, -f_u, -f_l, g * (1.0 + g)


cdef inline void _row_scores(const Row *at, double s, double upper, double lower, double width, double *score) noexcept nogil:
    """Derivatives by theta_y, theta_{y-1}, H and tau; an infinite end adds nothing."""
    score[0] = s * at.a
    score[1] = -s * at.b
    score[2] = -s * at.c
    if isinf(upper):
        score[3] = at.b * lower if not isinf(lower) else 0.0
    elif isinf(lower):
        score[3] = -at.a * upper
    else:
        score[3] = -(at.c * upper + at.b * width)


cdef inline void _row_curvature(const Row *at, double s, double upper, double lower, double width, double e,
                                double *out) noexcept nogil:
    """Their negative derivatives, the ten of the upper triangle by rows; e is that by -tau."""
    cdef double u = 0.0 if isinf(upper) else upper, l = 0.0 if isinf(lower) else lower, ss = s * s
    cdef double d = 0.0 if isinf(width) else width, hd = at.h_ul * d, up = at.r_u * u, low = at.r_l * l
    out[0] = -ss * (at.r_u - at.h_ul)
    out[1] = -ss * at.h_ul
    out[2] = ss * at.r_u
    out[3] = s * (up - hd + at.a)
    out[4] = -ss * (at.r_l - at.h_ul)
    out[5] = ss * at.r_l
    out[6] = s * (low + hd - at.b)
    out[7] = ss * at.W
    out[8] = -s * (up + low + at.c)
    out[9] = -(up * u + low * l - hd * d + e)


def logit_interval(const double[::1] u, const double[::1] lo, const double[::1] d, double[:, ::1] out):
    """log p of intervals of the logistic distribution and its derivatives.

    Fills out (8, n) in the order of `Interval` (model/likelihood/interval_probability.py): exact forms in which nothing
    cancels at any width. The thresholds must be in order, d > 0.
    """
    cdef Py_ssize_t i
    cdef Row at
    with nogil:
        for i in range(u.shape[0]):
            _logit_row(u[i], lo[i], d[i], &at)
            out[0, i], out[1, i], out[2, i], out[3, i] = at.log_p, at.a, at.b, at.c
            out[4, i], out[5, i], out[6, i], out[7, i] = at.W, at.r_u, at.r_l, at.h_ul


def interval_ends(const double[::1] theta_u, const double[::1] theta_l, const double[::1] width, const double[::1] H,
                  const double[::1] s, const Py_ssize_t[::1] y, Py_ssize_t last, double[:, ::1] out):
    """eta_y, eta_{y-1} and their difference of n rows, infinite where a level has no such end, into out (3, n).

    From the thresholds above and below, their difference, H and the inverse scale s; level `last` is the top one.
    """
    cdef Py_ssize_t n = y.shape[0], i
    with nogil:
        for i in range(n):
            out[0, i] = INFINITY if y[i] == last else s[i] * (theta_u[i] - H[i])
            out[1, i] = -INFINITY if y[i] == 0 else s[i] * (theta_l[i] - H[i])
            out[2, i] = INFINITY if y[i] == last or y[i] == 0 else s[i] * width[i]


def interval_terms(const double[::1] a, const double[::1] b, const double[::1] c, const double[::1] W,
                   const double[::1] r_u, const double[::1] r_l, const double[::1] h_ul, const double[::1] s,
                   const double[::1] upper, const double[::1] lower, const double[::1] width, double[:, ::1] score,
                   double[:, :, ::1] curvature):
    """Terms of rows of the cumulative family from the derivatives of their intervals.

    Fills score (4, n), by theta_y, theta_{y-1}, H and tau, and curvature (4, 4, n), its negative derivatives; formulas in
    model/likelihood/cumulative.py. An infinite end adds nothing. Where curvature is None, score alone.
    """
    cdef Py_ssize_t i, j, k, at
    cdef double own[4]
    cdef double second[10]
    cdef bint curved = curvature is not None
    cdef Row row
    with nogil:
        for i in range(a.shape[0]):
            row.a, row.b, row.c, row.W, row.r_u, row.r_l, row.h_ul = a[i], b[i], c[i], W[i], r_u[i], r_l[i], h_ul[i]
            _row_scores(&row, s[i], upper[i], lower[i], width[i], own)
            for j in range(4):
                score[j, i] = own[j]
            if curved:
                _row_curvature(&row, s[i], upper[i], lower[i], width[i], -own[3], second)
                at = 0
                for j in range(4):
                    for k in range(j, 4):
                        curvature[j, k, i] = curvature[k, j, i] = second[at]
                        at += 1


cdef double SMALL = 1e-8  # below this mass 1 - exp(-mass) is mass (1 - mass / 2)

cdef struct Mass:
    # of an interval: cumulative hazard D with its logarithm, and log(1 + lambda e^lo)
    double mass, log_mass, rise_l


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
