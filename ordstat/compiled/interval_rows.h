/* Log-probabilities of intervals of the latent distribution and their derivatives, for the rows of a chunk.

   With u = eta_y, lo = eta_{y-1}, d = u - lo, p = F(u) - F(lo) and h = log p: a = dh/du, b = -dh/dlo, c = a - b,
   r_u = dc/du, r_l = dc/dlo, W = -(r_u + r_l), h_ul = d2h/(du dlo). Where a level has no upper end u = lo, where it has
   no lower one lo = u, and d = 0 in both. */
#ifndef ORDSTAT_INTERVAL_ROWS_H
#define ORDSTAT_INTERVAL_ROWS_H

#include "vector_math.h"

enum { ORDSTAT_ROOM = 256 }; /* rows of a chunk */

typedef double OrdstatColumn[ORDSTAT_ROOM];

/* One number a row each, 0 beyond the last row but in the ends; a row has an upper or a lower end where has_u or has_l is 1 instead of 0. */
typedef struct {
    OrdstatColumn u, lo, d, s, v, has_u, has_l;
    OrdstatColumn log_p, a, b, c, W, r_u, r_l, h_ul;
    OrdstatColumn lam, u_lam, l_lam, lam_lam; /* derivatives of h by lambda; lambda and u, lo, lambda */
    OrdstatColumn score[5];                   /* by theta_y, theta_{y-1}, H, tau, lambda */
    OrdstatColumn curve[15];                  /* their negative derivatives, the upper triangle by rows */
} OrdstatChunk;

/* What the rows of each level, of each pattern of nominal columns, have: their thresholds, the width between them, and
   whether there is an upper and a lower one. */
typedef struct {
    double *high, *low, *width, *has_u, *has_l;
} OrdstatLevels;

ORDSTAT_INLINE double ordstat_least(double x, double most) { return x < most ? x : most; }

/* Of the logistic distribution, in forms in which nothing cancels; p > 1e-250. */
ORDSTAT_INLINE void logit_intervals_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double has_u = at->has_u[i], has_l = at->has_l[i], both = has_u * has_l;
        double u = at->u[i] + (1.0 - has_u) * 1400.0, lo = at->lo[i] - (1.0 - has_l) * 1400.0;
        double e_u = ordstat_exp(-ordstat_least(fabs(u), 700.0)), e_l = ordstat_exp(-ordstat_least(fabs(lo), 700.0));
        double part_u = 1.0 / (1.0 + e_u), part_l = 1.0 / (1.0 + e_l), e_d, rise, g, rest, p, sum;
        double above = u >= 0.0 ? e_u * part_u : part_u, up = u >= 0.0 ? part_u : e_u * part_u;
        double below = lo >= 0.0 ? part_l : e_l * part_l, down = lo >= 0.0 ? e_l * part_l : part_l;
        rise = ordstat_expm1(ordstat_least(at->d[i] + (1.0 - both) * 700.0, 700.0), &e_d);
        g = both / rise;
        rest = above + below;
        p = up * down / (1.0 + g);
        sum = rest < 0.5 ? 1.0 - rest : p;
        at->log_p[i] = ordstat_log(sum) + (rest < 0.5 ? (1.0 - sum) - rest : 0.0) / sum;
        at->a[i] = has_u * (above + g);
        at->b[i] = has_l * (below + g);
        at->c[i] = has_u * above - has_l * below;
        at->r_u[i] = -has_u * above * up;
        at->r_l[i] = -has_l * below * down;
        at->W[i] = has_u * above * up + has_l * below * down;
        at->h_ul[i] = g * (1.0 + g);
    }
}
ORDSTAT_TWICE(logit_intervals, (int n, OrdstatChunk *at), (n, at))

/* With x = lambda e^t and H(t) = log(1 + x) / lambda: the derivatives of H by lambda over e^2t and e^3t, for x < 0.03. */
ORDSTAT_INLINE void ordstat_hazard_series(double x, double *first, double *second) {
    double one = 10.0 / 11.0, two = 90.0 / 11.0;
    one = 9.0 / 10.0 - x * one, two = 72.0 / 10.0 - x * two;
    one = 8.0 / 9.0 - x * one, two = 56.0 / 9.0 - x * two;
    one = 7.0 / 8.0 - x * one, two = 42.0 / 8.0 - x * two;
    one = 6.0 / 7.0 - x * one, two = 30.0 / 7.0 - x * two;
    one = 5.0 / 6.0 - x * one, two = 20.0 / 6.0 - x * two;
    one = 4.0 / 5.0 - x * one, two = 12.0 / 5.0 - x * two;
    one = 3.0 / 4.0 - x * one, two = 6.0 / 4.0 - x * two;
    one = 2.0 / 3.0 - x * one, two = 2.0 / 3.0 - x * two;
    *first = x * one - 0.5;
    *second = two;
}

