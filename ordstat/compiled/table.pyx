# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Columns that lie apart, written side by side."""

from libc.stdlib cimport free, malloc

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
