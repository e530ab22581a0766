# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The passes over the rows of cumulative and sequential models, and sums over the columns of a matrix.

Rows are taken in chunks that stay in cache: predictors, intervals, terms, and their sums. Every function adds to
arrays of the caller and has a plain NumPy twin in `tests/twins_sums.py`.
"""

from libc.math cimport NAN, exp, expm1, fabs
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, dgemv

from ordstat.compiled.signals cimport let_interrupt, require_lengths

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
        double a[ORDSTAT_ROOM]
        double b[ORDSTAT_ROOM]
        double c[ORDSTAT_ROOM]
        double W[ORDSTAT_ROOM]
        double r_u[ORDSTAT_ROOM]
        double r_l[ORDSTAT_ROOM]
        double h_ul[ORDSTAT_ROOM]
        double score[4][ORDSTAT_ROOM]
        double curve[10][ORDSTAT_ROOM]
        double loglik
    ctypedef struct OrdstatLevels:
        double *high
        double *low
        double *width
        double *has_u
        double *has_l
        double *exp_u
        double *exp_l
        double *gap
    void standard_rows(int n, int p, int pitch, const double *x, const double *mean, const double *inverse,
                       double *out) noexcept nogil
    void interval_scales(int n, const double *tau, OrdstatChunk *at) noexcept nogil
    void interval_ends(int n, const Py_ssize_t *place, const double *H, const OrdstatLevels *levels,
                       OrdstatChunk *at) noexcept nogil
    bint all_near(int n, double far, const double *values) noexcept nogil
    void weigh_rows(int n, int pitch, int width, const double *by, const double *x, double *out) noexcept nogil
    bint within(int n, double far, double least, double farthest, const OrdstatChunk *at) noexcept nogil
    void logit_levels(int n, const Py_ssize_t *place, const double *H, const OrdstatLevels *levels,
                      OrdstatChunk *at) noexcept nogil
    void logit_ends(int n, OrdstatChunk *at) noexcept nogil
    void logit_intervals(int n, OrdstatChunk *at) noexcept nogil
    void probit_intervals(int n, OrdstatChunk *at) noexcept nogil
    void cloglog_intervals(int n, bint flip, OrdstatChunk *at) noexcept nogil
    void cauchit_intervals(int n, OrdstatChunk *at) noexcept nogil
    void interval_terms(int n, bint second, bint scaled, OrdstatChunk *at) noexcept nogil
    void stage_ends(int n, const Py_ssize_t *y, Py_ssize_t stage, bint backward, const double *H,
                    const OrdstatChunk *whole, OrdstatChunk *at) noexcept nogil
    void logit_stage(int n, OrdstatChunk *at) noexcept nogil
    void stage_terms(int n, bint second, bint scaled, const OrdstatChunk *at, OrdstatChunk *whole) noexcept nogil
    void add_places(int n, int px, int pz, const Py_ssize_t *place, const OrdstatChunk *at, const double *rows,
                    double *sums) noexcept nogil

cdef extern from "level_rows.h":
    ctypedef double OrdstatColumn[ORDSTAT_ROOM]
    void level_scores(int n, int last, bint sums, OrdstatColumn *p) noexcept nogil
    void level_shares(int n, int last, const Py_ssize_t *y, OrdstatColumn *p, OrdstatChunk *at) noexcept nogil
    void sums_terms(int n, int last, bint second, const Py_ssize_t *y, const double *v, OrdstatColumn *p,
                    OrdstatColumn *above, OrdstatColumn *slopes, OrdstatColumn *sums,
                    OrdstatColumn *pairs) noexcept nogil
    void own_terms(int n, int last, bint second, const Py_ssize_t *y, const double *v, OrdstatColumn *p,
                   OrdstatColumn *others, OrdstatColumn *slopes, OrdstatColumn *sums,
                   OrdstatColumn *pairs) noexcept nogil
    void level_totals(int n, int last, bint second, const OrdstatColumn *slopes, const OrdstatColumn *sums,
                      OrdstatChunk *at) noexcept nogil

cdef enum:
    TILE = 32  # columns per call of BLAS
    FIRST = 4  # sums of a threshold only, before the sums with columns
    CACHED = 32768  # numbers of columns in a chunk of rows whose scores alone are summed
    FEWEST = 8  # rows of such a chunk
    LOGIT = 1
    PROBIT = 2
    CLOGLOG = 3
    LOGLOG = 4
    CAUCHIT = 5

#: Limits of the closed forms of each distribution: largest end of an interval, and smallest width.
cdef double[6] LARGEST = [0.0, 250.0, 6.0, 30.0, 30.0, 1e6]
cdef double[6] LEAST = [0.0, 1e-30, 0.1, 1e-3, 1e-3, 1e-3]

cdef struct Shape:
    # numbers of columns of x and z, in total, and padded widths
    int p, r, q, px, pz, width

cdef struct Room:
    # Buffers of a pass, for `chunk` rows at a time; free `all`.
    Py_ssize_t chunk
    double *all
    double *rows
    double *weighed
    double *H
    double *tau
    double *by
    double *score
    double *gram
    double *sums
    OrdstatLevels levels


cdef bint _open(Room *room, const Shape *of, Py_ssize_t places, bint second) noexcept nogil:
    """Allocate zeroed buffers; False if there is not enough memory. Those of second derivatives only if `second`."""
    cdef size_t width = <size_t>of.width, chunk = ORDSTAT_ROOM, size = <size_t>places
    cdef size_t weighed = chunk * width if second else 0, square = width * width if second else 0
    if not second and chunk * width > CACHED:
        chunk = max(<size_t>FEWEST, CACHED // width)
    room.chunk = <Py_ssize_t>chunk
    room.all = <double *>calloc(chunk * (width + 2) + weighed + 2 * width + square + size * (width + FIRST + 8),
                                sizeof(double))
    if room.all == NULL:
        return False
    room.rows = room.all
    room.weighed = room.rows + chunk * width
    room.H = room.weighed + weighed
    room.tau = room.H + chunk
    room.by = room.tau + chunk
    room.score = room.by + width
    room.gram = room.score + width
    room.sums = room.gram + square
    room.levels.high = room.sums + size * (width + FIRST)
    room.levels.low = room.levels.high + size
    room.levels.width = room.levels.low + size
    room.levels.has_u = room.levels.width + size
    room.levels.has_l = room.levels.has_u + size
    room.levels.exp_u = room.levels.has_l + size
    room.levels.exp_l = room.levels.exp_u + size
    room.levels.gap = room.levels.exp_l + size
    return True


cdef bint _set_levels(OrdstatLevels *levels, const double[:, ::1] theta, const double[:, ::1] step,
                      Py_ssize_t last) noexcept nogil:
    """The ends of each level of each pattern, level y of pattern g at g (last + 2) + y; a missing end is set to the other.

    Returns whether they are in the range of `logit_levels`.
    """
    cdef Py_ssize_t g, y, at, k
    cdef bint inside = True
    for g in range(theta.shape[0] // last):
        for y in range(last + 1):
            at, k = g * (last + 2) + y, g * last + y
            levels.high[at] = theta[k if y < last else k - 1, 0]
            levels.low[at] = theta[k - 1 if y > 0 else k, 0]
            levels.has_u[at], levels.has_l[at] = 1.0 if y < last else 0.0, 1.0 if y > 0 else 0.0
            inside = inside and fabs(levels.high[at]) <= LARGEST[LOGIT] and fabs(levels.low[at]) <= LARGEST[LOGIT]
            if 0 < y < last:
                levels.width[at] = step[k, 0]
                inside = inside and step[k, 0] >= LEAST[LOGIT]
                levels.gap[at] = 1.0 / expm1(step[k, 0])
            if y < last:
                levels.exp_u[at] = exp(-levels.high[at])
            if y > 0:
                levels.exp_l[at] = exp(levels.low[at])
    return inside


cdef inline double _dot(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(n):
        total += a[j] * b[j]
    return total


cdef inline void _add(double by, const double *what, Py_ssize_t n, double *into) noexcept nogil:
    """into += by * what."""
    cdef Py_ssize_t j
    for j in range(n):
        into[j] += by * what[j]


cdef void _project(const double *rows, int n, int pitch, int width, const double *by, double *out) noexcept nogil:
    """out += by times the first `width` columns of rows that are `pitch` apart."""
    cdef double one = 1.0
    cdef int step = 1
    cdef char trans = b'T'
    if width > 0:
        dgemv(&trans, &width, &n, &one, <double *>rows, &pitch, <double *>by, &step, &one, out, &step)


cdef void _add_score(int n, int pitch, int width, const double *by, const double *rows, double *score) noexcept nogil:
    """score += by' rows, for `width` columns of rows that are `pitch` apart."""
    cdef double one = 1.0
    cdef int step = 1, start, count
    cdef char plain = b'N'
    for start from 0 <= start < width by TILE:
        count = min(<int>TILE, width - start)
        dgemv(&plain, &count, &n, &one, <double *>rows + start, &pitch, <double *>by, &step, &one, score + start, &step)


