# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Columns that lie apart, written side by side."""

from libc.stdlib cimport free, malloc

cdef enum:
    BLOCK = 16  # rows written at a time: what is read and written stays in the first-level cache


cdef double _copy(const char *source, Py_ssize_t step, Py_ssize_t rows, double *out, Py_ssize_t width) noexcept nogil:
    """Write one column's entries `width` apart; the sum of their squares, in four parts so that they overlap."""
    cdef double a, b, c, d, first = 0.0, second = 0.0, third = 0.0, fourth = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= rows:
        a = (<const double *>(source + i * step))[0]
        b = (<const double *>(source + (i + 1) * step))[0]
        c = (<const double *>(source + (i + 2) * step))[0]
        d = (<const double *>(source + (i + 3) * step))[0]
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
        a = (<const double *>(source + i * step))[0]
        out[i * width] = a
        first += a * a
        i += 1
    return (first + second) + (third + fourth)


def gather(list columns, const Py_ssize_t[::1] places, double[:, ::1] matrix, double[::1] squares):
    """Write columns (n,) into columns `places` of `matrix` (n, D), and add their sums of squares to `squares` (D,)."""
    cdef Py_ssize_t n = matrix.shape[0], width = matrix.shape[1], count = len(columns), block, start, rows, k
    cdef const double[:] column
    if n == 0 or count == 0:
        return
    cdef const char **sources = <const char **>malloc(count * sizeof(char *))
    cdef Py_ssize_t *steps = <Py_ssize_t *>malloc(count * sizeof(Py_ssize_t))
    if sources == NULL or steps == NULL:
        free(sources)
        free(steps)
        raise MemoryError()
    for k in range(count):
        column = columns[k]
        sources[k] = <const char *>&column[0]
        steps[k] = column.strides[0]
    with nogil:
        for block in range((n + BLOCK - 1) // BLOCK):
            start = block * BLOCK
            rows = min(<Py_ssize_t>BLOCK, n - start)
            for k in range(count):
                squares[places[k]] += _copy(sources[k] + start * steps[k], steps[k], rows, &matrix[start, places[k]], width)
    free(sources)
    free(steps)
