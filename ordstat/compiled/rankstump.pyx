# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The best column and direction of a ranking stump; the readable twin is in `tests/twins.py`."""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc


cdef inline void note(const double* G, double* rising, double* falling, double bonus, Py_ssize_t Q) noexcept nogil:
    """Cuts may lie here: the running minima over places of the cost of the first k thresholds, and of the last k."""
    cdef Py_ssize_t k
    cdef double up = 0.0, down = 0.0, cost
    for k in range(Q):
        cost = G[k] - bonus + up
        if cost < rising[k]:
            rising[k] = cost
        up = rising[k]
        cost = down - G[Q - 1 - k] - bonus
        if cost < falling[Q - 1 - k]:
            falling[Q - 1 - k] = cost
        down = falling[Q - 1 - k]


def best_column(const int[:, ::1] order, const unsigned char[:, ::1] distinct, const double[:, ::1] bonus,
                const double[:, ::1] gains, double slack):
    """The column and direction whose K-1 ordered cuts cost least, by dynamic programming.

    Parameters
    ----------
    order : (D, N) rows in the order of each column
    distinct : (D, N - 1)
        Whether the row after place i is larger than the row at it.
    bonus : (D, N + 1)
        What a cut at each place is cheaper by, which decides between equals.
    gains : (N, K-1) c[k] - c[k+1] of every row
    slack : float
        By how much a later column has to be better than an earlier one.

    Returns
    -------
    cost : float
        Of the best, less bonus, above that of rank K for every row.
    column : int
    sign : float
        +1 where ranks rise along the column, -1 where they fall.
    """
    cdef Py_ssize_t D = order.shape[0], N = order.shape[1], Q = gains.shape[1]
    cdef Py_ssize_t d, i, k, column = 0
    cdef double best = INFINITY, sign = 1.0, total = 0.0
    cdef const double* row
    cdef double* G = <double*> malloc(3 * Q * sizeof(double))
    if G == NULL:
        raise MemoryError("no memory for the thresholds of a stump")
    cdef double* rising = G + Q
    cdef double* falling = G + 2 * Q
    with nogil:
        for i in range(N):
            for k in range(Q):
                total += gains[i, k]
        for d in range(D):
            for k in range(Q):
                G[k] = 0.0
                rising[k] = INFINITY
                falling[k] = INFINITY
            note(G, rising, falling, bonus[d, 0], Q)
            for i in range(N):
                row = &gains[order[d, i], 0]
                for k in range(Q):
                    G[k] += row[k]
                if i == N - 1 or distinct[d, i]:
                    note(G, rising, falling, bonus[d, i + 1], Q)
            if rising[Q - 1] < best - slack:
                best = rising[Q - 1]
                column, sign = d, 1.0
            if total + falling[0] < best - slack:
                best = total + falling[0]
                column, sign = d, -1.0
    free(G)
    return best, column, sign