cdef void _add_gram(int n, int pitch, int first, int height, int second, int width, const double *by,
                    const double *rows, double *weighed, double *gram) noexcept nogil:
    """gram += A' diag(by) B, A the columns of rows from `first`, B from `second`; the upper triangle if A = B.

    BLAS runs on one thread for products of this size, so that the sums are the same on any number of threads.
    """
    cdef double one = 1.0
    cdef char plain = b'N', turned = b'T'
    cdef int left, top, high, wide
    weigh_rows(n, pitch, width, by, rows + second, weighed)
    for top from 0 <= top < height by TILE:
        high = min(<int>TILE, height - top)
        for left from (top if first == second else 0) <= left < width by TILE:
            wide = min(<int>TILE, width - left)
            dgemm(&plain, &turned, &wide, &high, &n, &one, weighed + left, &pitch, <double *>rows + first + top, &pitch,
                  &one, gram + (first + top) * pitch + second + left, &pitch)


cdef void _own_ends(int rows, const Py_ssize_t *y, const double *w, Py_ssize_t last, Py_ssize_t m, const double *theta,
                    const double *step, const double *H, OrdstatChunk *at) noexcept nogil:
    """The scaled ends of rows with nominal columns w."""
    cdef int i
    cdef Py_ssize_t k
    cdef double s
    cdef const double *w_row
    for i in range(rows):
        w_row, s, k = w + i * m, at.s[i], y[i]
        at.has_u[i], at.has_l[i] = 1.0 if k < last else 0.0, 1.0 if k > 0 else 0.0
        at.d[i] = s * _dot(step + k * m, w_row, m) if 0 < k < last else 0.0
        if k < last:
            at.u[i] = s * (_dot(theta + k * m, w_row, m) - H[i])
        if k > 0:
            at.lo[i] = s * (_dot(theta + (k - 1) * m, w_row, m) - H[i])
        if k == 0:
            at.lo[i] = at.u[i]
        elif k == last:
            at.u[i] = at.lo[i]


