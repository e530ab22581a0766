/* Log-probabilities of intervals of the latent distribution and their derivatives, for the rows of a chunk.

   With u = eta_y, lo = eta_{y-1}, d = u - lo, p = F(u) - F(lo) and h = log p: a = dh/du, b = -dh/dlo, c = a - b,
   r_u = dc/du, r_l = dc/dlo, W = -(r_u + r_l), h_ul = d2h/(du dlo). If a level has no upper end, u = lo; if it has no
   lower end, lo = u; then d = 0. */
#ifndef ORDSTAT_INTERVAL_ROWS_H
#define ORDSTAT_INTERVAL_ROWS_H

#include "vector_math.h"

enum { ORDSTAT_ROOM = 256 }; /* rows of a chunk */

typedef double OrdstatColumn[ORDSTAT_ROOM];

/* One number per row, 0 beyond the last row except in the ends. has_u and has_l are 1 if a row has an upper or lower
   end, else 0. */
typedef struct {
    OrdstatColumn u, lo, d, s, v, has_u, has_l;
    OrdstatColumn log_p, a, b, c, W, r_u, r_l, h_ul;
    OrdstatColumn score[4];  /* by theta_y, theta_{y-1}, H, tau */
    OrdstatColumn curve[10]; /* negative derivatives of the score, upper triangle by rows */
    double loglik; /* sum of v log_p */
} OrdstatChunk;

/* For each level of each pattern of nominal columns: its thresholds, the width between them, whether it has an upper and
   a lower threshold, and for the logit exp(-theta_y), exp(theta_{y-1}) and 1 / (exp(width) - 1), 0 if missing. */
typedef struct {
    double *high, *low, *width, *has_u, *has_l, *exp_u, *exp_l, *gap;
} OrdstatLevels;

/* exp(-u), exp(lo) and 1 / (exp(d) - 1) of logit rows on one scale, from those of their levels and H. */
ORDSTAT_INLINE void logit_levels_body(int n, const ptrdiff_t *ORDSTAT_RESTRICT place, const double *ORDSTAT_RESTRICT H,
                                      const OrdstatLevels *levels, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        ptrdiff_t k = place[i];
        at->a[i] = levels->exp_u[k];
        at->b[i] = levels->exp_l[k];
        at->h_ul[i] = levels->gap[k];
    }
    for (int i = 0; i < n; i++) {
        double e = ordstat_exp(H[i]);
        at->a[i] *= e;
        at->b[i] /= e;
    }
}
ORDSTAT_TWICE(logit_levels,
              (int n, const ptrdiff_t *ORDSTAT_RESTRICT place, const double *ORDSTAT_RESTRICT H,
               const OrdstatLevels *levels, OrdstatChunk *ORDSTAT_RESTRICT at),
              (n, place, H, levels, at))

/* The same for any rows, from their ends. */
ORDSTAT_INLINE void logit_ends_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double both = at->has_u[i] * at->has_l[i], d = at->d[i] + (1.0 - both), e_d;
        at->a[i] = at->has_u[i] * ordstat_exp(-at->u[i]);
        at->b[i] = at->has_l[i] * ordstat_exp(at->lo[i]);
        at->h_ul[i] = both / ordstat_expm1(d < 700.0 ? d : 700.0, &e_d);
    }
}
ORDSTAT_TWICE(logit_ends, (int n, OrdstatChunk *at), (n, at))

/* Logistic distribution, from the results of `logit_levels` or `logit_ends`, without cancellation. */
ORDSTAT_INLINE void logit_intervals_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double e_u = at->a[i], e_l = at->b[i], g = at->h_ul[i], upper = 1.0 + e_u, lower = 1.0 + e_l;
        double both = upper * lower, inverse = 1.0 / both, above = e_u * lower * inverse, below = e_l * upper * inverse;
        double f_u = above * lower * inverse, f_l = below * upper * inverse;
        at->log_p[i] = -ordstat_log((1.0 + g) * both);
        at->a[i] = above + g;
        at->b[i] = below + g;
        at->c[i] = above - below;
        at->r_u[i] = -f_u;
        at->r_l[i] = -f_l;
        at->W[i] = f_u + f_l;
        at->h_ul[i] = g * (1.0 + g);
    }
}
ORDSTAT_TWICE(logit_intervals, (int n, OrdstatChunk *at), (n, at))

