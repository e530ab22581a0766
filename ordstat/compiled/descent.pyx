# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Coordinate descent on a quadratic function with an elastic net penalty; its twin is in `tests/twins_descent.py`."""

from libc.math cimport fmax, fmin, sqrt
from libc.stdlib cimport free, malloc

from ordstat.compiled.signals cimport let_interrupt, require_lengths


def descend(const double[:, ::1] Q, const Py_ssize_t[::1] starts, const double[::1] bound, const double[::1] l1,
            const double[::1] l2, const double[::1] lower, const double[::1] upper, double[::1] b, double[::1] r,
            int sweeps):
    """Sweep over the groups of coordinates of b (A,), each moved to the minimum of a bound on the objective.

    The objective is d'Qd / 2 - r'd, where d is the move of b, plus l1 ||b_g|| of each group and l2 b_j^2 / 2 of each
    coordinate, with lower <= b <= upper. Group g is at starts[g] to starts[g + 1] (G + 1,) and has l1 and l2 (G,);
    `bound` (G,) is the largest eigenvalue of its block of Q, so that a group of one is moved to its exact minimum.
    Writes b, and r - Qd over r.
    """
    cdef Py_ssize_t n = b.shape[0], groups = bound.shape[0], g, j, k
    cdef int sweep
    cdef double norm, shrunk, new, change, done = 0.0
    require_lengths(
        Q.shape[0] == Q.shape[1] == r.shape[0] == lower.shape[0] == upper.shape[0] == n
        and starts.shape[0] == groups + 1 and l1.shape[0] == l2.shape[0] == groups
        and starts[0] == 0 and starts[groups] == n,
        "descend",
    )
    for g in range(groups):
        require_lengths(starts[g] <= starts[g + 1], "descend")
    cdef double *move = <double *>malloc((n + 1) * sizeof(double))
    if move == NULL:
        raise MemoryError()
    try:
        with nogil:
            for sweep in range(sweeps):
                let_interrupt(&done, <double>n * n)
                for g in range(groups):
                    if bound[g] + l2[g] <= 0.0:  # nothing depends on it
                        continue
                    norm = 0.0
                    for j in range(starts[g], starts[g + 1]):
                        norm += (r[j] + bound[g] * b[j]) ** 2
                    norm = sqrt(norm)
                    shrunk = 1.0 - l1[g] / norm if norm > l1[g] else 0.0
                    shrunk /= bound[g] + l2[g]
                    for j in range(starts[g], starts[g + 1]):
                        new = fmin(fmax(shrunk * (r[j] + bound[g] * b[j]), lower[j]), upper[j])
                        move[j] = new - b[j]
                        b[j] = new
                    for j in range(starts[g], starts[g + 1]):
                        change = move[j]
                        if change != 0.0:
                            for k in range(n):
                                r[k] -= change * Q[j, k]
    finally:
        free(move)
