# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Fused passes over the rows of a cumulative model whose intervals have closed forms: logit and Aranda-Ordaz.

Rows are taken in chunks that stay in cache: predictors, intervals, terms, and their sums. Every function adds into
arrays given by the caller and has a plain NumPy twin in tests/twins.py.
"""

from libc.math cimport INFINITY, NAN, exp, fabs
from libc.stdlib cimport calloc, free
from scipy.linalg.cython_blas cimport dgemm, dgemv

cdef extern from "interval_rows.h":
    enum:
        ORDSTAT_ROOM
    ctypedef struct OrdstatChunk:
        double u[ORDSTAT_ROOM]
        double lo[ORDSTAT_ROOM]
        double d[ORDSTAT_ROOM]
        double s[ORDSTAT_ROOM]
        double v[ORDSTAT_ROOM]
        double has_u[ORDSTAT_ROOM]
        double has_l[ORDSTAT_ROOM]
        double log_p[ORDSTAT_ROOM]
        double score[5][ORDSTAT_ROOM]
        double curve[15][ORDSTAT_ROOM]
    void logit_intervals(int n, OrdstatChunk *at) noexcept nogil
    void aranda_ordaz_intervals(int n, double lam, OrdstatChunk *at) noexcept nogil
    void interval_scores(int n, OrdstatChunk *at) noexcept nogil
    void interval_curvature(int n, OrdstatChunk *at) noexcept nogil
    void interval_lambda(int n, OrdstatChunk *at) noexcept nogil
    void pad_columns(int n, int p, int r, int q, int px, int pz, const double *columns, double *out) noexcept nogil
    void add_columns(int n, int px, int pz, const Py_ssize_t *place, const OrdstatChunk *at, const double *rows,
                     double *cross, double *scaled) noexcept nogil

#: Ends of intervals that the closed forms are good for, and their least widths.
cdef double LARGEST_END = 250.0, LEAST_LOGIT = 1e-30, LEAST_WIDTH = 1e-3

cdef struct Shape:
    # columns of x and z, all columns, and the padded widths of the first two
    int p, r, q, px, pz
    bint estimated


cdef inline double _dot(const double *one, const double *other, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(n):
        total += one[j] * other[j]
    return total


cdef inline void _add(double by, const double *what, Py_ssize_t n, double *into) noexcept nogil:
    """into += by * what."""
    cdef Py_ssize_t j
    for j in range(n):
        into[j] += by * what[j]


cdef inline void _add_outer(double by, const double *w, Py_ssize_t m, double *into) noexcept nogil:
    """into (m, m) += by w w'."""
    cdef Py_ssize_t j
    for j in range(m):
        _add(by * w[j], w, m, into + j * m)


cdef void _project(const double *columns, int rows, int q, int width, const double *by, double *out) noexcept nogil:
    """out += the first `width` columns times by."""
    cdef double one = 1.0
    cdef int step = 1
    cdef char trans = b'T'
    if width > 0:
        dgemv(&trans, &width, &rows, &one, <double *>columns, &q, <double *>by, &step, &one, out, &step)


cdef void _add_total(const double *columns, int rows, int q, int width, double *by, int step, double *into) noexcept nogil:
    """into, in steps, += sums over the rows of by times each of the first `width` columns."""
    cdef double one = 1.0
    cdef int single = 1
    cdef char plain = b'N'
    if width > 0:
        dgemv(&plain, &width, &rows, &one, <double *>columns, &q, by, &single, &one, into, &step)


cdef void _add_block(const double *scaled, int pitch, const double *columns, int q, int rows, int own, int width,
                     double *gram) noexcept nogil:
    """gram (own, width) += columns' scaled over the rows."""
    cdef double one = 1.0
    cdef char plain = b'N'
    cdef char trans = b'T'
    if own > 0 and width > 0:
        dgemm(&plain, &trans, &width, &own, &rows, &one, <double *>scaled, &pitch, <double *>columns, &q, &one, gram, &q)


