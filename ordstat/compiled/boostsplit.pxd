# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Splits of a node by its histograms: gains, Newton steps, sorted categories."""

from libc.math cimport fabs
from libc.stdint cimport int8_t, uint8_t, uint16_t
from libc.string cimport memset

from ordstat.compiled.logit cimport Thresholds

cdef enum:
    WIDTH = 4  # sums of one bin: slopes, curvatures, weight, and a 0
    BYTES = 32  # size of a set of codes

cdef extern from *:
    """
    #define FEW 1e-9
    """
    const double FEW  # a smaller share of the weight of a node is rounding


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
    int slot  # index of its histograms; -1 for none
    int fill  # index among the histograms to fill next; -1 for none
    int less  # sibling whose histograms are subtracted; -1 for none


cdef struct Part:
    double loss
    double total[WIDTH]
    double* memory  # memory of the following except `row` and `place`
    double* sums  # histograms of its rows; NULL to write to those of the nodes
    int* row  # rows of a block that the tree is grown on
    int* place  # offsets of their histograms
    double* gh  # slope and curvature, times the weight, the weight, 0
    double* x  # scores minus the centre of the thresholds
    double* up  # odds at the two thresholds of the level, and
    double* low
    double* p  # the probability without a factor of the level


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
    Py_ssize_t size  # numbers in the histograms of a node
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
    int first  # first node of the level,
    int last  # and the end
    int asked  # first node whose histograms are computed,
    int next  # and the end
    int* slot_of_fill
    int fills
    int slots
    int depth  # remaining levels of splits
    bint whole  # whether all nodes of the level have histograms
    bint began
    double* memory  # memory of `sums`
    double* sums
    const uint8_t** codes  # codes of the columns to choose from
    Part* parts
    int n_parts


cdef inline double clipped(double x, double low, double high) noexcept nogil:
    return low if x < low else (high if x > high else x)


cdef inline double newton(double G, double V, const Growth* t, double low, double high) noexcept nogil:
    """The value between two bounds that minimises G v + (V + penalty) v^2 / 2."""
    return clipped(-G / (V + t.penalty), low, high)


cdef inline double fall(double G, double V, const Growth* t, double low, double high) noexcept nogil:
    """Twice the fall of that function; G^2 / (V + penalty) inside the bounds."""
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
    """Whether the values of the children violate the sign of a column."""
    cdef double left = step(gl, vl, t, scan.node.low, scan.node.high)
    return sign * (step(scan.node.g - gl, scan.node.v - vl, t, scan.node.low, scan.node.high) - left) < 0.0


cdef inline void cut(const Growth* t, const Scan* scan, const double* hist, int d, bint gaps_left, Split* best) noexcept nogil:
    """Try the cuts between the bins of a column, with missing values on one side.

    With missing values on the right, all values may be on the left, for any sign of the column.
    """
    cdef int b, last = t.n_bins[d] - 1, sign = t.signs[d]
    cdef const double* gap = hist + WIDTH * t.n_bins[d]
    cdef double G = scan.node.g, V = scan.node.v, W = scan.node.w, low = scan.node.low, high = scan.node.high
    cdef double whole = scan.whole, enough = best.gain + scan.slack, gl = 0.0, vl = 0.0, wl = 0.0, gain
    cdef double alone = -1.0  # weight of the right side if it has only missing values
    if gaps_left:
        gl, vl, wl = gap[0], gap[1], gap[2]
    elif t.gaps[d] and gap[2] > FEW * W:
        last += 1
        alone = gap[2] + FEW * W
    for b in range(last):
        gl += hist[WIDTH * b]
        vl += hist[WIDTH * b + 1]
        wl += hist[WIDTH * b + 2]
        if wl < t.least or vl < t.flattest:
            continue
        if hist[WIDTH * b + 2] == 0.0 and b < t.n_bins[d] - 1:
            continue  # without rows in the bin it is the cut before
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


cdef inline void sort_out(const Growth* t, const Scan* scan, const double* hist, int d, Split* best) noexcept nogil:
    """Try the cuts of categories in decreasing order of their Newton steps; missing values are one more category."""
    cdef int order[256]
    cdef double ratio[256]
    cdef int b, i, j, found = 0
    cdef double at, gain, gl = 0.0, vl = 0.0, wl = 0.0
    for b in range(t.n_bins[d] + t.gaps[d]):
        if hist[WIDTH * b + 2] <= FEW * scan.node.w:
            continue
        at = hist[WIDTH * b] / (hist[WIDTH * b + 1] + t.penalty + 1e-300)
        j = found
        while j > 0 and ratio[j - 1] > at:
            ratio[j], order[j] = ratio[j - 1], order[j - 1]
            j -= 1
        ratio[j], order[j] = at, b
        found += 1
    for i in range(found - 1):
        b = order[i]
        gl += hist[WIDTH * b]
        vl += hist[WIDTH * b + 1]
        wl += hist[WIDTH * b + 2]
        if wl < t.least or vl < t.flattest:
            continue
        if scan.node.w - wl < t.least or scan.node.v - vl < t.flattest:
            break
        gain = (fall(gl, vl, t, scan.node.low, scan.node.high)
                + fall(scan.node.g - gl, scan.node.v - vl, t, scan.node.low, scan.node.high) - scan.whole)
        if gain > best.gain + scan.slack:
            best.gain, best.g, best.v, best.w = gain, gl, vl, wl
            best.column, best.bin = d, -1
            # Categories without rows in the node go to the side with more rows.
            memset(best.codes, 255 if 2.0 * wl >= scan.node.w else 0, BYTES)
            for j in range(found):
                b = order[j]
                if j <= i:
                    best.codes[b >> 3] |= <uint8_t>(1 << (b & 7))
                else:
                    best.codes[b >> 3] &= <uint8_t>(~(1 << (b & 7)))
            best.gaps_left = holds(best.codes, t.n_bins[d])


cdef inline Split search(const Growth* t, const double* sums, Node node) noexcept nogil:
    """The split of a node with the largest gain; ties go to the first."""
    cdef Py_ssize_t f
    cdef int d
    cdef const double* hist
    cdef Split best
    cdef Scan scan
    scan.node = node
    scan.whole = fall(node.g, node.v, t, node.low, node.high)
    scan.slack = t.tie * (fabs(scan.whole) + node.g * node.g / (node.v + t.penalty) + 1e-300)
    best.column, best.bin, best.gain, best.gaps_left = -1, 0, scan.slack, False
    best.g = best.v = best.w = 0.0
    for f in range(t.F):
        d = t.columns[f]
        hist = sums + f * t.stride
        if t.kinds[d]:
            sort_out(t, &scan, hist, d, &best)
            continue
        cut(t, &scan, hist, d, False, &best)
        if t.gaps[d] and hist[WIDTH * t.n_bins[d] + 2] > FEW * node.w:
            cut(t, &scan, hist, d, True, &best)
        elif best.column == d:
            # If the node has no missing values, these go to the side with more rows.
            best.gaps_left = 2.0 * best.w >= node.w
    return best
