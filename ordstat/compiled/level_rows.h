/* Probabilities of levels from their scores, p = softmax(s), and the derivatives of log p_y by the K - 1 predictors eta,
   for the rows of a chunk.

   Every array has a column for each level, threshold or pair of thresholds. The scores are linear in the predictors:
   s_k = -(eta_0 + ... + eta_{k-1}), or s_0 = 0 and s_k = eta_{k-1}. */
#ifndef ORDSTAT_LEVEL_ROWS_H
#define ORDSTAT_LEVEL_ROWS_H

#include "interval_rows.h"

/* The scores of the levels from the predictors, which stand in the columns 1..last: `sums` tells which. */
ORDSTAT_INLINE void level_scores_body(int n, int last, int sums, OrdstatColumn *ORDSTAT_RESTRICT p) {
    for (int i = 0; i < n; i++) p[0][i] = 0.0;
    if (sums)
        for (int k = 1; k <= last; k++)
            for (int i = 0; i < n; i++) p[k][i] = p[k - 1][i] - p[k][i];
}
ORDSTAT_TWICE(level_scores, (int n, int last, int sums, OrdstatColumn *p), (n, last, sums, p))

/* Probabilities in place of scores, and log p of the observed level y. Probabilities below exp(-700) are exp(-700). */
ORDSTAT_INLINE void level_shares_body(int n, int last, const ptrdiff_t *ORDSTAT_RESTRICT y,
                                      OrdstatColumn *ORDSTAT_RESTRICT p, OrdstatChunk *ORDSTAT_RESTRICT at) {
    double top[ORDSTAT_ROOM], total[ORDSTAT_ROOM];
    for (int i = 0; i < n; i++) top[i] = p[0][i];
    for (int k = 1; k <= last; k++)
        for (int i = 0; i < n; i++) top[i] = p[k][i] > top[i] ? p[k][i] : top[i];
    for (int i = 0; i < n; i++) at->log_p[i] = p[y[i]][i] - top[i];
    for (int i = 0; i < n; i++) total[i] = 0.0;
    for (int k = 0; k <= last; k++)
        for (int i = 0; i < n; i++) {
            double below = p[k][i] - top[i];
            p[k][i] = ordstat_exp(below > -700.0 ? below : -700.0);
            total[i] += p[k][i];
        }
    for (int i = 0; i < n; i++) {
        at->log_p[i] -= ordstat_log(total[i]);
        total[i] = 1.0 / total[i];
    }
    for (int k = 0; k <= last; k++)
        for (int i = 0; i < n; i++) p[k][i] *= total[i];
}
ORDSTAT_TWICE(level_shares,
              (int n, int last, const ptrdiff_t *ORDSTAT_RESTRICT y, OrdstatColumn *p, OrdstatChunk *at),
              (n, last, y, p, at))

/* Weighted terms of scores that are sums, with C_j = P(y <= j) and S_j = 1 - C_j: slopes S_j up to y and -C_j beyond it,
   curvatures C_min S_max of the pairs j <= l, row by row, and minus their sums over l. C takes the place of p. */
ORDSTAT_INLINE void sums_terms_body(int n, int last, int second, const ptrdiff_t *ORDSTAT_RESTRICT y,
                                    const double *ORDSTAT_RESTRICT v, OrdstatColumn *ORDSTAT_RESTRICT p,
                                    OrdstatColumn *ORDSTAT_RESTRICT above, OrdstatColumn *ORDSTAT_RESTRICT slopes,
                                    OrdstatColumn *ORDSTAT_RESTRICT sums, OrdstatColumn *ORDSTAT_RESTRICT pairs) {
    for (int i = 0; i < n; i++) above[last - 1][i] = p[last][i];
    for (int j = last - 1; j > 0; j--)
        for (int i = 0; i < n; i++) above[j - 1][i] = above[j][i] + p[j][i];
    for (int j = 1; j < last; j++)
        for (int i = 0; i < n; i++) p[j][i] += p[j - 1][i];
    for (int j = 0; j < last; j++)
        for (int i = 0; i < n; i++) slopes[j][i] = v[i] * (y[i] > j ? -p[j][i] : above[j][i]);
    if (!second) return;
    for (int j = 0; j < last; j++)
        for (int i = 0; i < n; i++) sums[j][i] = 0.0;
    for (int j = 0; j < last; j++)
        for (int l = j; l < last; l++, pairs++)
            for (int i = 0; i < n; i++) {
                double A = v[i] * p[j][i] * above[l][i];
                (*pairs)[i] = A;
                sums[j][i] -= A;
                if (l > j) sums[l][i] -= A;
            }
}
ORDSTAT_TWICE(sums_terms,
              (int n, int last, int second, const ptrdiff_t *ORDSTAT_RESTRICT y, const double *ORDSTAT_RESTRICT v,
               OrdstatColumn *p, OrdstatColumn *above, OrdstatColumn *slopes, OrdstatColumn *sums,
               OrdstatColumn *pairs),
              (n, last, second, y, v, p, above, slopes, sums, pairs))

