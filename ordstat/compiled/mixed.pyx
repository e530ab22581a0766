# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rows of logit and probit models with random effects, and a logit with one effect per group integrated out.

Formulas are in ordstat/mixed/integral.py, for single rows in mixedrows.pxd. NaN or False mean that values are outside
the range of these formulas (far tails, intervals without width): the caller then uses the general route. The NumPy
twins are in tests/mixed/twins_mixed.py.
"""

from libc.math cimport exp, expm1, fabs, INFINITY, isinf, log, NAN, sqrt
from libc.stdlib cimport free, malloc
from ordstat.compiled.mixedrows cimport FAR, HALF_LOG_2PI, LOGIT, logit_row, probit_row, Row
from ordstat.compiled.signals cimport let_interrupt, require_lengths


cdef enum:
    STEPS = 200

cdef double SMALL = 1e-22  # Newton decrement of a mode that is exact to half the digits
cdef double SQRT_2 = 1.41421356237309504880


cdef struct Group:
    # rows of one group, and values shared by all groups
    bint common  # whether x is the same in all rows, so that one exp() is enough for the group
    Py_ssize_t first, last
    const double *z
    const double *w
    double *x  # z sigma
    double *e_u  # exp(-u), exp(-lo), 1 - exp(-d)
    double *e_l
    double *D
    const Py_ssize_t *y
    Py_ssize_t last_level
    double *by_theta  # total derivatives by the thresholds and by the scores
    double *by_score


cdef inline void _at(const Group *g, Py_ssize_t i, double factor, Row *at) noexcept nogil:
    """Row i at a random effect v; `factor` is exp(x v)."""
    logit_row(g.e_u[i] * factor, g.e_l[i] * factor, g.D[i], at)


cdef inline double _factor(const Group *g, Py_ssize_t i, double v, double factor) noexcept nogil:
    """exp(x v), NaN if it is too large; the value of the group if x is the same in all rows."""
    if g.common and i > g.first:
        return factor
    return exp(g.x[i] * v) if fabs(g.x[i] * v) < FAR else NAN


cdef bint _mode(const Group *g, double *v, double *H, double *decrement) noexcept nogil:
    """Newton's method on h, inside a bracket from the signs of h'; False if it fails."""
    cdef double low = -INFINITY, high = INFINITY, slope, total, factor, new
    cdef Py_ssize_t i
    cdef int step
    cdef Row at
    for step in range(STEPS):
        slope, total, factor = -v[0], 1.0, 1.0
        for i in range(g.first, g.last):
            factor = _factor(g, i, v[0], factor)
            _at(g, i, factor, &at)
            slope -= g.w[i] * g.x[i] * at.c
            total += g.w[i] * g.x[i] * g.x[i] * at.W
        if not slope * slope >= 0.0 or not total < INFINITY:
            return False
        decrement[0] = slope * slope / total
        new = v[0] + slope / total
        if decrement[0] <= SMALL or new == v[0]:
            H[0] = total
            return True
        if slope > 0.0:
            low = v[0]
        else:
            high = v[0]
        if not (low < new and new < high):
            new = 0.5 * (low + high)
        v[0] = new
    return False


cdef void _integrate(Group *g, double v, double H, const double *points, const double *logs, Py_ssize_t Q, Row *here,
                     double *loglik, double *by_sigma) noexcept nogil:
    """Add the log-likelihood of a group and its derivatives.

    `here` has room for the n_g rows at the mode, followed by Q (3 n_g + 4) numbers of the nodes.
    """
    cdef Py_ssize_t n = g.last - g.first, i, k, j
    cdef double tau = sqrt(1.0 / H), factor = 1.0, total = -0.5 * v * v, pushed = 0.0, m_g = 1.0, q = 0.0, largest
    cdef double x, w, a, b, c, by_v, variance, t, extra
    cdef double *node_rows = <double *>(here + n)  # (Q, n, 3)
    cdef double *h = node_rows + 3 * Q * n
    cdef double *slope = h + Q
    cdef double *nodes = slope + Q
    cdef double *posterior = nodes + Q
    cdef double *row
    cdef Row at
    for k in range(n):
        factor = _factor(g, g.first + k, v, factor)
        _at(g, g.first + k, factor, &here[k])
        if Q == 1:
            total += g.w[g.first + k] * log(here[k].log_p)
    if Q == 1:
        loglik[0] += total + log(tau)
    else:
        largest = -INFINITY
        for j in range(Q):
            nodes[j] = v + SQRT_2 * tau * points[j]
            h[j], slope[j] = -0.5 * nodes[j] * nodes[j], -nodes[j]
            for k in range(n):
                i, row = g.first + k, node_rows + 3 * (j * n + k)
                factor = _factor(g, i, nodes[j], factor)
                _at(g, i, factor, &at)
                h[j] += g.w[i] * log(at.log_p)
                slope[j] -= g.w[i] * g.x[i] * at.c
                row[0], row[1], row[2] = at.a, at.b, at.c
            largest = max(largest, h[j] + logs[j])
        total = 0.0
        for j in range(Q):
            posterior[j] = exp(h[j] + logs[j] - largest)
            total += posterior[j]
        loglik[0] += largest + log(total) + log(SQRT_2 * tau) - HALF_LOG_2PI
        for j in range(Q):
            posterior[j] /= total
            pushed += posterior[j] * slope[j]
            m_g += SQRT_2 * tau * posterior[j] * points[j] * slope[j]
    for k in range(n):
        x = g.x[g.first + k]
        q += 0.5 * g.w[g.first + k] * x * (x * x / H * m_g) * (here[k].W_u + here[k].W_l)
    q = (q + pushed) / H
    for k in range(n):
        i = g.first + k
        x, w, at = g.x[i], g.w[i], here[k]
        if Q == 1:
            a, b, c, by_v = at.a, at.b, at.c, at.c * v
        else:
            a = b = c = by_v = 0.0
            for j in range(Q):
                row = node_rows + 3 * (j * n + k)
                a += posterior[j] * row[0]
                b += posterior[j] * row[1]
                c += posterior[j] * row[2]
                by_v += posterior[j] * row[2] * nodes[j]
        variance, t = x * x / H * m_g, x * q
        extra = 0.5 * variance * (at.W_u + at.W_l) - t * at.W
        g.by_score[i] = w * (extra - c)
        if g.y[i] < g.last_level:
            g.by_theta[g.y[i]] += w * (a - 0.5 * variance * at.W_u - t * at.r_u)
        if g.y[i] > 0:
            g.by_theta[g.y[i] - 1] += w * (-b - 0.5 * variance * at.W_l - t * at.r_l)
        by_sigma[0] += g.z[i] * w * (-by_v + extra * v - at.W * x / H * m_g - at.c * q)


def integrate_logit(bint common, const Py_ssize_t[::1] starts, const double[::1] theta, const double[::1] score,
                    const Py_ssize_t[::1] y, double sigma, const double[::1] z, const double[::1] w,
                    const double[::1] points, const double[::1] logs, double[::1] v, double[::1] H,
                    double[::1] by_score, double[::1] by_theta):
    """Log-likelihood of a logit with one random effect per group integrated out, its derivative by sigma, and the largest
    decrement of a mode.

    Rows are sorted by group, group g from starts[g] to starts[g + 1], and share the thresholds theta (K-1,); `score`
    (n,) are scores without random effects, y (n,) levels, z (n,) the column of the effect, w weights. The Q nodes and
    log weights are those of integral.py; Q = 1 is Laplace's approximation. Moves v (G,) to the modes, and fills H (G,)
    and total derivatives by_score (n,) and by_theta (K-1,). NaN if a row or a mode is out of range, or thresholds are
    not in order.
    """
    cdef Py_ssize_t n = z.shape[0], m = theta.shape[0], Q = points.shape[0], i, k, longest = 0
    cdef double loglik = 0.0, by_sigma = 0.0, worst = 0.0, done = 0.0, decrement, grown
    cdef bint fine = True
    cdef Group g
    require_lengths(
        starts.shape[0] == v.shape[0] + 1 and H.shape[0] == v.shape[0] and logs.shape[0] == Q
        and score.shape[0] == y.shape[0] == w.shape[0] == by_score.shape[0] == n and by_theta.shape[0] == m,
        "integrate_logit",
    )
    for k in range(v.shape[0]):
        longest = max(longest, starts[k + 1] - starts[k])
    cdef Row *here = <Row *>malloc(<size_t>longest * sizeof(Row) + <size_t>(
        Q * (3 * longest + 4) + 4 * n + 3 * (m + 1)) * sizeof(double))
    if here == NULL:
        raise MemoryError()
    g.x = <double *>(here + longest) + Q * (3 * longest + 4)
    g.e_u, g.e_l, g.D = g.x + n, g.x + 2 * n, g.x + 3 * n
    cdef double *above = g.x + 4 * n  # exp(-theta_y), exp(-theta_{y-1}) and 1 - exp(-d) by level
    cdef double *below = above + m + 1
    cdef double *width = below + m + 1
    g.common, g.y, g.last_level, g.z, g.w = common, &y[0], m, &z[0], &w[0]
    g.by_theta, g.by_score = &by_theta[0], &by_score[0]
    try:
        with nogil:
            above[m], below[0], width[0], width[m] = 0.0, INFINITY, 1.0, 1.0
            for k in range(m):
                fine = fine and fabs(theta[k]) <= 0.5 * FAR and (k == 0 or theta[k - 1] < theta[k])
                by_theta[k] = 0.0
                above[k] = below[k + 1] = exp(-theta[k])
                if k > 0:
                    width[k] = -expm1(theta[k - 1] - theta[k])
            for i in range(n):
                if not fabs(score[i]) <= 0.5 * FAR:
                    fine = False
                    break
                grown, g.x[i] = exp(score[i]), sigma * z[i]
                g.e_u[i], g.e_l[i], g.D[i] = above[y[i]] * grown, below[y[i]] * grown, width[y[i]]
            for k in range(v.shape[0]):
                g.first, g.last = starts[k], starts[k + 1]
                let_interrupt(&done, 100 * (Q + 5) * (g.last - g.first))
                fine = fine and _mode(&g, &v[k], &H[k], &decrement)
                if not fine:
                    break
                worst = max(worst, decrement)
                _integrate(&g, v[k], H[k], &points[0], &logs[0], Q, here, &loglik, &by_sigma)
    finally:
        free(here)
    if not fine:
        return NAN, NAN, NAN
    return loglik, by_sigma, worst


cdef inline bint _moved(int link, double u, double lo, double d, double move, Row *at) noexcept nogil:
    """Terms of a row with a moved score, with log p instead of p; False if it is too far out."""
    if link != LOGIT:
        return probit_row(u - move, lo - move, d, at)
    if (not isinf(u) and fabs(u - move) > FAR) or (not isinf(lo) and fabs(lo - move) > FAR):
        return False
    logit_row(exp(move - u), exp(move - lo), -expm1(-d), at)
    at.log_p = log(at.log_p)
    return True


def location_terms(int link, const double[::1] u, const double[::1] lo, const double[::1] d, const double[::1] s,
                   const double[::1] shift, double[::1] log_p, double[::1] score, double[::1] curvature):
    """Log-probability of rows with scores moved by `shift`, its derivative by H and its negative second derivative.

    u, lo, d are the ends and widths of their intervals, s the inverse scale. False if a row is out of range.
    """
    cdef Py_ssize_t i
    cdef bint fine = True
    cdef Row at
    require_lengths(
        lo.shape[0] == d.shape[0] == s.shape[0] == shift.shape[0] == u.shape[0]
        and log_p.shape[0] == score.shape[0] == curvature.shape[0] == u.shape[0],
        "location_terms",
    )
    with nogil:
        for i in range(u.shape[0]):
            fine = _moved(link, u[i], lo[i], d[i], s[i] * shift[i], &at)
            if not fine:
                break
            log_p[i], score[i], curvature[i] = at.log_p, -s[i] * at.c, s[i] * s[i] * at.W
    return fine


def schur_complement(const Py_ssize_t[::1] starts, const Py_ssize_t[::1] columns, const double[::1] B,
                     const double[::1] V, double[:, ::1] S):
    """Subtract B'V, sparse matrices with the same entries, from the lower triangle of S (R, R).

    Entries of row g of both are starts[g] to starts[g + 1], with increasing `columns`.
    """
    cdef Py_ssize_t g, i, j
    cdef double entry, done = 0.0
    require_lengths(B.shape[0] == V.shape[0] == columns.shape[0], "schur_complement")
    with nogil:
        for g in range(starts.shape[0] - 1):
            let_interrupt(&done, <double> (starts[g + 1] - starts[g]) * (starts[g + 1] - starts[g]))
            for i in range(starts[g], starts[g + 1]):
                entry = B[i]
                for j in range(starts[g], i + 1):
                    S[columns[i], columns[j]] -= entry * V[j]


def coupled(const Py_ssize_t[::1] starts, const Py_ssize_t[::1] columns, const double[::1] V, const double[:, ::1] P,
            double[::1] out):
    """The entries of V P, P (R, R) symmetric, at the entries of the sparse V; see `schur_complement`."""
    cdef Py_ssize_t g, i, j
    cdef double total, done = 0.0
    require_lengths(out.shape[0] == V.shape[0] == columns.shape[0], "coupled")
    with nogil:
        for g in range(starts.shape[0] - 1):
            let_interrupt(&done, 10.0 * (starts[g + 1] - starts[g]) * (starts[g + 1] - starts[g]))
            for i in range(starts[g], starts[g + 1]):
                total = 0.0
                for j in range(starts[g], starts[g + 1]):
                    total += V[j] * P[columns[i], columns[j]]
                out[i] = total
