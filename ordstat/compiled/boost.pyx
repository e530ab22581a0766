# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Newton trees on histograms of uint8 bins; twins in `tests/boosted/naive.py`."""

from libc.math cimport INFINITY, fabs, log
from libc.stdint cimport int8_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef enum:
    WIDTH = 3  # sums of one bin: slopes, curvatures, weight
    BYTES = 32  # of a set of codes
    BLOCK = 2048  # rows whose slopes are put side by side at a time

cdef double FEW = 1e-9  # a share of the weight of a node that is no more than rounding


cdef struct Split:
    double gain
    int column
    int bin
    bint gaps_left
    double g
    double v
    double w
    uint8_t codes[BYTES]


cdef struct Node:
    int place
    double g
    double v
    double w
    double low
    double high
    uint64_t groups


cdef struct Growth:
    const uint8_t* bins
    Py_ssize_t N
    const int* columns
    const int* n_bins
    const uint8_t* gaps
    const uint8_t* kinds
    const int8_t* signs
    const uint64_t* groups
    Py_ssize_t F
    Py_ssize_t stride
    int* rows
    int* spare
    double* ordered
    const double* g
    const double* h
    const double* w
    bint unit
    double penalty
    double least
    double flattest
    double tie
    bint logarithmic
    double longest
    int* column
    int* bin
    int* child
    uint8_t* gaps_left
    uint8_t* sets
    double* value
    double* gain
    double* weight
    int nodes
    int n_sets


cdef inline double clipped(double x, double low, double high) noexcept nogil:
    return low if x < low else (high if x > high else x)


cdef inline double newton(double G, double V, const Growth* t, double low, double high) noexcept nogil:
    """The value between two ends at which G v + (V + penalty) v^2 / 2 is least."""
    return clipped(-G / (V + t.penalty), low, high)


cdef inline double fall(double G, double V, const Growth* t, double low, double high) noexcept nogil:
    """Twice the fall of that function; G^2 / (V + penalty) where neither end is met."""
    cdef double v = newton(G, V, t, low, high)
    return -v * (2.0 * G + (V + t.penalty) * v)


cdef inline double step(double G, double V, const Growth* t, double low, double high) noexcept nogil:
    """The value of a leaf: Newton's, or the line search of the exponential loss, whose sums are 2 V -+ G."""
    cdef double v, d = 2.0 * V + G + 0.5 * t.penalty, u = 2.0 * V - G + 0.5 * t.penalty
    if not t.logarithmic:
        v = -G / (V + t.penalty)
    elif d > 0.0 and u > 0.0:
        v = log(u / d)
    else:
        v = -t.longest if G > 0.0 else t.longest
    return clipped(clipped(v, -t.longest, t.longest), low, high)


cdef inline void count(double* at, double slope, double curvature) noexcept nogil:
    """Add a row of weight 1 to a bin."""
    # Both are read before either is written, so that the compiler may add them at once.
    cdef double first = at[0] + slope, second = at[1] + curvature
    at[0], at[1] = first, second
    at[2] += 1.0


cdef void fill_all(Growth* t, double* sums) noexcept nogil:
    """Histograms of all rows, each of weight 1 and in its place, two columns at a time."""
    cdef Py_ssize_t i, f
    cdef const uint8_t* codes
    cdef const uint8_t* others
    cdef double* own
    for f in range(0, t.F, 2):
        codes = t.bins + t.columns[f] * t.N
        own = sums + f * t.stride
        if f + 1 == t.F:
            for i in range(t.N):
                count(own + WIDTH * codes[i], t.g[i], t.h[i])
            return
        others = t.bins + t.columns[f + 1] * t.N
        for i in range(t.N):
            count(own + WIDTH * codes[i], t.g[i], t.h[i])
            count(own + t.stride + WIDTH * others[i], t.g[i], t.h[i])


cdef void fill(Growth* t, Py_ssize_t start, Py_ssize_t end, double* sums) noexcept nogil:
    """Histograms of the rows[start:end] over all columns."""
    cdef Py_ssize_t first = start
    memset(sums, 0, t.F * t.stride * sizeof(double))
    if t.unit and end - start == t.N:
        fill_all(t, sums)
        return
    while first < end:
        if t.unit:
            fill_some(t, t.rows + first, min(end - first, <Py_ssize_t>BLOCK), sums)
        else:
            fill_weighted(t, t.rows + first, min(end - first, <Py_ssize_t>BLOCK), sums)
        first += BLOCK


