# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The best decision stump on presorted columns; the readable twin is in `tests/twins.py`."""

from libc.math cimport fabs


def best_cut(const int[:, ::1] order, const unsigned char[:, ::1] distinct, const double[::1] u, double slack):
    """The cut that maximises |sum_n u_n sign(x_nd - t)| over all columns d and thresholds t.

    Parameters
    ----------
    order : (D, N) rows in the order of each column
    distinct : (D, N - 1)
        Whether the row after place i is larger than the row at it.
    u : (N,) wanted sign times weight
    slack : float
        By how much a later cut has to be better than an earlier one.

    Returns
    -------
    value : float
        |sum_n u_n h(x_n)| of the best.
    column : int
        -1 where no cut is better than a constant.
    place : int
        The rows up to this place in the column's order are below the cut.
    sign : float
        +1 or -1, the answer above the cut, or of the constant.
    """
    cdef Py_ssize_t D = order.shape[0], N = order.shape[1]
    cdef Py_ssize_t d, i, column = -1, place = -1
    cdef double total = 0.0, below, value, best, bar, sign
    with nogil:
        for i in range(N):
            total += u[i]
        best = fabs(total)
        bar = best + slack
        sign = 1.0 if total >= 0.0 else -1.0
        for d in range(D):
            below = 0.0
            for i in range(N - 1):
                below += u[order[d, i]]
                if distinct[d, i]:
                    value = total - 2.0 * below
                    if fabs(value) > bar:
                        best = fabs(value)
                        bar = best + slack
                        column, place = d, i
                        sign = 1.0 if value > 0.0 else -1.0
    return best, column, place, sign