cdef void _open_ends(int rows, const Py_ssize_t *open_end, OrdstatChunk *at) noexcept nogil:
    """Take the upper end (1) or the lower end (-1) from the level of a row: it is set to the other one."""
    cdef int i
    for i in range(rows):
        if open_end[i] > 0:
            at.has_u[i], at.u[i], at.d[i] = 0.0, at.lo[i], 0.0
        elif open_end[i] < 0:
            at.has_l[i], at.lo[i], at.d[i] = 0.0, at.u[i], 0.0


cdef void _add_nominal(int rows, const Py_ssize_t *y, const double *w, Py_ssize_t last, Py_ssize_t m,
                       const double *columns, const OrdstatChunk *at, const Shape *of, double *alpha, double *pairs,
                       Py_ssize_t places, double *cross, bint second) noexcept nogil:
    """All sums of thresholds with nominal columns w."""
    cdef int i, j, end
    cdef Py_ssize_t k, mm = m * m
    cdef const double *w_row
    cdef const double *x
    cdef double *into
    for i in range(rows):
        w_row, x = w + i * m, columns + i * of.width
        for end in range(2):
            if y[i] == (last if end == 0 else 0):
                continue
            k = y[i] - end
            _add(at.score[end][i], w_row, m, alpha + k * m)
            if not second:
                continue
            for j in range(m):
                _add(w_row[j] * at.curve[4 * end][i], w_row, m, pairs + k * mm + j * m)
                if end == 1 and y[i] < last:
                    _add(w_row[j] * at.curve[1][i], w_row, m, pairs + (places + k) * mm + j * m)
                into = cross + (k * m + j) * of.q
                _add(w_row[j] * at.curve[2 + 3 * end][i], x, of.p, into)
                _add(w_row[j] * at.curve[3 + 3 * end][i], x + of.px, of.r, into + of.p)


cdef void _hand_over_places(const Room *room, const Shape *of, Py_ssize_t patterns, Py_ssize_t last,
                            double[:, ::1] alpha, double[:, :, :, ::1] pairs, double[:, :, ::1] cross,
                            bint second) noexcept nogil:
    """Add the sums of thresholds: all rows of each pattern except the outer two."""
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
            if of.width > 0:
                _add(1.0, sums + FIRST, of.p, &cross[at, 0, 0])
                _add(1.0, sums + FIRST + of.px, of.r, &cross[at, 0, 0] + of.p)


cdef void _hand_over_columns(const Room *room, const Shape *of, double[::1] rest, double[:, ::1] gram,
                             bint second) noexcept nogil:
    """Add the sums of the columns; the information, if `second`, on both sides of the diagonal."""
    cdef int i, j, k
    cdef double *row
    for i in range(of.q):
        k = i if i < of.p else of.px + i - of.p
        rest[i] += room.score[k]
        if not second:
            continue
        row = room.gram + k * of.width
        for j in range(i, of.q):
            gram[i, j] += row[j if j < of.p else of.px + j - of.p]
    for i in range(of.q if second else 0):
        for j in range(i):
            gram[i, j] = gram[j, i]


cdef void _begin(Room *room, const Shape *of, const double[::1] by, OrdstatChunk *at) noexcept nogil:
    """Coefficients of the columns at their padded places; scales and weights 1."""
    cdef int i
    for i in range(of.p):
        room.by[i] = by[i]
    for i in range(of.r):
        room.by[of.px + i] = by[of.p + i]
    for i in range(ORDSTAT_ROOM):
        at.s[i] = at.v[i] = 1.0


cdef bint _read(Room *room, const Shape *of, int rows, Py_ssize_t start, const double[:, ::1] X, const double[:, ::1] Z,
                const double[::1] weights, const double[::1] offset, const double[::1] scale_offset,
                const double[::1] mean, const double[::1] inverse, bint scaled, double largest,
                OrdstatChunk *at) noexcept nogil:
    """The columns, weights, H and scales of a chunk; whether |tau| is at most `largest`."""
    cdef int i
    if offset is None:
        memset(room.H, 0, rows * sizeof(double))
    else:
        memcpy(room.H, &offset[start], rows * sizeof(double))
    if weights is not None:
        for i in range(rows):
            at.v[i] = weights[start + i]
    if of.p > 0:
        standard_rows(rows, of.p, of.width, &X[start, 0], &mean[0], &inverse[0], room.rows)
        _project(room.rows, rows, of.width, of.px, room.by, room.H)
    if not scaled:
        return True
    for i in range(rows):
        room.tau[i] = 0.0 if scale_offset is None else scale_offset[start + i]
    if of.r > 0:
        standard_rows(rows, of.r, of.width, &Z[start, 0], &mean[0] + of.p, &inverse[0] + of.p, room.rows + of.px)
        _project(room.rows + of.px, rows, of.width, of.pz, room.by + of.px, room.tau)
    interval_scales(rows, room.tau, at)
    return all_near(rows, largest, room.tau)


