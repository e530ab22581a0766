# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The pass over rows of a plain cumulative model: log-likelihood, score and information; moments of columns.

The readable twins are in `tests/twins.py`.
"""

from libc.math cimport erfc, exp, expm1, fabs, log, log1p, NAN, sqrt
from libc.stdlib cimport calloc, free, malloc
from scipy.linalg.cython_blas cimport dgemv, dsyrk


cdef extern from "rows.h":
    void centre_rows(int n, int p, int pitch, const double *x, const double *shift, double *out) noexcept nogil
    void logit_rows(int n, const Py_ssize_t *y, const double *eta, const double *of_upper, const double *of_lower,
                    double *above, double *below, double *f_u, double *f_l, double *product) noexcept nogil
    void multiply(int n, const double *by, double *into) noexcept nogil
    void roots(int n, const double *f_u, const double *f_l, double *root) noexcept nogil
    void add_rows(int n, int pitch, const Py_ssize_t *y, double *x, const double *c, const double *f_u,
                  const double *f_l, const double *root, double *score, double *cross) noexcept nogil
    double log_of_product(int n, const double *product) noexcept nogil

cdef enum:
    BUFFER = 12288  # doubles in a chunk: within the second-level cache
    LONGEST = 2048  # rows in a chunk

cdef double LARGEST = 300.0  # |score|, |threshold| beyond which the exponentials could overflow
cdef double PROBIT_LARGEST = 6.0  # |end| beyond which differences of the normal cdf lose too much
cdef double ROOT_HALF = 0.70710678118654752440
cdef double PEAK = 0.39894228040143267794  # standard normal density at 0


cdef inline int _pitch(int p) noexcept nogil:
    """Entries of a row in the buffer: the columns and zeros up to a multiple of 4."""
    return (p + 3) // 4 * 4


cdef inline int _chunk_rows(int p, Py_ssize_t n) noexcept nogil:
    """Rows of p columns to be handled at once, at most the n that there are: room for more takes time to make."""
    cdef Py_ssize_t rows = min(max(BUFFER // max(p, 1), 64), LONGEST)
    return <int>max(min(rows, n), 1)


cdef void _project(double *rows_p, int rows, int p, int pitch, const double *beta, double *eta) noexcept nogil:
    """eta += rows @ beta."""
    cdef double one = 1.0
    cdef int step = 1
    cdef char trans = b'T'
    if p > 0:
        dgemv(&trans, &p, &rows, &one, rows_p, &pitch, <double *>beta, &step, &one, eta, &step)


cdef void _add_weighted(double *rows_p, int rows, int p, int pitch, double factor, double *c, double *sums) noexcept nogil:
    """sums += factor rows' c."""
    cdef double one = 1.0
    cdef int step = 1
    cdef char trans = b'N'
    if p > 0:
        dgemv(&trans, &p, &rows, &factor, rows_p, &pitch, c, &step, &one, sums, &step)


cdef void _add_gram(double *scaled, int rows, int p, int pitch, double factor, double *gram) noexcept nogil:
    """gram (upper triangle in column order) += factor * scaled' scaled."""
    cdef double one = 1.0
    cdef char upper = b'U'
    cdef char trans = b'N'
    if p > 0 and rows > 0:
        dsyrk(&upper, &trans, &p, &rows, &factor, scaled, &pitch, &one, gram, &p)


cdef void _mirror(double *gram, int p) noexcept nogil:
    cdef int i, j
    for i in range(p):
        for j in range(i):
            gram[<Py_ssize_t>j * p + i] = gram[<Py_ssize_t>i * p + j]


cdef void _add_padded(const double *padded, int rows, int p, int pitch, double *out) noexcept nogil:
    """out (rows, p) += padded (rows, pitch)."""
    cdef Py_ssize_t i, j
    for i in range(rows):
        for j in range(p):
            out[i * p + j] += padded[i * pitch + j]