/* Of the Aranda-Ordaz distribution F(t) = 1 - exp(-H(t)): log p = -H(lo) + log(1 - exp(-D)), D the rise of H. A small D
   keeps its relative accuracy: lambda D = log(1 + lambda e^lo expm1(d) / (1 + lambda e^lo)). Ends up to 300, d >= 1e-3.
   With h = H' and H_lambda = (h - H) / lambda, dh/dlambda = -h^2. */
ORDSTAT_INLINE void aranda_ordaz_intervals_body(int n, double lambda, OrdstatChunk *ORDSTAT_RESTRICT at) {
    double inverse = 1.0 / lambda, more = 1.0 + lambda;
    for (int i = 0; i < n; i++) {
        double has_u = at->has_u[i], has_l = at->has_l[i], d = at->d[i] + (1.0 - has_u * has_l);
        double e_u = ordstat_exp(at->u[i]), e_l = has_l * ordstat_exp(at->lo[i]), e_d, e_D;
        double x_u = lambda * e_u, x_l = lambda * e_l, part_l = 1.0 / (1.0 + x_l);
        double h_u = e_u / (1.0 + x_u), h_l = e_l * part_l, rise = ordstat_expm1(d, &e_d), below = x_l * rise * part_l;
        double H_l = ordstat_log1p(x_l) * inverse, D = ordstat_log1p(has_l > 0.0 ? below : x_u) * inverse;
        double q = -ordstat_expm1(-ordstat_least(D, 700.0), &e_D), r = has_u * e_D / q;
        double gap = has_l > 0.0 ? h_u * (rise / e_d) * part_l : h_u; /* h_u - h_l */
        double a = h_u * r, b = h_l * (1.0 + r), c = gap * r - h_l;
        double s_u = 1.0 - more * h_u, s_l = 1.0 - more * h_l, r_u = a * (s_u - c), r_l = -b * (s_l - c);
        double inner = b * more * gap - c * (s_u - c), outer = -(r_u + r_l);
        double one_u, two_u, one_l, two_l, H_lam, D_lam, H_two, D_two;
        at->log_p[i] = has_u * ordstat_log(q) - H_l;
        at->a[i] = a;
        at->b[i] = b;
        at->c[i] = c;
        at->r_u[i] = r_u;
        at->r_l[i] = r_l;
        at->W[i] = q < 0.5 * has_u ? inner : outer;
        at->h_ul[i] = a * b;
        ordstat_hazard_series(x_u, &one_u, &two_u);
        ordstat_hazard_series(x_l, &one_l, &two_l);
        one_u *= e_u * e_u, one_l *= e_l * e_l;
        two_u *= e_u * e_u * e_u, two_l *= e_l * e_l * e_l;
        H_lam = x_l < 0.03 ? one_l : (h_l - H_l) * inverse;
        D_lam = x_u < 0.03 ? one_u - one_l : (gap - D) * inverse;
        H_two = x_l < 0.03 ? two_l : -(h_l * h_l + 2.0 * H_lam) * inverse;
        D_two = x_u < 0.03 ? two_u - two_l : -(gap * (h_u + h_l) + 2.0 * D_lam) * inverse;
        at->lam[i] = r * D_lam - H_lam;
        at->u_lam[i] = -a * (h_u + (1.0 + r) * D_lam);
        at->l_lam[i] = b * (h_l + r * D_lam);
        at->lam_lam[i] = r * (D_two - (1.0 + r) * D_lam * D_lam) - H_two;
    }
}
ORDSTAT_TWICE(aranda_ordaz_intervals, (int n, double lambda, OrdstatChunk *at), (n, lambda, at))

/* Scores of the rows, case weights v multiplied in. */
ORDSTAT_INLINE void interval_scores_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double v = at->v[i], s = v * at->s[i];
        at->score[0][i] = s * at->a[i];
        at->score[1][i] = -s * at->b[i];
        at->score[2][i] = -s * at->c[i];
        at->score[3][i] = -v * (at->c[i] * at->u[i] + at->b[i] * at->d[i]);
    }
}
ORDSTAT_TWICE(interval_scores, (int n, OrdstatChunk *at), (n, at))

