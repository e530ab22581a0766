# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Fused passes over the rows of a cumulative link model without nominal or scale effects.

Rows are read in chunks that stay in cache: centre, project, row quantities, scale, BLAS rank-k update.
Every function adds into arrays given by the caller and has a plain NumPy twin in tests/twins.py.
The columns are used as x - shift, so that large column means cost no digits.
"""

from libc.math cimport erfc, exp, fabs, log, sqrt
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dgemv, dsyrk

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define ORDSTAT_RESTRICT __restrict
    #else
    #define ORDSTAT_RESTRICT __restrict__
    #endif
    /* One row: three weighted sums of x, and x scaled in place by the root of the row's weight. */
    static inline void add_row(int p, double *ORDSTAT_RESTRICT x, double c, double up, double low, double root,
                               double *ORDSTAT_RESTRICT score, double *ORDSTAT_RESTRICT upper,
                               double *ORDSTAT_RESTRICT lower) {
        for (int j = 0; j < p; j++) {
            double t = x[j];
            score[j] -= c * t;
            upper[j] += up * t;
            lower[j] += low * t;
            x[j] = root * t;
        }
    }
    static inline void subtract_row(int p, const double *ORDSTAT_RESTRICT x, const double *ORDSTAT_RESTRICT shift,
                                    double *ORDSTAT_RESTRICT out) {
        for (int j = 0; j < p; j++) out[j] = x[j] - shift[j];
    }
    """
    void add_row(int p, double *x, double c, double up, double low, double root,
                 double *score, double *upper, double *lower) noexcept nogil
    void subtract_row(int p, const double *x, const double *shift, double *out) noexcept nogil

cdef enum:
    BUFFER = 24576  # doubles in a chunk: within the second-level cache
    LONGEST = 2048  # rows in a chunk

cdef double LARGEST = 300.0  # |score|, |threshold| beyond which the exponentials could overflow
cdef double PROBIT_LARGEST = 6.0  # |end| beyond which differences of the normal cdf lose too much
cdef double ROOT_HALF = 0.70710678118654752440
cdef double PEAK = 0.39894228040143267794  # standard normal density at 0


cdef inline int _chunk_rows(int p) noexcept nogil:
    cdef int rows = BUFFER // (p if p > 0 else 1)
    if rows > LONGEST:
        return LONGEST
    return rows if rows > 64 else 64


cdef void _centre(const double *X, const double *shift, int rows, int p, double *out) noexcept nogil:
    cdef int i
    for i in range(rows):
        subtract_row(p, X + <Py_ssize_t>i * p, shift, out + <Py_ssize_t>i * p)


cdef void _project(double *rows_p, int rows, int p, const double *beta, double *eta) noexcept nogil:
    """eta += rows @ beta."""
    cdef double one = 1.0
    cdef int step = 1
    cdef char trans = b'T'
    if p > 0:
        dgemv(&trans, &p, &rows, &one, rows_p, &p, <double *>beta, &step, &one, eta, &step)


cdef void _add_gram(double *scaled, int rows, int p, double factor, double *gram) noexcept nogil:
    """gram (upper triangle in column order) += factor * scaled' scaled."""
    cdef double one = 1.0
    cdef char upper = b'U'
    cdef char trans = b'N'
    if p > 0 and rows > 0:
        dsyrk(&upper, &trans, &p, &rows, &factor, scaled, &p, &one, gram, &p)


cdef void _mirror(double *gram, int p) noexcept nogil:
    cdef int i, j
    for i in range(p):
        for j in range(i):
            gram[<Py_ssize_t>j * p + i] = gram[<Py_ssize_t>i * p + j]