/* The same of scores that are predictors: slopes [y = k] - p_k, curvatures [k = l] p_k - p_k p_l; 1 - p_k is the sum of
   the others, which does not cancel. */
ORDSTAT_INLINE void own_terms_body(int n, int last, int second, const ptrdiff_t *ORDSTAT_RESTRICT y,
                                   const double *ORDSTAT_RESTRICT v, OrdstatColumn *ORDSTAT_RESTRICT p,
                                   OrdstatColumn *ORDSTAT_RESTRICT others, OrdstatColumn *ORDSTAT_RESTRICT slopes,
                                   OrdstatColumn *ORDSTAT_RESTRICT sums, OrdstatColumn *ORDSTAT_RESTRICT pairs) {
    for (int k = 0; k < last; k++) {
        for (int i = 0; i < n; i++) others[k][i] = p[0][i];
        for (int l = 1; l <= last; l++)
            if (l != k + 1)
                for (int i = 0; i < n; i++) others[k][i] += p[l][i];
    }
    for (int k = 0; k < last; k++)
        for (int i = 0; i < n; i++) slopes[k][i] = v[i] * (y[i] == k + 1 ? others[k][i] : -p[k + 1][i]);
    if (!second) return;
    for (int k = 0; k < last; k++)
        for (int i = 0; i < n; i++) sums[k][i] = -v[i] * p[k + 1][i] * p[0][i];
    for (int k = 0; k < last; k++)
        for (int l = k; l < last; l++, pairs++)
            for (int i = 0; i < n; i++)
                (*pairs)[i] = v[i] * p[k + 1][i] * (l == k ? others[k][i] : -p[l + 1][i]);
}
ORDSTAT_TWICE(own_terms,
              (int n, int last, int second, const ptrdiff_t *ORDSTAT_RESTRICT y, const double *ORDSTAT_RESTRICT v,
               OrdstatColumn *p, OrdstatColumn *others, OrdstatColumn *slopes, OrdstatColumn *sums,
               OrdstatColumn *pairs),
              (n, last, second, y, v, p, others, slopes, sums, pairs))

/* The terms by H, which moves all predictors: score [2] minus the sum of slopes, curve [7] the sum of curvatures. */
ORDSTAT_INLINE void level_totals_body(int n, int last, int second, const OrdstatColumn *ORDSTAT_RESTRICT slopes,
                                      const OrdstatColumn *ORDSTAT_RESTRICT sums, OrdstatChunk *ORDSTAT_RESTRICT at) {
    at->loglik = 0.0;
    for (int i = 0; i < n; i++) at->loglik += at->v[i] * at->log_p[i];
    for (int i = 0; i < n; i++) at->score[2][i] = at->curve[7][i] = 0.0;
    for (int k = 0; k < last; k++)
        for (int i = 0; i < n; i++) at->score[2][i] -= slopes[k][i];
    if (second)
        for (int k = 0; k < last; k++)
            for (int i = 0; i < n; i++) at->curve[7][i] -= sums[k][i];
}
ORDSTAT_TWICE(level_totals,
              (int n, int last, int second, const OrdstatColumn *slopes, const OrdstatColumn *sums, OrdstatChunk *at),
              (n, last, second, slopes, sums, at))

#endif
