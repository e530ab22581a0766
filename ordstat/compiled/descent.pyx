# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The minimum of a quadratic function with an elastic net penalty; its twin is in `tests/twins_descent.py`."""

from libc.math cimport fabs, fmax, fmin, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from scipy.linalg.cython_blas cimport daxpy, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf

from ordstat.compiled.signals cimport let_interrupt, require_lengths

cdef enum:
    SWEEPS = 4  # of coordinate descent between two exact solves
    FEW = 16  # coefficients that join or leave a factor; where more do, it is computed anew
    VECTORS = 9

cdef struct Net:
    # the objective, and its numbers of coefficients and of groups
    Py_ssize_t n, groups
    const double *Q
    const double *bound
    const double *l1
    const double *l2
    const double *lower
    const double *upper
    const Py_ssize_t *starts

cdef struct Room:
    # Buffers of n numbers; free `all` and `free_ones`. The caller's are `kept`, how many coefficients have a Cholesky factor
    # and which, and `square`, the upper factor by columns.
    double *all
    double *move
    double *slope
    double *low
    double *high
    double *b
    double *r
    double *step
    double *cosine
    double *sine
    Py_ssize_t *free_ones
    Py_ssize_t *kept
    double *square


cdef double _length(const Net *of, const double *b, Py_ssize_t g) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(of.starts[g], of.starts[g + 1]):
        total += b[j] * b[j]
    return sqrt(total)


cdef void _add_move(const Net *of, Py_ssize_t j, double by, double *r) noexcept nogil:
    """What is left of the linear part after coefficient j has moved."""
    cdef int n = of.n, one = 1
    cdef double minus = -by
    daxpy(&n, &minus, <double *>of.Q + j * of.n, &one, r, &one)


cdef void _sweep(const Net *of, double *b, double *r, double *move) noexcept nogil:
    """Move each group to the minimum of a bound on the objective: a group of one to its exact minimum."""
    cdef Py_ssize_t g, j
    cdef double norm, shrunk, new
    for g in range(of.groups):
        if of.bound[g] + of.l2[g] <= 0.0:  # nothing depends on it
            continue
        norm = 0.0
        for j in range(of.starts[g], of.starts[g + 1]):
            norm += (r[j] + of.bound[g] * b[j]) ** 2
        norm = sqrt(norm)
        shrunk = 1.0 - of.l1[g] / norm if norm > of.l1[g] else 0.0
        shrunk /= of.bound[g] + of.l2[g]
        for j in range(of.starts[g], of.starts[g + 1]):
            new = fmin(fmax(shrunk * (r[j] + of.bound[g] * b[j]), of.lower[j]), of.upper[j])
            move[j] = new - b[j]
            b[j] = new
        for j in range(of.starts[g], of.starts[g + 1]):
            if move[j] != 0.0:
                _add_move(of, j, move[j], r)


cdef double _residual(const Net *of, const double *b, const double *r, double *pull) noexcept nogil:
    """The largest distance from the conditions of the minimum, by any coefficient."""
    cdef Py_ssize_t g, j
    cdef double norm, at_zero, left, largest = 0.0
    for g in range(of.groups):
        norm = _length(of, b, g)
        for j in range(of.starts[g], of.starts[g + 1]):
            pull[j] = r[j] - of.l2[g] * b[j]
        at_zero = 0.0
        if norm == 0.0:
            at_zero = _length(of, pull, g)
            at_zero = 1.0 - of.l1[g] / at_zero if at_zero > of.l1[g] else 0.0
        for j in range(of.starts[g], of.starts[g + 1]):
            left = at_zero * pull[j] if norm == 0.0 else pull[j] - of.l1[g] / norm * b[j]
            if b[j] >= of.upper[j]:
                left = fmin(left, 0.0)
            if b[j] <= of.lower[j]:
                left = fmax(left, 0.0)
            largest = fmax(largest, fabs(left))
    return largest


cdef double _penalty(const Net *of, const double *b) noexcept nogil:
    cdef Py_ssize_t g
    cdef double norm, total = 0.0
    for g in range(of.groups):
        norm = _length(of, b, g)
        if norm > 0.0:
            total += of.l1[g] * norm + 0.5 * of.l2[g] * norm * norm
    return total