/* Normal distribution from p, which is in W. */
ORDSTAT_INLINE void probit_slopes_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    const double peak = 0.39894228040143267794;
    for (int i = 0; i < n; i++) {
        double u = at->u[i], lo = at->lo[i], by = peak / at->W[i];
        double a = at->has_u[i] * ordstat_exp(-0.5 * u * u) * by, b = at->has_l[i] * ordstat_exp(-0.5 * lo * lo) * by;
        double c = a - b;
        at->log_p[i] = ordstat_log(at->W[i]);
        at->a[i] = a;
        at->b[i] = b;
        at->c[i] = c;
        at->r_u[i] = -a * (u + c);
        at->r_l[i] = b * (lo + c);
        at->W[i] = a * (u + c) - b * (lo + c);
        at->h_ul[i] = a * b;
    }
}
ORDSTAT_TWICE(probit_slopes, (int n, OrdstatChunk *at), (n, at))

/* Normal distribution: differences in the smaller tail. Ends up to 6, d >= 0.1. */
static void probit_intervals(int n, OrdstatChunk *at) {
    const double root_half = 0.70710678118654752440;
    for (int i = 0; i < n; i++) {
        double u = at->u[i] * root_half, lo = at->lo[i] * root_half;
        if (at->has_l[i] == 0.0) at->W[i] = 0.5 * erfc(-u);
        else if (at->has_u[i] == 0.0) at->W[i] = 0.5 * erfc(lo);
        else if (u + lo <= 0.0) at->W[i] = 0.5 * (erfc(-u) - erfc(-lo));
        else at->W[i] = 0.5 * (erfc(lo) - erfc(u));
    }
    probit_slopes(n, at);
}

/* log p, a, b, c and the terms derived from them, from S = (log f)' at both ends and S(lo) - S(u). No digits are lost
   if S(u), S(lo) and c nearly agree. */
ORDSTAT_INLINE void ordstat_assemble(int i, double log_p, double a, double b, double c, double s_u, double s_l,
                                     double gap, OrdstatChunk *ORDSTAT_RESTRICT at) {
    at->log_p[i] = log_p;
    at->a[i] = a;
    at->b[i] = b;
    at->c[i] = c;
    at->r_u[i] = a * (s_u - c);
    at->r_l[i] = -b * (s_l - c);
    at->W[i] = a != 0.0 ? b * gap - c * (s_u - c) : b * (s_l - c);
    at->h_ul[i] = a * b;
}

/* F(t) = 1 - exp(-exp(t)), or with `flip` its mirror image. Ends up to 30, d >= 1e-3. */
ORDSTAT_INLINE void cloglog_intervals_body(int n, int flip, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double has_u = flip ? at->has_l[i] : at->has_u[i], has_l = flip ? at->has_u[i] : at->has_l[i];
        double e_u = ordstat_exp(flip ? -at->lo[i] : at->u[i]), e_l = has_l * ordstat_exp(flip ? -at->u[i] : at->lo[i]);
        double e, share = -ordstat_expm1(-at->d[i], &e), mass = e_u * (has_u * has_l > 0.0 ? share : 1.0);
        double rise = -ordstat_expm1(-(mass < 700.0 ? mass : 700.0), &e);
        rise = has_u > 0.0 ? rise : 1.0; /* p = exp(-e_l) rise */
        ordstat_assemble(i, ordstat_log(rise) - e_l, has_u * e_u * e / rise, e_l / rise, has_u * mass * e / rise - e_l,
                         1.0 - e_u, 1.0 - e_l, mass, at);
    }
    for (int i = 0; flip && i < n; i++) {
        double a = at->a[i], r_u = at->r_u[i];
        at->a[i] = at->b[i], at->b[i] = a, at->c[i] = -at->c[i];
        at->r_u[i] = at->r_l[i], at->r_l[i] = r_u;
    }
}
ORDSTAT_TWICE(cloglog_intervals, (int n, int flip, OrdstatChunk *at), (n, flip, at))