cdef inline double _sum(const double *values, int n) noexcept nogil:
    cdef int i
    cdef double total = 0.0
    for i in range(n):
        total += values[i]
    return total


cdef bint _ends(int rows, const Py_ssize_t *y, const Py_ssize_t *pattern, const double *w, Py_ssize_t last, Py_ssize_t m,
                const double *theta, const double *step, const double *H, const double *tau, double farthest,
                double largest, double least, OrdstatChunk *at) noexcept nogil:
    """The ends of the rows' intervals and their scale; False where they are outside the domain of the closed forms."""
    cdef int i
    cdef Py_ssize_t k
    cdef bint top, bottom, inside = True
    cdef double s = 1.0, u, lo, d, one = 1.0
    cdef const double *own = &one
    for i in range(rows):
        if tau != NULL:
            inside = inside and fabs(tau[i]) <= largest
            s = exp(-tau[i])
        if w != NULL:
            own = w + i * m
        k = y[i] if pattern == NULL else y[i] + pattern[i] * last
        top, bottom = y[i] == last, y[i] == 0
        if top:
            lo, d = s * (_dot(theta + (k - 1) * m, own, m) - H[i]), 0.0
            u = lo
        elif bottom:
            u, d = s * (_dot(theta + k * m, own, m) - H[i]), 0.0
            lo = u
        else:
            u, lo = s * (_dot(theta + k * m, own, m) - H[i]), s * (_dot(theta + (k - 1) * m, own, m) - H[i])
            d = s * _dot(step + k * m, own, m)
            inside = inside and d >= least
        inside = inside and s <= farthest and fabs(u) <= LARGEST_END and fabs(lo) <= LARGEST_END
        at.u[i], at.lo[i], at.d[i], at.s[i] = u, lo, d, s
        at.has_u[i], at.has_l[i] = 0.0 if top else 1.0, 0.0 if bottom else 1.0
    return inside


cdef void _add_levels(int rows, const Py_ssize_t *y, const Py_ssize_t *pattern, Py_ssize_t last, const OrdstatChunk *at,
                      double *alpha, double *pairs, Py_ssize_t places, double *cross, int q, bint estimated,
                      bint second) noexcept nogil:
    """The sums of thresholds alone, and of thresholds and lambda, the last of q columns."""
    cdef int i
    cdef Py_ssize_t k
    for i in range(rows):
        k = y[i] if pattern == NULL else y[i] + pattern[i] * last
        if y[i] < last:
            alpha[k] += at.score[0][i]
            if second:
                pairs[k] += at.curve[0][i]
                if estimated:
                    cross[k * q + q - 1] += at.curve[4][i]
        if y[i] > 0:
            alpha[k - 1] += at.score[1][i]
            if second:
                pairs[k - 1] += at.curve[5][i]
                if y[i] < last:
                    pairs[places + k - 1] += at.curve[1][i]
                if estimated:
                    cross[(k - 1) * q + q - 1] += at.curve[8][i]


cdef void _add_nominal(int rows, const Py_ssize_t *y, const Py_ssize_t *pattern, const double *w, Py_ssize_t last,
                       Py_ssize_t m, const double *columns, const OrdstatChunk *at, Shape *of, double *alpha,
                       double *pairs, Py_ssize_t places, double *cross, bint second) noexcept nogil:
    """All sums of thresholds, whose nominal columns are w."""
    cdef int i, j, end
    cdef Py_ssize_t k, mm = m * m
    cdef const double *own
    cdef const double *x
    cdef double *into
    for i in range(rows):
        own, x = w + i * m, columns + i * of.q
        for end in range(2):
            if y[i] == (last if end == 0 else 0):
                continue
            k = y[i] - end if pattern == NULL else y[i] - end + pattern[i] * last
            _add(at.score[end][i], own, m, alpha + k * m)
            if not second:
                continue
            _add_outer(at.curve[5 * end][i], own, m, pairs + k * mm)
            if end == 1 and y[i] < last:
                _add_outer(at.curve[1][i], own, m, pairs + (places + k) * mm)
            for j in range(m):
                into = cross + (k * m + j) * of.q
                _add(own[j] * at.curve[2 + 4 * end][i], x, of.p, into)
                _add(own[j] * at.curve[3 + 4 * end][i], x + of.p, of.r, into + of.p)
                if of.estimated:
                    into[of.q - 1] += own[j] * at.curve[4 + 4 * end][i]


