# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over all pairs of rows that violate a margin, by one pass through the sorted scores.

The readable twin is `tests/twins.py`; `ordstat/solvers/pairwise.py` says what the sums are for.
"""


def below(const double[::1] scores, const Py_ssize_t[::1] y, const double[::1] weights, const double[:, ::1] X,
          double[:, ::1] sums, double[:, ::1] totals):
    """For every row i, sums over the rows j of a lower rank with s_j > s_i - 1.

    Parameters
    ----------
    scores : (N,) growing
    y : (N,) codes 0..K-1
    weights : (N,)
    X : (N, D)
        D = 0 where the sums of the columns are not needed.
    sums : (N, 3 + D)
        Filled with sum w_j, sum w_j s_j, sum w_j s_j^2, then sum w_j x_j.
    totals : (K, 3 + D)
        Zeros; used up as working space.
    """
    cdef Py_ssize_t N = scores.shape[0], K = totals.shape[0], D = X.shape[1], i, j, k, d
    cdef double v, s
    with nogil:
        j = N - 1
        # From the highest score down rows only ever enter: nothing is taken away again, and nothing cancels.
        for i in range(N - 1, -1, -1):
            while j >= 0 and scores[j] > scores[i] - 1.0:
                v = weights[j]
                s = scores[j]
                k = y[j]
                totals[k, 0] += v
                totals[k, 1] += v * s
                totals[k, 2] += v * s * s
                for d in range(D):
                    totals[k, 3 + d] += v * X[j, d]
                j -= 1
            for d in range(3 + D):
                sums[i, d] = 0.0
            for k in range(y[i]):
                for d in range(3 + D):
                    sums[i, d] += totals[k, d]