/* Cauchy distribution: pi p = atan2(d, 1 + u lo). Ends up to 1e6, d >= 1e-3. */
static void cauchit_intervals(int n, OrdstatChunk *at) {
    for (int i = 0; i < n; i++) {
        double has_u = at->has_u[i], has_l = at->has_l[i], u = at->u[i], lo = at->lo[i], d = at->d[i];
        double q_u = 1.0 + u * u, q_l = 1.0 + lo * lo, mass, a, b, c, gap = 0.0;
        if (has_l == 0.0) mass = atan2(1.0, -u);
        else if (has_u == 0.0) mass = atan2(1.0, lo);
        else mass = atan2(d, 1.0 + u * lo);
        a = has_u / (mass * q_u), b = has_l / (mass * q_l), c = a - b;
        if (has_u * has_l > 0.0) {
            c = -(u + lo) * (d / q_u) / (mass * q_l);
            gap = 2.0 * d * ((1.0 - u * lo) / q_u) / q_l;
        }
        ordstat_assemble(i, log(mass / 3.14159265358979323846), a, b, c, -2.0 * u / q_u, -2.0 * lo / q_l, gap, at);
    }
}

/* The log-likelihood, scores of the rows and, with `second`, their curvature, times the case weights v; with `scaled`
   also terms of the log scale. Formulas in likelihood/family.py. */
ORDSTAT_INLINE void interval_terms_body(int n, int second, int scaled, OrdstatChunk *ORDSTAT_RESTRICT at) {
    double part[4] = {0.0, 0.0, 0.0, 0.0}; /* sums side by side */
    for (int i = 0; i < (n & ~3); i += 4)
        for (int j = 0; j < 4; j++) part[j] += at->v[i + j] * at->log_p[i + j];
    for (int i = n & ~3; i < n; i++) part[0] += at->v[i] * at->log_p[i];
    at->loglik = (part[0] + part[1]) + (part[2] + part[3]);
    for (int i = 0; i < n; i++) {
        double s = at->v[i] * at->s[i];
        at->score[0][i] = s * at->a[i];
        at->score[1][i] = -s * at->b[i];
        at->score[2][i] = -s * at->c[i];
    }
    if (second)
        for (int i = 0; i < n; i++) {
            double ss = at->v[i] * at->s[i] * at->s[i], h_ul = at->h_ul[i];
            at->curve[0][i] = -ss * (at->r_u[i] - h_ul);
            at->curve[1][i] = -ss * h_ul;
            at->curve[2][i] = ss * at->r_u[i];
            at->curve[4][i] = -ss * (at->r_l[i] - h_ul);
            at->curve[5][i] = ss * at->r_l[i];
            at->curve[7][i] = ss * at->W[i];
        }
    if (scaled)
        for (int i = 0; i < n; i++) {
            double v = at->v[i], s = v * at->s[i], u = at->u[i], lo = at->lo[i], d = at->d[i];
            double hd = at->h_ul[i] * d, up = at->r_u[i] * u, low = at->r_l[i] * lo;
            at->score[3][i] = -v * (at->c[i] * u + at->b[i] * d);
            at->curve[3][i] = s * (up - hd + at->a[i]);
            at->curve[6][i] = s * (low + hd - at->b[i]);
            at->curve[8][i] = -s * (up + low + at->c[i]);
            at->curve[9][i] = at->score[3][i] - v * (up * u + low * lo - hd * d);
        }
}
ORDSTAT_TWICE(interval_terms, (int n, int second, int scaled, OrdstatChunk *at), (n, second, scaled, at))

/* s = exp(-tau), |tau| <= 700. */
ORDSTAT_INLINE void interval_scales_body(int n, const double *ORDSTAT_RESTRICT tau, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double size = fabs(tau[i]) < 700.0 ? fabs(tau[i]) : 700.0;
        at->s[i] = ordstat_exp(tau[i] > 0.0 ? -size : size);
    }
}
ORDSTAT_TWICE(interval_scales, (int n, const double *tau, OrdstatChunk *at), (n, tau, at))

/* Scaled ends of the rows, from H and the index of each row's level. */
ORDSTAT_INLINE void interval_ends_body(int n, const ptrdiff_t *ORDSTAT_RESTRICT place, const double *ORDSTAT_RESTRICT H,
                                       const OrdstatLevels *levels, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        ptrdiff_t k = place[i];
        at->u[i] = levels->high[k];
        at->lo[i] = levels->low[k];
        at->d[i] = levels->width[k];
        at->has_u[i] = levels->has_u[k];
        at->has_l[i] = levels->has_l[k];
    }
    for (int i = 0; i < n; i++) {
        at->u[i] = at->s[i] * (at->u[i] - H[i]);
        at->lo[i] = at->s[i] * (at->lo[i] - H[i]);
        at->d[i] *= at->s[i];
    }
}
ORDSTAT_TWICE(interval_ends,
              (int n, const ptrdiff_t *place, const double *H, const OrdstatLevels *levels, OrdstatChunk *at),
              (n, place, H, levels, at))

