# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Random coordinate descent of a perceptron's weighted error; the readable twin is in `tests/twins.py`."""

from libc.math cimport fabs
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset


cdef enum:
    BUCKETS = 2048
    BITS = 11

# A row whose answer changes only beyond this step does not change.
cdef double FARTHEST = 1e30


cdef inline uint32_t sortable(float value) noexcept nogil:
    """Bits that order as unsigned integers the way the numbers do."""
    cdef uint32_t bits
    memcpy(&bits, &value, 4)
    return bits ^ (<uint32_t> 0xFFFFFFFF if bits >> 31 else <uint32_t> 0x80000000)


cdef inline double number(uint64_t packed) noexcept nogil:
    """The number behind a sortable key in the upper half."""
    cdef uint32_t bits = <uint32_t> (packed >> 32)
    cdef float value
    bits ^= <uint32_t> 0x80000000 if bits >> 31 else <uint32_t> 0xFFFFFFFF
    memcpy(&value, &bits, 4)
    return value


cdef uint64_t* radix_sort(uint64_t* keys, uint64_t* spare, Py_ssize_t n, Py_ssize_t* counts) noexcept nogil:
    """Keys sorted by their upper half, in one of the two buffers: three passes of 11 bits."""
    cdef Py_ssize_t i, total, count
    cdef int turn, shift
    cdef uint64_t* swap
    memset(counts, 0, 3 * BUCKETS * sizeof(Py_ssize_t))
    for i in range(n):
        counts[(keys[i] >> 32) & 2047] += 1
        counts[BUCKETS + ((keys[i] >> 43) & 2047)] += 1
        counts[2 * BUCKETS + (keys[i] >> 54)] += 1
    for turn in range(3):
        total = 0
        for i in range(BUCKETS):
            count = counts[turn * BUCKETS + i]
            counts[turn * BUCKETS + i] = total
            total += count
        shift = 32 + BITS * turn
        for i in range(n):
            count = turn * BUCKETS + <Py_ssize_t> ((keys[i] >> shift) & 2047)
            spare[counts[count]] = keys[i]
            counts[count] += 1
        swap = keys
        keys = spare
        spare = swap
    return keys


def climb(const double[:, ::1] projections, const int[::1] moves, const double[::1] u, double slack,
          double[::1] scores, double[::1] steps):
    """Move a perceptron along one direction after the other, each time to where sum_n u_n sign(s_n) is largest.

    Parameters
    ----------
    projections : (J, N) <direction_j, x_n>
    moves : (M,) which direction each move is along; -1 is the bias, on which every row projects to 1
    u : (N,) wanted sign times weight
    slack : float
        By how much a later step has to be better than an earlier one.
    scores : (N,) s_n, updated in place
    steps : (M,) filled with the step of every move
    """
    cdef Py_ssize_t N = u.shape[0], M = moves.shape[0]
    cdef Py_ssize_t m, n, i, used
    cdef double d, a, value, best, step
    cdef const double* along
    cdef uint64_t* keys = <uint64_t*> malloc((N + 1) * sizeof(uint64_t))
    cdef uint64_t* spare = <uint64_t*> malloc((N + 1) * sizeof(uint64_t))
    cdef Py_ssize_t* counts = <Py_ssize_t*> malloc(3 * BUCKETS * sizeof(Py_ssize_t))
    cdef double* ones = <double*> malloc((N + 1) * sizeof(double))
    cdef uint64_t* ordered
    if keys == NULL or spare == NULL or counts == NULL or ones == NULL:
        free(keys)
        free(spare)
        free(counts)
        free(ones)
        raise MemoryError("no memory for the steps of a perceptron")
    with nogil:
        for n in range(N):
            ones[n] = 1.0
        for m in range(M):
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
                # Adding 0 makes -0 and 0 one number.
                keys[used] = (<uint64_t> sortable(<float> (a + 0.0))) << 32 | <uint64_t> n
                used += 1
            steps[m] = 0.0
            if used == 0:
                continue
            ordered = radix_sort(keys, spare, used, counts)
            value, best = 0.0, 0.0
            step = number(ordered[0]) - 1.0
            for i in range(used):
                n = <Py_ssize_t> (ordered[i] & <uint64_t> 0xFFFFFFFF)
                value += u[n] if along[n] > 0.0 else -u[n]
                if value > best + slack:
                    if i == used - 1:
                        best = value
                        step = number(ordered[i]) + 1.0
                    elif ordered[i] >> 32 != ordered[i + 1] >> 32:
                        best = value
                        step = 0.5 * (number(ordered[i]) + number(ordered[i + 1]))
            steps[m] = step
            for n in range(N):
                scores[n] += step * along[n]
    free(keys)
    free(spare)
    free(counts)
    free(ones)