cdef void _add_rest(int rows, const double *columns, OrdstatChunk *at, const double *scaled, Shape *of, double *rest,
                    double *gram, bint second) noexcept nogil:
    """The sums of the columns alone; of the gram the rows of x, those of z from z on, and lambda's last column."""
    cdef int p = of.p, r = of.r, q = of.q, pitch = of.px + 2 * of.pz, end = of.q - 1
    cdef const double *z = columns + p
    _add_total(columns, rows, q, p, at.score[2], 1, rest)
    _add_total(z, rows, q, r, at.score[3], 1, rest + p)
    if of.estimated:
        rest[end] += _sum(at.score[4], rows)
    if not second:
        return
    _add_block(scaled, pitch, columns, q, rows, p, p, gram)
    _add_block(scaled + of.px, pitch, columns, q, rows, p, r, gram + p)
    _add_block(scaled + of.px + of.pz, pitch, z, q, rows, r, r, gram + p * q + p)
    if of.estimated:
        _add_total(columns, rows, q, p, at.curve[11], q, gram + end)
        _add_total(z, rows, q, r, at.curve[13], q, gram + p * q + end)
        gram[end * q + end] += _sum(at.curve[14], rows)


cdef void _add_padded(const double *padded, Py_ssize_t patterns, Py_ssize_t last, Shape *of, double *cross) noexcept nogil:
    """cross (patterns last, q) += the rows of each pattern in padded (patterns (last + 2), px + pz), but the outer two."""
    cdef Py_ssize_t g, k
    cdef const double *row
    cdef double *into
    for g in range(patterns):
        for k in range(last):
            row, into = padded + (g * (last + 2) + k + 1) * (of.px + of.pz), cross + (g * last + k) * of.q
            _add(1.0, row, of.p, into)
            _add(1.0, row + of.px, of.r, into + of.p)