cdef void fill_some(Growth* t, const int* rows, Py_ssize_t M, double* sums) noexcept nogil:
    """Add M rows of weight 1, two columns at a time: a row and its slopes are read once for both."""
    cdef Py_ssize_t i, f
    cdef const uint8_t* codes
    cdef const uint8_t* others
    cdef double* gh = t.ordered
    cdef double* own
    cdef int row
    cdef double slope, curvature
    for i in range(M):
        gh[2 * i], gh[2 * i + 1] = t.g[rows[i]], t.h[rows[i]]
    for f in range(0, t.F - 1, 2):
        codes = t.bins + t.columns[f] * t.N
        others = t.bins + t.columns[f + 1] * t.N
        own = sums + f * t.stride
        for i in range(M):
            row = rows[i]
            slope, curvature = gh[2 * i], gh[2 * i + 1]
            count(own + WIDTH * codes[row], slope, curvature)
            count(own + t.stride + WIDTH * others[row], slope, curvature)
    if t.F % 2 == 1:
        codes = t.bins + t.columns[t.F - 1] * t.N
        own = sums + (t.F - 1) * t.stride
        for i in range(M):
            count(own + WIDTH * codes[rows[i]], gh[2 * i], gh[2 * i + 1])


cdef void fill_weighted(Growth* t, const int* rows, Py_ssize_t M, double* sums) noexcept nogil:
    """Add M rows with their weights."""
    cdef Py_ssize_t i, j, f
    cdef const uint8_t* codes
    cdef double* gh = t.ordered
    cdef double* own
    cdef double* at
    cdef double weight
    for i in range(M):
        weight = t.w[rows[i]]
        gh[3 * i], gh[3 * i + 1], gh[3 * i + 2] = weight * t.g[rows[i]], weight * t.h[rows[i]], weight
    for f in range(t.F):
        codes = t.bins + t.columns[f] * t.N
        own = sums + f * t.stride
        for i in range(M):
            at = own + WIDTH * codes[rows[i]]
            for j in range(WIDTH):
                at[j] += gh[WIDTH * i + j]


cdef inline bint holds(const uint8_t* codes, int code) noexcept nogil:
    """Whether a code is in a set of codes."""
    return (codes[code >> 3] >> (code & 7)) & 1


cdef struct Scan:
    double whole
    double slack
    Node node


cdef bint against(const Growth* t, const Scan* scan, double gl, double vl, int sign) noexcept nogil:
    """Whether the values of the children are not in the order that a column demands."""
    cdef double left = step(gl, vl, t, scan.node.low, scan.node.high)
    return sign * (step(scan.node.g - gl, scan.node.v - vl, t, scan.node.low, scan.node.high) - left) < 0.0


cdef void cut(const Growth* t, const Scan* scan, const double* own, int d, bint gaps_left, Split* best) noexcept nogil:
    """Try the cuts between the bins of a column, rows without a value on one side.

    Where these are on the right, all values together may be on the left, whatever the sign of the column.
    """
    cdef int b, last = t.n_bins[d] - 1, sign = t.signs[d]
    cdef const double* gap = own + WIDTH * t.n_bins[d]
    cdef double G = scan.node.g, V = scan.node.v, W = scan.node.w, low = scan.node.low, high = scan.node.high
    cdef double whole = scan.whole, enough = best.gain + scan.slack, gl = 0.0, vl = 0.0, wl = 0.0, gain
    cdef double alone = -1.0  # weight of the right side where it has no values
    if gaps_left:
        gl, vl, wl = gap[0], gap[1], gap[2]
    elif t.gaps[d] and gap[2] > FEW * W:
        last += 1
        alone = gap[2] + FEW * W
    for b in range(last):
        gl += own[WIDTH * b]
        vl += own[WIDTH * b + 1]
        wl += own[WIDTH * b + 2]
        if wl < t.least or vl < t.flattest:
            continue
        if W - wl < t.least or V - vl < t.flattest:
            break
        gain = fall(gl, vl, t, low, high) + fall(G - gl, V - vl, t, low, high) - whole
        if gain <= enough:
            continue
        if b < t.n_bins[d] - 1 and (W - wl <= alone or (sign != 0 and against(t, scan, gl, vl, sign))):
            continue
        best.gain, best.g, best.v, best.w = gain, gl, vl, wl
        best.column, best.bin, best.gaps_left = d, b, gaps_left
        enough = gain + scan.slack


