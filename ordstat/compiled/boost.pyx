# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Newton trees on histograms of uint8 bins, level by level; twins in `tests/prediction/naive.py`.

A row has its bins, its score and its present node; slopes are computed again when a node needs them, so a round uses
10 bytes per row besides the bins. Sums are computed for fixed parts of the rows, in turn or in parallel, and added in
order: they do not depend on the number of threads.

Predictions of trees, their Shapley values, and slopes of the cumulative logit.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, log
from libc.stdint cimport int8_t, uint16_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset
from ordstat.compiled.boostrows cimport AWAY, BLOCK, fill, put_together, settle
from ordstat.compiled.boostsplit cimport BYTES, Growth, holds, Node, Part, search, Split, step, WIDTH
from ordstat.compiled.logit cimport log_p, prepare, tails, Tails, Thresholds, TINY
from ordstat.compiled.signals cimport let_interrupt, require_lengths


cdef enum:
    MOST_SLOTS = 64  # most nodes with histograms at the same time
    ROOM = 1 << 23  # about the most numbers in all of them

#: Added to the node of a row that a tree is not grown on.
OUTSIDE = AWAY


cdef void leaf(Growth* t, int place) noexcept nogil:
    """Write a node as a leaf."""
    cdef Node* node = t.node + place
    node.fill = node.less = -1
    t.weight[place] = node.w
    t.value[place] = step(node.g, node.v, t, node.low, node.high)
    t.column[place] = t.child[place] = -1
    t.bin[place] = t.gaps_left[place] = 0
    t.gain[place] = 0.0


cdef void write(Growth* t, int place, const Split* split) noexcept nogil:
    """Write the split of a node to the tree."""
    t.column[place], t.gain[place], t.child[place] = split.column, split.gain, t.nodes
    t.gaps_left[place] = split.gaps_left
    if split.bin >= 0:
        t.bin[place] = split.bin
        return
    t.bin[place] = -1 - t.n_sets
    memcpy(t.sets + BYTES * t.n_sets, split.codes, BYTES)
    t.n_sets += 1


cdef void divide(Growth* t, int place) noexcept nogil:
    """Split a node by its histograms if a split has a gain."""
    cdef Node node = t.node[place]
    cdef Split split = search(t, t.sums + node.slot * t.size, node)
    cdef Node* left = t.node + t.nodes
    cdef Node* right = left + 1
    cdef double between
    cdef int sign
    if split.column < 0:
        return
    write(t, place, &split)
    left[0] = right[0] = node
    left.g, left.v, left.w = split.g, split.v, split.w
    right.g, right.v, right.w = node.g - split.g, node.v - split.v, node.w - split.w
    sign = t.signs[split.column] if split.bin < t.n_bins[split.column] - 1 else 0
    if sign != 0:
        between = 0.5 * (step(left.g, left.v, t, node.low, node.high) + step(right.g, right.v, t, node.low, node.high))
        if sign > 0:
            left.high = right.low = between
        else:
            left.low = right.high = between
    leaf(t, t.nodes)
    leaf(t, t.nodes + 1)
    t.nodes += 2


cdef inline bint divisible(const Growth* t, int place) noexcept nogil:
    """Whether a node has enough weight for two children."""
    return t.node[place].w >= 2.0 * t.least


cdef inline int larger(const Growth* t, int left) noexcept nogil:
    """The heavier of two siblings."""
    return left if t.node[left].w > t.node[left + 1].w else left + 1


cdef void by_difference(Growth* t) noexcept nogil:
    """Request the histograms of the lighter sibling; the other gets its parent's minus these."""
    cdef int place, heavy, light, slot = 0
    cdef uint8_t used[MOST_SLOTS]
    memset(used, 0, MOST_SLOTS)
    for place in range(t.first, t.nodes, 2):
        if divisible(t, larger(t, place)):
            used[t.node[place].slot] = 1
    for place in range(t.first, t.nodes, 2):
        heavy = larger(t, place)
        light = 2 * place + 1 - heavy
        if not divisible(t, heavy):
            t.node[place].slot = t.node[place + 1].slot = -1
            continue
        while used[slot]:
            slot += 1
        used[slot] = 1
        t.node[heavy].less = light
        t.node[light].slot, t.node[light].fill, t.slot_of_fill[t.fills] = slot, t.fills, slot
        t.fills += 1
    t.next = t.nodes


