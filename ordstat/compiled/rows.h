/* Loops over a few thousand rows that stay in cache. Rows of x have `pitch` entries, a multiple of 4, the spare ones 0. */
#ifndef ORDSTAT_ROWS_H
#define ORDSTAT_ROWS_H

#include "vector_math.h"

/* out = x - shift, rows of p entries to rows of `pitch`. */
ORDSTAT_INLINE void centre_rows_body(int n, int p, int pitch, const double *ORDSTAT_RESTRICT x,
                                     const double *ORDSTAT_RESTRICT shift, double *ORDSTAT_RESTRICT out) {
    for (int i = 0; i < n; i++) {
        const double *row = x + (ptrdiff_t)i * p;
        double *to = out + (ptrdiff_t)i * pitch;
        for (int j = 0; j < p; j++) to[j] = row[j] - shift[j];
    }
}
ORDSTAT_TWICE(centre_rows,
              (int n, int p, int pitch, const double *ORDSTAT_RESTRICT x, const double *ORDSTAT_RESTRICT shift,
               double *ORDSTAT_RESTRICT out),
              (n, p, pitch, x, shift, out))

/* With u = theta_y - eta, l = theta_{y-1} - eta: F(-u), F(l), f(u), f(l) and (1 + exp(-u))(1 + exp(l)).
   of_upper and of_lower hold exp(-theta_y) and exp(theta_{y-1}) by level, 0 at the infinite ends. */
ORDSTAT_INLINE void logit_rows_body(int n, const ptrdiff_t *ORDSTAT_RESTRICT y, const double *ORDSTAT_RESTRICT eta,
                                    const double *ORDSTAT_RESTRICT of_upper, const double *ORDSTAT_RESTRICT of_lower,
                                    double *ORDSTAT_RESTRICT above, double *ORDSTAT_RESTRICT below,
                                    double *ORDSTAT_RESTRICT f_u, double *ORDSTAT_RESTRICT f_l,
                                    double *ORDSTAT_RESTRICT product) {
    for (int i = 0; i < n; i++) {
        above[i] = of_upper[y[i]];
        below[i] = of_lower[y[i]];
    }
    for (int i = 0; i < n; i++) {
        double e = ordstat_exp(eta[i]), e_u = above[i] * e, e_l = below[i] / e;
        double first = 1.0 + e_u, second = 1.0 + e_l, both = first * second, inverse = 1.0 / both;
        double a = e_u * second * inverse, b = e_l * first * inverse;
        above[i] = a;
        below[i] = b;
        f_u[i] = a * second * inverse;
        f_l[i] = b * first * inverse;
        product[i] = both;
    }
}
ORDSTAT_TWICE(logit_rows,
              (int n, const ptrdiff_t *ORDSTAT_RESTRICT y, const double *ORDSTAT_RESTRICT eta,
               const double *ORDSTAT_RESTRICT of_upper, const double *ORDSTAT_RESTRICT of_lower,
               double *ORDSTAT_RESTRICT above, double *ORDSTAT_RESTRICT below, double *ORDSTAT_RESTRICT f_u,
               double *ORDSTAT_RESTRICT f_l, double *ORDSTAT_RESTRICT product),
              (n, y, eta, of_upper, of_lower, above, below, f_u, f_l, product))

/* into[i] *= by[i] */
ORDSTAT_INLINE void multiply_body(int n, const double *ORDSTAT_RESTRICT by, double *ORDSTAT_RESTRICT into) {
    for (int i = 0; i < n; i++) into[i] *= by[i];
}
ORDSTAT_TWICE(multiply, (int n, const double *ORDSTAT_RESTRICT by, double *ORDSTAT_RESTRICT into), (n, by, into))

/* root = sqrt(|f_u + f_l|) */
ORDSTAT_INLINE void roots_body(int n, const double *ORDSTAT_RESTRICT f_u, const double *ORDSTAT_RESTRICT f_l,
                               double *ORDSTAT_RESTRICT root) {
    for (int i = 0; i < n; i++) root[i] = sqrt(fabs(f_u[i] + f_l[i]));
}
ORDSTAT_TWICE(roots,
              (int n, const double *ORDSTAT_RESTRICT f_u, const double *ORDSTAT_RESTRICT f_l,
               double *ORDSTAT_RESTRICT root),
              (n, f_u, f_l, root))

/* score -= c x, cross[y + 1] += f_u x, cross[y] += f_l x, then x *= root. */
ORDSTAT_INLINE void add_rows_body(int n, int pitch, const ptrdiff_t *ORDSTAT_RESTRICT y, double *ORDSTAT_RESTRICT x,
                                  const double *ORDSTAT_RESTRICT c, const double *ORDSTAT_RESTRICT f_u,
                                  const double *ORDSTAT_RESTRICT f_l, const double *ORDSTAT_RESTRICT root,
                                  double *ORDSTAT_RESTRICT score, double *ORDSTAT_RESTRICT cross) {
    for (int i = 0; i < n; i++) {
        double *ORDSTAT_RESTRICT row = x + (ptrdiff_t)i * pitch;
        double *ORDSTAT_RESTRICT lower = cross + y[i] * pitch;
        double *ORDSTAT_RESTRICT upper = lower + pitch;
        double slope = c[i], up = f_u[i], low = f_l[i], by = root[i];
        for (int j = 0; j < (pitch & ~3); j++) {
            double t = row[j];
            score[j] -= slope * t;
            upper[j] += up * t;
            lower[j] += low * t;
            row[j] = by * t;
        }
    }
}
ORDSTAT_TWICE(add_rows,
              (int n, int pitch, const ptrdiff_t *ORDSTAT_RESTRICT y, double *ORDSTAT_RESTRICT x,
               const double *ORDSTAT_RESTRICT c, const double *ORDSTAT_RESTRICT f_u,
               const double *ORDSTAT_RESTRICT f_l, const double *ORDSTAT_RESTRICT root, double *ORDSTAT_RESTRICT score,
               double *ORDSTAT_RESTRICT cross),
              (n, pitch, y, x, c, f_u, f_l, root, score, cross))

/* Logarithm of the product of numbers between 1 and 1e262: eight products side by side, logs only where one grows large. */
static double log_of_product(int n, const double *product) {
    double part[8] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, total = 0.0;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        int large = 0;
        for (int q = 0; q < 8; q++) {
            part[q] *= product[i + q];
            large |= part[q] > 1e40;
        }
        if (large)
            for (int q = 0; q < 8; q++) {
                total += log(part[q]);
                part[q] = 1.0;
            }
    }
    for (; i < n; i++) total += log(product[i]);
    for (int q = 0; q < 8; q++) total += log(part[q]);
    return total;
}

#endif