cdef void _intervals(int link, int rows, OrdstatChunk *at) noexcept nogil:
    """Log-probabilities and their derivatives from the ends of the rows; of the logit from its exponentials."""
    if link == PROBIT:
        probit_intervals(rows, at)
    elif link == CAUCHIT:
        cauchit_intervals(rows, at)
    elif link == CLOGLOG or link == LOGLOG:
        cloglog_intervals(rows, link == LOGLOG, at)
    else:
        logit_intervals(rows, at)


cdef void _add_columns(const Room *room, const Shape *of, int rows, OrdstatChunk *at, bint second) noexcept nogil:
    """Scores and information of the columns."""
    if of.width == 0:
        return
    _add_score(rows, of.width, of.px, at.score[2], room.rows, room.score)
    _add_score(rows, of.width, of.pz, at.score[3], room.rows + of.px, room.score + of.px)
    if second:
        _add_gram(rows, of.width, 0, of.px, 0, of.px, at.curve[7], room.rows, room.weighed, room.gram)
        _add_gram(rows, of.width, 0, of.px, of.px, of.pz, at.curve[8], room.rows, room.weighed, room.gram)
        _add_gram(rows, of.width, of.px, of.pz, of.px, of.pz, at.curve[9], room.rows, room.weighed, room.gram)


cdef void _set_intervals(int rows, const double[:, ::1] parts, Py_ssize_t start, OrdstatChunk *at) noexcept nogil:
    """Derivatives computed by the caller, in the order of `Interval`."""
    cdef int i
    cdef Py_ssize_t k
    for i in range(rows):
        k = start + i
        at.log_p[i], at.a[i], at.b[i], at.c[i] = parts[0, k], parts[1, k], parts[2, k], parts[3, k]
        at.W[i], at.r_u[i], at.r_l[i], at.h_ul[i] = parts[4, k], parts[5, k], parts[6, k], parts[7, k]