def moments(const double[:, ::1] X, const double[::1] weights, const double[::1] shift, double[::1] sums,
            double[:, ::1] gram):
    """Add sum v (x - shift) to `sums` (p,) and sum v (x - shift)(x - shift)' to `gram` (p, p); weights may be None."""
    cdef Py_ssize_t n = X.shape[0], start, block
    cdef int p = <int>X.shape[1], chunk = _chunk_rows(<int>X.shape[1]), rows, i, j
    cdef double v, root
    cdef double *row
    cdef bint weighted = weights is not None
    if p == 0 or n == 0:
        return
    cdef double *buffer = <double *>malloc(<size_t>chunk * p * sizeof(double))
    if buffer == NULL:
        raise MemoryError()
    with nogil:
        for block in range((n + chunk - 1) // chunk):
            start = block * chunk
            rows = <int>min(<Py_ssize_t>chunk, n - start)
            _centre(&X[start, 0], &shift[0], rows, p, buffer)
            for i in range(rows):
                v = weights[start + i] if weighted else 1.0
                root = sqrt(v)
                row = buffer + <Py_ssize_t>i * p
                for j in range(p):
                    sums[j] += v * row[j]
                if weighted:
                    for j in range(p):
                        row[j] *= root
            _add_gram(buffer, rows, p, 1.0, &gram[0, 0])
        _mirror(&gram[0, 0], p)
    free(buffer)


def logit_pass(const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] weights, const double[::1] offset,
               const double[::1] shift, const double[::1] beta, const double[::1] theta, double[:, ::1] levels,
               double[::1] score, double[:, ::1] cross, double[:, ::1] gram):
    """One pass of the plain cumulative logit model; weights and offset may be None.

    With s = (x - shift)'beta + offset, u = theta_y - s, l = theta_{y-1} - s and F the logistic cdf, adds to
    levels (K, 4) the sums over y = k of v F(-u), v F(l), v f(u), v f(l); to score (p,) -v c x; to cross (K + 1, p)
    v f(u) x in row y + 1 and v f(l) x in row y; to gram (p, p) v (f(u) + f(l)) x x'. Returns
    sum v log((1 + exp(-u))(1 + exp(l))), or NaN where a score is too large for this form.
    """
    cdef Py_ssize_t n = X.shape[0], start, level
    cdef int p = <int>X.shape[1], chunk = _chunk_rows(<int>X.shape[1]), rows, i
    cdef int K = <int>theta.shape[0] + 1
    cdef double v, e, e_u, e_l, first, second, product, inverse, above, below, f_u, f_l, running = 1.0, total = 0.0
    cdef bint safe = True, weighted = weights is not None, shifted = offset is not None
    cdef double *buffer = <double *>malloc((<size_t>chunk * (p + 1) + 2 * K) * sizeof(double))
    if buffer == NULL:
        raise MemoryError()
    cdef double *eta = buffer + <size_t>chunk * p
    cdef double *of_upper = eta + chunk
    cdef double *of_lower = of_upper + K
    cdef const double *first_shift = &shift[0] if p > 0 else NULL
    cdef const double *first_beta = &beta[0] if p > 0 else NULL
    cdef double *first_score = &score[0] if p > 0 else NULL
    cdef double *first_cross = &cross[0, 0] if p > 0 else NULL
    with nogil:
        for i in range(K - 1):
            safe = safe and fabs(theta[i]) <= LARGEST
            of_upper[i] = exp(-theta[i])
            of_lower[i + 1] = exp(theta[i])
        of_upper[K - 1] = 0.0
        of_lower[0] = 0.0
        start = 0
        while start < n and safe:
            rows = <int>min(<Py_ssize_t>chunk, n - start)
            for i in range(rows):
                eta[i] = offset[start + i] if shifted else 0.0
            if p > 0:
                _centre(&X[start, 0], first_shift, rows, p, buffer)
                _project(buffer, rows, p, first_beta, eta)
            for i in range(rows):
                if not fabs(eta[i]) <= LARGEST:
                    safe = False
            if not safe:
                break
            for i in range(rows):
                level = y[start + i]
                e = exp(eta[i])
                e_u = of_upper[level] * e
                e_l = of_lower[level] / e
                first = 1.0 + e_u
                second = 1.0 + e_l
                product = first * second
                inverse = 1.0 / product
                above = e_u * second * inverse
                below = e_l * first * inverse
                f_u = above * second * inverse
                f_l = below * first * inverse
                if not weighted:
                    running *= product
                    if running > 1e40:
                        total += log(running)
                        running = 1.0
                else:
                    v = weights[start + i]
                    total += v * log(product)
                    above *= v
                    below *= v
                    f_u *= v
                    f_l *= v
                levels[level, 0] += above
                levels[level, 1] += below
                levels[level, 2] += f_u
                levels[level, 3] += f_l
                if p > 0:
                    add_row(p, buffer + <Py_ssize_t>i * p, above - below, f_u, f_l, sqrt(f_u + f_l), first_score,
                            first_cross + (level + 1) * p, first_cross + level * p)
            if p > 0:
                _add_gram(buffer, rows, p, 1.0, &gram[0, 0])
            start += rows
        if p > 0:
            _mirror(&gram[0, 0], p)
    free(buffer)
    return total + log(running) if safe else float("nan")