cdef void from_rows(Growth* t) noexcept nogil:
    """Request histograms of as many nodes of the level as fit in memory."""
    cdef int most = max(t.slots // 2, 1)
    while t.next < t.last and t.fills < most:
        t.node[t.next].slot = -1
        if divisible(t, t.next):
            t.node[t.next].slot = t.node[t.next].fill = t.slot_of_fill[t.fills] = t.fills
            t.fills += 1
        t.next += 1


cdef bint descend(Growth* t) noexcept nogil:
    """Go to the next level; return whether it can be split."""
    cdef int place, wanted = 0
    t.first, t.last, t.next = t.last, t.nodes, t.last
    t.depth -= 1
    if t.depth <= 0 or t.first == t.last:
        return False
    for place in range(t.first, t.last, 2):
        wanted += 2 * divisible(t, larger(t, place))
    t.whole = t.whole and wanted <= t.slots
    return True


cdef bint ask(Growth* t) noexcept nogil:
    """Whether histograms are needed, for the remaining nodes of the level or the next level."""
    t.fills = 0
    while t.fills == 0:
        if t.next == t.last and not descend(t):
            return False
        t.asked = t.next
        if t.whole:
            by_difference(t)
        else:
            from_rows(t)
            t.whole = t.asked == t.first and t.next == t.last
    return True


cdef void divide_all(Growth* t) noexcept nogil:
    """Split the nodes that have histograms."""
    cdef int place
    cdef Py_ssize_t i
    cdef double* sums
    cdef const double* less
    for place in range(t.asked, t.next):
        t.node[place].fill = -1
        if t.node[place].less >= 0:
            sums, less = t.sums + t.node[place].slot * t.size, t.sums + t.node[t.node[place].less].slot * t.size
            for i in range(t.size):
                sums[i] -= less[i]
    for place in range(t.asked, t.next):
        if t.node[place].slot >= 0 and divisible(t, place):
            divide(t, place)


cdef void start(Growth* t) noexcept nogil:
    """Make the root from the sums of the parts."""
    cdef Node* root = t.node
    cdef int c
    root.low, root.high = -INFINITY, INFINITY
    root.g = root.v = root.w = 0.0
    for c in range(t.n_parts):
        root.g += t.parts[c].total[0]
        root.v += t.parts[c].total[1]
        root.w += t.parts[c].total[2]
    root.slot = 0
    leaf(t, 0)
    t.began = True


cdef void free_all(Growth* t) noexcept nogil:
    """Free the memory."""
    cdef int c
    if t.parts != NULL:
        for c in range(t.n_parts):
            free(t.parts[c].row)
            free(t.parts[c].memory)
    free(t.parts)
    free(t.codes)
    free(t.memory)
    free(t.node)
    free(t.slot_of_fill)
    free(t.logit.odds)


cdef inline double* aligned(double* memory) noexcept nogil:
    """The start of the first cache line at or after an address, less than 8 numbers later."""
    return <double*>((<size_t>memory + 63) & ~<size_t>63)


cdef bint room_of_part(Growth* t, Part* part, Py_ssize_t sums) noexcept nogil:
    """Allocate a block of rows and histograms; False if there is not enough memory."""
    part.row = <int*>malloc(2 * BLOCK * sizeof(int))
    part.memory = <double*>malloc(((WIDTH + 4) * BLOCK + sums + 8) * sizeof(double))
    if part.row == NULL or part.memory == NULL:
        return False
    part.place = part.row + BLOCK
    part.gh = aligned(part.memory)
    part.x = part.gh + WIDTH * BLOCK
    part.up, part.low, part.p = part.x + BLOCK, part.x + 2 * BLOCK, part.x + 3 * BLOCK
    part.sums = part.x + 4 * BLOCK if sums > 0 else NULL
    return True


cdef bint room(Growth* t, Py_ssize_t most_nodes) noexcept nogil:
    """Allocate nodes, histograms and blocks of rows; False if there is not enough memory."""
    cdef int c
    cdef Py_ssize_t f
    t.parts = <Part*>calloc(t.n_parts, sizeof(Part))
    t.node = <Node*>malloc(most_nodes * sizeof(Node))
    t.slot_of_fill = <int*>malloc(t.slots * sizeof(int))
    t.codes = <const uint8_t**>malloc((t.F + 1) * sizeof(void*))
    t.memory = <double*>malloc((t.slots * t.size + 8) * sizeof(double))
    if t.parts == NULL or t.node == NULL or t.slot_of_fill == NULL or t.codes == NULL or t.memory == NULL:
        return False
    t.sums = aligned(t.memory)
    for f in range(t.F):
        t.codes[f] = t.bins + t.columns[f] * t.N
    for c in range(t.n_parts):
        # The first part writes to the histograms of the nodes.
        if not room_of_part(t, t.parts + c, max(t.slots // 2, 1) * t.size + 1 if c > 0 else 0):
            return False
    return True


cdef class Growing:
    """A growing tree with its memory, and the arrays it points to.

    Each task of a team holds it: Ctrl-C can end `grow` while a thread still passes over its part of the rows.
    """

    cdef Growth tree
    cdef object arrays

    def __dealloc__(self):
        free_all(&self.tree)


def work(Growing growing not None, bint last, int part):
    """Pass over one part of the rows of a growing tree; `last` moves them to their leaves."""
    cdef Growth* t = &growing.tree
    with nogil:
        if last:
            settle(t, part)
        else:
            fill(t, part)


cdef over(Growing growing, bint last, team):
    """Pass over all parts of the rows."""
    cdef int c
    cdef Growth* t = &growing.tree
    if team is not None and t.n_parts > 1:
        team(work, [(growing, last, c) for c in range(t.n_parts)])
        return
    with nogil:
        for c in range(t.n_parts):
            if last:
                settle(t, c)
            else:
                fill(t, c)


def parts_of(Py_ssize_t N):
    """Number of parts of N rows."""
    return 1 if N < 1 << 15 else 2 if N < 1 << 17 else 4 if N < 1 << 19 else 8


def grow(const uint8_t[:, ::1] bins, const int[::1] n_bins, const uint8_t[::1] gaps, const uint8_t[::1] kinds,
         const int8_t[::1] signs, const int[::1] columns, uint16_t[::1] place,
         const uint16_t[::1] y, const double[::1] theta, const double[::1] counts, double[::1] H, const double[::1] w,
         bint plain, int depth, double least, double penalty, double flattest, double longest, double rate,
         int[::1] column, int[::1] bin, int[::1] child, uint8_t[::1] gaps_left, uint8_t[:, ::1] sets,
         double[::1] value, double[::1] gain, double[::1] weight, team):
    """Grow one tree of Newton steps and add it to the scores; return its number of nodes and the loss before.

    A node is split where G_l^2 / (V_l + penalty) + G_r^2 / (V_r + penalty) - G^2 / (V + penalty) is largest, with
    G and V the weighted sums of slopes and curvatures; if signs bound the values of its children, the gain uses these.
    Missing values go to the side with the larger gain, or to the right with all values on the left. Categories are
    sorted by G / (V + penalty) and cut [Fisher 1958]; missing is one of them. Codes that a node does not have go to the
    side with more rows. Among gains that differ by rounding the first is chosen: by column, missing values on the right
    before the left, and by bin.

    Parameters
    ----------
    bins : (D, N)
        Codes 0, ..., n_bins[d] - 1 of values; n_bins[d] if missing.
    n_bins : (D,)
    gaps : (D,)
        1 if the column has missing values, else 0.
    kinds : (D,)
        1 for categories, 0 for ordered codes.
    signs : (D,)
        1 if values must not fall with the code, -1 if they must not rise, else 0.
    columns : (F,) columns to choose from
    place : (N,) in and out
        In: 0 for rows to grow the tree on, else OUTSIDE. Out: the leaf, plus OUTSIDE for these others.
    y : (N,) codes
    theta : (K-1,) thresholds of the loss, the likelihood of the logit
    counts : (N,) weights of the rows in the loss; empty if all are 1
    H : (N,) in and out, scores
    w : (N,) weights for the tree; empty if all are 1
    plain : bool
        Whether there are neither categories nor missing values.
    depth : int
        Most splits on a path, at most 12.
    least, flattest : float
        Smallest sum of weights, and of curvatures, of a child.
    penalty : float
    longest : float
        Largest value of a leaf, before it is
    rate : float
        multiplied by this.
    column, bin, child : (S,) out, S at most 2^(depth + 1) - 1; 2 M - 1 are enough for M rows
        A row goes left if its code is at most `bin` or, for negative `bin`, in the set -1 - bin; column -1 is a leaf;
        the right child follows the left child.
    gaps_left : (S,) out
        1 if missing values go left.
    sets : (S // 2, 32) out, empty without categories
        Bit c % 8 of byte c // 8 is set if code c goes left.
    value, gain, weight : (S,) out
    team : callable(task, [arguments, ...]) or None
        Runs the parts of the rows in parallel; None runs them in turn.
    """
    cdef Growing growing = Growing()
    cdef Growth* t = &growing.tree
    cdef Py_ssize_t F = columns.shape[0], D = bins.shape[0], S = column.shape[0], d, most = 1
    cdef int c
    cdef double loss = 0.0
    require_lengths(
        n_bins.shape[0] == gaps.shape[0] == kinds.shape[0] == signs.shape[0] == D
        and (D == 0 or bins.shape[1] == place.shape[0]) and y.shape[0] == H.shape[0] == place.shape[0]
        and counts.shape[0] in (0, place.shape[0]) and w.shape[0] in (0, place.shape[0])
        and bin.shape[0] == child.shape[0] == gaps_left.shape[0] == S
        and value.shape[0] == gain.shape[0] == weight.shape[0] == S,
        "grow",
    )
    for d in range(D):
        most = max(most, n_bins[d] + gaps[d])
    t.N, t.F, t.stride, t.plain = place.shape[0], F, WIDTH * most, plain
    t.size = F * t.stride
    t.bins = &bins[0, 0] if D > 0 and t.N > 0 else NULL
    t.n_bins = &n_bins[0] if D > 0 else NULL
    t.gaps = &gaps[0] if D > 0 else NULL
    t.kinds = &kinds[0] if D > 0 else NULL
    t.signs = &signs[0] if D > 0 else NULL
    t.columns = &columns[0] if F > 0 else NULL
    t.place = &place[0]
    t.y, t.H = &y[0], &H[0]
    t.counts = &counts[0] if counts.shape[0] > 0 else NULL
    t.w = &w[0] if w.shape[0] > 0 else NULL
    t.penalty, t.least, t.flattest, t.tie = penalty, least, flattest, 1e-12
    t.longest, t.nodes, t.depth = longest, 1, depth
    t.column, t.bin, t.child, t.gaps_left = &column[0], &bin[0], &child[0], &gaps_left[0]
    t.sets = &sets[0, 0] if sets.shape[0] > 0 else NULL
    t.value, t.gain, t.weight = &value[0], &gain[0], &weight[0]
    t.n_parts = parts_of(t.N)
    # The deepest level of splits has at most 2^(depth - 1) nodes, and a tree at most (S + 1) / 2 leaves.
    t.slots = <int>min(min(<Py_ssize_t>1 << max(depth - 1, 0), (S + 1) // 2),
                       min(<Py_ssize_t>MOST_SLOTS, max(<Py_ssize_t>8, ROOM // (t.size + 1))))
    t.slots = max(t.slots, 1)
    t.last = t.next = t.fills = t.whole = 1
    if team is not None and t.n_parts > 1:
        growing.arrays = (bins, n_bins, gaps, kinds, signs, columns, place, y, theta, counts, H, w, column, bin, child,
                          gaps_left, sets, value, gain, weight)
    if not prepare(&t.logit, theta) or not room(t, S):
        raise MemoryError(f"the histograms of {F} columns at {t.slots} nodes do not fit into memory")
    t.slot_of_fill[0] = 0
    over(growing, False, team)
    with nogil:
        put_together(t)
        start(t)
        if depth > 0:
            divide_all(t)
    while depth > 0 and ask(t):
        PyErr_CheckSignals()
        over(growing, False, team)
        with nogil:
            put_together(t)
            divide_all(t)
    for d in range(t.nodes):
        value[d] *= rate
    over(growing, True, team)
    for c in range(t.n_parts):
        loss += t.parts[c].loss
    return t.nodes, loss


cdef inline bint left_of(const uint8_t* codes, double cut, bint gaps_left, double x) noexcept nogil:
    """Whether a value goes left: by a set of codes, or by a cut if that is NULL."""
    if codes == NULL:
        return x <= cut or (x != x and gaps_left)
    return holds(codes, <int>x) if 0.0 <= x < 256.0 else gaps_left


def add_trees(const double[:, ::1] X, const int[::1] roots, const int[::1] column, const double[::1] cut,
              const int[::1] set_of, const int[::1] child, const uint8_t[::1] gaps_left, const uint8_t[:, ::1] sets,
              const double[::1] value, bint plain, double[::1] scores):
    """Add the values of trees to the scores (N,) of rows X (N, D), one tree after another.

    Parameters
    ----------
    X : (N, D)
        NaN where a value is missing; codes in columns of categories.
    roots : (T,) first node of every tree
    column, cut, set_of, child, gaps_left, value : (M,) of all nodes
        A row goes left if x <= cut, or if its code is in the set number `set_of`, which is -1 for cuts of numbers; if
        its value is missing or an unknown code, it goes left if `gaps_left` is 1. Column -1 is a leaf; the right child
        follows the left child.
    sets : (S, 32) sets of codes
    plain : bool
        Whether there are neither categories nor missing values.
    scores : (N,) changed
    """
    cdef Py_ssize_t n, t, start, end, N = scores.shape[0], T = roots.shape[0]
    cdef double done = 0.0
    cdef int node, d
    cdef const uint8_t* codes
    require_lengths(
        X.shape[0] == N and cut.shape[0] == set_of.shape[0] == child.shape[0] == column.shape[0]
        and gaps_left.shape[0] == value.shape[0] == column.shape[0],
        "add_trees",
    )
    with nogil:
        # A block of rows stays in the cache while all trees are added.
        for start in range(0, N, 64):
            let_interrupt(&done, 64 * 10 * T)
            end = start + 64 if start + 64 < N else N
            for t in range(T):
                for n in range(start, end):
                    node = roots[t]
                    while column[node] >= 0:
                        d = column[node]
                        if plain:
                            node = child[node] + (X[n, d] > cut[node])
                        else:
                            codes = NULL if set_of[node] < 0 else &sets[set_of[node], 0]
                            node = child[node] + (not left_of(codes, cut[node], gaps_left[node], X[n, d]))
                    scores[n] += value[node]


def add_shapley(const uint8_t[:, ::1] left, const int[::1] conditions, const int[::1] node, const uint8_t[::1] side,
                const int[::1] place, const int[::1] players, const int[::1] player, const double[::1] share,
                const double[::1] value, const double[::1] points, const double[::1] weights,
                double[:, ::1] table, uint8_t[::1] known, double[:, ::1] phi):
    """Add the Shapley values of a tree to those of N rows.

    The path to leaf l has conditions at some nodes. With z_j the share of the training rows that satisfy the conditions
    of player j, and o_j whether the row does, player i gets value_l (o_i - z_i) times the integral
    over t from 0 to 1 of prod over j != i of (1 - t) z_j + t o_j.

    Parameters
    ----------
    left : (M, N) whether a row goes left at a node
    conditions : (L+1,) start of the conditions of each leaf
    node, side, place : (C,) of a condition: node, 1 for left, and index of its player in the leaf
    players : (L+1,) start of the players of each leaf
    player, share : (P,) column of `phi`, and z
    value : (L,)
    points, weights : (Q,) of a quadrature on [0, 1] that is exact for these polynomials
    table, known : (2^m, m), (2^m,) work, m the most players of a leaf
    phi : (N, G) changed
    """
    cdef Py_ssize_t L = value.shape[0], N = left.shape[1], Q = points.shape[0]
    cdef Py_ssize_t leaf, n, c, i, j, q, first, m, met
    cdef double product, total, t, done = 0.0
    require_lengths(
        conditions.shape[0] == players.shape[0] == L + 1 and side.shape[0] == place.shape[0] == node.shape[0]
        and share.shape[0] == player.shape[0] and weights.shape[0] == Q and phi.shape[0] == N
        and known.shape[0] >= table.shape[0],
        "add_shapley",
    )
    with nogil:
        for leaf in range(L):
            let_interrupt(&done, N * 10)
            first = players[leaf]
            m = players[leaf + 1] - first
            memset(&known[0], 0, <size_t> 1 << m)
            for n in range(N):
                # Rows that satisfy the conditions of the same players get the same values.
                met = (<Py_ssize_t> 1 << m) - 1
                for c in range(conditions[leaf], conditions[leaf + 1]):
                    if left[node[c], n] != side[c]:
                        met &= ~(<Py_ssize_t> 1 << place[c])
                if not known[met]:
                    known[met] = 1
                    let_interrupt(&done, m * m * Q)
                    for i in range(m):
                        total = 0.0
                        for q in range(Q):
                            t = points[q]
                            product = weights[q]
                            for j in range(m):
                                if j != i:
                                    product *= (1.0 - t) * share[first + j] + (t if met >> j & 1 else 0.0)
                            total += product
                        total *= (1.0 if met >> i & 1 else 0.0) - share[first + i]
                        table[met, i] = value[leaf] * total
                for i in range(m):
                    phi[n, player[first + i]] += table[met, i]


def logit_slopes(const uint16_t[::1] y, const double[::1] H, const double[::1] theta, const double[::1] w, double[::1] g,
                 double[::1] h):
    """Weighted sum of -log P(y_n) of the cumulative logit, and its first two derivatives by each H_n.

    With a = P(at most y) and b = P(below y), the slope is 1 - a - b and the curvature a (1 - a) + b (1 - b),
    without division by the probability a (1 - b) (1 - exp(theta_{y-1} - theta_y)).

    Parameters
    ----------
    y : (N,) codes 0..K-1
    H : (N,)
    theta : (K-1,) increasing
    w : (N,) weights; empty if all are 1
    g, h : (N,) out, unweighted; or empty
    """
    cdef Py_ssize_t n, N = y.shape[0]
    cdef bint sloped = g.shape[0] > 0, unit = w.shape[0] == 0
    cdef double p, product = 1.0, loss = 0.0
    cdef Thresholds t
    cdef Tails q
    require_lengths(
        H.shape[0] == N and w.shape[0] in (0, N) and g.shape[0] == h.shape[0] and g.shape[0] in (0, N),
        "logit_slopes",
    )
    if not prepare(&t, theta):
        raise MemoryError("the thresholds do not fit into memory")
    with nogil:
        for n in range(N):
            q = tails(&t, y[n], H[n])
            if sloped:
                g[n] = q.not_a - q.b
                h[n] = q.a * q.not_a + q.b * q.not_b
            p = q.a * q.not_b * t.wide[y[n]]
            if not unit and w[n] != 1.0:
                if w[n] > 0.0:
                    loss -= w[n] * (log(p) if p > TINY else log_p(&t, y[n], H[n]))
                continue
            # One logarithm for many rows.
            if p > TINY:
                product *= p
            else:
                loss -= log_p(&t, y[n], H[n])
            if product < TINY * TINY:
                loss -= log(product)
                product = 1.0
        free(t.odds)
    return loss - log(product)


def logit_thresholds(const uint16_t[::1] y, const double[::1] H, const double[::1] theta, const double[::1] w,
                     double[::1] gradient, double[::1] diagonal, double[::1] beside):
    """First and second derivatives of the same sum by the thresholds.

    Parameters
    ----------
    y, H, theta, w
        As in `logit_slopes`.
    gradient, diagonal : (K-1,) out
    beside : (K-1,) out
        Second derivatives by theta_{k-1} and theta_k; the first is 0.
    """
    cdef Py_ssize_t n, N = y.shape[0]
    cdef int k
    cdef double weight = 1.0, r, s
    cdef Thresholds t
    cdef Tails q
    require_lengths(
        H.shape[0] == N and w.shape[0] in (0, N)
        and gradient.shape[0] == diagonal.shape[0] == beside.shape[0] == theta.shape[0],
        "logit_thresholds",
    )
    if not prepare(&t, theta):
        raise MemoryError("the thresholds do not fit into memory")
    gradient[:] = 0.0
    diagonal[:] = 0.0
    beside[:] = 0.0
    with nogil:
        for n in range(N):
            k = y[n]
            if w.shape[0] > 0:
                weight = w[n]
                if weight == 0.0:
                    continue
            q = tails(&t, k, H[n])
            # Densities divided by the probability.
            r, s = q.not_a / (q.not_b * t.wide[k]), q.b / (q.a * t.wide[k])
            if k < t.Q:
                gradient[k] -= weight * r
                diagonal[k] += weight * (r * r - r * (q.not_a - q.a))
            if k > 0:
                gradient[k - 1] += weight * s
                diagonal[k - 1] += weight * (s * s + s * (q.not_b - q.b))
                if k < t.Q:
                    beside[k] -= weight * r * s
        free(t.odds)