def interval_sums(const double[:, ::1] X, const double[:, ::1] Z, const double[:, ::1] w,
                  const Py_ssize_t[::1] pattern, const Py_ssize_t[::1] y, const Py_ssize_t[::1] open_end,
                  const double[::1] weights, const double[::1] offset, const double[::1] scale_offset, const double[::1] mean,
                  const double[::1] inverse, Py_ssize_t last, const double[:, ::1] theta, const double[:, ::1] step,
                  const double[::1] by, double farthest, double largest, int link, const double[:, ::1] parts,
                  double[:, ::1] alpha, double[:, :, :, ::1] pairs, double[:, :, ::1] cross, double[::1] rest,
                  double[:, ::1] gram, bint second, double[:, ::1] scores=None):
    """Add up score and information of rows of a cumulative model; returns the log-likelihood.

    H comes from the columns of X (n, p), as (x - mean) inverse, with their part of `by` and the offset; tau from Z (n, r),
    as z inverse, and scale_offset. theta (G last, m) are the coefficients of the `last` thresholds, for each pattern if
    `pattern` (n,) is not None, and step (G last, m) their differences from the threshold below, more exact than from
    theta; they multiply the nominal columns w (n, m), or 1 if w is None. Where `open_end` (n,) is 1 the answer is the level
    y or any above it, where it is -1 the level or any below it. The distribution is the logit (link 1), normal
    (2), cloglog (3), loglog (4) or Cauchy (5), or `parts` (8, n) has log p and its derivatives. Adds to alpha
    (G last, m), pairs (2, G last, m, m), the blocks (k, k) and (k, k - 1) at k - 1, cross (G last, m, q), rest (q,) and
    gram (q, q). Without `parts` returns NaN and incomplete sums if thresholds are out of order or too close, |tau| is
    above `largest`, exp(-tau) above `farthest`, or an end is too far out. Without `second` only scores are added. Scores
    of the rows, by the upper and lower threshold, H and tau, are written to `scores` (4, n).
    """
    cdef Py_ssize_t n = y.shape[0], m = theta.shape[1], start = 0, i, k, patterns = theta.shape[0] // last
    cdef int rows
    cdef Shape of
    of.p, of.r, of.q = <int>X.shape[1], <int>Z.shape[1] if Z is not None else 0, <int>rest.shape[0]
    of.px, of.pz = (of.p + 3) // 4 * 4, (of.r + 3) // 4 * 4
    of.width = of.px + of.pz
    cdef bint scaled = of.r > 0 or scale_offset is not None, has_parts = parts is not None, inside, shared = w is None
    cdef bint levels_only = link == LOGIT and shared and not scaled and not has_parts and open_end is None
    cdef double total = 0.0, done = 0.0, far = LARGEST[link], least = LEAST[link]
    cdef Room room
    require_lengths(
        X.shape[0] == n and (Z is None or Z.shape[0] == n) and (w is None or (w.shape[0] == n and w.shape[1] == m))
        and (pattern is None or pattern.shape[0] == n) and (weights is None or weights.shape[0] == n)
        and (open_end is None or open_end.shape[0] == n)
        and (offset is None or offset.shape[0] == n) and (scale_offset is None or scale_offset.shape[0] == n)
        and (parts is None or (parts.shape[0] == 8 and parts.shape[1] == n))
        and (scores is None or (scores.shape[0] >= 4 and scores.shape[1] == n))
        and mean.shape[0] == inverse.shape[0] and mean.shape[0] >= of.p + of.r and by.shape[0] >= of.p + of.r
        and step.shape[0] == theta.shape[0] and step.shape[1] == m,
        "interval_sums",
    )
    cdef Py_ssize_t of_pattern[ORDSTAT_ROOM]
    cdef const Py_ssize_t *place
    cdef OrdstatChunk *at = <OrdstatChunk *>calloc(1, sizeof(OrdstatChunk))
    if not _open(&room, &of, patterns * (last + 2), second) or at == NULL:
        free(at)
        free(room.all)
        raise MemoryError()
    try:
        with nogil:
            _begin(&room, &of, by, at)
            if shared and not _set_levels(&room.levels, theta, step, last) and levels_only:
                total = NAN
            while start < n and total == total:
                let_interrupt(&done, room.chunk * (of.width + 2.0) * (of.width + 20.0))
                rows = <int>min(room.chunk, n - start)
                inside = _read(&room, &of, rows, start, X, Z, weights, offset, scale_offset, mean, inverse, scaled,
                               largest, at)
                place = &y[start]
                if pattern is not None:
                    for i in range(rows):
                        of_pattern[i] = y[start + i] + pattern[start + i] * (last + 2)
                    place = of_pattern
                if levels_only:
                    inside = all_near(rows, far, room.H)
                    logit_levels(rows, place, room.H, &room.levels, at)
                else:
                    if shared:
                        interval_ends(rows, place, room.H, &room.levels, at)
                    else:
                        _own_ends(rows, &y[start], &w[start, 0], last, m, &theta[0, 0], &step[0, 0], room.H, at)
                    if open_end is not None:
                        _open_ends(rows, &open_end[start], at)
                    inside = inside and (has_parts or within(rows, far, least, farthest, at))
                if not inside:
                    total = NAN
                    break
                if has_parts:
                    _set_intervals(rows, parts, start, at)
                else:
                    if link == LOGIT and not levels_only:
                        logit_ends(rows, at)
                    _intervals(link, rows, at)
                interval_terms(rows, second, scaled, at)
                total += at.loglik
                if scores is not None:
                    for k in range(4 if scaled else 3):
                        for i in range(rows):
                            scores[k, start + i] = at.score[k][i]
                _add_columns(&room, &of, rows, at, second)
                if not shared:
                    _add_nominal(rows, &y[start], &w[start, 0], last, m, room.rows, at, &of, &alpha[0, 0],
                                 &pairs[0, 0, 0, 0], theta.shape[0], &cross[0, 0, 0] if of.q > 0 else NULL, second)
                elif second:
                    add_places(rows, of.px, of.pz, place, at, room.rows, room.sums)
                else:
                    for i in range(rows):
                        room.sums[place[i] * (of.width + FIRST)] += at.score[1][i]
                        room.sums[(place[i] + 1) * (of.width + FIRST)] += at.score[0][i]
                start += rows
            if shared:
                _hand_over_places(&room, &of, patterns, last, alpha, pairs, cross, second)
            _hand_over_columns(&room, &of, rest, gram, second)
    finally:
        free(at)
        free(room.all)
    return total


cdef void _add_stage(int rows, const double *w, Py_ssize_t m, const double *columns, const OrdstatChunk *whole,
                     const Shape *of, bint second, double *alpha, double *pairs, double *cross) noexcept nogil:
    """The sums of the threshold of a stage with the nominal columns w (rows, m) and the other columns."""
    cdef int i, k, wide = <int>m
    cdef double by[3][ORDSTAT_ROOM]
    _add_score(rows, wide, wide, whole.score[0], w, alpha)
    for k in range(wide if second else 0):
        for i in range(rows):
            by[0][i] = w[i * m + k] * whole.curve[0][i]
            by[1][i] = w[i * m + k] * whole.curve[2][i]
            by[2][i] = w[i * m + k] * whole.curve[3][i]
        _add_score(rows, wide, wide, by[0], w, pairs + k * m)
        _add_score(rows, of.width, of.p, by[1], columns, cross + k * of.q)
        _add_score(rows, of.width, of.r, by[2], columns + of.px, cross + k * of.q + of.p)