def interval_sums(const double[:, ::1] columns, Py_ssize_t p, Py_ssize_t r, const double[:, ::1] w,
                  const Py_ssize_t[::1] pattern, const Py_ssize_t[::1] y, const double[::1] weights,
                  const double[::1] offset, const double[::1] scale_offset, Py_ssize_t last, const double[:, ::1] theta,
                  const double[:, ::1] step, const double[::1] by, double lam, double farthest, double largest,
                  double[:, ::1] alpha, double[:, :, :, ::1] pairs, double[:, :, ::1] cross, double[::1] rest,
                  double[:, ::1] gram, bint second):
    """The sums of `accumulate_terms` for all rows of a cumulative Aranda-Ordaz model; returns the log-likelihood.

    At lam = 1, where lam is not estimated, the model is the logit and has its more accurate forms. The first p of the
    columns (n, q), with their part of by (q,), and offset make H, the next r and scale_offset tau; a further one is that
    of lam, where it is estimated. theta (G last, m) are the coefficients of the `last` thresholds, of each pattern where
    `pattern` (n,) is given, and step (G last, m) their differences from the threshold below, which are known better than
    by theta; they go with the nominal columns w (n, m), or 1 where w is None. Returns NaN, and sums that are not
    complete, where thresholds are out of order or, for these forms, too close, |tau| is above `largest`, exp(-tau) above
    `farthest`, or an end too far out. Without `second` the scores alone are added up.
    """
    cdef Py_ssize_t n = y.shape[0], m = theta.shape[1], start = 0, i, j, patterns = theta.shape[0] // last
    cdef Py_ssize_t places = theta.shape[0]
    cdef int rows, room = ORDSTAT_ROOM
    cdef Shape of
    of.p, of.r, of.q = <int>p, <int>r, <int>columns.shape[1]
    of.px, of.pz, of.estimated = (of.p + 3) // 4 * 4, (of.r + 3) // 4 * 4, of.q > of.p + of.r
    cdef int width = of.px + of.pz
    cdef bint logit = lam == 1.0 and not of.estimated, scaled = of.r > 0 or scale_offset is not None
    cdef bint together = second and w is None and of.p + of.r > 0, blocks = second and of.p + of.r > 0
    cdef double total = 0.0, least = LEAST_LOGIT if logit else LEAST_WIDTH
    cdef size_t kept = <size_t>((patterns * (last + 2) if together else 2) * width)
    cdef OrdstatChunk *at = <OrdstatChunk *>calloc(1, sizeof(OrdstatChunk))
    cdef double *buffer = <double *>calloc(<size_t>room * (2 * width + of.pz + 2) + kept + 1, sizeof(double))
    cdef Py_ssize_t *place = <Py_ssize_t *>calloc(<size_t>room, sizeof(Py_ssize_t))
    if at == NULL or buffer == NULL or place == NULL:
        free(at)
        free(buffer)
        free(place)
        raise MemoryError()
    cdef double *moved = buffer + room * width
    cdef double *H = moved + room * (width + of.pz)
    cdef double *tau = H + room
    cdef double *padded = tau + room
    cdef const double *x = NULL
    cdef const double *own = NULL
    cdef const Py_ssize_t *kind = NULL
    with nogil:
        while start < n:
            rows = <int>min(<Py_ssize_t>room, n - start)
            if of.q > 0:
                x = &columns[start, 0]
            if w is not None:
                own = &w[start, 0]
            if pattern is not None:
                kind = &pattern[start]
            for i in range(rows):
                H[i] = 0.0 if offset is None else offset[start + i]
                tau[i] = 0.0 if scale_offset is None else scale_offset[start + i]
                at.v[i] = weights[start + i]
            if of.q > 0:
                _project(x, rows, of.q, of.p, &by[0], H)
                _project(x + of.p, rows, of.q, of.r, &by[0] + of.p, tau)
            if not _ends(rows, &y[start], kind, own, last, m, &theta[0, 0], &step[0, 0], H, tau if scaled else NULL,
                         farthest, largest, least, at):
                total = NAN
                break
            if logit:
                logit_intervals(rows, at)
            else:
                aranda_ordaz_intervals(rows, lam, at)
            interval_scores(rows, at)
            if second:
                interval_curvature(rows, at)
            if of.estimated:
                interval_lambda(rows, at)
            for i in range(rows):
                total += at.v[i] * at.log_p[i]
            if blocks:
                pad_columns(rows, of.p, of.r, of.q, of.px, of.pz, x, buffer)
                for i in range(rows):
                    place[i] = 0 if not together else y[start + i] + (0 if kind == NULL else kind[i] * (last + 2))
                add_columns(rows, of.px, of.pz, place, at, buffer, padded, moved)
            if w is None:
                _add_levels(rows, &y[start], kind, last, at, &alpha[0, 0], &pairs[0, 0, 0, 0], places,
                            &cross[0, 0, 0] if of.q > 0 else NULL, of.q, of.estimated, second)
            else:
                _add_nominal(rows, &y[start], kind, own, last, m, x, at, &of, &alpha[0, 0], &pairs[0, 0, 0, 0], places,
                             &cross[0, 0, 0] if of.q > 0 else NULL, second)
            if of.q > 0:
                _add_rest(rows, x, at, moved, &of, &rest[0], &gram[0, 0], second)
            start += rows
        if together:
            _add_padded(padded, patterns, last, &of, &cross[0, 0, 0])
        for i in range(of.q):
            for j in range(i):
                gram[i, j] = gram[j, i]
    free(at)
    free(buffer)
    free(place)
    return total