cdef void sort_out(const Growth* t, const Scan* scan, const double* own, int d, Split* best) noexcept nogil:
    """Try the cuts of categories in the order of their Newton steps, downwards; no value is one more category."""
    cdef int order[256]
    cdef double ratio[256]
    cdef int b, i, j, found = 0
    cdef double at, gain, gl = 0.0, vl = 0.0, wl = 0.0
    for b in range(t.n_bins[d] + t.gaps[d]):
        if own[WIDTH * b + 2] <= FEW * scan.node.w:
            continue
        at = own[WIDTH * b] / (own[WIDTH * b + 1] + t.penalty + 1e-300)
        j = found
        while j > 0 and ratio[j - 1] > at:
            ratio[j], order[j] = ratio[j - 1], order[j - 1]
            j -= 1
        ratio[j], order[j] = at, b
        found += 1
    for i in range(found - 1):
        b = order[i]
        gl += own[WIDTH * b]
        vl += own[WIDTH * b + 1]
        wl += own[WIDTH * b + 2]
        if wl < t.least or vl < t.flattest:
            continue
        if scan.node.w - wl < t.least or scan.node.v - vl < t.flattest:
            break
        gain = (fall(gl, vl, t, scan.node.low, scan.node.high)
                + fall(scan.node.g - gl, scan.node.v - vl, t, scan.node.low, scan.node.high) - scan.whole)
        if gain > best.gain + scan.slack:
            best.gain, best.g, best.v, best.w = gain, gl, vl, wl
            best.column, best.bin = d, -1
            # Categories that the node has not seen go with most of its rows.
            memset(best.codes, 255 if 2.0 * wl >= scan.node.w else 0, BYTES)
            for j in range(found):
                b = order[j]
                if j <= i:
                    best.codes[b >> 3] |= <uint8_t>(1 << (b & 7))
                else:
                    best.codes[b >> 3] &= <uint8_t>(~(1 << (b & 7)))
            best.gaps_left = holds(best.codes, t.n_bins[d])


cdef Split search(Growth* t, const double* sums, Node node) noexcept nogil:
    """The split of a node with the largest gain; the first of those that are alike."""
    cdef Py_ssize_t f
    cdef int d
    cdef const double* own
    cdef Split best
    cdef Scan scan
    scan.node = node
    scan.whole = fall(node.g, node.v, t, node.low, node.high)
    scan.slack = t.tie * (fabs(scan.whole) + node.g * node.g / (node.v + t.penalty) + 1e-300)
    best.column, best.bin, best.gain, best.gaps_left = -1, 0, scan.slack, False
    best.g = best.v = best.w = 0.0
    for f in range(t.F):
        d = t.columns[f]
        own = sums + f * t.stride
        if not (t.groups[d] & node.groups):
            continue
        if t.kinds[d]:
            sort_out(t, &scan, own, d, &best)
            continue
        cut(t, &scan, own, d, False, &best)
        if t.gaps[d] and own[WIDTH * t.n_bins[d] + 2] > FEW * node.w:
            cut(t, &scan, own, d, True, &best)
        elif best.column == d:
            # Rows without a value, of which the node has seen none, go with most of its rows.
            best.gaps_left = 2.0 * best.w >= node.w
    return best


cdef inline bint to_left(const Growth* t, const Split* split, uint8_t code) noexcept nogil:
    """Whether a row of this code goes left."""
    if split.bin < 0:
        return holds(split.codes, code)
    return code <= split.bin or (split.gaps_left and code == t.n_bins[split.column])


cdef Py_ssize_t part(Growth* t, Py_ssize_t start, Py_ssize_t end, Split split) noexcept nogil:
    """Put the rows of the left child before those of the right one, either in their order; the first of these."""
    cdef const uint8_t* codes = t.bins + split.column * t.N
    cdef Py_ssize_t i, left = start, right = 0
    cdef int row
    cdef bint plain = split.bin >= 0 and not (split.gaps_left and t.gaps[split.column])
    for i in range(start, end):
        row = t.rows[i]
        if codes[row] <= split.bin if plain else to_left(t, &split, codes[row]):
            t.rows[left] = row
            left += 1
        else:
            t.spare[right] = row
            right += 1
    for i in range(right):
        t.rows[left + i] = t.spare[i]
    return left