def stage_sums(const double[:, ::1] X, const double[:, ::1] Z, const double[:, ::1] w, const Py_ssize_t[::1] y,
               const double[::1] weights, const double[::1] offset, const double[::1] scale_offset,
               const double[::1] mean, const double[::1] inverse, const double[:, ::1] theta, const double[::1] by,
               double farthest, double largest, int link, bint backward, double[:, ::1] alpha,
               double[:, :, ::1] pairs, double[:, :, ::1] cross, double[::1] rest, double[:, ::1] gram, bint second):
    """Add up score and information of rows of a sequential model; returns the log-likelihood.

    Stage k of theta (stages, m) is a binary outcome, y > k or not, of the rows that reach it: y >= k, or `backward`
    y <= k + 1. The weights of a row's columns are added over its stages, so that it enters the sums once. Columns, limits
    and distributions are those of `interval_sums`. Adds to alpha (stages, m), pairs (stages, m, m), cross
    (stages, m, q), rest (q,) and gram (q, q). Returns NaN and incomplete sums beyond the limits.
    """
    cdef Py_ssize_t n = y.shape[0], m = theta.shape[1], start = 0, i, k
    cdef int rows
    cdef Shape of
    of.p, of.r, of.q = <int>X.shape[1], <int>Z.shape[1] if Z is not None else 0, <int>rest.shape[0]
    of.px, of.pz = (of.p + 3) // 4 * 4, (of.r + 3) // 4 * 4
    of.width = of.px + of.pz
    cdef bint scaled = of.r > 0 or scale_offset is not None, inside
    cdef double total = 0.0, done = 0.0
    cdef Room room
    require_lengths(
        X.shape[0] == n and (Z is None or Z.shape[0] == n) and (w is None or w.shape[0] == n)
        and m == (1 if w is None else w.shape[1]) and (weights is None or weights.shape[0] == n)
        and (offset is None or offset.shape[0] == n) and (scale_offset is None or scale_offset.shape[0] == n)
        and of.p + of.r == of.q == gram.shape[0] == gram.shape[1] == cross.shape[2]
        and mean.shape[0] == inverse.shape[0] and mean.shape[0] >= of.q and by.shape[0] >= of.q
        and alpha.shape[0] == pairs.shape[0] == cross.shape[0] == theta.shape[0]
        and alpha.shape[1] == pairs.shape[1] == pairs.shape[2] == cross.shape[1] == m,
        "stage_sums",
    )
    cdef double ones[ORDSTAT_ROOM]
    cdef const double *w_rows = ones
    cdef OrdstatChunk *at = <OrdstatChunk *>calloc(2, sizeof(OrdstatChunk))
    cdef OrdstatChunk *whole = at + 1
    if not _open(&room, &of, 0, second) or at == NULL:
        free(at)
        free(room.all)
        raise MemoryError()
    try:
        with nogil:
            _begin(&room, &of, by, whole)
            for i in range(ORDSTAT_ROOM):
                ones[i] = 1.0
            while start < n and total == total:
                let_interrupt(&done, room.chunk * (of.width + 2.0) * (of.width + 20.0 * theta.shape[0]))
                rows = <int>min(room.chunk, n - start)
                inside = _read(&room, &of, rows, start, X, Z, weights, offset, scale_offset, mean, inverse, scaled,
                               largest, whole)
                memset(whole.score, 0, sizeof(whole.score))
                memset(whole.curve, 0, sizeof(whole.curve))
                if w is not None:
                    w_rows = &w[start, 0]
                for k in range(theta.shape[0]):
                    for i in range(rows):
                        whole.u[i] = theta[k, 0] if w is None else _dot(&theta[k, 0], w_rows + i * m, m)
                    stage_ends(rows, &y[start], k, backward, room.H, whole, at)
                    if not (inside and within(rows, LARGEST[link], LEAST[link], farthest, at)):
                        total = NAN
                        break
                    if link == LOGIT:
                        logit_stage(rows, at)
                    else:
                        _intervals(link, rows, at)
                    stage_terms(rows, second, scaled, at, whole)
                    total += whole.loglik
                    _add_stage(rows, w_rows, m, room.rows, whole, &of, second, &alpha[k, 0], &pairs[k, 0, 0],
                               &cross[k, 0, 0] if of.q > 0 else NULL)
                _add_columns(&room, &of, rows, whole, second)
                start += rows
            _hand_over_columns(&room, &of, rest, gram, second)
    finally:
        free(at)
        free(room.all)
    return total


cdef void _add_products(int n, int count, const OrdstatColumn *a, int width, const double *b, bint by_rows, int pitch,
                        double *sums, int step) noexcept nogil:
    """sums += a' b, for `count` columns a and `width` columns b, which stand row by row or one after the other.

    Rows of b are `pitch` apart, those of the sums `step`. BLAS runs on one thread for products of this size.
    """
    cdef double one = 1.0
    cdef int room = ORDSTAT_ROOM, first, left, high, wide, lead = pitch if by_rows else room
    cdef char plain = b'N', turn = b'N' if by_rows else b'T'
    for first from 0 <= first < count by TILE:
        high = min(<int>TILE, count - first)
        for left from 0 <= left < width by TILE:
            wide = min(<int>TILE, width - left)
            dgemm(&turn, &plain, &wide, &high, &n, &one, <double *>b + <Py_ssize_t>left * (1 if by_rows else room), &lead,
                  <double *>a + <Py_ssize_t>first * room, &room, &one, sums + <Py_ssize_t>first * step + left, &step)