cdef int _free(const Net *of, const double *b, const double *r, Room *room) noexcept nogil:
    """Number of the coefficients that are neither 0 nor at a bound: sets their places, and their slopes, else 0."""
    cdef Py_ssize_t g, j
    cdef int count = 0
    cdef double norm
    for g in range(of.groups):
        norm = _length(of, b, g)
        for j in range(of.starts[g], of.starts[g + 1]):
            room.slope[j] = 0.0
            if b[j] != 0.0 and room.low[j] < b[j] < room.high[j]:
                room.free_ones[count] = j
                room.slope[j] = r[j] - (of.l2[g] + of.l1[g] / norm) * b[j]
                count += 1
    return count


cdef void _set_square(const Net *of, const double *b, Room *room, int count) noexcept nogil:
    """The curvature of the free coefficients, the upper triangle by columns."""
    cdef Py_ssize_t g, j
    cdef int k = 0, i, first
    cdef double norm, bend
    cdef double *column
    for g in range(of.groups):
        first = k
        norm = _length(of, b, g)
        while k < count and room.free_ones[k] < of.starts[g + 1]:
            j = room.free_ones[k]
            column = room.square + k * of.n
            for i in range(k + 1):
                column[i] = of.Q[j * of.n + room.free_ones[i]]
            column[k] += of.l2[g]
            if of.starts[g + 1] - of.starts[g] > 1:
                bend = of.l1[g] / norm
                column[k] += bend
                for i in range(first, k + 1):
                    column[i] -= bend * b[j] * b[room.free_ones[i]] / (norm * norm)
            k += 1


cdef void _remove(const Net *of, Room *room, Py_ssize_t place) noexcept nogil:
    """Take the coefficient at a place out of the factor: rotations of rows restore its triangle."""
    cdef Py_ssize_t k, i
    cdef double here, below
    cdef double *column
    room.kept[0] -= 1
    for k in range(place, room.kept[0]):
        room.kept[1 + k] = room.kept[2 + k]
        column = room.square + k * of.n
        memcpy(column, column + of.n, (k + 2) * sizeof(double))
        for i in range(place, k):
            here, below = column[i], column[i + 1]
            column[i] = room.cosine[i] * here + room.sine[i] * below
            column[i + 1] = room.cosine[i] * below - room.sine[i] * here
        here, below = column[k], column[k + 1]
        column[k] = sqrt(here * here + below * below)
        room.cosine[k], room.sine[k] = here / column[k], below / column[k]


cdef bint _append(const Net *of, Room *room, Py_ssize_t j) noexcept nogil:
    """Add a coefficient to the factor; False if its curvature is not positive given that of the others."""
    cdef int count = room.kept[0], i, n = of.n, one = 1
    cdef char upper = b'U', turned = b'T', plain = b'N'
    cdef double *column = room.square + room.kept[0] * of.n
    cdef double left = of.Q[j * of.n + j] + of.l2[j]
    for i in range(count):
        column[i] = of.Q[j * of.n + room.kept[1 + i]]
    dtrsv(&upper, &turned, &plain, &count, room.square, &n, column, &one)
    for i in range(count):
        left -= column[i] * column[i]
    if left <= 0.0:
        return False
    column[count] = sqrt(left)
    room.kept[1 + count] = j
    room.kept[0] += 1
    return True


cdef bint _update(const Net *of, Room *room, int count) noexcept nogil:
    """Make the kept factor that of the free coefficients, if few of them join or leave it; False if it is not."""
    cdef Py_ssize_t i, k
    cdef int changes = 0
    cdef double *change = room.move  # 1 for a coefficient that joins, -1 for one that leaves
    for i in range(of.n):
        change[i] = 0.0
    for i in range(room.kept[0]):
        change[room.kept[1 + i]] -= 1.0
    for i in range(count):
        change[room.free_ones[i]] += 1.0
    for i in range(of.n):
        changes += change[i] != 0.0
    if changes > FEW:
        return False
    for k in range(room.kept[0] - 1, -1, -1):
        if change[room.kept[1 + k]] < 0.0:
            _remove(of, room, k)
    for i in range(count):
        if change[room.free_ones[i]] > 0.0 and not _append(of, room, room.free_ones[i]):
            return False
    return True


