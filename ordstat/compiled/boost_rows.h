/* Slopes of the cumulative logit, and histograms, for a block of rows that stays in cache. */
#ifndef ORDSTAT_BOOST_ROWS_H
#define ORDSTAT_BOOST_ROWS_H

#include "vector_math.h"

/* With e = exp(x), u = e * up and l = e * low: a = 1 / (1 + u) is P(at most y), b = 1 / (1 + l) is P(below y).
   gh has slope 1 - a - b, curvature a (1 - a) + b (1 - b), 1 and 0 for every row, p has a (1 - b). |x| <= 50. */
ORDSTAT_INLINE void logit_block_body(int n, const double *ORDSTAT_RESTRICT x, const double *ORDSTAT_RESTRICT up,
                                     const double *ORDSTAT_RESTRICT low, double *ORDSTAT_RESTRICT gh,
                                     double *ORDSTAT_RESTRICT p) {
    for (int i = 0; i < n; i++) {
        double e = ordstat_exp(x[i]), u = 1.0 + e * up[i], l = 1.0 + e * low[i], r = 1.0 / (u * l);
        double a = l * r, b = u * r, not_a = (e * up[i]) * a, not_b = (e * low[i]) * b;
        gh[4 * i] = not_a - b;
        gh[4 * i + 1] = a * not_a + b * not_b;
        gh[4 * i + 2] = 1.0;
        gh[4 * i + 3] = 0.0;
        p[i] = a * not_b;
    }
}
ORDSTAT_TWICE(logit_block,
              (int n, const double *ORDSTAT_RESTRICT x, const double *ORDSTAT_RESTRICT up,
               const double *ORDSTAT_RESTRICT low, double *ORDSTAT_RESTRICT gh, double *ORDSTAT_RESTRICT p),
              (n, x, up, low, gh, p))

/* Add four numbers. */
ORDSTAT_INLINE void add_four(double *to, const double *row) {
#if defined(__GNUC__)
    typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
    *(four *)to += *(const four *)row;
#else
    for (int j = 0; j < 4; j++) to[j] += row[j];
#endif
}

/* Add the values of each row to the bins of its codes, in the histograms of F columns that start at hist + place; four
   columns at a time, so that a row is read once for them. */
ORDSTAT_INLINE void spread_some_body(int m, const int *row, const int *place, const double *gh, int F,
                                     const uint8_t *const *codes, double *hist, ptrdiff_t stride) {
    int f = 0;
    for (; f + 4 <= F; f += 4, hist += 4 * stride) {
        const uint8_t *a = codes[f], *b = codes[f + 1], *c = codes[f + 2], *d = codes[f + 3];
        for (int i = 0; i < m; i++) {
            double *at = hist + place[i];
            int n = row[i];
            add_four(at + 4 * a[n], gh + 4 * i);
            add_four(at + stride + 4 * b[n], gh + 4 * i);
            add_four(at + 2 * stride + 4 * c[n], gh + 4 * i);
            add_four(at + 3 * stride + 4 * d[n], gh + 4 * i);
        }
    }
    for (; f < F; f++, hist += stride)
        for (int i = 0; i < m; i++) add_four(hist + place[i] + 4 * codes[f][row[i]], gh + 4 * i);
}
ORDSTAT_TWICE(spread_some,
              (int m, const int *row, const int *place, const double *gh, int F, const uint8_t *const *codes,
               double *hist, ptrdiff_t stride),
              (m, row, place, gh, F, codes, hist, stride))

/* The same for m consecutive rows, all in the same histograms. */
ORDSTAT_INLINE void spread_all_body(int m, ptrdiff_t start, const double *gh, int F, const uint8_t *const *codes,
                                    double *hist, ptrdiff_t stride) {
    int f = 0;
    for (; f + 4 <= F; f += 4, hist += 4 * stride) {
        const uint8_t *a = codes[f] + start, *b = codes[f + 1] + start, *c = codes[f + 2] + start;
        const uint8_t *d = codes[f + 3] + start;
        for (int i = 0; i < m; i++) {
            add_four(hist + 4 * a[i], gh + 4 * i);
            add_four(hist + stride + 4 * b[i], gh + 4 * i);
            add_four(hist + 2 * stride + 4 * c[i], gh + 4 * i);
            add_four(hist + 3 * stride + 4 * d[i], gh + 4 * i);
        }
    }
    for (; f < F; f++, hist += stride)
        for (int i = 0; i < m; i++) add_four(hist + 4 * codes[f][start + i], gh + 4 * i);
}
ORDSTAT_TWICE(spread_all,
              (int m, ptrdiff_t start, const double *gh, int F, const uint8_t *const *codes, double *hist,
               ptrdiff_t stride),
              (m, start, gh, F, codes, hist, stride))

/* Add the values of m rows to a total. */
ORDSTAT_INLINE void add_rows_body(int m, const double *gh, double *total) {
    for (int i = 0; i < m; i++) add_four(total, gh + 4 * i);
}
ORDSTAT_TWICE(add_rows, (int m, const double *gh, double *total), (m, gh, total))

#endif
