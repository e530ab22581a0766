# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Extremely randomised trees on the ranked probability score: growth and sums of shares.

The readable twins are in `tests/twins.py`.
"""

from libc.stdint cimport int16_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

from ordstat.compiled.signals cimport let_interrupt, require_lengths


# Scores that differ by less than this, a row, are equal but for rounding: the first stands.
cdef double _TIE = 1e-11


cdef struct Row:
    double weight
    int place
    int level


cdef struct Range:
    int start
    int end
    int node
    int side


cdef inline uint64_t next_number(uint64_t* state) noexcept nogil:
    """64 random bits by SplitMix64 [Steele, Lea & Flood 2014]."""
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline double uniform(uint64_t* state) noexcept nogil:
    """A number in [0, 1)."""
    return (next_number(state) >> 11) * (1.0 / 9007199254740992.0)


cdef inline double squares_above(const double* sums, Py_ssize_t K) noexcept nogil:
    """sum_k S_k^2 / W, S_k the weight above level k and W all weight; sums are the weights of the levels."""
    cdef double above = 0.0, total = 0.0
    cdef Py_ssize_t k
    for k in range(K - 1, 0, -1):
        above += sums[k]
        total += above * above
    return total / (above + sums[0])


cdef double try_cut(const float* column, const Row* rows, Py_ssize_t n, Py_ssize_t K, Py_ssize_t least,
                    uint64_t* state, float* values, double* left, double* right, bint* varies,
                    float* cut) noexcept nogil:
    """Cut n rows at a random value of a column: the sum of squares_above of both sides, or -1 if a side has fewer
    than `least` rows or the column is constant.
    """
    cdef float low, high, value
    cdef Py_ssize_t i, k, below = 0
    cdef double* side
    low = high = column[rows[0].place]
    for i in range(n):
        value = column[rows[i].place]
        values[i] = value
        low = value if value < low else low
        high = value if value > high else high
    varies[0] = low < high
    if not varies[0]:
        return -1.0
    value = <float> (low + uniform(state) * (<double> high - low))
    # rounding must leave a row on the right
    cut[0] = value if value < high else low
    for k in range(K):
        left[k] = right[k] = 0.0
    for i in range(n):
        side = left if values[i] <= cut[0] else right
        side[rows[i].level] += rows[i].weight
        below += values[i] <= cut[0]
    if below < least or n - below < least:
        return -1.0
    return squares_above(left, K) + squares_above(right, K)


cdef Py_ssize_t parted(const float* column, Row* rows, Py_ssize_t n, float cut) noexcept nogil:
    """Move the rows with values up to the cut before the others; return their number."""
    cdef Py_ssize_t i = 0, j = n - 1
    cdef Row swapped
    while True:
        while i <= j and column[rows[i].place] <= cut:
            i += 1
        while i <= j and column[rows[j].place] > cut:
            j -= 1
        if i > j:
            return i
        swapped = rows[i]
        rows[i] = rows[j]
        rows[j] = swapped


def grow_tree(const float[:, ::1] columns, const int[::1] y, const double[::1] w, Py_ssize_t K, Py_ssize_t min_leaf,
              Py_ssize_t drawn, uint64_t seed, int[::1] column, float[::1] cut, int[:, ::1] children,
              double[:, ::1] shares, double[::1] falls):
    """Grow an extremely randomised tree [Geurts et al. 2006] of the indicators [y > k].

    A node looks at columns in random order, until there were `drawn` of them and one is not constant. Each gives one
    random cut; the node takes the cut with the largest fall of the ranked probability score. Nodes of one level stay
    whole. A parent comes before its children, and all of its left side before its right side.

    Parameters
    ----------
    columns : (D, N)
    y : (N,) codes
    w : (N,) > 0
    K : int
        Number of levels.
    min_leaf : int
        Smallest number of rows in a leaf.
    drawn : int
    seed : int
    column, cut : (N - 1,) out
        Of nodes with a cut: rows go left where x <= cut.
    children : (N - 1, 2) out
        Nodes, or -1 minus the place of a leaf.
    shares : (N, K - 1) out
        Shares of weight above each level, in each leaf.
    falls : (D,) changed
        The falls of the summed score, added to the columns of their cuts.

    Returns
    -------
    cuts, leaves : int
    """
    cdef Py_ssize_t D = columns.shape[0], N = columns.shape[1], n, d, k, i, seen, half
    cdef int cuts = 0, leaves = 0, depth, best, here
    cdef double done = 0.0, score, best_score, slack, whole, above, pure
    cdef uint64_t state = seed
    cdef float tried, taken = 0.0
    cdef bint varies, any_varies
    cdef Range part
    require_lengths(
        y.shape[0] == w.shape[0] == N and D >= 1 and N >= 1 and K >= 2
        and column.shape[0] == cut.shape[0] == children.shape[0] and column.shape[0] >= N - 1
        and children.shape[1] == 2 and shares.shape[0] >= N and shares.shape[1] == K - 1 and falls.shape[0] == D,
        "grow_tree",
    )
    cdef Row* rows = <Row*> malloc(N * sizeof(Row))
    cdef float* values = <float*> malloc(N * sizeof(float))
    cdef Range* waiting = <Range*> malloc((N + 1) * sizeof(Range))
    cdef int* order = <int*> malloc(D * sizeof(int))
    cdef double* sums = <double*> malloc(3 * K * sizeof(double))
    try:
        if rows == NULL or values == NULL or waiting == NULL or order == NULL or sums == NULL:
            raise MemoryError("no memory for a tree")
        with nogil:
            for i in range(N):
                rows[i].weight, rows[i].place, rows[i].level = w[i], <int> i, y[i]
            for d in range(D):
                order[d] = <int> d
            waiting[0].start, waiting[0].end, waiting[0].node, waiting[0].side = 0, <int> N, -1, 0
            depth = 1
            while depth > 0:
                depth -= 1
                part = waiting[depth]
                n = part.end - part.start
                let_interrupt(&done, 5 * n * drawn)
                for k in range(K):
                    sums[k] = 0.0
                for i in range(part.start, part.end):
                    sums[rows[i].level] += rows[i].weight
                seen = 0
                whole = 0.0
                for k in range(K):
                    seen += sums[k] > 0.0
                    whole += sums[k]
                slack = _TIE * whole
                pure, above = 0.0, 0.0
                for k in range(K - 1, 0, -1):
                    above += sums[k]
                    pure += above
                best, best_score = -1, -1.0
                if seen > 1 and n >= 2 * min_leaf:
                    any_varies = False
                    for d in range(D):
                        # no cut is better than one whose sides have one level each
                        if (d >= drawn and any_varies) or best_score >= pure - slack:
                            break
                        i = d + <Py_ssize_t> (uniform(&state) * (D - d))
                        here = order[i]
                        order[i] = order[d]
                        order[d] = here
                        score = try_cut(&columns[here, 0], rows + part.start, n, K, min_leaf, &state, values,
                                        sums + K, sums + 2 * K, &varies, &tried)
                        any_varies |= varies
                        if score > best_score + slack:
                            best, best_score, taken = here, score, tried
                if best < 0:
                    here = -1 - leaves
                    above = 0.0
                    for k in range(K - 1, 0, -1):
                        above += sums[k]
                        shares[leaves, k - 1] = above / whole
                    leaves += 1
                else:
                    here = cuts
                    column[cuts], cut[cuts] = best, taken
                    falls[best] += best_score - squares_above(sums, K)
                    half = part.start + parted(&columns[best, 0], rows + part.start, n, taken)
                    waiting[depth].start, waiting[depth].end = <int> half, part.end
                    waiting[depth].node, waiting[depth].side = cuts, 1
                    waiting[depth + 1].start, waiting[depth + 1].end = part.start, <int> half
                    waiting[depth + 1].node, waiting[depth + 1].side = cuts, 0
                    depth += 2
                    cuts += 1
                if part.node >= 0:
                    children[part.node, part.side] = here
    finally:
        free(rows)
        free(values)
        free(waiting)
        free(order)
        free(sums)
    return cuts, leaves


ctypedef fused column_t:
    uint8_t
    int


ctypedef fused child_t:
    int16_t
    int


def add_shares(const float[:, ::1] columns, const int[::1] roots, const column_t[::1] column, const float[::1] cut,
               const child_t[:, ::1] children, const double[:, ::1] shares, double[:, ::1] totals):
    """Add the shares of the leaves of all trees to the totals of the rows, one tree after another.

    The rows of a node are parted by its cut: this reads one column and leaves nothing to guess, while a row that walks
    alone waits for each node.

    Parameters
    ----------
    columns : (D, N)
    roots : (T,) node where each tree starts, or -1 minus the place of the shares of a tree without cuts
    column, cut : (M,) of nodes with a cut
    children : (M, 2)
        Where rows with x <= cut, and others, go: a node, counted from the root of the tree, or -1 minus the place of
        shares.
    shares : (S, J)
    totals : (N, J) changed
    """
    cdef Py_ssize_t D = columns.shape[0], N = columns.shape[1], T = roots.shape[0], J = shares.shape[1], t, i, j
    cdef Py_ssize_t depth, kept, gone, at
    cdef double done = 0.0
    cdef bint beyond
    cdef int row
    cdef float value
    cdef const float* x
    cdef const double* share
    cdef Range part
    require_lengths(
        totals.shape[0] == N and totals.shape[1] == J and cut.shape[0] == children.shape[0] == column.shape[0]
        and children.shape[1] == 2,
        "add_shares",
    )
    if N == 0 or J == 0 or D == 0:
        return
    cdef int* rows = <int*> malloc(2 * N * sizeof(int))
    cdef int* moved = rows + N
    cdef Range* waiting = <Range*> malloc((N + 1) * sizeof(Range))
    try:
        if rows == NULL or waiting == NULL:
            raise MemoryError("no memory for the rows of a node")
        with nogil:
            for t in range(T):
                let_interrupt(&done, 50 * N)
                for i in range(N):
                    rows[i] = <int> i
                waiting[0].start, waiting[0].end, waiting[0].node = 0, <int> N, min(roots[t], 0)
                depth = 1
                while depth > 0:
                    depth -= 1
                    part = waiting[depth]
                    if part.node < 0:
                        share = &shares[-1 - part.node, 0]
                        for i in range(part.start, part.end):
                            for j in range(J):
                                totals[rows[i], j] += share[j]
                        continue
                    at = roots[t] + part.node
                    x, value = &columns[column[at], 0], cut[at]
                    kept, gone = part.start, 0
                    for i in range(part.start, part.end):
                        row = rows[i]
                        beyond = x[row] > value
                        rows[kept] = moved[gone] = row
                        kept += not beyond
                        gone += beyond
                    for i in range(gone):
                        rows[kept + i] = moved[i]
                    if gone > 0:
                        waiting[depth].start, waiting[depth].end = <int> kept, part.end
                        waiting[depth].node = children[at, 1]
                        depth += 1
                    if kept > part.start:
                        waiting[depth].start, waiting[depth].end = part.start, <int> kept
                        waiting[depth].node = children[at, 0]
                        depth += 1
    finally:
        free(rows)
        free(waiting)
