# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over the rows of a likelihood model of any family: score and information from the terms of each row.

Every function adds into arrays given by the caller and has a plain NumPy twin in tests/twins.py.
"""

from libc.math cimport isinf
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


def interval_terms(const double[::1] a, const double[::1] b, const double[::1] c, const double[::1] W,
                   const double[::1] r_u, const double[::1] r_l, const double[::1] h_ul, const double[::1] s,
                   const double[::1] upper, const double[::1] lower, const double[::1] width, double[:, ::1] score,
                   double[:, :, ::1] curvature):
    """Terms of rows of the cumulative family from the derivatives of their intervals.

    Fills score (4, n), by theta_y, theta_{y-1}, H and tau, and curvature (4, 4, n), its negative derivatives; formulas in
    model/likelihood/cumulative.py. An infinite end adds nothing.
    """
    cdef Py_ssize_t n = a.shape[0], i, j, k
    cdef double u, l, d, e, hd, up, low, ss
    with nogil:
        for i in range(n):
            u = 0.0 if isinf(upper[i]) else upper[i]
            l = 0.0 if isinf(lower[i]) else lower[i]
            d = 0.0 if isinf(width[i]) else width[i]
            e = -b[i] * l if isinf(upper[i]) else (a[i] * u if isinf(lower[i]) else c[i] * u + b[i] * d)
            score[0, i] = s[i] * a[i]
            score[1, i] = -s[i] * b[i]
            score[2, i] = -s[i] * c[i]
            score[3, i] = -e
            ss = s[i] * s[i]
            hd = h_ul[i] * d
            up = r_u[i] * u
            low = r_l[i] * l
            curvature[0, 0, i] = -ss * (r_u[i] - h_ul[i])
            curvature[0, 1, i] = -ss * h_ul[i]
            curvature[0, 2, i] = ss * r_u[i]
            curvature[0, 3, i] = s[i] * (up - hd + a[i])
            curvature[1, 1, i] = -ss * (r_l[i] - h_ul[i])
            curvature[1, 2, i] = ss * r_l[i]
            curvature[1, 3, i] = s[i] * (low + hd - b[i])
            curvature[2, 2, i] = ss * W[i]
            curvature[2, 3, i] = -s[i] * (up + low + c[i])
            curvature[3, 3, i] = -(up * u + low * l - hd * d + e)
            for j in range(4):
                for k in range(j):
                    curvature[j, k, i] = curvature[k, j, i]
