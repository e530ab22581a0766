# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Weak learners of boosting: stumps, ranking stumps, perceptrons by random coordinate descent.

The readable twins are in `tests/twins.py`.
"""

from libc.math cimport fabs, fmax, INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from ordstat.compiled.signals cimport let_interrupt, require_lengths


def best_cut(const int[:, ::1] order, const unsigned char[:, ::1] distinct, const double[::1] u, double slack):
    """The cut that maximises |sum_n u_n sign(x_nd - t)| over all columns d and thresholds t.

    Parameters
    ----------
    order : (D, N) rows in the order of each column
    distinct : (D, N - 1)
        Whether the row after place i is larger than the row at it.
    u : (N,) desired sign times weight
    slack : float
        A later cut must be better than an earlier one by more than this.

    Returns
    -------
    value : float
        |sum_n u_n h(x_n)| of the best cut.
    column : int
        -1 if no cut is better than a constant.
    place : int
        Rows up to this place in the order of the column are below the cut.
    sign : float
        +1 or -1, the answer above the cut, or the constant answer.
    """
    cdef Py_ssize_t D = order.shape[0], N = order.shape[1]
    cdef Py_ssize_t d, i, column = -1, place = -1
    cdef double total = 0.0, done = 0.0, below, value, best, bar, sign
    require_lengths(
        distinct.shape[0] == D and distinct.shape[1] == max(N - 1, 0) and u.shape[0] == N, "best_cut"
    )
    with nogil:
        for i in range(N):
            total += u[i]
        best = fabs(total)
        bar = best + slack
        sign = 1.0 if total >= 0.0 else -1.0
        for d in range(D):
            let_interrupt(&done, 5 * N)
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


cdef inline void note(const double* G, double* rising, double* falling, double bonus, Py_ssize_t Q) noexcept nogil:
    """A cut is possible here: update the minima over places of the costs of the first and of the last k thresholds."""
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
    """The column and direction in which K-1 ordered cuts cost least, by dynamic programming.

    Parameters
    ----------
    order : (D, N) rows in the order of each column
    distinct : (D, N - 1)
        Whether the row after place i is larger than the row at it.
    bonus : (D, N + 1)
        Subtracted from the cost of a cut at each place; decides between equal costs.
    gains : (N, K-1) c[k] - c[k+1] of every row
    slack : float
        A later column must be better than an earlier one by more than this.

    Returns
    -------
    cost : float
        Cost of the best cuts, less bonus and less the cost of rank K for every row.
    column : int
    sign : float
        +1 if ranks rise with the column, -1 if they fall.
    """
    cdef Py_ssize_t D = order.shape[0], N = order.shape[1], Q = gains.shape[1]
    cdef Py_ssize_t d, i, k, column = 0
    cdef double best = INFINITY, sign = 1.0, total = 0.0, done = 0.0
    cdef const double* row
    require_lengths(
        distinct.shape[0] == bonus.shape[0] == D and distinct.shape[1] == max(N - 1, 0)
        and bonus.shape[1] == N + 1 and gains.shape[0] == N and Q > 0,
        "best_column",
    )
    cdef double* G = <double*> malloc(3 * Q * sizeof(double))
    if G == NULL:
        raise MemoryError("no memory for the thresholds of a stump")
    cdef double* rising = G + Q
    cdef double* falling = G + 2 * Q
    try:
        with nogil:
            for i in range(N):
                for k in range(Q):
                    total += gains[i, k]
            for d in range(D):
                let_interrupt(&done, 5 * N * Q)
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
    finally:
        free(G)
    return best, column, sign


cdef enum:
    COUNTS = 3 * 2048  # room for the counts of a sort
    FEW = 4096

# Rows whose answers change only beyond this step are left out.
cdef double FARTHEST = 1e30


cdef inline uint32_t sortable(float value) noexcept nogil:
    """Bits whose order as unsigned integers is that of the numbers."""
    cdef uint32_t bits
    memcpy(&bits, &value, 4)
    return bits ^ (<uint32_t> 0xFFFFFFFF if bits >> 31 else <uint32_t> 0x80000000)


cdef struct Break:
    double at  # the step beyond which the answer of the row changes
    Py_ssize_t row


cdef int by_step(const void* one, const void* other) noexcept nogil:
    cdef double a = (<const Break*> one).at, b = (<const Break*> other).at
    return (a > b) - (a < b)


cdef void sort_equal_keys(Break* breaks, const uint64_t* keys, Py_ssize_t n) noexcept nogil:
    """Order keys that are equal in single precision by double precision.

    If all rows share a large part of their score, their steps differ in the last digits only.
    """
    cdef Py_ssize_t first = 0, i
    cdef bint sorted_already = True
    for i in range(1, n + 1):
        if i < n and keys[i] >> 32 == keys[first] >> 32:
            sorted_already = sorted_already and breaks[i - 1].at <= breaks[i].at
            continue
        if not sorted_already:
            qsort(breaks + first, i - first, sizeof(Break), by_step)
        first = i
        sorted_already = True


cdef uint64_t* radix_sort(uint64_t* keys, uint64_t* spare, Py_ssize_t n, Py_ssize_t* counts) noexcept nogil:
    """Keys sorted by their upper half, few in four passes of 8 bits, many in three of 11; the result is in either buffer."""
    cdef Py_ssize_t i, total, count, buckets
    cdef int turn, turns = 4 if n < FEW else 3, bits = 8 if n < FEW else 11
    cdef uint64_t* swap
    buckets = 1 << bits
    memset(counts, 0, turns * buckets * sizeof(Py_ssize_t))
    for i in range(n):
        for turn in range(turns):
            counts[turn * buckets + ((keys[i] >> (32 + bits * turn)) & (buckets - 1))] += 1
    for turn in range(turns):
        total = 0
        for i in range(turn * buckets, (turn + 1) * buckets):
            count = counts[i]
            counts[i] = total
            total += count
        for i in range(n):
            count = turn * buckets + <Py_ssize_t> ((keys[i] >> (32 + bits * turn)) & (buckets - 1))
            spare[counts[count]] = keys[i]
            counts[count] += 1
        swap = keys
        keys = spare
        spare = swap
    return keys


def climb(const double[:, ::1] projections, const int[::1] moves, const double[::1] u, double slack,
          double[::1] scores, double[::1] steps):
    """Move a perceptron along one direction after another, each time to the largest sum_n u_n sign(s_n).

    Parameters
    ----------
    projections : (J, N) <direction_j, x_n>
    moves : (M,) direction of each move; -1 is the bias, where all projections are 1
    u : (N,) desired sign times weight
    slack : float
        Values closer than this are ties; the largest step wins, as in the authors' program.
    scores : (N,) s_n, updated in place
    steps : (M,) filled with the step of every move
    """
    cdef Py_ssize_t N = u.shape[0], M = moves.shape[0]
    cdef Py_ssize_t m, n, i, used
    cdef double d, a, value, best, step, done = 0.0
    cdef const double* along
    require_lengths(
        (projections.shape[1] == N or projections.shape[0] == 0) and scores.shape[0] == N and steps.shape[0] == M,
        "climb",
    )
    cdef uint64_t* keys = <uint64_t*> malloc((N + 1) * sizeof(uint64_t))
    cdef uint64_t* spare = <uint64_t*> malloc((N + 1) * sizeof(uint64_t))
    cdef Py_ssize_t* counts = <Py_ssize_t*> malloc(COUNTS * sizeof(Py_ssize_t))
    cdef double* ones = <double*> malloc((N + 1) * sizeof(double))
    cdef double* at = <double*> malloc((N + 1) * sizeof(double))
    cdef Break* breaks = <Break*> malloc((N + 1) * sizeof(Break))
    cdef uint64_t* ordered
    if keys == NULL or spare == NULL or counts == NULL or ones == NULL or at == NULL or breaks == NULL:
        free(keys)
        free(spare)
        free(counts)
        free(ones)
        free(at)
        free(breaks)
        raise MemoryError("no memory for the steps of a perceptron")
    try:
        with nogil:
            for n in range(N):
                ones[n] = 1.0
            for m in range(M):
                let_interrupt(&done, 50 * N)
                along = ones
                if moves[m] >= 0:
                    along = &projections[moves[m], 0]
                used = 0
                for n in range(N):
                    d = along[n]
                    if d == 0.0:
                        continue
                    a = -scores[n] / d
                    if not fabs(a) <= FARTHEST:
                        continue
                    at[n] = a + 0.0  # makes -0 and 0 one number
                    keys[used] = (<uint64_t> sortable(<float> at[n])) << 32 | <uint64_t> n
                    used += 1
                steps[m] = 0.0
                if used == 0:
                    continue
                ordered = radix_sort(keys, spare, used, counts)
                for i in range(used):
                    n = <Py_ssize_t> (ordered[i] & <uint64_t> 0xFFFFFFFF)
                    breaks[i].at = at[n]
                    breaks[i].row = n
                sort_equal_keys(breaks, ordered, used)
                value, best = 0.0, 0.0
                step = breaks[0].at - 1.0
                for i in range(used):
                    n = breaks[i].row
                    value += u[n] if along[n] > 0.0 else -u[n]
                    if value < best - slack:
                        continue
                    if i == used - 1:
                        step = breaks[i].at + 1.0
                    elif breaks[i].at < breaks[i + 1].at:
                        step = 0.5 * (breaks[i].at + breaks[i + 1].at)
                    else:
                        continue
                    best = fmax(best, value)
                steps[m] = step
                for n in range(N):
                    scores[n] += step * along[n]
    finally:
        free(keys)
        free(spare)
        free(counts)
        free(ones)
        free(at)
        free(breaks)