cdef void write(Growth* t, int place, const Split* split) noexcept nogil:
    """Put a split where the tree has the node."""
    t.column[place], t.gain[place], t.child[place] = split.column, split.gain, t.nodes
    t.gaps_left[place] = split.gaps_left
    if split.bin >= 0:
        t.bin[place] = split.bin
        return
    t.bin[place] = -1 - t.n_sets
    memcpy(t.sets + BYTES * t.n_sets, split.codes, BYTES)
    t.n_sets += 1


cdef void divide(Growth* t, Node node, Py_ssize_t start, Py_ssize_t end, double* sums, int depth) noexcept nogil:
    """Split a node of the rows[start:end], whose histograms are `sums`, then its children.

    The larger child takes the histograms over, less those of the smaller one, which are made behind them.
    """
    cdef Split split
    cdef Node left, right
    cdef Py_ssize_t middle = start, i, size = t.F * t.stride
    cdef double* behind = sums + size
    cdef double between
    cdef bint small
    cdef int sign
    t.weight[node.place] = node.w
    t.value[node.place] = step(node.g, node.v, t, node.low, node.high)
    t.column[node.place] = t.child[node.place] = -1
    t.bin[node.place] = t.gaps_left[node.place] = 0
    t.gain[node.place] = 0.0
    if depth == 0 or node.w < 2.0 * t.least:
        return
    split = search(t, sums, node)
    if split.column < 0:
        return
    write(t, node.place, &split)
    left.place, left.g, left.v, left.w = t.nodes, split.g, split.v, split.w
    right.place, right.g, right.v, right.w = t.nodes + 1, node.g - split.g, node.v - split.v, node.w - split.w
    left.low, left.high, right.low, right.high = node.low, node.high, node.low, node.high
    left.groups = right.groups = node.groups & t.groups[split.column]
    t.nodes += 2
    sign = t.signs[split.column] if split.bin < t.n_bins[split.column] - 1 else 0
    if sign != 0:
        between = 0.5 * (step(left.g, left.v, t, node.low, node.high) + step(right.g, right.v, t, node.low, node.high))
        if sign > 0:
            left.high = right.low = between
        else:
            left.low = right.high = between
    if depth == 1:
        divide(t, left, start, start, sums, 0)
        divide(t, right, start, start, sums, 0)
        return
    middle = part(t, start, end, split)
    small = middle - start <= end - middle
    fill(t, start if small else middle, middle if small else end, behind)
    for i in range(size):
        sums[i] -= behind[i]
    if small:
        divide(t, left, start, middle, behind, depth - 1)
        divide(t, right, middle, end, sums, depth - 1)
    else:
        divide(t, right, middle, end, behind, depth - 1)
        divide(t, left, start, middle, sums, depth - 1)