/* Their curvature, after the scores; formulas in model/likelihood/cumulative.py. */
ORDSTAT_INLINE void interval_curvature_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double v = at->v[i], s = v * at->s[i], ss = s * at->s[i], u = at->u[i], lo = at->lo[i], h_ul = at->h_ul[i];
        double hd = h_ul * at->d[i], up = at->r_u[i] * u, low = at->r_l[i] * lo;
        at->curve[0][i] = -ss * (at->r_u[i] - h_ul);
        at->curve[1][i] = -ss * h_ul;
        at->curve[2][i] = ss * at->r_u[i];
        at->curve[3][i] = s * (up - hd + at->a[i]);
        at->curve[5][i] = -ss * (at->r_l[i] - h_ul);
        at->curve[6][i] = ss * at->r_l[i];
        at->curve[7][i] = s * (low + hd - at->b[i]);
        at->curve[9][i] = ss * at->W[i];
        at->curve[10][i] = -s * (up + low + at->c[i]);
        at->curve[12][i] = at->score[3][i] - v * (up * u + low * lo - hd * at->d[i]);
    }
}
ORDSTAT_TWICE(interval_curvature, (int n, OrdstatChunk *at), (n, at))

/* The same of lambda, by which the ends do not move. */
ORDSTAT_INLINE void interval_lambda_body(int n, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double v = at->v[i], s = v * at->s[i], up = at->u_lam[i], low = at->l_lam[i];
        at->score[4][i] = v * at->lam[i];
        at->curve[4][i] = -s * up;
        at->curve[8][i] = -s * low;
        at->curve[11][i] = s * (up + low);
        at->curve[13][i] = v * (up * at->u[i] + low * at->lo[i]);
        at->curve[14][i] = -v * at->lam_lam[i];
    }
}
ORDSTAT_TWICE(interval_lambda, (int n, OrdstatChunk *at), (n, at))

/* s = exp(-tau), |tau| <= 700. */
ORDSTAT_INLINE void interval_scales_body(int n, const double *ORDSTAT_RESTRICT tau, OrdstatChunk *ORDSTAT_RESTRICT at) {
    for (int i = 0; i < n; i++) {
        double size = ordstat_least(fabs(tau[i]), 700.0);
        at->s[i] = ordstat_exp(tau[i] > 0.0 ? -size : size);
    }
}
ORDSTAT_TWICE(interval_scales, (int n, const double *tau, OrdstatChunk *at), (n, tau, at))

/* Ends of the rows, after their scales, from H and the place of each among the levels. */
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

/* Whether all ends are at most `far` from 0, all widths at least `least` and all s at most `farthest`. */
static int within(int n, double far, double least, double farthest, const OrdstatChunk *at) {
    int inside = 1;
    for (int i = 0; i < n; i++) {
        double needed = at->has_u[i] * at->has_l[i] * least;
        inside &= (fabs(at->u[i]) <= far) & (fabs(at->lo[i]) <= far) & (at->d[i] >= needed) & (at->s[i] <= farthest);
    }
    return inside;
}

/* The p columns of x and the r of z that follow, to rows of px and pz entries, multiples of 4, the spare ones as they are. */
ORDSTAT_INLINE void pad_columns_body(int n, int p, int r, int q, int px, int pz, const double *ORDSTAT_RESTRICT columns,
                                     double *ORDSTAT_RESTRICT out) {
    for (int i = 0; i < n; i++) {
        const double *row = columns + (ptrdiff_t)i * q;
        double *to = out + (ptrdiff_t)i * (px + pz);
        for (int j = 0; j < p; j++) to[j] = row[j];
        for (int j = 0; j < r; j++) to[px + j] = row[p + j];
    }
}
ORDSTAT_TWICE(pad_columns,
              (int n, int p, int r, int q, int px, int pz, const double *ORDSTAT_RESTRICT columns,
               double *ORDSTAT_RESTRICT out),
              (n, p, r, q, px, pz, columns, out))

/* The sums of thresholds: row `place` of `sums` is that of the lower end, the next one of the upper. Its first entries are
   the score, the information, that with the threshold above, and that with lambda; then that with the columns. */
