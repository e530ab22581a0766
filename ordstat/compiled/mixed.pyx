# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The likelihood of a cumulative model with one random effect a group integrated out: modes, value and gradient.

Formulas in solvers/likelihood/mixed/laplace.py and quadrature.py, those of a row in mixedrows.pxd. Values that these
plain forms are not made for (far tails, intervals of no width) are left to the general route: the pass answers NaN. Its NumPy twin is in tests/mixed/twins_mixed.py.
"""

from libc.math cimport INFINITY, NAN, exp, expm1, fabs, isinf, log, sqrt
from libc.stdlib cimport free, malloc

from ordstat.compiled.mixedrows cimport (
    CAUCHIT, CLOGLOG, FAR, HALF_LOG_2PI, LOGIT, PROBIT, Row, cauchit_row, cloglog_row, logit_row, mirror, probit_row
)

cdef enum:
    STEPS = 200

cdef double SMALL = 1e-22  # Newton's decrement of a mode that is known to half the digits
cdef double SQRT_2 = 1.41421356237309504880


cdef struct Group:
    # the rows of one group, and what all groups share
    int link
    bint common  # whether x is the same in all rows, so that one exp() serves the group
    Py_ssize_t first, last
    const double *u
    const double *lo
    const double *d
    const double *x  # z Lambda
    const double *s
    const double *w
    double *e_u  # of the logit exp(-u), exp(-lo), 1 - exp(-d)
    double *e_l
    double *D
    const Py_ssize_t *y  # where rows share their thresholds: levels, and the sums of derivatives by these; else NULL
    double *by_theta
    Py_ssize_t last_level
    double *kappa[4]  # total derivatives by theta_y, theta_{y-1}, H and tau; where rows share thresholds that by H alone


cdef inline bint _at(const Group *g, Py_ssize_t i, double v, double factor, Row *at) noexcept nogil:
    """Row i at the random effect v; `factor` is exp(x v) of a logit row."""
    cdef double move
    if g.link == LOGIT:
        logit_row(g.e_u[i] * factor, g.e_l[i] * factor, g.D[i], at)
        return True
    move = g.s[i] * g.x[i] * v
    if g.link == PROBIT:
        return probit_row(g.u[i] - move, g.lo[i] - move, g.d[i], at)
    if g.link == CLOGLOG:
        return cloglog_row(g.u[i] - move, g.lo[i] - move, g.d[i], at)
    if g.link == CAUCHIT:
        return cauchit_row(g.u[i] - move, g.lo[i] - move, g.d[i], at)
    if not cloglog_row(move - g.lo[i], move - g.u[i], g.d[i], at):
        return False
    mirror(at)
    return True


cdef inline double _factor(const Group *g, Py_ssize_t i, double v) noexcept nogil:
    """exp(x v), NaN where that is far out."""
    cdef double move = g.s[i] * g.x[i] * v
    return exp(move) if fabs(move) < FAR else NAN


cdef bint _mode(const Group *g, double *v, double *H, double *decrement) noexcept nogil:
    """Newton's method on h, inside the bracket that the signs of h' make; False where it fails."""
    cdef double low = -INFINITY, high = INFINITY, slope, total, positive, part, m, factor = 1.0, new
    cdef Py_ssize_t i
    cdef int step
    cdef Row at
    for step in range(STEPS):
        slope, total, positive = -v[0], 1.0, 1.0
        if g.link == LOGIT and g.common and g.first < g.last:
            factor = _factor(g, g.first, v[0])
        for i in range(g.first, g.last):
            if g.link == LOGIT and not g.common:
                factor = _factor(g, i, v[0])
            if not _at(g, i, v[0], factor, &at):
                return False
            m = g.s[i] * g.x[i]
            slope -= g.w[i] * m * at.c
            part = g.w[i] * m * m * at.W
            total += part
            positive += part if part > 0.0 else 0.0
        if not slope * slope >= 0.0 or not positive < INFINITY:
            return False
        decrement[0] = slope * slope / positive
        new = v[0] + slope / positive
        if decrement[0] <= SMALL or new == v[0]:
            H[0] = total
            return total > 0.0
        if slope > 0.0:
            low = v[0]
        else:
            high = v[0]
        if not (low < new and new < high):
            new = 0.5 * (low + high)
        v[0] = new
    return False


cdef bint _integrate(const Group *g, const double *z, double v, double H, const double *points, const double *logs,
                     Py_ssize_t Q, bint adaptive, double *room, double *loglik, double *by_sigma) noexcept nogil:
    """Add the log-likelihood of a group and its derivative by sigma; fill its rows of kappa.

    `room` holds 9 n_g + Q (3 n_g + 4) numbers: the terms of the rows at the mode, and at each node.
    """
    cdef Py_ssize_t n = g.last - g.first, i, k, j
    cdef double tau = sqrt(1.0 / H), factor = 1.0, total, share, pushed = 0.0, m_g = 1.0, q = 0.0, variance, t
    cdef double largest = -INFINITY, node, s, x, w, mean_a, mean_b, mean_c, mean_e, mean_v, u, lo, cubed, extra
    cdef double *here = room  # (n, 9)
    cdef double *there = room + 9 * n  # (Q, n, 3)
    cdef double *h = there + 3 * Q * n
    cdef double *slope = h + Q
    cdef double *nodes = slope + Q
    cdef double *posterior = nodes + Q
    cdef Row at
    total = -0.5 * v * v
    for k in range(n):
        i = g.first + k
        if g.link == LOGIT:
            factor = _factor(g, i, v) if not g.common or k == 0 else factor
        if not _at(g, i, v, factor, &at):
            return False
        if Q == 1:
            total += g.w[i] * (log(at.log_p) if g.link == LOGIT else at.log_p)
        here[9 * k], here[9 * k + 1], here[9 * k + 2], here[9 * k + 3] = at.a, at.b, at.c, at.W
        here[9 * k + 4], here[9 * k + 5], here[9 * k + 6], here[9 * k + 7] = at.r_u, at.r_l, at.W_u, at.W_l
    if Q == 1:
        loglik[0] += total + log(tau)
    else:
        for j in range(Q):
            node = v + SQRT_2 * tau * points[j] if adaptive else points[j]
            nodes[j], h[j], slope[j] = node, -0.5 * node * node, -node
            for k in range(n):
                i = g.first + k
                if g.link == LOGIT:
                    factor = _factor(g, i, node) if not g.common or k == 0 else factor
                if not _at(g, i, node, factor, &at):
                    return False
                h[j] += g.w[i] * (log(at.log_p) if g.link == LOGIT else at.log_p)
                slope[j] -= g.w[i] * g.s[i] * g.x[i] * at.c
                there[3 * (j * n + k)], there[3 * (j * n + k) + 1], there[3 * (j * n + k) + 2] = at.a, at.b, at.c
            largest = max(largest, h[j] + logs[j])
        total = 0.0
        for j in range(Q):
            posterior[j] = exp(h[j] + logs[j] - largest)
            total += posterior[j]
        extra = log(SQRT_2 * tau) if adaptive else 0.0
        loglik[0] += largest + log(total) + extra - HALF_LOG_2PI
        for j in range(Q):
            posterior[j] /= total
            if adaptive:
                pushed += posterior[j] * slope[j]
                m_g += SQRT_2 * tau * posterior[j] * points[j] * slope[j]
        if not adaptive:
            m_g = 0.0
    for k in range(n):
        i = g.first + k
        s, x = g.s[i], g.x[i]
        q += 0.5 * g.w[i] * x * (x * x / H * m_g) * s * s * s * (here[9 * k + 6] + here[9 * k + 7])
    q = (q + pushed) / H if adaptive or Q == 1 else 0.0
    for k in range(n):
        i = g.first + k
        s, x, w = g.s[i], g.x[i], g.w[i]
        at.a, at.b, at.c, at.W = here[9 * k], here[9 * k + 1], here[9 * k + 2], here[9 * k + 3]
        at.r_u, at.r_l, at.W_u, at.W_l = here[9 * k + 4], here[9 * k + 5], here[9 * k + 6], here[9 * k + 7]
        u = lo = 0.0
        if g.y == NULL:
            u = 0.0 if isinf(g.u[i]) else g.u[i] - s * x * v
            lo = 0.0 if isinf(g.lo[i]) else g.lo[i] - s * x * v
        if Q == 1:
            mean_a, mean_b, mean_c, mean_v = at.a, at.b, at.c, at.c * v
            mean_e = at.a * u - at.b * lo
        else:
            mean_a = mean_b = mean_c = mean_v = mean_e = 0.0
            for j in range(Q):
                share = posterior[j]
                mean_a += share * there[3 * (j * n + k)]
                mean_b += share * there[3 * (j * n + k) + 1]
                mean_c += share * there[3 * (j * n + k) + 2]
                mean_v += share * there[3 * (j * n + k) + 2] * nodes[j]
                if g.y != NULL:
                    continue
                if not isinf(g.u[i]):
                    mean_e += share * there[3 * (j * n + k)] * (g.u[i] - s * x * nodes[j])
                if not isinf(g.lo[i]):
                    mean_e -= share * there[3 * (j * n + k) + 1] * (g.lo[i] - s * x * nodes[j])
        variance, t, cubed = x * x / H * m_g, x * q, s * s * s
        mean_a = w * (s * mean_a - 0.5 * variance * cubed * at.W_u - t * s * s * at.r_u)
        mean_b = w * (-s * mean_b - 0.5 * variance * cubed * at.W_l - t * s * s * at.r_l)
        extra = 0.5 * variance * cubed * (at.W_u + at.W_l) - t * s * s * at.W
        g.kappa[2][i] = w * (-s * mean_c + extra)
        if g.y == NULL:
            g.kappa[0][i], g.kappa[1][i] = mean_a, mean_b
            g.kappa[3][i] = w * (-mean_e + 0.5 * variance * s * s * (2.0 * at.W + at.W_u * u + at.W_l * lo)
                               + t * s * (at.r_u * u + at.r_l * lo + at.c))
        else:
            if g.y[i] < g.last_level:
                g.by_theta[g.y[i]] += mean_a
            if g.y[i] > 0:
                g.by_theta[g.y[i] - 1] += mean_b
        by_sigma[0] += z[i] * w * (-s * mean_v + extra * v - s * s * at.W * x / H * m_g - s * at.c * q)
    return True


cdef inline bint _moved(int link, double u, double lo, double d, double move, Row *at) noexcept nogil:
    """A row whose score has moved, log p in the place of p; False where it is beyond these forms."""
    if link == LOGIT:
        if (not isinf(u) and fabs(u - move) > FAR) or (not isinf(lo) and fabs(lo - move) > FAR):
            return False
        logit_row(exp(move - u), exp(move - lo), -expm1(-d), at)
        at.log_p = log(at.log_p)
        return True
    if link == PROBIT:
        return probit_row(u - move, lo - move, d, at)
    if link == CLOGLOG:
        return cloglog_row(u - move, lo - move, d, at)
    if link == CAUCHIT:
        return cauchit_row(u - move, lo - move, d, at)
    if not cloglog_row(move - lo, move - u, d, at):
        return False
    mirror(at)
    return True


def full_terms(int link, const double[::1] u, const double[::1] lo, const double[::1] d, const double[::1] s,
               const double[::1] shift, double[:, ::1] out):
    """a, b, c, W, r_u, r_l, dW/du and dW/dlo of rows whose scores have moved by `shift`, into out (n, 8).

    False where a row is beyond these forms.
    """
    cdef Py_ssize_t i
    cdef bint fine = True
    cdef Row at
    with nogil:
        for i in range(u.shape[0]):
            fine = _moved(link, u[i], lo[i], d[i], s[i] * shift[i], &at)
            if not fine:
                break
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = at.a, at.b, at.c, at.W
            out[i, 4], out[i, 5], out[i, 6], out[i, 7] = at.r_u, at.r_l, at.W_u, at.W_l
    return fine


def logit_bases(const double[::1] u, const double[::1] lo, const double[::1] d, double[:, ::1] out):
    """exp(-u), exp(-lo) and 1 - exp(-d) of rows, into out (3, n); False where an end is far out."""
    cdef Py_ssize_t i
    cdef bint fine = True
    with nogil:
        for i in range(u.shape[0]):
            if (not isinf(u[i]) and fabs(u[i]) > 0.5 * FAR) or (not isinf(lo[i]) and fabs(lo[i]) > 0.5 * FAR):
                fine = False
                break
            out[0, i], out[1, i], out[2, i] = exp(-u[i]), exp(-lo[i]), -expm1(-d[i])
    return fine


def location_terms(int link, const double[::1] u, const double[::1] lo, const double[::1] d, const double[::1] s,
                   const double[::1] shift, double[::1] log_p, double[::1] score, double[::1] curvature,
                   const double[:, ::1] bases=None):
    """The log-probability of rows whose scores have moved by `shift`, its derivative by H and its negative second one.

    u, lo and d as in `integrate_scalar`; `bases` are those of `logit_bases`, where they are at hand. False where a row
    is beyond these forms.
    """
    cdef Py_ssize_t i
    cdef bint fine = True
    cdef double moved
    cdef Row at
    with nogil:
        for i in range(u.shape[0]):
            if bases is None:
                fine = _moved(link, u[i], lo[i], d[i], s[i] * shift[i], &at)
            else:
                fine = fabs(s[i] * shift[i]) < 0.5 * FAR
                moved = exp(s[i] * shift[i])
                logit_row(bases[0, i] * moved, bases[1, i] * moved, bases[2, i], &at)
                at.log_p = log(at.log_p)
            if not fine:
                break
            log_p[i], score[i], curvature[i] = at.log_p, -s[i] * at.c, s[i] * s[i] * at.W
    return fine


cdef bint _walk(Group *g, const Py_ssize_t[::1] starts, const double *z, const double[::1] points,
                const double[::1] logs, bint adaptive, double[::1] v, double[::1] H, double *room, double *found
                ) noexcept nogil:
    """Log-likelihood, derivative by sigma and worst decrement of all groups into `found`; False where one fails."""
    cdef Py_ssize_t k
    cdef double decrement
    found[0] = found[1] = found[2] = 0.0
    for k in range(v.shape[0]):
        g.first, g.last = starts[k], starts[k + 1]
        if not _mode(g, &v[k], &H[k], &decrement):
            return False
        found[2] = max(found[2], decrement)
        if not _integrate(g, z, v[k], H[k], &points[0], &logs[0], points.shape[0], adaptive, room, found, found + 1):
            return False
    return True


cdef Py_ssize_t _room(const Py_ssize_t[::1] starts, Py_ssize_t Q) noexcept nogil:
    """How many numbers `_integrate` needs for the largest group."""
    cdef Py_ssize_t k, largest = 0
    for k in range(starts.shape[0] - 1):
        largest = max(largest, starts[k + 1] - starts[k])
    return 9 * largest + Q * (3 * largest + 4) + 1


def integrate_scalar(int link, bint common, const Py_ssize_t[::1] starts, const double[::1] u, const double[::1] lo,
                     const double[::1] d, const double[::1] x, const double[::1] z, const double[::1] s,
                     const double[::1] w, const double[::1] points, const double[::1] logs, bint adaptive,
                     double[::1] v, double[::1] H, double[:, ::1] kappa):
    """Log-likelihood with one random effect a group integrated out, its derivative by sigma, and the worst decrement.

    Rows are in order of their groups, group g from starts[g] to starts[g + 1]; u, lo, d are the ends of their intervals
    without random effects and the widths, x = sigma z the column of the effect, s the inverse scale, w the weights. The
    Q nodes and their logarithms of weights are those of quadrature.py; Q = 1 is Laplace's approximation. Moves v (G,)
    to the modes, fills H (G,) and kappa (4, n), total derivatives by theta_y, theta_{y-1}, H and tau. NaN where a row
    or a mode is beyond these forms.
    """
    cdef Py_ssize_t n = x.shape[0], i, size = _room(starts, points.shape[0])
    cdef double[3] found
    cdef bint fine = True
    cdef Group g
    cdef double *room = <double *>malloc(<size_t>(size + (3 * n if link == LOGIT else 0)) * sizeof(double))
    if room == NULL:
        raise MemoryError()
    g.link, g.common, g.y = link, common, NULL
    g.u, g.lo, g.d, g.x, g.s, g.w = &u[0], &lo[0], &d[0], &x[0], &s[0], &w[0]
    g.e_u, g.e_l, g.D = room + size, room + size + n, room + size + 2 * n
    for i in range(4):
        g.kappa[i] = &kappa[i, 0]
    with nogil:
        if link == LOGIT:
            for i in range(n):
                if (not isinf(u[i]) and fabs(u[i]) > FAR) or (not isinf(lo[i]) and fabs(lo[i]) > FAR):
                    fine = False
                    break
                g.e_u[i], g.e_l[i], g.D[i] = exp(-u[i]), exp(-lo[i]), -expm1(-d[i])
        fine = fine and _walk(&g, starts, &z[0], points, logs, adaptive, v, H, room, found)
    free(room)
    if not fine:
        return NAN, NAN, NAN
    return found[0], found[1], found[2]


def integrate_shared(bint common, const Py_ssize_t[::1] starts, const double[::1] theta, const double[::1] score,
                     const Py_ssize_t[::1] y, double sigma, const double[::1] z, const double[::1] ones,
                     const double[::1] w, const double[::1] points, const double[::1] logs, bint adaptive,
                     double[::1] v, double[::1] H, double[::1] by_score, double[::1] by_theta):
    """`integrate_scalar` of a logit whose rows share their thresholds theta (K-1,), and have no scale but `ones` (n,).

    `score` (n,) are the scores without random effects, y (n,) the levels. Fills by_score (n,) and by_theta (K-1,), total
    derivatives by these. NaN also where thresholds are not in order.
    """
    cdef Py_ssize_t n = z.shape[0], m = theta.shape[0], i, k, size = _room(starts, points.shape[0])
    cdef double[3] found
    cdef double grown
    cdef bint fine = True
    cdef Group g
    cdef double *room = <double *>malloc(<size_t>(size + 4 * n + 3 * (m + 1)) * sizeof(double))
    if room == NULL:
        raise MemoryError()
    cdef double *x = room + size
    cdef double *above = x + 4 * n  # exp(-theta_y), exp(-theta_{y-1}) and 1 - exp(-d) by level
    cdef double *below = above + m + 1
    cdef double *width = below + m + 1
    g.link, g.common, g.y, g.by_theta, g.last_level = LOGIT, common, &y[0], &by_theta[0], m
    g.x, g.s, g.w, g.kappa[2] = x, &ones[0], &w[0], &by_score[0]
    g.e_u, g.e_l, g.D = x + n, x + 2 * n, x + 3 * n
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
            grown, x[i] = exp(score[i]), sigma * z[i]
            g.e_u[i], g.e_l[i], g.D[i] = above[y[i]] * grown, below[y[i]] * grown, width[y[i]]
        fine = fine and _walk(&g, starts, &z[0], points, logs, adaptive, v, H, room, found)
    free(room)
    if not fine:
        return NAN, NAN, NAN
    return found[0], found[1], found[2]
