# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Fused passes over the rows of a cumulative model whose intervals have closed forms: logit and Aranda-Ordaz.

Rows are taken in chunks that stay in cache: predictors, intervals, terms, and their sums. Every function adds into
arrays given by the caller and has a plain NumPy twin in tests/twins.py.
"""

from libc.math cimport NAN, fabs
from libc.stdlib cimport calloc, free
from scipy.linalg.cython_blas cimport dgemv

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
    ctypedef struct OrdstatLevels:
        double *high
        double *low
        double *width
        double *has_u
        double *has_l
    void interval_scales(int n, const double *tau, OrdstatChunk *at) noexcept nogil
    void interval_ends(int n, const Py_ssize_t *place, const double *H, const OrdstatLevels *levels,
                       OrdstatChunk *at) noexcept nogil
    bint within(int n, double far, double least, double farthest, const OrdstatChunk *at) noexcept nogil
    void logit_intervals(int n, OrdstatChunk *at) noexcept nogil
    void aranda_ordaz_intervals(int n, double lam, OrdstatChunk *at) noexcept nogil
    void interval_scores(int n, OrdstatChunk *at) noexcept nogil
    void interval_curvature(int n, OrdstatChunk *at) noexcept nogil
    void interval_lambda(int n, OrdstatChunk *at) noexcept nogil
    void pad_columns(int n, int p, int r, int q, int px, int pz, const double *columns, double *out) noexcept nogil
    void add_places(int n, int px, int pz, const Py_ssize_t *place, const OrdstatChunk *at, const double *rows,
                    double *sums) noexcept nogil
    void add_columns(int n, int px, int pz, bint second, const OrdstatChunk *at, const double *rows,
                     double *score, double *mixed, double *gram) noexcept nogil

#: Ends of intervals that the closed forms are good for, and their least widths.
cdef double LARGEST_END = 250.0, LEAST_LOGIT = 1e-30, LEAST_WIDTH = 1e-3

cdef enum:
    FIRST = 4  # sums of a threshold alone, before those with the columns

cdef struct Shape:
    # columns of x and z, all columns, the padded widths of the first two and their sum, and whether lambda is estimated
    int p, r, q, px, pz, width
    bint estimated

cdef struct Room:
    # What a pass needs; `all` is the one to free.
    double *all
    double *rows
    double *H
    double *tau
    double *score
    double *mixed
    double *gram
    double *sums
    OrdstatLevels levels


cdef bint _open(Room *room, const Shape *of, Py_ssize_t places) noexcept nogil:
    """Buffers, all zero; False where there is no memory."""
    cdef size_t width = <size_t>of.width, chunk = ORDSTAT_ROOM, size = <size_t>places
    room.all = <double *>calloc(chunk * (width + 2) + width * (2 + width) + size * (width + FIRST + 5), sizeof(double))
    if room.all == NULL:
        return False
    room.rows = room.all
    room.H = room.rows + chunk * width
    room.tau = room.H + chunk
    room.score = room.tau + chunk
    room.mixed = room.score + width
    room.gram = room.mixed + width
    room.sums = room.gram + width * width
    room.levels.high = room.sums + size * (width + FIRST)
    room.levels.low = room.levels.high + size
    room.levels.width = room.levels.low + size
    room.levels.has_u = room.levels.width + size
    room.levels.has_l = room.levels.has_u + size
    return True


cdef void _set_levels(OrdstatLevels *levels, const double[:, ::1] theta, const double[:, ::1] step,
                      Py_ssize_t last) noexcept nogil:
    """The ends of each level of each pattern, level y of pattern g at g (last + 2) + y; one that is missing is the other."""
    cdef Py_ssize_t g, y, at, k
    for g in range(theta.shape[0] // last):
        for y in range(last + 1):
            at, k = g * (last + 2) + y, g * last + y
            levels.high[at] = theta[k if y < last else k - 1, 0]
            levels.low[at] = theta[k - 1 if y > 0 else k, 0]
            levels.width[at] = step[k, 0] if 0 < y < last else 0.0
            levels.has_u[at], levels.has_l[at] = 1.0 if y < last else 0.0, 1.0 if y > 0 else 0.0


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


cdef inline double _sum(const double *values, int n) noexcept nogil:
    cdef int i
    cdef double total = 0.0
    for i in range(n):
        total += values[i]
    return total


cdef void _own_ends(int rows, const Py_ssize_t *y, const Py_ssize_t *pattern, const double *w, Py_ssize_t last,
                    Py_ssize_t m, const double *theta, const double *step, const double *H,
                    OrdstatChunk *at) noexcept nogil:
    """The ends of rows that have nominal columns w, after their scales."""
    cdef int i
    cdef Py_ssize_t k
    cdef double s
    cdef const double *own
    for i in range(rows):
        own, s = w + i * m, at.s[i]
        k = y[i] if pattern == NULL else y[i] + pattern[i] * last
        at.has_u[i], at.has_l[i] = 1.0 if y[i] < last else 0.0, 1.0 if y[i] > 0 else 0.0
        at.d[i] = s * _dot(step + k * m, own, m) if 0 < y[i] < last else 0.0
        if y[i] < last:
            at.u[i] = s * (_dot(theta + k * m, own, m) - H[i])
        if y[i] > 0:
            at.lo[i] = s * (_dot(theta + (k - 1) * m, own, m) - H[i])
        if y[i] == 0:
            at.lo[i] = at.u[i]
        elif y[i] == last:
            at.u[i] = at.lo[i]


cdef void _add_nominal(int rows, const Py_ssize_t *y, const Py_ssize_t *pattern, const double *w, Py_ssize_t last,
                       Py_ssize_t m, const double *columns, const OrdstatChunk *at, const Shape *of, double *alpha,
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


cdef void _pad(int rows, OrdstatChunk *at) noexcept nogil:
    """Zeros beyond the last row, up to four rows, in what weighs the columns."""
    cdef int i, k
    for i in range(rows, (rows + 3) // 4 * 4):
        at.score[2][i] = at.score[3][i] = 0.0
        for k in range(9, 14):
            at.curve[k][i] = 0.0


cdef void _hand_over_places(const Room *room, const Shape *of, Py_ssize_t patterns, Py_ssize_t last,
                            double[:, ::1] alpha, double[:, :, :, ::1] pairs, double[:, :, ::1] cross,
                            bint second) noexcept nogil:
    """Add the sums of thresholds, of each pattern all but the outer two rows."""
    cdef Py_ssize_t g, k, at
    cdef const double *sums
    for g in range(patterns):
        for k in range(last):
            at, sums = g * last + k, room.sums + (g * (last + 2) + k + 1) * (of.width + FIRST)
            alpha[at, 0] += sums[0]
            if not second:
                continue
            pairs[0, at, 0, 0] += sums[1]
            pairs[1, at, 0, 0] += sums[2]
            if of.estimated:
                cross[at, 0, of.q - 1] += sums[3]
            if of.width > 0:
                _add(1.0, sums + FIRST, of.p, &cross[at, 0, 0])
                _add(1.0, sums + FIRST + of.px, of.r, &cross[at, 0, 0] + of.p)


cdef void _hand_over_columns(const Room *room, const Shape *of, double[::1] rest, double[:, ::1] gram) noexcept nogil:
    """Add the sums of the columns, those of the information on both sides of the diagonal."""
    cdef int i, j, k, width = of.p + of.r, end = of.q - 1
    cdef double *row
    for i in range(width):
        k = i if i < of.p else of.px + i - of.p
        row = room.gram + k * of.width
        rest[i] += room.score[k]
        for j in range(i, width):
            gram[i, j] += row[j if j < of.p else of.px + j - of.p]
        if of.estimated:
            gram[i, end] += room.mixed[k]
    for i in range(of.q):
        for j in range(i):
            gram[i, j] = gram[j, i]


def standardise(const double[:, ::1] X, const double[::1] mean, const double[::1] deviation, Py_ssize_t first,
                double[:, ::1] out):
    """(X - mean) / deviation into the columns of out from `first` on."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(X.shape[0]):
            for j in range(X.shape[1]):
                out[i, first + j] = (X[i, j] - mean[j]) / deviation[j]


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
    cdef Py_ssize_t n = y.shape[0], m = theta.shape[1], start = 0, i, patterns = theta.shape[0] // last
    cdef int rows
    cdef Shape of
    of.p, of.r, of.q = <int>p, <int>r, <int>columns.shape[1]
    of.px, of.pz, of.estimated = (of.p + 3) // 4 * 4, (of.r + 3) // 4 * 4, of.q > of.p + of.r
    of.width = of.px + of.pz
    cdef bint logit = lam == 1.0 and not of.estimated, inside
    cdef double total = 0.0, least = LEAST_LOGIT if logit else LEAST_WIDTH
    cdef const double *x = NULL
    cdef const double *own = NULL
    cdef const Py_ssize_t *kind = NULL
    cdef Room room
    cdef Py_ssize_t place[ORDSTAT_ROOM]
    cdef OrdstatChunk *at = <OrdstatChunk *>calloc(1, sizeof(OrdstatChunk))
    if not _open(&room, &of, patterns * (last + 2)) or at == NULL:
        free(at)
        free(room.all)
        raise MemoryError()
    with nogil:
        if w is None:
            _set_levels(&room.levels, theta, step, last)
        while start < n:
            rows = <int>min(<Py_ssize_t>ORDSTAT_ROOM, n - start)
            if of.q > 0:
                x = &columns[start, 0]
            if w is not None:
                own = &w[start, 0]
            if pattern is not None:
                kind = &pattern[start]
            inside = True
            for i in range(rows):
                room.H[i] = 0.0 if offset is None else offset[start + i]
                room.tau[i] = 0.0 if scale_offset is None else scale_offset[start + i]
                at.v[i] = weights[start + i]
                place[i] = y[start + i] + (0 if kind == NULL else kind[i] * (last + 2))
            if of.q > 0:
                _project(x, rows, of.q, of.p, &by[0], room.H)
                _project(x + of.p, rows, of.q, of.r, &by[0] + of.p, room.tau)
            for i in range(rows):
                inside = inside and fabs(room.tau[i]) <= largest
            interval_scales(rows, room.tau, at)
            if w is None:
                interval_ends(rows, place, room.H, &room.levels, at)
            else:
                _own_ends(rows, &y[start], kind, own, last, m, &theta[0, 0], &step[0, 0], room.H, at)
            if not (inside and within(rows, LARGEST_END, least, farthest, at)):
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
                rest[of.q - 1] += _sum(at.score[4], rows)
                if second:
                    gram[of.q - 1, of.q - 1] += _sum(at.curve[14], rows)
            for i in range(rows):
                total += at.v[i] * at.log_p[i]
            if of.width > 0:
                _pad(rows, at)
                pad_columns(rows, of.p, of.r, of.q, of.px, of.pz, x, room.rows)
                add_columns(rows, of.px, of.pz, second, at, room.rows, room.score,
                            room.mixed if of.estimated else NULL, room.gram)
            if w is not None:
                _add_nominal(rows, &y[start], kind, own, last, m, x, at, &of, &alpha[0, 0], &pairs[0, 0, 0, 0],
                             theta.shape[0], &cross[0, 0, 0] if of.q > 0 else NULL, second)
            elif second:
                add_places(rows, of.px, of.pz, place, at, room.rows, room.sums)
            else:
                for i in range(rows):
                    room.sums[place[i] * (of.width + FIRST)] += at.score[1][i]
                    room.sums[(place[i] + 1) * (of.width + FIRST)] += at.score[0][i]
            start += rows
        if w is None:
            _hand_over_places(&room, &of, patterns, last, alpha, pairs, cross, second)
        _hand_over_columns(&room, &of, rest, gram)
    free(at)
    free(room.all)
    return total
