# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A tree by gain ratio on presorted columns; the readable twin is in `tests/twins.py`."""

from libc.math cimport log2


cdef double _NONE = -1.0


cdef inline double _plogp(double a) noexcept nogil:
    return a * log2(a) if a > 0.0 else 0.0


cdef inline double _bits(double positive, double negative) noexcept nogil:
    """Weight times entropy."""
    return _plogp(positive + negative) - _plogp(positive) - _plogp(negative)


cdef double _best_cut(
    const double[::1] x, const int[::1] order, const unsigned char[::1] label, const double[::1] w,
    Py_ssize_t lo, Py_ssize_t hi, double positive, double negative, double least, double slack,
    Py_ssize_t* place, double* split_bits,
) noexcept nogil:
    """The largest gain times weight of a cut of one column in a node; -1 where no cut leaves `least` on both sides."""
    cdef double total = positive + negative, whole = _bits(positive, negative)
    cdef double below_p = 0.0, below_n = 0.0, below, gain, best = _NONE
    cdef Py_ssize_t i
    cdef int row
    for i in range(lo, hi - 1):
        row = order[i]
        if label[row]:
            below_p += w[row]
        else:
            below_n += w[row]
        if not x[order[i + 1]] > x[row]:
            continue
        below = below_p + below_n
        if below < least or total - below < least:
            continue
        gain = whole - _bits(below_p, below_n) - _bits(positive - below_p, negative - below_n)
        if best == _NONE or gain > best + slack:
            best = gain if gain > 0.0 else 0.0
            place[0] = i
            split_bits[0] = _bits(below, total - below)
    return best


def grow(
    const double[:, ::1] x, int[:, ::1] order, const unsigned char[::1] label, const double[::1] w, double min_cases,
    int[::1] column, double[::1] low, double[::1] high, int[::1] left, int[::1] right,
    int[::1] start, int[::1] stop, double[::1] positive, double[::1] negative,
    int[::1] buffer, unsigned char[::1] goes_left, double[::1] gains, double[::1] splits, long long[::1] places,
):
    """Grow until nodes are pure, small or without a gain; parents come before their children.

    Parameters
    ----------
    x : (D, N) columns
    order : (D, N) rows in the order of each column; on return each node's rows are order[0, start:stop]
    label : (N,) 1 or 0
    w : (N,) > 0
    min_cases : float
        Least weight on two sides of a cut; 5% of the node's weight where that is more, but not more than 25.
    column, left, right, start, stop : (2N - 1,) out
        column and children are -1 at a leaf.
    low, high : (2N - 1,) out
        The values of the node on either side of the cut.
    positive, negative : (2N - 1,) out, weights of the labels
    buffer, goes_left : (N,) work; gains, splits, places : (D,) work

    Returns
    -------
    int
        Number of nodes.
    """
    cdef Py_ssize_t D = order.shape[0], N = order.shape[1]
    cdef Py_ssize_t node = 0, made = 1, d, i, lo, hi, cut, kept, rest, best, valid
    cdef double p, n, total, least, slack, mean, ratio, best_ratio
    cdef int row
    start[0] = 0
    stop[0] = <int>N
    with nogil:
        while node < made:
            lo, hi = start[node], stop[node]
            p = 0.0
            n = 0.0
            for i in range(lo, hi):
                row = order[0, i]
                if label[row]:
                    p += w[row]
                else:
                    n += w[row]
            positive[node], negative[node] = p, n
            column[node], left[node], right[node] = -1, -1, -1
            total = p + n
            slack = 1e-11 * total
            best = -1
            if p > slack and n > slack and total >= 2.0 * min_cases - slack:
                least = 0.05 * total
                if least > 25.0:
                    least = 25.0
                if least < min_cases:
                    least = min_cases
                mean = 0.0
                valid = 0
                for d in range(D):
                    gains[d] = _best_cut(
                        x[d], order[d], label, w, lo, hi, p, n, least - slack, slack, <Py_ssize_t*>&places[d], &splits[d]
                    )
                    if gains[d] != _NONE:
                        mean += gains[d]
                        valid += 1
                best_ratio = 0.0
                for d in range(D):
                    if valid == 0 or gains[d] <= slack or gains[d] < mean / valid - slack:
                        continue
                    ratio = gains[d] / splits[d]
                    if ratio > best_ratio + 1e-11:
                        best_ratio = ratio
                        best = d
            if best >= 0:
                cut = places[best]
                column[node] = <int>best
                low[node] = x[best, order[best, cut]]
                high[node] = x[best, order[best, cut + 1]]
                for i in range(lo, hi):
                    goes_left[order[best, i]] = i <= cut
                for d in range(D):
                    kept = lo
                    rest = 0
                    for i in range(lo, hi):
                        row = order[d, i]
                        if goes_left[row]:
                            order[d, kept] = row
                            kept += 1
                        else:
                            buffer[rest] = row
                            rest += 1
                    for i in range(rest):
                        order[d, kept + i] = buffer[i]
                left[node], right[node] = <int>made, <int>made + 1
                start[made], stop[made] = <int>lo, <int>cut + 1
                start[made + 1], stop[made + 1] = <int>cut + 1, <int>hi
                made += 2
            node += 1
    return made