cdef bint _factor(const Net *of, const double *b, Room *room, int count) noexcept nogil:
    """Factor the curvature of the free coefficients, from the kept factor where no penalty bends; False where it is not
    positive definite. Sets their places in the order of the factor.
    """
    cdef int failed, n = of.n
    cdef char upper = b'U'
    if room.kept[0] > 0 and _update(of, room, count):
        memcpy(room.free_ones, room.kept + 1, count * sizeof(Py_ssize_t))
        return True
    _set_square(of, b, room, count)
    dpotrf(&upper, &count, room.square, &n, &failed)
    room.kept[0] = count if failed == 0 and of.groups == of.n else 0
    memcpy(room.kept + 1, room.free_ones, count * sizeof(Py_ssize_t))
    return failed == 0


cdef int _set_steps(const Net *of, const double *b, const double *r, Room *room) noexcept nogil:
    """Number of the coefficients that are neither 0 nor at a bound; 0 where their curvature is not positive definite. Sets
    their places, the step of each to their minimum, and the limits of the sign and the bounds of every coefficient.
    """
    cdef Py_ssize_t g, j
    cdef int i, count, n = of.n, one = 1
    cdef char upper = b'U', turned = b'T', plain = b'N'
    cdef bint corner
    for g in range(of.groups):
        corner = of.l1[g] > 0.0 and of.starts[g + 1] - of.starts[g] == 1
        for j in range(of.starts[g], of.starts[g + 1]):
            room.low[j] = 0.0 if corner and b[j] > 0.0 else of.lower[j]
            room.high[j] = 0.0 if corner and b[j] < 0.0 else of.upper[j]
    count = _free(of, b, r, room)
    if count == 0 or not _factor(of, b, room, count):
        return 0
    for i in range(count):
        room.step[i] = room.slope[room.free_ones[i]]
    dtrsv(&upper, &turned, &plain, &count, room.square, &n, room.step, &one)
    dtrsv(&upper, &plain, &plain, &count, room.square, &n, room.step, &one)
    return count


cdef void _move_each(const Net *of, double *b, double *r, const Room *room, int count) noexcept nogil:
    """Move each coefficient by its step, at most to its limit."""
    cdef Py_ssize_t j
    cdef int i
    cdef double new
    for i in range(count):
        j = room.free_ones[i]
        new = fmin(fmax(b[j] + room.step[i], room.low[j]), room.high[j])
        _add_move(of, j, new - b[j], r)
        b[j] = new


cdef void _move_together(const Net *of, double *b, double *r, const Room *room, int count) noexcept nogil:
    """Move all by the same share of their steps, up to where the first of them reaches its limit."""
    cdef Py_ssize_t j, stopped = -1
    cdef int i
    cdef double limit, share = 1.0, end = 0.0
    for i in range(count):
        j = room.free_ones[i]
        limit = (room.low[j] if room.step[i] < 0.0 else room.high[j]) - b[j]
        if fabs(room.step[i]) > fabs(limit) and limit / room.step[i] < share:
            share = limit / room.step[i]
            stopped = j
            end = limit + b[j]
    for i in range(count):
        j = room.free_ones[i]
        b[j] += share * room.step[i]
        _add_move(of, j, share * room.step[i], r)
    if stopped >= 0:
        b[stopped] = end


cdef bint _open(Room *room, Py_ssize_t n) noexcept nogil:
    """Allocate buffers; False if there is not enough memory."""
    room.all = <double *>malloc((VECTORS * n + 1) * sizeof(double))
    room.free_ones = <Py_ssize_t *>malloc((n + 1) * sizeof(Py_ssize_t))
    room.move = room.all
    room.slope = room.move + n
    room.low = room.slope + n
    room.high = room.low + n
    room.b = room.high + n
    room.r = room.b + n
    room.step = room.r + n
    room.cosine = room.step + n
    room.sine = room.cosine + n
    return room.all != NULL and room.free_ones != NULL


cdef double _rise(const Net *of, const double *b, const double *r, const Room *room) noexcept nogil:
    """How much higher the objective is at b than at the point that the room keeps."""
    cdef Py_ssize_t j
    cdef double change = _penalty(of, b) - _penalty(of, room.b)
    for j in range(of.n):
        change -= 0.5 * (b[j] - room.b[j]) * (r[j] + room.r[j])
    return change


cdef bint _undo_rise(const Net *of, double *b, double *r, const Room *room) noexcept nogil:
    """Go back to the point that the room keeps if the objective is higher now; whether it is."""
    if _rise(of, b, r, room) <= 0.0:
        return False
    memcpy(b, room.b, of.n * sizeof(double))
    memcpy(r, room.r, of.n * sizeof(double))
    return True