cdef void _add_pairs(int n, int count, const OrdstatColumn *pairs, int m, const OrdstatColumn *w,
                     OrdstatColumn *products, double *sums) noexcept nogil:
    """sums (count, m (m + 1) / 2) += pairs' times the products of two columns w (m, ROOM), some of them at a time."""
    cdef int width = m * (m + 1) // 2, i, j, row, done = 0, filled = 0
    for i in range(m):
        for j in range(i, m):
            for row in range(n):
                products[filled][row] = w[i][row] * w[j][row]
            filled += 1
            if filled == TILE or done + filled == width:
                _add_products(n, count, pairs, filled, &products[0][0], False, 0, sums + done, width)
                done += filled
                filled = 0


def level_sums(const double[:, ::1] X, const double[:, ::1] w, const Py_ssize_t[::1] y, const double[::1] weights,
               const double[::1] offset, const double[::1] mean, const double[::1] inverse, const double[:, ::1] theta,
               const double[::1] by, bint summed, double[:, ::1] alpha, double[:, ::1] pairs, double[:, :, ::1] cross,
               double[::1] rest, double[:, ::1] gram, bint second):
    """Add up score and information of rows whose levels have scores, p = softmax(s); returns the log-likelihood.

    With eta_k = w'theta_k - H, theta (T, m), the scores are s_k = -(eta_0 + ... + eta_{k-1}) if `summed`, else 0 and
    eta. Columns are those of `interval_sums`, on one scale. Adds to alpha (T, m), pairs (T (T + 1) / 2, m (m + 1) / 2),
    the pairs of thresholds k <= l with the pairs of columns i <= j, cross (T, m, q), rest (q,) and gram (q, q).
    """
    cdef Py_ssize_t n = y.shape[0], start = 0, i, k
    cdef int rows, j, last = <int>theta.shape[0], m = <int>theta.shape[1], count = last * (last + 1) // 2
    cdef Shape of
    of.p = of.q = <int>rest.shape[0]
    of.px = of.width = (of.p + 3) // 4 * 4
    of.r = of.pz = 0
    cdef double total = 0.0, done = 0.0
    cdef Room room
    require_lengths(
        X.shape[0] == n and X.shape[1] == of.p and (w is None or w.shape[0] == n) and m == (1 if w is None else w.shape[1])
        and (weights is None or weights.shape[0] == n) and (offset is None or offset.shape[0] == n)
        and of.p == gram.shape[0] == gram.shape[1] == cross.shape[2] == mean.shape[0] == inverse.shape[0] == by.shape[0]
        and alpha.shape[0] == cross.shape[0] == last and alpha.shape[1] == cross.shape[1] == m
        and pairs.shape[0] == count and pairs.shape[1] == m * (m + 1) // 2,
        "level_sums",
    )
    cdef Py_ssize_t size = 5 * <Py_ssize_t>last + 1 + count + m + TILE
    cdef OrdstatColumn *p = <OrdstatColumn *>calloc(size, sizeof(OrdstatColumn))
    cdef OrdstatChunk *at = <OrdstatChunk *>calloc(1, sizeof(OrdstatChunk))
    if not _open(&room, &of, 0, second) or p == NULL or at == NULL:
        free(p)
        free(at)
        free(room.all)
        raise MemoryError()
    cdef OrdstatColumn *others = p + last + 1
    cdef OrdstatColumn *slopes = others + last
    cdef OrdstatColumn *sums = slopes + last
    cdef OrdstatColumn *weighed = sums + last
    cdef OrdstatColumn *curves = weighed + last
    cdef OrdstatColumn *columns = curves + count
    cdef OrdstatColumn *products = columns + m
    try:
        with nogil:
            _begin(&room, &of, by, at)
            for i in range(ORDSTAT_ROOM):
                columns[0][i] = 1.0
            while start < n:
                let_interrupt(&done, room.chunk * (of.width + 2.0) * (of.width + 20.0 * last + count * m * m))
                rows = <int>min(room.chunk, n - start)
                _read(&room, &of, rows, start, X, None, weights, offset, None, mean, inverse, False, 0.0, at)
                for j in range(m if w is not None else 0):
                    for i in range(rows):
                        columns[j][i] = w[start + i, j]
                for k in range(last):
                    for i in range(rows):
                        p[k + 1][i] = -room.H[i]
                    for j in range(m):
                        _add(theta[k, j], columns[j], rows, p[k + 1])
                level_scores(rows, last, summed, p)
                level_shares(rows, last, &y[start], p, at)
                if summed:
                    sums_terms(rows, last, second, &y[start], at.v, p, others, slopes, sums, curves)
                else:
                    own_terms(rows, last, second, &y[start], at.v, p, others, slopes, sums, curves)
                level_totals(rows, last, second, slopes, sums, at)
                total += at.loglik
                _add_products(rows, last, slopes, m, columns[0], False, 0, &alpha[0, 0], m)
                _add_columns(&room, &of, rows, at, second)
                if second:
                    _add_pairs(rows, count, curves, m, columns, products, &pairs[0, 0])
                    for j in range(m if of.p > 0 else 0):
                        for k in range(last):
                            for i in range(rows):
                                weighed[k][i] = columns[j][i] * sums[k][i]
                        _add_products(rows, last, weighed, of.p, room.rows, True, of.width, &cross[0, j, 0], m * of.q)
                start += rows
            _hand_over_columns(&room, &of, rest, gram, second)
    finally:
        free(p)
        free(at)
        free(room.all)
    return total


