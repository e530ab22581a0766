# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Trees on presorted columns: best-first classification trees, and C4.5 by gain ratio.

The readable twins are in `tests/trees/naive.py` and `tests/twins.py`.
"""

from libc.math cimport log, log2
from libc.stdlib cimport free, malloc

from ordstat.compiled.signals cimport let_interrupt, require_lengths


cdef struct Cut:
    double gain
    Py_ssize_t column
    Py_ssize_t place


cdef inline double xlogx(double x) noexcept nogil:
    return x * log(x) if x > 0.0 else 0.0


cdef double entropy(const double* values, Py_ssize_t C, double total) noexcept nogil:
    """total log total - sum_c values_c log values_c: half the deviance of a node."""
    cdef Py_ssize_t c
    cdef double sum = xlogx(total)
    for c in range(C):
        sum -= xlogx(values[c])
    return sum


cdef int search(const int* order, Py_ssize_t stride, Py_ssize_t start, Py_ssize_t end, const int[:, ::1] ranks,
                const int[::1] y, const double[::1] w, const double* values, double* left, double* inverse,
                double least, double slack, double* done, Cut* best) except -1 nogil:
    """The cut of the rows order[d, start:end] with the largest fall of the entropy, over all columns d.

    The gain of a cut is at most W (W A - L^2) / (L R), A = sum_c L_c^2 / V_c, the chi-square bound of the divergences
    of both sides from the node: logarithms are computed only if this exceeds the best gain so far.
    """
    cdef Py_ssize_t D = ranks.shape[0], C = inverse - left
    cdef Py_ssize_t d, i, c
    cdef int row, next_row, label
    cdef const int* place
    cdef double W = 0.0, L, R, A, weight, gain, whole
    best.gain, best.column, best.place = 0.0, -1, -1
    cdef double bar = slack
    for c in range(C):
        W += values[c]
        # The inverse of a smaller number would overflow; such a class adds nothing to the bound.
        inverse[c] = 1.0 / values[c] if values[c] > 1e-290 else 0.0
    whole = entropy(values, C, W)
    if whole <= slack:
        return 0
    for d in range(D):
        let_interrupt(done, 20 * (end - start))
        place = order + d * stride
        if ranks[d, place[start]] == ranks[d, place[end - 1]]:
            continue
        for c in range(C):
            left[c] = 0.0
        L = 0.0
        A = 0.0
        row = place[start]
        for i in range(start, end - 1):
            label = y[row]
            weight = w[row]
            A += weight * (2.0 * left[label] + weight) * inverse[label]
            left[label] += weight
            L += weight
            next_row = place[i + 1]
            if ranks[d, row] != ranks[d, next_row]:
                R = W - L
                if W * (W * A - L * L) > bar * L * R and L >= least and R >= least:
                    gain = whole - xlogx(L) - xlogx(R)
                    for c in range(C):
                        gain += xlogx(left[c]) + xlogx(values[c] - left[c])
                    if gain > bar:
                        best.gain, best.column, best.place = gain, d, i
                        bar = gain + slack
            row = next_row
    return 0


cdef inline bint promising(double t, double W, double V0, double V1, double L, double L1, double bar) noexcept nogil:
    """Whether a cut of two classes might gain more than the bar, t = W L_1 - V_1 L.

    A divergence of shares q from p is at most (q - p)^2 / 2 times the larger of 1 / (p (1 - p)) and 1 / (q (1 - q)).
    """
    cdef double R = W - L, L0 = L - L1, R1 = V1 - L1
    cdef double R0 = R - R1, node = W * W / (V0 * V1), left = node, right = node
    if L0 * L1 * node < L * L:
        left = min(L * L / (L0 * L1), 2.0 * node) if L0 * L1 > 0.0 else 2.0 * node
    if R0 * R1 * node < R * R:
        right = min(R * R / (R0 * R1), 2.0 * node) if R0 * R1 > 0.0 else 2.0 * node
    return t * t * (left * R + right * L) > 2.0 * bar * W * W * L * R * (1.0 - 1e-9)


cdef int search_two(const int* order, Py_ssize_t stride, Py_ssize_t start, Py_ssize_t end, const int[:, ::1] ranks,
                    const double* pairs, const double* values, double least, double slack,
                    double* done, Cut* best) except -1 nogil:
    """`search` for two classes; pairs holds (weight, weight of class 1) of every row."""
    cdef Py_ssize_t D = ranks.shape[0], d, i
    cdef int row, next_row
    cdef const int* place
    cdef const int* rank
    cdef double V0 = values[0], V1 = values[1], W = V0 + V1, L, L1, R, t, gain, bar = slack
    cdef double whole = entropy(values, 2, W), scale = W / (V0 * V1)
    best.gain, best.column, best.place = 0.0, -1, -1
    if whole <= slack:
        return 0
    for d in range(D):
        let_interrupt(done, 20 * (end - start))
        place = order + d * stride
        rank = &ranks[d, 0]
        if rank[place[start]] == rank[place[end - 1]]:
            continue
        L, L1 = 0.0, 0.0
        row = place[start]
        for i in range(start, end - 1):
            L += pairs[2 * row]
            L1 += pairs[2 * row + 1]
            next_row = place[i + 1]
            t = W * L1 - V1 * L
            R = W - L
            if t * t * scale > bar * L * R and rank[row] != rank[next_row] and L >= least and R >= least:
                if promising(t, W, V0, V1, L, L1, bar):
                    gain = (whole - xlogx(L) - xlogx(R) + xlogx(L1) + xlogx(L - L1) + xlogx(V1 - L1)
                            + xlogx(R - (V1 - L1)))
                    if gain > bar:
                        best.gain, best.column, best.place = gain, d, i
                        bar = gain + slack
            row = next_row
    return 0


cdef void part(int* order, Py_ssize_t D, Py_ssize_t stride, Py_ssize_t start, Py_ssize_t end, Cut cut,
               unsigned char* side, int* spare) noexcept nogil:
    """Partition the rows start:end of every column, left side of the cut first, keeping their order."""
    cdef Py_ssize_t d, i, left_end, n_spare
    cdef int row
    cdef int* place = order + cut.column * stride
    for i in range(start, end):
        side[place[i]] = i > cut.place
    for d in range(D):
        if d == cut.column:
            continue
        place = order + d * stride
        left_end, n_spare = start, 0
        for i in range(start, end):
            row = place[i]
            # Write to both sides and advance one of them: no branch to mispredict.
            place[left_end] = row
            spare[n_spare] = row
            left_end += 1 - side[row]
            n_spare += side[row]
        for i in range(n_spare):
            place[left_end + i] = spare[i]


def grow(const int[:, ::1] order, const int[:, ::1] ranks, const int[::1] y, const double[::1] w, int leaves,
         int depth, double least, double tie, int[::1] column, int[:, ::1] ends, int[::1] child, int[::1] parent,
         double[:, ::1] values, double[::1] gains):
    """Repeatedly split the leaf whose best cut lowers the deviance most, until there are `leaves` leaves.

    Parameters
    ----------
    order : (D, N) rows in the order of each column
    ranks : (D, N) rank of each row's value among the distinct values of the column
    y : (N,) classes 0..C-1
    w : (N,) weights >= 0; rows of weight 0 are ignored
    leaves : int
        Most leaves.
    depth : int
        Most cuts on a path; negative for no limit.
    least : float
        Smallest weight of a leaf.
    tie : float
        A cut must gain this share of the total weight, and exceed an earlier cut by as much.
    column : (M,) out
        Column of the cut of each node, -1 for a leaf; M >= 2 leaves - 1.
    ends : (M, 2) out
        Rows just below and just above the cut.
    child : (M,) out
        Left child; the right child follows it.
    parent : (M,) out
        -1 for the root.
    values : (M, C) out
        Weight of each class.
    gains : (M,) out
        Fall of sum_c w_c log(w / w_c) by the cut.

    Returns
    -------
    int
        Number of nodes; a child comes after its parent.
    """
    cdef Py_ssize_t D = order.shape[0], N = order.shape[1], C = values.shape[1], M = column.shape[0]
    cdef Py_ssize_t d, i, c, node, leaf, at, nodes = 1, made = 1, kept = 0
    cdef double total = 0.0, done = 0.0, slack, best
    cdef int row
    require_lengths(
        ranks.shape[0] == D and ranks.shape[1] == y.shape[0] == w.shape[0] == N and M >= 1
        and ends.shape[0] == child.shape[0] == parent.shape[0] == values.shape[0] == gains.shape[0] == M
        and ends.shape[1] == 2,
        "grow",
    )
    cdef int* rows = <int*> malloc((D + 1) * N * sizeof(int))
    cdef unsigned char* side = <unsigned char*> malloc(N)
    cdef double* sums = <double*> malloc((2 * C + 2 * N) * sizeof(double))
    cdef Py_ssize_t* start = <Py_ssize_t*> malloc(3 * M * sizeof(Py_ssize_t))
    cdef Cut* cuts = <Cut*> malloc(M * sizeof(Cut))
    cdef double* pairs
    cdef Py_ssize_t* end
    cdef Py_ssize_t* level
    cdef int* spare
    cdef Cut none
    if rows == NULL or side == NULL or sums == NULL or start == NULL or cuts == NULL:
        free(rows)
        free(side)
        free(sums)
        free(start)
        free(cuts)
        raise MemoryError("no memory for a tree")
    end, level, spare, pairs = start + M, start + 2 * M, rows + D * N, sums + 2 * C
    none.gain, none.column, none.place = 0.0, -1, -1
    try:
        with nogil:
            for d in range(D):
                at = 0
                for i in range(N):
                    row = order[d, i]
                    rows[d * N + at] = row
                    at += w[row] > 0.0
                kept = at
            for c in range(C):
                values[0, c] = 0.0
            for i in range(N):
                pairs[2 * i], pairs[2 * i + 1] = w[i], w[i] * (y[i] == 1)
                if w[i] > 0.0:
                    values[0, y[i]] += w[i]
                    total += w[i]
            slack = tie * total
            start[0], end[0], level[0], parent[0] = 0, kept, 0, -1
            leaf = 0
            while True:
                # Find cuts of the newest children, or of the root.
                for node in range(leaf, nodes):
                    column[node], child[node], gains[node] = -1, -1, 0.0
                    ends[node, 0], ends[node, 1] = -1, -1
                    cuts[node] = none
                    if made < leaves and divisible(&values[node, 0], C, least) and (depth < 0 or level[node] < depth):
                        if C == 2:
                            search_two(rows, N, start[node], end[node], ranks, pairs, &values[node, 0], least,
                                                    slack, &done, &cuts[node])
                        else:
                            search(rows, N, start[node], end[node], ranks, y, w, &values[node, 0], sums,
                                                sums + C, least, slack, &done, &cuts[node])
                if made >= leaves:
                    break
                leaf, best = -1, 0.0
                for node in range(nodes):
                    if column[node] < 0 and cuts[node].column >= 0 and cuts[node].gain > best:
                        leaf, best = node, cuts[node].gain + slack
                if leaf < 0:
                    break
                node, made = leaf, made + 1
                column[node], gains[node], child[node] = <int> cuts[node].column, cuts[node].gain, <int> nodes
                at = cuts[node].column * N + cuts[node].place
                ends[node, 0], ends[node, 1] = rows[at], rows[at + 1]
                for leaf in range(nodes, nodes + 2):
                    parent[leaf], level[leaf] = <int> node, level[node] + 1
                    start[leaf] = start[node] if leaf == nodes else cuts[node].place + 1
                    end[leaf] = cuts[node].place + 1 if leaf == nodes else end[node]
                    for c in range(C):
                        values[leaf, c] = 0.0
                    for i in range(start[leaf], end[leaf]):
                        row = rows[cuts[node].column * N + i]
                        values[leaf, y[row]] += w[row]
                if made < leaves:
                    part(rows, D, N, start[node], end[node], cuts[node], side, spare)
                leaf = nodes
                nodes += 2
    finally:
        free(rows)
        free(side)
        free(sums)
        free(start)
        free(cuts)
    return nodes


cdef bint divisible(const double* values, Py_ssize_t C, double least) noexcept nogil:
    """Whether a node has rows of two classes, and weight for two leaves."""
    cdef Py_ssize_t c, present = 0
    cdef double total = 0.0
    for c in range(C):
        present += values[c] > 0.0
        total += values[c]
    return present > 1 and total >= 2.0 * least


def find_leaves(const double[:, ::1] X, const int[::1] roots, const int[::1] column, const double[::1] cut,
                const int[::1] child, int[:, ::1] leaf_of):
    """The leaf of every row in every tree, its left child where x <= cut.

    Parameters
    ----------
    X : (N, D)
    roots : (T,) node where each tree starts
    column, cut, child : (M,) of all nodes; column -1 is a leaf, the right child follows the left
    leaf_of : (N, T) out
    """
    cdef Py_ssize_t N = X.shape[0], T = roots.shape[0], n, t
    cdef double done = 0.0
    cdef int node
    require_lengths(
        leaf_of.shape[0] == N and leaf_of.shape[1] == T
        and cut.shape[0] == child.shape[0] == column.shape[0],
        "find_leaves",
    )
    with nogil:
        for t in range(T):
            let_interrupt(&done, 100 * N)
            for n in range(N):
                node = roots[t]
                while column[node] >= 0:
                    node = child[node] + (X[n, column[node]] > cut[node])
                leaf_of[n, t] = node


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
    """The largest gain times weight of a cut of one column in a node; -1 if no cut leaves `least` on both sides."""
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


def grow_c45(
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
        Smallest weight on each side of a cut; 5% of the weight of the node if that is more, but at most 25.
    column, left, right, start, stop : (2N - 1,) out
        column and children are -1 for a leaf.
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
    cdef double p, n, total, least, slack, mean, ratio, best_ratio, done = 0.0
    cdef int row
    require_lengths(
        x.shape[0] == gains.shape[0] == splits.shape[0] == places.shape[0] == D
        and x.shape[1] == label.shape[0] == w.shape[0] == buffer.shape[0] == goes_left.shape[0] == N
        and column.shape[0] == low.shape[0] == high.shape[0] == left.shape[0] == right.shape[0] == start.shape[0]
        and stop.shape[0] == positive.shape[0] == negative.shape[0] == start.shape[0] and start.shape[0] >= 2 * N - 1,
        "grow_c45",
    )
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
                    let_interrupt(&done, 20 * (hi - lo))
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
