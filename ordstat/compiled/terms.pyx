# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over the rows of a likelihood model of any family: score and information from the terms of each row.

Every function adds into arrays given by the caller and has a plain NumPy twin in tests/twins.py.
"""

from libc.stdlib cimport free, malloc


cdef inline void _add(double by, const double *what, Py_ssize_t n, double *into) noexcept nogil:
    """into += by * what."""
    cdef Py_ssize_t j
    for j in range(n):
        into[j] += by * what[j]


def accumulate_terms(const double[:, ::1] w, const double[:, ::1] columns, const Py_ssize_t[::1] ends,
                     const Py_ssize_t[:, ::1] places, const double[:, ::1] score, const double[:, :, ::1] curvature,
                     double[:, ::1] alpha, double[:, :, :, ::1] pairs, double[:, :, ::1] cross, double[::1] rest,
                     double[:, ::1] gram, bint local):
    """Add the terms of n rows.

    The predictors of row i are theta at places[:, i], each with the columns w[i], then groups of columns[i]: group g is
    columns[i, ends[g]:ends[g + 1]]. With score (Q, n) and curvature (Q, Q, n), case weights multiplied in, adds to alpha
    (K-1, m), pairs, cross (K-1, m, q), rest (q,) and the upper triangle of gram (q, q). pairs is (2, K-1, m, m) where
    `local`: the blocks (k, k), and (k, k - 1) at k - 1, whose lower place comes second; else (K-1, K-1, m, m), all pairs.
    """
    cdef Py_ssize_t n = w.shape[0], m = w.shape[1], q = columns.shape[1]
    cdef Py_ssize_t M = places.shape[0], groups = ends.shape[0] - 1
    cdef Py_ssize_t i, a, b, g, h, j, k, other
    cdef double by
    cdef double *scaled = <double *>malloc(<size_t>((groups + M) * q + 1) * sizeof(double))
    cdef double *own
    if scaled == NULL:
        raise MemoryError()
    with nogil:
        for i in range(n):
            for a in range(M):
                k = places[a, i]
                _add(score[a, i], &w[i, 0], m, &alpha[k, 0])
                for b in range(a, M):
                    other = places[b, i]
                    by = curvature[a, b, i]
                    if local and a != b and (k == other or by == 0.0):
                        continue
                    for j in range(m):
                        if not local:
                            _add(by * w[i, j], &w[i, 0], m, &pairs[k, other, j, 0])
                        elif a == b:
                            _add(by * w[i, j], &w[i, 0], m, &pairs[0, k, j, 0])
                        else:
                            _add(by * w[i, j], &w[i, 0], m, &pairs[1, other, j, 0])
                if q > 0:
                    own = scaled + a * q
                    for g in range(groups):
                        for j in range(ends[g], ends[g + 1]):
                            own[j] = curvature[a, M + g, i] * columns[i, j]
                    for j in range(m):
                        _add(w[i, j], own, q, &cross[k, j, 0])
            for g in range(groups):
                own = scaled + (M + g) * q
                for h in range(g, groups):
                    for j in range(ends[h], ends[h + 1]):
                        own[j] = curvature[M + g, M + h, i] * columns[i, j]
                for j in range(ends[g], ends[g + 1]):
                    rest[j] += score[M + g, i] * columns[i, j]
                    _add(columns[i, j], own + j, q - j, &gram[j, j])
        if not local:
            for k in range(pairs.shape[0]):
                for other in range(k):
                    for a in range(m):
                        for b in range(m):
                            pairs[k, other, a, b] = pairs[other, k, b, a]
    free(scaled)
