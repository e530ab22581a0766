# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Splits of a node by its histograms: gains, Newton steps, categories in their order."""

from libc.math cimport fabs
from libc.stdint cimport int8_t, uint8_t, uint16_t
from libc.string cimport memset

from ordstat.compiled.logit cimport Thresholds

cdef enum:
    WIDTH = 4  # sums of one bin: slopes, curvatures, weight, and a 0
    BYTES = 32  # of a set of codes

cdef extern from *:
    """
    #define FEW 1e-9
    """
    const double FEW  # a share of the weight of a node that is no more than rounding


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
    double g
    double v
    double w
    double low
    double high
    int slot  # of its histograms; -1 of none
    int fill  # which of those are filled next; -1 of none
    int less  # the sibling whose histograms are taken from them; -1 of none


cdef struct Part:
    double loss
    double total[WIDTH]
    double* own  # memory of what follows but for `row` and `place`
    double* sums  # histograms of its rows; NULL where these are those of the nodes
    int* row  # of a block, that are learned from
    int* place  # of their histograms
    double* gh  # slope and curvature, times the weight, the weight, 0
    double* x  # scores less the centre of the thresholds
    double* up  # odds at the two thresholds of the level, and
    double* low
    double* p  # the probability but for a factor of the level


cdef struct Growth:
    const uint8_t* bins
    Py_ssize_t N
    const int* columns
    const int* n_bins
    const uint8_t* gaps
    const uint8_t* kinds
    const int8_t* signs
    Py_ssize_t F
    Py_ssize_t stride
    Py_ssize_t size  # of the histograms of a node
    bint plain
    uint16_t* place
    const uint16_t* y
    double* H
    Thresholds logit
    const double* w
    const double* counts
    double penalty
    double least
    double flattest
    double tie
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
    Node* node
    int first  # nodes of the level are from here
    int last  # to here,
    int asked  # those whose histograms are made from here
    int next  # to here
    int* slot_of_fill
    int fills
    int slots
    int depth  # levels of splits that are left
    bint whole  # the histograms of all nodes of the level are there
    bint began
    double* own  # memory of `sums`
    double* sums
    const uint8_t** codes  # of the columns to choose from
    Part* parts
    int n_parts


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
    """The value of a leaf: Newton's step."""
    return clipped(clipped(-G / (V + t.penalty), -t.longest, t.longest), low, high)


cdef inline bint holds(const uint8_t* codes, int code) noexcept nogil:
    """Whether a code is in a set of codes."""
    return (codes[code >> 3] >> (code & 7)) & 1


cdef struct Scan:
    double whole
    double slack
    Node node


cdef inline bint against(const Growth* t, const Scan* scan, double gl, double vl, int sign) noexcept nogil:
    """Whether the values of the children are not in the order that a column demands."""
    cdef double left = step(gl, vl, t, scan.node.low, scan.node.high)
    return sign * (step(scan.node.g - gl, scan.node.v - vl, t, scan.node.low, scan.node.high) - left) < 0.0


cdef inline void cut(const Growth* t, const Scan* scan, const double* own, int d, bint gaps_left, Split* best) noexcept nogil:
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


cdef inline void sort_out(const Growth* t, const Scan* scan, const double* own, int d, Split* best) noexcept nogil:
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


cdef inline Split search(const Growth* t, const double* sums, Node node) noexcept nogil:
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
