# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Passes over a part of the rows of a growing tree: slopes, histograms, and descent."""

from libc.math cimport fabs, log
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memset

from ordstat.compiled.boostsplit cimport BYTES, WIDTH, Growth, Part, holds
from ordstat.compiled.logit cimport FAR, TINY, Tails, log_p, tails

cdef extern from "boost_rows.h" nogil:
    void logit_block(int n, const double* x, const double* up, const double* low, double* gh, double* p) noexcept
    void spread_some(int m, const int* row, const int* place, const double* gh, int F, const uint8_t* const* codes,
                     double* hist, ptrdiff_t stride) noexcept
    void spread_all(int m, ptrdiff_t start, const double* gh, int F, const uint8_t* const* codes, double* hist,
                    ptrdiff_t stride) noexcept
    void add_rows(int m, const double* gh, double* total) noexcept

cdef enum:
    BLOCK = 512  # rows whose slopes are computed at a time
    AWAY = 0x8000  # flag of a row that the tree is not grown on
    NODE = 0x7FFF


cdef inline bint to_left(const Growth* t, int node, Py_ssize_t n) noexcept nogil:
    """Whether a row goes left at a split node."""
    cdef int d = t.column[node]
    cdef uint8_t code = t.bins[d * t.N + n]
    if t.plain:
        return code <= t.bin[node]
    if code == t.n_bins[d]:
        return t.gaps_left[node]
    if t.bin[node] < 0:
        return holds(t.sets + BYTES * (-1 - t.bin[node]), code)
    return code <= t.bin[node]


cdef inline Py_ssize_t begin(const Growth* t, int part) noexcept nogil:
    """The first row of a part."""
    return t.N * part // t.n_parts


cdef inline void slopes(const Growth* t, Part* part, int m) noexcept nogil:
    """Slopes and curvatures of m rows of a block, and their probabilities without the factor of the level."""
    cdef int i, k
    cdef Py_ssize_t n
    cdef bint near = t.logit.near
    cdef Tails q
    for i in range(m):
        n, k = part.row[i], t.y[part.row[i]]
        part.x[i], part.up[i], part.low[i] = t.H[n] - t.logit.centre, t.logit.odds[k + 1], t.logit.odds[k]
        near &= fabs(part.x[i]) < FAR
    if near:
        logit_block(m, part.x, part.up, part.low, part.gh, part.p)
        return
    for i in range(m):
        q = tails(&t.logit, t.y[part.row[i]], t.H[part.row[i]])
        part.gh[WIDTH * i], part.gh[WIDTH * i + 1] = q.not_a - q.b, q.a * q.not_a + q.b * q.not_b
        part.gh[WIDTH * i + 2], part.gh[WIDTH * i + 3] = 1.0, 0.0
        part.p[i] = q.a * q.not_b


cdef inline void weigh(const Growth* t, Part* part, int m) noexcept nogil:
    """Multiply the values of m rows by their weights."""
    cdef int i, j
    for i in range(m):
        for j in range(WIDTH - 1):
            part.gh[WIDTH * i + j] *= t.w[part.row[i]]


cdef inline void add_loss(const Growth* t, Part* part, int m) noexcept nogil:
    """Add the losses of the rows of a block, with one logarithm for many rows."""
    cdef int i, k
    cdef double p, w = 1.0, product = 1.0
    for i in range(m):
        k = t.y[part.row[i]]
        if t.counts != NULL:
            w = t.counts[part.row[i]]
        p = part.p[i] * t.logit.wide[k]
        if w == 1.0 and p > TINY:
            product *= p
            if product < TINY * TINY:
                part.loss -= log(product)
                product = 1.0
        elif w > 0.0:
            part.loss -= w * (log(p) if p > TINY else log_p(&t.logit, k, t.H[part.row[i]]))
    part.loss -= log(product)


cdef inline int first_rows(Growth* t, Part* part, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Slopes of all rows of a block, 0 for rows that the tree is not grown on; also adds the loss of all rows."""
    cdef int i, j, m = <int>(end - start)
    cdef double learned
    for i in range(m):
        part.row[i] = <int>start + i
    slopes(t, part, m)
    add_loss(t, part, m)
    if t.w != NULL:
        weigh(t, part, m)
    for i in range(m):
        learned = <double>(t.place[start + i] < AWAY)
        for j in range(WIDTH - 1):
            part.gh[WIDTH * i + j] *= learned
    add_rows(m, part.gh, part.total)
    return m


cdef inline int next_rows(Growth* t, Part* part, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Move the rows of a block one level down; collect rows of nodes that need histograms, with their slopes."""
    cdef Py_ssize_t n
    cdef int m = 0, i, place, node, fill
    for n in range(start, end):
        place = t.place[n]
        node = place & NODE
        if t.column[node] >= 0:
            node = t.child[node] + (not to_left(t, node, n))
            t.place[n] = <uint16_t>(node | (place & AWAY))
        fill = t.node[node].fill
        part.row[m], part.place[m] = <int>n, fill
        m += (fill >= 0) & (place < AWAY)
    for i in range(m):
        fill = part.place[i]
        part.place[i] = <int>((t.slot_of_fill[fill] if part.sums == NULL else fill) * t.size)
    slopes(t, part, m)
    if t.w != NULL:
        weigh(t, part, m)
    return m


cdef inline void fill(Growth* t, int number) noexcept nogil:
    """Histograms of a part of the rows, for all nodes that need them."""
    cdef Part* part = t.parts + number
    cdef double* sums = t.sums if part.sums == NULL else part.sums
    cdef Py_ssize_t start = begin(t, number), end = begin(t, number + 1), stop
    cdef int k, m
    for k in range(t.fills):
        memset(sums + (t.slot_of_fill[k] if part.sums == NULL else k) * t.size, 0, t.size * sizeof(double))
    while start < end:
        stop = min(start + BLOCK, end)
        if t.began:
            m = next_rows(t, part, start, stop)
            spread_some(m, part.row, part.place, part.gh, t.F, t.codes, sums, t.stride)
        else:
            m = first_rows(t, part, start, stop)
            spread_all(m, start, part.gh, t.F, t.codes, sums, t.stride)
        start = stop


cdef inline void put_together(Growth* t) noexcept nogil:
    """Add the histograms of the parts in order."""
    cdef int c, k
    cdef Py_ssize_t i
    cdef double* sums
    cdef const double* more
    for k in range(t.fills):
        sums = t.sums + t.slot_of_fill[k] * t.size
        for c in range(1, t.n_parts):
            more = t.parts[c].sums + k * t.size
            for i in range(t.size):
                sums[i] += more[i]


cdef inline void settle(Growth* t, int number) noexcept nogil:
    """Move a part of the rows to their leaves, and add the leaf values to the scores."""
    cdef Py_ssize_t n
    cdef int place, node
    for n in range(begin(t, number), begin(t, number + 1)):
        place = t.place[n]
        node = place & NODE
        # No row is more than one level behind.
        if t.column[node] >= 0:
            node = t.child[node] + (not to_left(t, node, n))
            t.place[n] = <uint16_t>(node | (place & AWAY))
        t.H[n] += t.value[node]