/* A stage of a sequential model, y > stage or not, as an interval with one end. Thresholds, scales and weights of the rows
   are u, s and v of `whole`; a row that does not reach the stage has weight 0. */
ORDSTAT_INLINE void stage_ends_body(int n, const ptrdiff_t *ORDSTAT_RESTRICT y, ptrdiff_t stage, int backward,
                                    const double *ORDSTAT_RESTRICT H, const OrdstatChunk *ORDSTAT_RESTRICT whole,
                                    OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double higher = y[i] > stage ? 1.0 : 0.0, reached = (backward ? y[i] <= stage + 1 : y[i] >= stage) ? 1.0 : 0.0;
        double eta = reached * (whole->s[i] * (whole->u[i] - H[i]));
        at->has_u[i] = 1.0 - higher;
        at->has_l[i] = higher;
        at->u[i] = eta;
        at->lo[i] = eta;
        at->s[i] = whole->s[i];
        at->v[i] = reached * whole->v[i];
    }
}
ORDSTAT_TWICE(stage_ends,
              (int n, const ptrdiff_t *y, ptrdiff_t stage, int backward, const double *H, const OrdstatChunk *whole,
               OrdstatChunk *at),
              (n, y, stage, backward, H, whole, at))

/* log p and its derivatives c and W of a stage of the logistic distribution. */
ORDSTAT_INLINE void logit_stage_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double sign = at->has_u[i] - at->has_l[i], e = ordstat_exp(-sign * at->u[i]), inverse = 1.0 / (1.0 + e);
        at->log_p[i] = -ordstat_log(1.0 + e);
        at->c[i] = sign * e * inverse;
        at->W[i] = e * inverse * inverse;
    }
}
ORDSTAT_TWICE(logit_stage, (int n, OrdstatChunk *at), (n, at))

/* The terms of a stage from log p, c and W. Those of H and tau add up over the stages of a row: score [2], [3] and curve
   [7], [8], [9]. Those of the threshold are kept alone: score [0], and curve [0] with itself, [2] with H, [3] with tau. */
ORDSTAT_INLINE void stage_terms_body(int n, int second, int scaled, const OrdstatChunk *ORDSTAT_RESTRICT at,
                                     OrdstatChunk *ORDSTAT_RESTRICT whole) {
    double part[4] = {0.0, 0.0, 0.0, 0.0}; /* sums side by side */
    for (int i = 0; i < (n & ~3); i += 4)
        for (int j = 0; j < 4; j++) part[j] += at->v[i + j] * at->log_p[i + j];
    for (int i = n & ~3; i < n; i++) part[0] += at->v[i] * at->log_p[i];
    whole->loglik = (part[0] + part[1]) + (part[2] + part[3]);
    for (int i = 0; i < n; i++) {
        double slope = at->v[i] * at->s[i] * at->c[i];
        whole->score[0][i] = slope;
        whole->score[2][i] -= slope;
    }
    if (second)
        for (int i = 0; i < n; i++) {
            double bend = at->v[i] * at->s[i] * at->s[i] * at->W[i];
            whole->curve[0][i] = bend;
            whole->curve[2][i] = -bend;
            whole->curve[7][i] += bend;
        }
    if (scaled)
        for (int i = 0; i < n; i++) {
            double v = at->v[i], eta = at->u[i], W = at->W[i], c = at->c[i], mixed = v * at->s[i] * (W * eta - c);
            whole->score[3][i] -= v * c * eta;
            whole->curve[3][i] = -mixed;
            whole->curve[8][i] += mixed;
            whole->curve[9][i] += v * eta * (W * eta - c);
        }
}
ORDSTAT_TWICE(stage_terms,
              (int n, int second, int scaled, const OrdstatChunk *at, OrdstatChunk *whole),
              (n, second, scaled, at, whole))

