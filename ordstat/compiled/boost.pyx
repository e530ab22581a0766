# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Newton trees on histograms of uint8 bins; twins in `tests/boosted/naive.py`."""

from libc.math cimport INFINITY, fabs, log
from libc.stdint cimport int8_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    WIDTH = 3  # sums of one bin: slopes, curvatures, weight


cdef struct Split:
    double gain
    int column
    int bin
    double g
    double v
    double w


cdef struct Node:
    int place
    double g
    double v
    double w
    double low
    double high


cdef struct Growth:
    const uint8_t* bins
    Py_ssize_t N
    const int* columns
    const int* n_bins
    const int8_t* signs
    Py_ssize_t F
    Py_ssize_t stride
    int* rows
    int* spare
    double* ordered
    double* sums
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
    double* value
    double* gain
    double* weight
    int nodes


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
    cdef Py_ssize_t i, f, M = end - start
    cdef const int* rows = t.rows + start
    cdef const uint8_t* codes
    cdef const uint8_t* others
    cdef double* gh = t.ordered
    cdef double* own
    cdef double* at
    cdef int row
    cdef double weight, slope, curvature
    memset(sums, 0, t.F * t.stride * sizeof(double))
    if t.unit and M == t.N:
        fill_all(t, sums)
        return
    if t.unit:
        for i in range(M):
            row = rows[i]
            gh[2 * i] = t.g[row]
            gh[2 * i + 1] = t.h[row]
        # Two columns at a time: a row and its slopes are read once for both.
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
        return
    for i in range(M):
        row = rows[i]
        weight = t.w[row]
        gh[3 * i] = weight * t.g[row]
        gh[3 * i + 1] = weight * t.h[row]
        gh[3 * i + 2] = weight
    for f in range(t.F):
        codes = t.bins + t.columns[f] * t.N
        own = sums + f * t.stride
        for i in range(M):
            at = own + WIDTH * codes[rows[i]]
            at[0] += gh[3 * i]
            at[1] += gh[3 * i + 1]
            at[2] += gh[3 * i + 2]


cdef Split search(Growth* t, const double* sums, Node node) noexcept nogil:
    """The split of a node with the largest gain; the first of those that are alike."""
    cdef double G = node.g, V = node.v, W = node.w, low = node.low, high = node.high
    cdef Py_ssize_t f, b
    cdef int d, sign
    cdef const double* own
    cdef double gl, vl, wl, gain, left, right
    cdef double whole = fall(G, V, t, low, high)
    cdef double slack = t.tie * (fabs(whole) + G * G / (V + t.penalty) + 1e-300)
    cdef Split best
    best.column, best.bin, best.gain = -1, 0, slack
    best.g = best.v = best.w = 0.0
    for f in range(t.F):
        d = t.columns[f]
        sign = t.signs[d]
        own = sums + f * t.stride
        gl = vl = wl = 0.0
        for b in range(t.n_bins[d] - 1):
            gl += own[WIDTH * b]
            vl += own[WIDTH * b + 1]
            wl += own[WIDTH * b + 2]
            if wl < t.least or vl < t.flattest:
                continue
            if W - wl < t.least or V - vl < t.flattest:
                break
            gain = fall(gl, vl, t, low, high) + fall(G - gl, V - vl, t, low, high) - whole
            if gain <= best.gain + slack:
                continue
            if sign != 0:
                left, right = step(gl, vl, t, low, high), step(G - gl, V - vl, t, low, high)
                if sign * (right - left) < 0.0:
                    continue
            best.gain, best.column, best.bin = gain, d, <int>b
            best.g, best.v, best.w = gl, vl, wl
    return best


cdef Py_ssize_t part(Growth* t, Py_ssize_t start, Py_ssize_t end, Split split) noexcept nogil:
    """Put the rows of the left child before those of the right one, either in their order; the first of these."""
    cdef const uint8_t* codes = t.bins + split.column * t.N
    cdef Py_ssize_t i, left = start, right = 0
    cdef int row
    for i in range(start, end):
        row = t.rows[i]
        if codes[row] <= split.bin:
            t.rows[left] = row
            left += 1
        else:
            t.spare[right] = row
            right += 1
    for i in range(right):
        t.rows[left + i] = t.spare[i]
    return left