def add_by(const Py_ssize_t[:] codes, const double[:, :] values, const double[:] weights, double[:, ::1] sums):
    """Add the rows of values (n, p), times their weights (n,) if not None, to the rows `codes` of `sums` (G, p)."""
    cdef Py_ssize_t n = values.shape[0], p = values.shape[1], i, j
    cdef double weight = 1.0
    cdef double *into
    require_lengths(
        codes.shape[0] == n and (weights is None or weights.shape[0] == n) and sums.shape[1] == p, "add_by"
    )
    if p == 0:
        return
    with nogil:
        for i in range(n):
            if weights is not None:
                weight = weights[i]
            into = &sums[codes[i], 0]
            for j in range(p):
                into[j] += weight * values[i, j]


def spreads(const double[:, ::1] X, const double[::1] weights, const double[::1] shift, double[::1] sums,
            double[::1] squares):
    """Add sum v (x - shift) to `sums` (p,) and sum v (x - shift)^2 to `squares` (p,); weights may be None."""
    cdef Py_ssize_t n = X.shape[0], i
    cdef int p = <int>X.shape[1], j
    cdef double v, t
    cdef bint weighted = weights is not None
    require_lengths(
        (not weighted or weights.shape[0] == n) and shift.shape[0] == sums.shape[0] == squares.shape[0] == p,
        "spreads",
    )
    if p == 0:
        return
    with nogil:
        for i in range(n):
            v = weights[i] if weighted else 1.0
            for j in range(p):
                t = X[i, j] - shift[j]
                sums[j] += v * t
                squares[j] += v * t * t


cdef enum:
    BLOCK = 16  # rows written at a time, so that they stay in the first-level cache


ctypedef fused Entry:
    double
    unsigned char


cdef inline double _entry(const Entry *source, Py_ssize_t step, Py_ssize_t i) noexcept nogil:
    """The element i steps (in bytes) after the first."""
    return <double>(<const Entry *>(<const char *>source + i * step))[0]


cdef double _copy(const Entry *source, Py_ssize_t step, Py_ssize_t rows, double *out, Py_ssize_t width) noexcept nogil:
    """Write a column with entries `width` apart; return its sum of squares, computed in four overlapping parts."""
    cdef double a, b, c, d, first = 0.0, second = 0.0, third = 0.0, fourth = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= rows:
        a = _entry(source, step, i)
        b = _entry(source, step, i + 1)
        c = _entry(source, step, i + 2)
        d = _entry(source, step, i + 3)
        out[i * width] = a
        out[(i + 1) * width] = b
        out[(i + 2) * width] = c
        out[(i + 3) * width] = d
        first += a * a
        second += b * b
        third += c * c
        fourth += d * d
        i += 4
    while i < rows:
        a = _entry(source, step, i)
        out[i * width] = a
        first += a * a
        i += 1
    return (first + second) + (third + fourth)


def gather(list columns, const Py_ssize_t[::1] places, double[:, ::1] matrix, double[::1] squares):
    """Write columns (n,) into columns `places` of `matrix` (n, D), and add their sums of squares to `squares` (D,).

    Columns are of doubles or of booleans.
    """
    cdef Py_ssize_t n = matrix.shape[0], width = matrix.shape[1], count = len(columns), block, start, rows, k
    cdef const double[:] column
    cdef const unsigned char[:] flags
    cdef const char *source
    cdef double *out
    require_lengths(places.shape[0] == count and squares.shape[0] == width, "gather")
    for k in range(count):
        require_lengths(len(columns[k]) == n, "gather")
    if n == 0 or count == 0:
        return
    cdef const char **sources = <const char **>malloc(count * sizeof(char *))
    cdef Py_ssize_t *steps = <Py_ssize_t *>malloc(count * sizeof(Py_ssize_t))
    cdef bint *doubles = <bint *>malloc(count * sizeof(bint))
    if sources == NULL or steps == NULL or doubles == NULL:
        free(sources)
        free(steps)
        free(doubles)
        raise MemoryError()
    for k in range(count):
        doubles[k] = columns[k].itemsize == sizeof(double)
        if doubles[k]:
            column = columns[k]
            sources[k], steps[k] = <const char *>&column[0], column.strides[0]
        else:
            flags = columns[k].view("uint8")
            sources[k], steps[k] = <const char *>&flags[0], flags.strides[0]
    with nogil:
        for block in range((n + BLOCK - 1) // BLOCK):
            start = block * BLOCK
            rows = min(<Py_ssize_t>BLOCK, n - start)
            for k in range(count):
                source, out = sources[k] + start * steps[k], &matrix[start, places[k]]
                if doubles[k]:
                    squares[places[k]] += _copy(<const double *>source, steps[k], rows, out, width)
                else:
                    squares[places[k]] += _copy(<const unsigned char *>source, steps[k], rows, out, width)
    free(sources)
    free(steps)
    free(doubles)