ORDSTAT_INLINE void add_places_body(int n, int px, int pz, const ptrdiff_t *ORDSTAT_RESTRICT place,
                                    const OrdstatChunk *ORDSTAT_RESTRICT at, const double *ORDSTAT_RESTRICT rows,
                                    double *ORDSTAT_RESTRICT sums) {
    int width = px + pz + 4;
    for (int i = 0; i < n; i++) {
        const double *ORDSTAT_RESTRICT row = rows + (ptrdiff_t)i * (px + pz);
        double *ORDSTAT_RESTRICT lower = sums + place[i] * width;
        double *ORDSTAT_RESTRICT upper = lower + width;
        double up = at->curve[2][i], low = at->curve[6][i];
        upper[0] += at->score[0][i], upper[1] += at->curve[0][i], upper[3] += at->curve[4][i];
        lower[0] += at->score[1][i], lower[1] += at->curve[5][i], lower[2] += at->curve[1][i];
        lower[3] += at->curve[8][i];
        lower += 4, upper += 4;
        for (int j = 0; j < (px & ~3); j++) {
            upper[j] += up * row[j];
            lower[j] += low * row[j];
        }
        lower += px, upper += px, row += px;
        up = at->curve[3][i], low = at->curve[7][i];
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

/* sums += by x for four rows of x that lie `pitch` apart; rows have pointers of their own, by which compilers see that
   their entries lie side by side. */
ORDSTAT_INLINE void ordstat_add_four(int width, ptrdiff_t pitch, const double *by, const double *ORDSTAT_RESTRICT x,
                                     double *ORDSTAT_RESTRICT sums) {
    const double *x1 = x + pitch, *x2 = x1 + pitch, *x3 = x2 + pitch;
    double a = by[0], b = by[1], c = by[2], d = by[3];
    for (int j = 0; j < (width & ~3); j++) sums[j] += (a * x[j] + b * x1[j]) + (c * x2[j] + d * x3[j]);
}

/* by = v x for four columns of four rows of x that lie `pitch` apart. */
ORDSTAT_INLINE void ordstat_weigh(ptrdiff_t pitch, const double *v, const double *ORDSTAT_RESTRICT x, double by[4][4]) {
    for (int k = 0; k < 4; k++, x += pitch)
        for (int j = 0; j < 4; j++) by[k][j] = v[k] * x[j];
}

/* sums += by' x, a square of four by four, for four rows; those of x and of sums lie `pitch` apart. */
ORDSTAT_INLINE void ordstat_add_square(ptrdiff_t pitch, double by[4][4], const double *ORDSTAT_RESTRICT x,
                                       double *ORDSTAT_RESTRICT sums) {
    const double *x1 = x + pitch, *x2 = x1 + pitch, *x3 = x2 + pitch;
    for (int t = 0; t < 4; t++, sums += pitch)
        for (int j = 0; j < 4; j++)
            sums[j] += (by[0][t] * x[j] + by[1][t] * x1[j]) + (by[2][t] * x2[j] + by[3][t] * x3[j]);
}

/* The sums of the columns alone, four rows at once: the score, and with `second` the information of x, of x and z, and of
   z, the squares of it that are not below the diagonal, in rows of px + pz; what lambda has with the columns goes into
   `mixed`, if there is one. What weighs rows must be 0 beyond the last. */
ORDSTAT_INLINE void add_columns_body(int n, int px, int pz, int second, const OrdstatChunk *ORDSTAT_RESTRICT at,
                                     const double *ORDSTAT_RESTRICT rows, double *ORDSTAT_RESTRICT score,
                                     double *ORDSTAT_RESTRICT mixed, double *ORDSTAT_RESTRICT gram) {
    ptrdiff_t pitch = px + pz;
    for (int i = 0; i < n; i += 4) {
        const double *x = rows + i * pitch, *z = x + px;
        double by[4][4];
        ordstat_add_four(px, pitch, at->score[2] + i, x, score);
        ordstat_add_four(pz, pitch, at->score[3] + i, z, score + px);
        if (!second) continue;
        if (mixed) {
            ordstat_add_four(px, pitch, at->curve[11] + i, x, mixed);
            ordstat_add_four(pz, pitch, at->curve[13] + i, z, mixed + px);
        }
        for (int j = 0; j < pitch; j += 4) {
            double *into = gram + j * pitch;
            ordstat_weigh(pitch, (j < px ? at->curve[9] : at->curve[12]) + i, x + j, by);
            for (int l = j; l < (j < px ? px : pitch); l += 4) ordstat_add_square(pitch, by, x + l, into + l);
            if (j >= px || pz == 0) continue;
            ordstat_weigh(pitch, at->curve[10] + i, x + j, by);
            for (int l = px; l < pitch; l += 4) ordstat_add_square(pitch, by, x + l, into + l);
        }
    }
}
ORDSTAT_TWICE(add_columns,
              (int n, int px, int pz, int second, const OrdstatChunk *ORDSTAT_RESTRICT at,
               const double *ORDSTAT_RESTRICT rows, double *ORDSTAT_RESTRICT score, double *ORDSTAT_RESTRICT mixed,
               double *ORDSTAT_RESTRICT gram),
              (n, px, pz, second, at, rows, score, mixed, gram))

#endif