def project(const double[:, ::1] X, const double[::1] shift, const double[::1] beta, double[::1] eta):
    """Add (X - shift) @ beta to eta (n,)."""
    cdef Py_ssize_t n = X.shape[0], start, block
    cdef int p = <int>X.shape[1], chunk = _chunk_rows(<int>X.shape[1]), rows
    if p == 0 or n == 0:
        return
    cdef double *buffer = <double *>malloc(<size_t>chunk * p * sizeof(double))
    if buffer == NULL:
        raise MemoryError()
    with nogil:
        for block in range((n + chunk - 1) // chunk):
            start = block * chunk
            rows = <int>min(<Py_ssize_t>chunk, n - start)
            _centre(&X[start, 0], &shift[0], rows, p, buffer)
            _project(buffer, rows, p, &beta[0], &eta[start])
    free(buffer)


def accumulate(const double[:, ::1] X, const Py_ssize_t[::1] y, const double[::1] shift, const double[:, ::1] parts,
               double[:, ::1] levels, double[::1] score, double[:, ::1] cross, double[:, ::1] gram):
    """The sums of `logit_pass` for any link, from the row quantities.

    parts (8, n), case weights multiplied in: a, b, -h_uu, -h_ll, h_ul, c, r_u, r_l. Adds to levels (K, 5) the sums
    over y = k of the first five; to score -c x; to cross -r_u x in row y + 1 and -r_l x in row y; to gram
    -(r_u + r_l) x x', which may be negative for some rows.
    """
    cdef Py_ssize_t n = X.shape[0], start, block, at, level
    cdef int p = <int>X.shape[1], chunk = _chunk_rows(<int>X.shape[1]), rows, i, j, k, negative
    cdef double W, root
    cdef double *row
    cdef double *buffer = <double *>malloc(<size_t>chunk * p * 2 * sizeof(double) + 8)
    if buffer == NULL:
        raise MemoryError()
    cdef double *opposite = buffer + <size_t>chunk * p
    with nogil:
        for at in range(n):
            for k in range(5):
                levels[y[at], k] += parts[k, at]
        if p > 0:
            for block in range((n + chunk - 1) // chunk):
                start = block * chunk
                rows = <int>min(<Py_ssize_t>chunk, n - start)
                negative = 0
                _centre(&X[start, 0], &shift[0], rows, p, buffer)
                for i in range(rows):
                    at = start + i
                    level = y[at]
                    W = -(parts[6, at] + parts[7, at])
                    root = sqrt(fabs(W))
                    row = buffer + <Py_ssize_t>i * p
                    add_row(p, row, parts[5, at], -parts[6, at], -parts[7, at], root, &score[0], &cross[level + 1, 0],
                            &cross[level, 0])
                    if W < 0.0:
                        for j in range(p):
                            opposite[<Py_ssize_t>negative * p + j] = row[j]
                        negative += 1
                _add_gram(buffer, rows, p, 1.0, &gram[0, 0])
                _add_gram(opposite, negative, p, -2.0, &gram[0, 0])
            _mirror(&gram[0, 0], p)
    free(buffer)


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
    return total + log(running) if safe else float("nan")