/* Whether all values are at most `far` from 0. */
static int all_near(int n, double far, const double *values) {
    ptrdiff_t outside = 0;
    for (int i = 0; i < n; i++) outside += !(fabs(values[i]) <= far);
    return !outside;
}

/* out = by x for columns of rows that are `pitch` apart. */
ORDSTAT_INLINE void weigh_rows_body(int n, int pitch, int width, const double *ORDSTAT_RESTRICT by,
                                    const double *ORDSTAT_RESTRICT x, double *ORDSTAT_RESTRICT out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < (width & ~3); j++) out[(ptrdiff_t)i * pitch + j] = by[i] * x[(ptrdiff_t)i * pitch + j];
}
ORDSTAT_TWICE(weigh_rows,
              (int n, int pitch, int width, const double *ORDSTAT_RESTRICT by, const double *ORDSTAT_RESTRICT x,
               double *ORDSTAT_RESTRICT out),
              (n, pitch, width, by, x, out))

/* Whether all ends are at most `far` from 0, all widths at least `least` and all s at most `farthest`. */
static int within(int n, double far, double least, double farthest, const OrdstatChunk *at) {
    int inside = 1;
    for (int i = 0; i < n; i++) {
        double needed = at->has_u[i] * at->has_l[i] * least;
        inside &= (fabs(at->u[i]) <= far) & (fabs(at->lo[i]) <= far) & (at->d[i] >= needed) & (at->s[i] <= farthest);
    }
    return inside;
}

/* out = (x - mean) / deviation for rows of p columns, written `pitch` apart; `inverse` is 1 / deviation. */
ORDSTAT_INLINE void standard_rows_body(int n, int p, int pitch, const double *ORDSTAT_RESTRICT x,
                                       const double *ORDSTAT_RESTRICT mean, const double *ORDSTAT_RESTRICT inverse,
                                       double *ORDSTAT_RESTRICT out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p; j++)
            out[(ptrdiff_t)i * pitch + j] = (x[(ptrdiff_t)i * p + j] - mean[j]) * inverse[j];
}
ORDSTAT_TWICE(standard_rows,
              (int n, int p, int pitch, const double *ORDSTAT_RESTRICT x, const double *ORDSTAT_RESTRICT mean,
               const double *ORDSTAT_RESTRICT inverse, double *ORDSTAT_RESTRICT out),
              (n, p, pitch, x, mean, inverse, out))

/* Sums of thresholds: row `place` of `sums` belongs to the lower end, the next row to the upper. Its entries are the
   score, the information, the information with the threshold above, an unused one; then those with the columns. */
ORDSTAT_INLINE void add_places_body(int n, int px, int pz, const ptrdiff_t *ORDSTAT_RESTRICT place,
                                    const OrdstatChunk *ORDSTAT_RESTRICT at, const double *ORDSTAT_RESTRICT rows,
                                    double *ORDSTAT_RESTRICT sums) {
    int width = px + pz + 4;
    for (int i = 0; i < n; i++) {
        const double *ORDSTAT_RESTRICT row = rows + (ptrdiff_t)i * (px + pz);
        double *ORDSTAT_RESTRICT lower = sums + place[i] * width;
        double *ORDSTAT_RESTRICT upper = lower + width;
        double up = at->curve[2][i], low = at->curve[5][i];
        upper[0] += at->score[0][i], upper[1] += at->curve[0][i];
        lower[0] += at->score[1][i], lower[1] += at->curve[4][i], lower[2] += at->curve[1][i];
        lower += 4, upper += 4;
        for (int j = 0; j < (px & ~3); j++) {
            upper[j] += up * row[j];
            lower[j] += low * row[j];
        }
        lower += px, upper += px, row += px;
        up = at->curve[3][i], low = at->curve[6][i];
        for (int j = 0; j < (pz & ~3); j++) {
            upper[j] += up * row[j];
            lower[j] += low * row[j];
        }
    }
}
ORDSTAT_TWICE(add_places,
              (int n, int px, int pz, const ptrdiff_t *ORDSTAT_RESTRICT place, const OrdstatChunk *ORDSTAT_RESTRICT at,
               const double *ORDSTAT_RESTRICT rows, double *ORDSTAT_RESTRICT sums),
              (n, px, pz, place, at, rows, sums))

#endif
