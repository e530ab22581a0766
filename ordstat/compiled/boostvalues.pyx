# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Values of grown trees at rows, by codes and by numbers; twins in `tests/boosted/naive.py`."""

from libc.stdint cimport uint8_t


cdef inline bint holds(const uint8_t* codes, int code) noexcept nogil:
    """Whether a code is in a set of codes."""
    return (codes[code >> 3] >> (code & 7)) & 1


def add_binned(const uint8_t[:, ::1] bins, const int[::1] n_bins, const int[::1] column, const int[::1] bin,
               const int[::1] child, const uint8_t[::1] gaps_left, const uint8_t[:, ::1] sets,
               const double[::1] value, bint plain, double[::1] scores):
    """Add the values of one tree to the scores (N,) of all rows, by their codes (D, N); see `boost.grow`.

    `plain` says that there are neither categories nor rows without a value.
    """
    cdef Py_ssize_t n, N = scores.shape[0]
    cdef int node
    cdef uint8_t code
    cdef bint left
    with nogil:
        for n in range(N):
            node = 0
            if plain:
                while column[node] >= 0:
                    node = child[node] + (bins[column[node], n] > bin[node])
            else:
                while column[node] >= 0:
                    code = bins[column[node], n]
                    if code == n_bins[column[node]]:
                        left = gaps_left[node]
                    elif bin[node] < 0:
                        left = holds(&sets[-1 - bin[node], 0], code)
                    else:
                        left = code <= bin[node]
                    node = child[node] + (not left)
            scores[n] += value[node]


def add_trees(const double[:, ::1] X, const int[::1] roots, const int[::1] column, const double[::1] cut,
              const int[::1] child, const double[::1] value, double[::1] scores):
    """Add the values of trees to the scores (N,) of rows X (N, D), one tree after another.

    Parameters
    ----------
    X : (N, D)
    roots : (T,) first node of every tree
    column, cut, child, value : (M,) of all nodes
        A row goes left where x <= cut; column -1 is a leaf; the right child follows the left one.
    scores : (N,) changed
    """
    cdef Py_ssize_t n, t, start, end, N = scores.shape[0], T = roots.shape[0]
    cdef int node
    with nogil:
        # A block of rows stays in the cache while all trees go over it.
        for start in range(0, N, 64):
            end = start + 64 if start + 64 < N else N
            for t in range(T):
                for n in range(start, end):
                    node = roots[t]
                    while column[node] >= 0:
                        node = child[node] + (X[n, column[node]] > cut[node])
                    scores[n] += value[node]


def add_any_trees(const double[:, ::1] X, const int[::1] roots, const int[::1] column, const double[::1] cut,
                  const int[::1] set_of, const int[::1] child, const uint8_t[::1] gaps_left,
                  const uint8_t[:, ::1] sets, const double[::1] value, double[::1] scores):
    """The same of rows with NaN where a value is missing, and with codes of categories.

    set_of (M,) is the place among the sets (S, 32) of the codes that go left, and -1 of a cut between numbers; rows
    without a value go left where `gaps_left` (M,) is 1, and so do codes that are none.
    """
    cdef Py_ssize_t n, t, start, end, N = scores.shape[0], T = roots.shape[0]
    cdef int node
    cdef double x
    cdef bint left
    with nogil:
        for start in range(0, N, 64):
            end = start + 64 if start + 64 < N else N
            for t in range(T):
                for n in range(start, end):
                    node = roots[t]
                    while column[node] >= 0:
                        x = X[n, column[node]]
                        if set_of[node] < 0:
                            left = x <= cut[node] or (x != x and gaps_left[node])
                        elif 0.0 <= x < 256.0:
                            left = holds(&sets[set_of[node], 0], <int>x)
                        else:
                            left = gaps_left[node]
                        node = child[node] + (not left)
                    scores[n] += value[node]