def moments(const double[:, ::1] X, const double[::1] weights, const double[::1] shift, double[::1] sums,
            double[:, ::1] gram):
    """Add sum v (x - shift) to `sums` (p,) and sum v (x - shift)(x - shift)' to `gram` (p, p); weights may be None."""
    cdef Py_ssize_t n = X.shape[0], start, block
    cdef int p = <int>X.shape[1], pitch = _pitch(<int>X.shape[1]), chunk = _chunk_rows(<int>X.shape[1], X.shape[0]), rows, i, j
    cdef double root
    cdef double *row
    cdef bint weighted = weights is not None
    if p == 0 or n == 0:
        return
    cdef double *x = <double *>calloc(<size_t>chunk * pitch + chunk, sizeof(double))
    if x == NULL:
        raise MemoryError()
    cdef double *v = x + <size_t>chunk * pitch
    with nogil:
        for block in range((n + chunk - 1) // chunk):
            start = block * chunk
            rows = <int>min(<Py_ssize_t>chunk, n - start)
            centre_rows(rows, p, pitch, &X[start, 0], &shift[0], x)
            for i in range(rows):
                v[i] = weights[start + i] if weighted else 1.0
            _add_weighted(x, rows, p, pitch, 1.0, v, &sums[0])
            if weighted:
                for i in range(rows):
                    row = x + <Py_ssize_t>i * pitch
                    root = sqrt(v[i])
                    for j in range(p):
                        row[j] *= root
            _add_gram(x, rows, p, pitch, 1.0, &gram[0, 0])
        _mirror(&gram[0, 0], p)
    free(x)


def spreads(const double[:, ::1] X, const double[::1] weights, const double[::1] shift, double[::1] sums,
            double[::1] squares):
    """Add sum v (x - shift) to `sums` (p,) and sum v (x - shift)^2 to `squares` (p,); weights may be None."""
    cdef Py_ssize_t n = X.shape[0], i
    cdef int p = <int>X.shape[1], j
    cdef double v, t
    cdef bint weighted = weights is not None
    if p == 0:
        return
    with nogil:
        for i in range(n):
            v = weights[i] if weighted else 1.0
            for j in range(p):
                t = X[i, j] - shift[j]
                sums[j] += v * t
                squares[j] += v * t * t


cdef struct Logit:
    # A chunk of rows and what the passes of the logit make of it.
    int p, pitch, K
    bint weighted, shifted
    double *x
    double *eta
    double *above
    double *below
    double *f_u
    double *f_l
    double *product
    double *root
    double *of_upper
    double *of_lower
    double *score
    double *cross


cdef bint _open(Logit *at, int p, int K, int chunk) noexcept nogil:
    """Buffers, all zero; `x` is the one to free. False where there is no memory."""
    cdef int pitch = _pitch(p)
    cdef size_t size = <size_t>chunk * (pitch + 7) + 2 * K + <size_t>(K + 2) * pitch
    at.p, at.pitch, at.K = p, pitch, K
    at.x = <double *>calloc(size, sizeof(double))
    if at.x == NULL:
        return False
    at.eta = at.x + <size_t>chunk * pitch
    at.above = at.eta + chunk
    at.below = at.above + chunk
    at.f_u = at.below + chunk
    at.f_l = at.f_u + chunk
    at.product = at.f_l + chunk
    at.root = at.product + chunk
    at.of_upper = at.root + chunk
    at.of_lower = at.of_upper + K
    at.score = at.of_lower + K
    at.cross = at.score + pitch
    return True


cdef bint _set_ends(Logit *at, const double[::1] theta) noexcept nogil:
    """Exponentials of the thresholds; False where one is too large."""
    cdef Py_ssize_t k
    for k in range(theta.shape[0]):
        if not fabs(theta[k]) <= LARGEST:
            return False
        at.of_upper[k] = exp(-theta[k])
        at.of_lower[k + 1] = exp(theta[k])
    return True


cdef double _logit_chunk(Logit *at, int rows, const double *X, const Py_ssize_t *y, const double *weights,
                         const double *offset, const double *shift, const double *beta) noexcept nogil:
    """Row quantities of a chunk, case weights multiplied in, and the sum of v log product; NaN for a large score."""
    cdef int i
    cdef double total = 0.0
    for i in range(rows):
        at.eta[i] = offset[i] if at.shifted else 0.0
    if at.p > 0:
        centre_rows(rows, at.p, at.pitch, X, shift, at.x)
        _project(at.x, rows, at.p, at.pitch, beta, at.eta)
    for i in range(rows):
        if not fabs(at.eta[i]) <= LARGEST:
            return NAN
    logit_rows(rows, y, at.eta, at.of_upper, at.of_lower, at.above, at.below, at.f_u, at.f_l, at.product)
    if not at.weighted:
        return log_of_product(rows, at.product)
    for i in range(rows):
        total += weights[i] * log(at.product[i])
    multiply(rows, weights, at.above)
    multiply(rows, weights, at.below)
    multiply(rows, weights, at.f_u)
    multiply(rows, weights, at.f_l)
    return total


cdef bint _begin(Logit *at, int p, int chunk, const double[::1] theta, const double[::1] weights,
                 const double[::1] offset) except -1:
    """Room for a pass over rows; whether the thresholds are in its range."""
    if not _open(at, p, <int>theta.shape[0] + 1, chunk):
        raise MemoryError()
    at.weighted, at.shifted = weights is not None, offset is not None
    return _set_ends(at, theta)


cdef double _logit_rows(Logit *at, int rows, const double[:, ::1] X, const Py_ssize_t[::1] y,
                        const double[::1] weights, const double[::1] offset, const double[::1] shift,
                        const double[::1] beta, Py_ssize_t start) noexcept nogil:
    """`_logit_chunk` of the rows from `start` on."""
    cdef bint columns = at.p > 0
    return _logit_chunk(at, rows, &X[start, 0] if columns else NULL, &y[start],
                        &weights[start] if at.weighted else NULL, &offset[start] if at.shifted else NULL,
                        &shift[0] if columns else NULL, &beta[0] if columns else NULL)


def logit_pass(const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weights, const double[::1] offset,
               const double[::1] shift, const double[::1] beta, const double[::1] theta, double[:, ::1] levels,
               double[::1] score, double[:, ::1] cross, double[:, ::1] gram):
    """One pass of the plain cumulative logit model; weights and offset may be None.

    With s = (x - shift)'beta + offset, u = theta_y - s, l = theta_{y-1} - s and F the logistic cdf, adds to
    levels (K, 4) the sums over y = k of v F(-u), v F(l), v f(u), v f(l); to score (p,) -v c x; to cross (K + 1, p)
    v f(u) x in row y + 1 and v f(l) x in row y; to gram (p, p) v (f(u) + f(l)) x x'. Returns
    sum v log((1 + exp(-u))(1 + exp(l))), or NaN where a score is too large for this form. Where cross and gram are
    None, the first two columns of levels and score alone are added up.
    """
    cdef Py_ssize_t n = X.shape[0], start = 0, level
    cdef int p = <int>X.shape[1], chunk = _chunk_rows(<int>X.shape[1], X.shape[0]), rows, i
    cdef double total = 0.0
    cdef bint second = gram is not None
    cdef Logit at
    if not _begin(&at, p, chunk, theta, weights, offset):
        total = NAN
    with nogil:
        while start < n and total == total:
            rows = <int>min(<Py_ssize_t>chunk, n - start)
            total += _logit_rows(&at, rows, X, y, weights, offset, shift, beta, start)
            if not total == total:
                break
            for i in range(rows):
                level = y[start + i]
                levels[level, 0] += at.above[i]
                levels[level, 1] += at.below[i]
                if second:
                    levels[level, 2] += at.f_u[i]
                    levels[level, 3] += at.f_l[i]
                at.above[i] -= at.below[i]
            if p > 0 and second:
                roots(rows, at.f_u, at.f_l, at.root)
                add_rows(rows, at.pitch, &y[start], at.x, at.above, at.f_u, at.f_l, at.root, at.score, at.cross)
                _add_gram(at.x, rows, p, at.pitch, 1.0, &gram[0, 0])
            elif p > 0:
                _add_weighted(at.x, rows, p, at.pitch, -1.0, at.above, &score[0])
            start += rows
        if p > 0 and second:
            _add_padded(at.score, 1, p, at.pitch, &score[0])
            _add_padded(at.cross, at.K + 1, p, at.pitch, &cross[0, 0])
            _mirror(&gram[0, 0], p)
    free(at.x)
    return total


def logit_widths(const double[::1] theta, const double[::1] counts, double[:, ::1] levels, double[::1] below):
    """What the widths d_k = theta_k - theta_{k-1} of the K-2 inner levels add to a pass, once a level.

    Of n_k rows of level k adds n_k / (e^d - 1) to the first two columns of levels (K, 4) and n_k e^d / (e^d - 1)^2 to
    the others, where it has them, and puts minus that into below (K-2,). Returns the sum of n_k log(1 - e^-d).
    """
    cdef Py_ssize_t k
    cdef double d, grown, g, curvature, total = 0.0
    for k in range(1, theta.shape[0]):
        d = theta[k] - theta[k - 1]
        grown = expm1(d)
        g, curvature = counts[k] / grown, counts[k] * (1.0 / grown) / -expm1(-d)
        total += counts[k] * (log(-expm1(-d)) if d < 0.6931471805599453 else log1p(-exp(-d)))
        levels[k, 0] += g
        levels[k, 1] += g
        below[k - 1] = -curvature
        if levels.shape[1] > 2:
            levels[k, 2] += curvature
            levels[k, 3] += curvature
    return total


cdef void _add_groups(Logit *at, int rows, const Py_ssize_t *codes, double *score) noexcept nogil:
    """score (G, p) -= above x, each row in its group."""
    cdef int i, j
    cdef double c
    cdef double *x
    cdef double *to
    for i in range(rows):
        c = at.above[i]
        x = at.x + <Py_ssize_t>i * at.pitch
        to = score + codes[i] * at.p
        for j in range(at.p):
            to[j] -= c * x[j]


def logit_groups(const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weights, const double[::1] offset,
                 const double[::1] shift, const double[::1] beta, const double[::1] theta,
                 const Py_ssize_t[::1] codes, double[:, :, ::1] levels, double[:, ::1] score):
    """`logit_pass` without curvatures by groups of rows, codes (n,) in 0..G-1.

    levels (G, K, 3), with the sums of v last, and score (G, p).
    """
    cdef Py_ssize_t n = X.shape[0], start = 0
    cdef int p = <int>X.shape[1], chunk = _chunk_rows(<int>X.shape[1], X.shape[0]), rows, i
    cdef double total = 0.0
    cdef double *cell
    cdef Logit at
    if not _begin(&at, p, chunk, theta, weights, offset):
        total = NAN
    with nogil:
        while start < n and total == total:
            rows = <int>min(<Py_ssize_t>chunk, n - start)
            total += _logit_rows(&at, rows, X, y, weights, offset, shift, beta, start)
            for i in range(rows):  # of sums that nobody takes, where the total is NaN
                cell = &levels[codes[start + i], y[start + i], 0]
                cell[0] += at.above[i]
                cell[1] += at.below[i]
                cell[2] += weights[start + i] if at.weighted else 1.0
                at.above[i] -= at.below[i]
            if p > 0:
                _add_groups(&at, rows, &codes[start], &score[0, 0])
            start += rows
    free(at.x)
    return total


def project(const double[:, ::1] X, const double[::1] shift, const double[::1] beta, double[::1] eta):
    """Add (X - shift) @ beta to eta (n,)."""
    cdef Py_ssize_t n = X.shape[0], start, block
    cdef int p = <int>X.shape[1], pitch = _pitch(<int>X.shape[1]), chunk = _chunk_rows(<int>X.shape[1], X.shape[0]), rows
    if p == 0 or n == 0:
        return
    cdef double *x = <double *>calloc(<size_t>chunk * pitch, sizeof(double))
    if x == NULL:
        raise MemoryError()
    with nogil:
        for block in range((n + chunk - 1) // chunk):
            start = block * chunk
            rows = <int>min(<Py_ssize_t>chunk, n - start)
            centre_rows(rows, p, pitch, &X[start, 0], &shift[0], x)
            _project(x, rows, p, pitch, &beta[0], &eta[start])
    free(x)


def accumulate(const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] shift, const double[:, ::1] parts,
               double[:, ::1] levels, double[::1] score, double[:, ::1] cross, double[:, ::1] gram):
    """The sums of `logit_pass` for any link, from the row quantities.

    parts (8, n), case weights multiplied in: a, b, -h_uu, -h_ll, h_ul, c, r_u, r_l. Adds to levels (K, 5) the sums
    over y = k of the first five; to score -c x; to cross -r_u x in row y + 1 and -r_l x in row y; to gram
    -(r_u + r_l) x x', which may be negative for some rows.
    """
    cdef Py_ssize_t n = X.shape[0], start, block, at
    cdef int p = <int>X.shape[1], pitch = _pitch(<int>X.shape[1]), chunk = _chunk_rows(<int>X.shape[1], X.shape[0])
    cdef int K = <int>levels.shape[0], rows, i, j, k, negative
    cdef size_t size = <size_t>chunk * (2 * pitch + 3) + <size_t>(K + 2) * pitch
    cdef double *x = <double *>calloc(size, sizeof(double))
    if x == NULL:
        raise MemoryError()
    cdef double *opposite = x + <size_t>chunk * pitch
    cdef double *up = opposite + <size_t>chunk * pitch
    cdef double *low = up + chunk
    cdef double *root = low + chunk
    cdef double *own_score = root + chunk
    cdef double *own_cross = own_score + pitch
    with nogil:
        for at in range(n):
            for k in range(5):
                levels[y[at], k] += parts[k, at]
        if p > 0:
            for block in range((n + chunk - 1) // chunk):
                start = block * chunk
                rows = <int>min(<Py_ssize_t>chunk, n - start)
                centre_rows(rows, p, pitch, &X[start, 0], &shift[0], x)
                for i in range(rows):
                    up[i] = -parts[6, start + i]
                    low[i] = -parts[7, start + i]
                roots(rows, up, low, root)
                add_rows(rows, pitch, &y[start], x, &parts[5, start], up, low, root, own_score, own_cross)
                negative = 0
                for i in range(rows):
                    if up[i] + low[i] < 0.0:
                        for j in range(p):
                            opposite[<Py_ssize_t>negative * pitch + j] = x[<Py_ssize_t>i * pitch + j]
                        negative += 1
                _add_gram(x, rows, p, pitch, 1.0, &gram[0, 0])
                _add_gram(opposite, negative, p, pitch, -2.0, &gram[0, 0])
            _add_padded(own_score, 1, p, pitch, &score[0])
            _add_padded(own_cross, K + 1, p, pitch, &cross[0, 0])
            _mirror(&gram[0, 0], p)
    free(x)


def probit_rows(const Py_ssize_t[::1] y, const double[::1] weights, const double[::1] eta, const double[::1] theta,
                double[:, ::1] parts):
    """Row quantities of the plain cumulative probit model, for `accumulate`; weights may be None.

    With u = theta_y - eta, l = theta_{y-1} - eta, fills parts (8, n): a, b, -h_uu, -h_ll, h_ul, c, r_u, r_l, times v,
    and returns sum v log(Phi(u) - Phi(l)); or NaN where an end is too far out for plain differences, which are taken
    in the smaller tail (thresholds must not be close to one another).
    """
    cdef Py_ssize_t n = y.shape[0], i, level
    cdef int K = <int>theta.shape[0] + 1
    cdef double u, low, p, a, b, c, v, running = 1.0, total = 0.0
    cdef bint has_upper, has_lower, safe = True, weighted = weights is not None
    with nogil:
        for i in range(n):
            level = y[i]
            has_upper = level < K - 1
            has_lower = level > 0
            u = theta[level] - eta[i] if has_upper else 0.0
            low = theta[level - 1] - eta[i] if has_lower else 0.0
            if not (fabs(u) <= PROBIT_LARGEST and fabs(low) <= PROBIT_LARGEST):
                safe = False
                break
            if not has_lower:
                p = 0.5 * erfc(-u * ROOT_HALF)
            elif not has_upper:
                p = 0.5 * erfc(low * ROOT_HALF)
            elif u + low <= 0.0:
                p = 0.5 * (erfc(-u * ROOT_HALF) - erfc(-low * ROOT_HALF))
            else:
                p = 0.5 * (erfc(low * ROOT_HALF) - erfc(u * ROOT_HALF))
            a = PEAK * exp(-0.5 * u * u) / p if has_upper else 0.0
            b = PEAK * exp(-0.5 * low * low) / p if has_lower else 0.0
            c = a - b
            v = 1.0
            if weighted:
                v = weights[i]
                total += v * log(p)
            else:
                running *= p
                if running < 1e-100:
                    total += log(running)
                    running = 1.0
            parts[0, i] = v * a
            parts[1, i] = v * b
            parts[2, i] = v * a * (u + a)
            parts[3, i] = v * b * (b - low)
            parts[4, i] = v * a * b
            parts[5, i] = v * c
            parts[6, i] = -v * a * (u + c)
            parts[7, i] = v * b * (low + c)
    return total + log(running) if safe else NAN


cdef enum:
    BLOCK = 16  # rows written at a time: what is read and written stays in the first-level cache


ctypedef fused Entry:
    double
    unsigned char


cdef inline double _entry(const Entry *source, Py_ssize_t step, Py_ssize_t i) noexcept nogil:
    """The one i steps, in bytes, from the first."""
    return <double>(<const Entry *>(<const char *>source + i * step))[0]


cdef double _copy(const Entry *source, Py_ssize_t step, Py_ssize_t rows, double *out, Py_ssize_t width) noexcept nogil:
    """Write one column's entries `width` apart; the sum of their squares, in four parts so that they overlap."""
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