cdef void divide(Growth* t, Node node, Py_ssize_t start, Py_ssize_t end, double* sums, int depth) noexcept nogil:
    """Split a node of the rows[start:end], whose histograms are `sums`, then its children.

    The larger child takes the histograms over, less those of the smaller one, which are made behind them.
    """
    cdef Split split
    cdef Node left, right
    cdef Py_ssize_t middle = start, i, size = t.F * t.stride
    cdef double* behind = sums + size
    cdef double between
    cdef int sign
    t.weight[node.place] = node.w
    t.value[node.place] = step(node.g, node.v, t, node.low, node.high)
    t.column[node.place] = t.child[node.place] = -1
    t.bin[node.place] = 0
    t.gain[node.place] = 0.0
    if depth == 0 or node.w < 2.0 * t.least:
        return
    split = search(t, sums, node)
    if split.column < 0:
        return
    t.column[node.place], t.bin[node.place], t.gain[node.place] = split.column, split.bin, split.gain
    t.child[node.place] = t.nodes
    left.place, left.g, left.v, left.w = t.nodes, split.g, split.v, split.w
    right.place, right.g, right.v, right.w = t.nodes + 1, node.g - split.g, node.v - split.v, node.w - split.w
    left.low, left.high, right.low, right.high = node.low, node.high, node.low, node.high
    t.nodes += 2
    sign = t.signs[split.column]
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
    if middle - start <= end - middle:
        fill(t, start, middle, behind)
        for i in range(size):
            sums[i] -= behind[i]
        divide(t, left, start, middle, behind, depth - 1)
        divide(t, right, middle, end, sums, depth - 1)
    else:
        fill(t, middle, end, behind)
        for i in range(size):
            sums[i] -= behind[i]
        divide(t, right, middle, end, behind, depth - 1)
        divide(t, left, start, middle, sums, depth - 1)


def grow(const uint8_t[:, ::1] bins, const int[::1] n_bins, const int8_t[::1] signs, const int[::1] columns,
         int[::1] rows, const double[::1] g, const double[::1] h, const double[::1] w, int depth, double least,
         double penalty, double flattest, bint logarithmic, double longest, int[::1] column, int[::1] bin,
         int[::1] child, double[::1] value, double[::1] gain, double[::1] weight):
    """Grow one tree of Newton steps; the number of its nodes.

    A node splits where G_l^2 / (V_l + penalty) + G_r^2 / (V_r + penalty) - G^2 / (V + penalty) is largest, G and V
    being the weighted sums of slopes and curvatures; where signs bound the values of its children, with these values.
    Of gains that differ by rounding alone the first counts, by column and then by bin.

    Parameters
    ----------
    bins : (D, N)
        Codes 0, ..., n_bins[d] - 1.
    n_bins : (D,)
    signs : (D,)
        1 where values must not fall with the code, -1 where they must not rise, else 0.
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
        A row goes left where its code is at most `bin`; column -1 is a leaf; the right child follows the left one.
    value, gain, weight : (S,) out
    """
    cdef Growth t
    cdef Node root
    cdef Py_ssize_t M = rows.shape[0], F = columns.shape[0], D = bins.shape[0], d, i, most = 1
    cdef int levels = depth
    cdef double* sums
    for d in range(D):
        most = max(most, n_bins[d])
    # No path has more splits than rows.
    if levels > M:
        levels = <int>M
    t.N, t.F, t.stride = bins.shape[1], F, WIDTH * most
    t.bins = &bins[0, 0] if D > 0 and t.N > 0 else NULL
    t.n_bins = &n_bins[0] if D > 0 else NULL
    t.signs = &signs[0] if D > 0 else NULL
    t.columns = &columns[0] if F > 0 else NULL
    t.rows, t.g, t.h = &rows[0], &g[0], &h[0]
    t.unit = w.shape[0] == 0
    t.w = NULL
    if not t.unit:
        t.w = &w[0]
    t.penalty, t.least, t.flattest, t.tie = penalty, least, flattest, 1e-12
    t.logarithmic, t.longest, t.nodes = logarithmic, longest, 1
    t.column, t.bin, t.child = &column[0], &bin[0], &child[0]
    t.value, t.gain, t.weight = &value[0], &gain[0], &weight[0]
    root.place, root.low, root.high = 0, -INFINITY, INFINITY
    root.g = root.v = root.w = 0.0
    t.spare = <int*>malloc(M * sizeof(int))
    t.ordered = <double*>malloc(3 * M * sizeof(double))
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


def add_binned(const uint8_t[:, ::1] bins, const int[::1] column, const int[::1] bin, const int[::1] child,
               const double[::1] value, double[::1] scores):
    """Add the values of one tree to the scores (N,) of all rows, by their codes (D, N)."""
    cdef Py_ssize_t n, N = scores.shape[0]
    cdef int node
    with nogil:
        for n in range(N):
            node = 0
            while column[node] >= 0:
                node = child[node] + (bins[column[node], n] > bin[node])
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