def grow(const uint8_t[:, ::1] bins, const int[::1] n_bins, const uint8_t[::1] gaps, const uint8_t[::1] kinds,
         const int8_t[::1] signs, const uint64_t[::1] groups, const int[::1] columns, int[::1] rows,
         const double[::1] g, const double[::1] h, const double[::1] w, int depth, double least, double penalty,
         double flattest, bint logarithmic, double longest, int[::1] column, int[::1] bin, int[::1] child,
         uint8_t[::1] gaps_left, uint8_t[:, ::1] sets, double[::1] value, double[::1] gain, double[::1] weight):
    """Grow one tree of Newton steps; the number of its nodes.

    A node splits where G_l^2 / (V_l + penalty) + G_r^2 / (V_r + penalty) - G^2 / (V + penalty) is largest, G and V
    being the weighted sums of slopes and curvatures; where signs bound the values of its children, with these values.
    Rows without a value go to the side where they gain more, or to the right with all values on the left. Categories
    are put in the order of G / (V + penalty) and cut there [Fisher 1958], no value being one of them. What a node has
    not seen goes with the larger part of its rows. Of gains that differ by rounding alone the first counts: by column,
    rows without a value on the right before the left, and by bin.

    Parameters
    ----------
    bins : (D, N)
        Codes 0, ..., n_bins[d] - 1 of values, n_bins[d] of none.
    n_bins : (D,)
    gaps : (D,)
        1 where a row of the column has no value, else 0.
    kinds : (D,)
        1 where codes are categories, 0 where they are in order.
    signs : (D,)
        1 where values must not fall with the code, -1 where they must not rise, else 0.
    groups : (D,)
        Bits of the groups of columns that a column is in; those on a path have one in common.
    columns : (F,) those to choose from
    rows : (M,) those to learn from; their order is changed
    g, h : (N,) slopes and curvatures of the loss
    w : (N,) weights, or none where all are 1
    depth : int
        Splits on a path at most.
    least, flattest : float
        Sum of the weights, and of the curvatures, of a child at least.
    penalty : float
    logarithmic : bool
        Leaves take log((2 V - G + penalty / 2) / (2 V + G + penalty / 2)) in place of -G / (V + penalty).
    longest : float
        Largest value of a leaf.
    column, bin, child : (S,) out, S = 2^(depth + 1) - 1 at most, 2 M - 1 are enough
        A row goes left where its code is at most `bin`, or, of a negative one, in the set -1 - bin; column -1 is a
        leaf; the right child follows the left one.
    gaps_left : (S,) out
        1 where rows without a value go left.
    sets : (S // 2, 32) out, or none without categories
        Bit c % 8 of byte c // 8 tells whether code c goes left.
    value, gain, weight : (S,) out
    """
    cdef Growth t
    cdef Node root
    cdef Py_ssize_t M = rows.shape[0], F = columns.shape[0], D = bins.shape[0], d, i, most = 1
    cdef int levels = depth
    cdef double* sums
    for d in range(D):
        most = max(most, n_bins[d] + gaps[d])
    # No path has more splits than rows.
    if levels > M:
        levels = <int>M
    t.N, t.F, t.stride = bins.shape[1], F, WIDTH * most
    t.bins = &bins[0, 0] if D > 0 and t.N > 0 else NULL
    t.n_bins = &n_bins[0] if D > 0 else NULL
    t.gaps = &gaps[0] if D > 0 else NULL
    t.kinds = &kinds[0] if D > 0 else NULL
    t.signs = &signs[0] if D > 0 else NULL
    t.groups = &groups[0] if D > 0 else NULL
    t.columns = &columns[0] if F > 0 else NULL
    t.rows, t.g, t.h = &rows[0], &g[0], &h[0]
    t.unit = w.shape[0] == 0
    t.w = NULL
    if not t.unit:
        t.w = &w[0]
    t.penalty, t.least, t.flattest, t.tie = penalty, least, flattest, 1e-12
    t.logarithmic, t.longest, t.nodes, t.n_sets = logarithmic, longest, 1, 0
    t.column, t.bin, t.child, t.gaps_left = &column[0], &bin[0], &child[0], &gaps_left[0]
    t.sets = &sets[0, 0] if sets.shape[0] > 0 else NULL
    t.value, t.gain, t.weight = &value[0], &gain[0], &weight[0]
    root.place, root.low, root.high = 0, -INFINITY, INFINITY
    root.groups = <uint64_t>0xFFFFFFFFFFFFFFFF
    root.g = root.v = root.w = 0.0
    t.spare = <int*>malloc(M * sizeof(int))
    t.ordered = <double*>malloc(3 * BLOCK * sizeof(double))
    sums = <double*>malloc((levels + 1) * (F * t.stride + 1) * sizeof(double))
    if t.spare == NULL or t.ordered == NULL or sums == NULL:
        free(t.spare)
        free(t.ordered)
        free(sums)
        raise MemoryError(f"the histograms of {F} columns at {levels + 1} depths do not fit into memory")
    with nogil:
        for i in range(M):
            d = rows[i]
            root.g += g[d] if t.unit else w[d] * g[d]
            root.v += h[d] if t.unit else w[d] * h[d]
            root.w += 1.0 if t.unit else w[d]
        if levels > 0:
            fill(&t, 0, M, sums)
        divide(&t, root, 0, M, sums, levels)
        free(t.spare)
        free(t.ordered)
        free(sums)
    return t.nodes