cdef double _solve(const Net *of, double *b, double *r, Room *room) noexcept nogil:
    """Move b towards the minimum over what is neither 0 nor at a bound, where that does not raise the objective; returns
    the residual.
    """
    cdef int count
    memcpy(room.b, b, of.n * sizeof(double))
    memcpy(room.r, r, of.n * sizeof(double))
    count = _set_steps(of, b, r, room)
    _move_each(of, b, r, room, count)
    if _undo_rise(of, b, r, room):
        _move_together(of, b, r, room, count)
        _undo_rise(of, b, r, room)
    return _residual(of, b, r, room.slope)


cdef bint _signs_stayed(const double *b, const double *before, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        if (b[j] > 0.0) != (before[j] > 0.0) or (b[j] < 0.0) != (before[j] < 0.0):
            return False
    return True


def minimise(const double[:, ::1] Q, const Py_ssize_t[::1] starts, const double[::1] bound, const double[::1] l1,
             const double[::1] l2, const double[::1] lower, const double[::1] upper, double[::1] b, double[::1] r,
             double tolerance, int rounds, double[:, ::1] factor, Py_ssize_t[::1] kept):
    """Minimise over b (A,) by sweeps of coordinate descent and, once signs stay, exact solves over what is not 0; with a
    factor an exact solve comes first.

    The objective is d'Qd / 2 - r'd, where d is the move of b, plus l1 ||b_g|| of each group and l2 b_j^2 / 2 of each
    coordinate, with lower <= b <= upper. Group g is at starts[g] to starts[g + 1] (G + 1,) and has l1 and l2 (G,);
    `bound` (G,) is the largest eigenvalue of its block of Q. Ends where the conditions of the minimum are off by at
    most `tolerance`, or after `rounds`. Writes b, and r - Qd over r.

    `factor` (A, A) and `kept` (A + 1,) hold the last exact solve, for the next call with the same Q and l2: the Cholesky
    factor of its curvature, lower by rows, the number of its coefficients, and their places in the order of the factor. The
    number is 0 where there is none. What joins or leaves the coefficients changes the factor [Golub and Van Loan 2013, 6.5].
    """
    cdef Py_ssize_t n = b.shape[0], groups = bound.shape[0], g, j
    cdef int i
    cdef double done = 0.0, left
    cdef Net of
    cdef Room room
    require_lengths(
        Q.shape[0] == Q.shape[1] == r.shape[0] == lower.shape[0] == upper.shape[0] == n
        and starts.shape[0] == groups + 1 and l1.shape[0] == l2.shape[0] == groups
        and starts[0] == 0 and starts[groups] == n
        and factor.shape[0] == factor.shape[1] == n and kept.shape[0] == n + 1,
        "minimise",
    )
    for g in range(groups):
        require_lengths(starts[g] <= starts[g + 1], "minimise")
    require_lengths(0 <= kept[0] <= n, "minimise")
    for j in range(kept[0]):
        require_lengths(0 <= kept[1 + j] < n, "minimise")
    if n == 0:
        return
    of.n, of.groups, of.Q, of.starts, of.bound = n, groups, &Q[0, 0], &starts[0], &bound[0]
    of.l1, of.l2, of.lower, of.upper = &l1[0], &l2[0], &lower[0], &upper[0]
    try:
        if not _open(&room, n):
            raise MemoryError()
        room.square, room.kept = &factor[0, 0], &kept[0]
        with nogil:
            left = tolerance + 1.0
            if room.kept[0] > 0:
                left = _solve(&of, &b[0], &r[0], &room)
            for i in range(rounds):
                if left <= tolerance:
                    break
                let_interrupt(&done, SWEEPS * <double>n * n)
                memcpy(room.b, &b[0], n * sizeof(double))
                for g in range(SWEEPS):
                    _sweep(&of, &b[0], &r[0], room.move)
                left = _residual(&of, &b[0], &r[0], room.slope)
                if left > tolerance and _signs_stayed(&b[0], room.b, n):
                    let_interrupt(&done, <double>n * n * n / 6.0)
                    left = _solve(&of, &b[0], &r[0], &room)
    finally:
        free(room.all)
        free(room.free_ones)
