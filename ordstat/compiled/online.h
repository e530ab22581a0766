/* Loops over the columns of one row, for the online rankers.

   On x86-64 each is compiled twice, for every such processor and for those with AVX2, and chosen at run time; without
   FMA, so that both round alike and learn alike. */
#ifndef ORDSTAT_ONLINE_H
#define ORDSTAT_ONLINE_H

#include <stddef.h>

#if defined(_MSC_VER)
#define ONLINE_RESTRICT __restrict
#define ONLINE_INLINE static __forceinline
#elif defined(__GNUC__)
#define ONLINE_RESTRICT __restrict__
#define ONLINE_INLINE static inline __attribute__((always_inline))
#else
#define ONLINE_RESTRICT
#define ONLINE_INLINE static inline
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define ONLINE_TWICE(name, parameters, arguments)                                                \
    __attribute__((target("avx2"))) static void name##_wide parameters { name##_body arguments; } \
    static void name##_plain parameters { name##_body arguments; }                               \
    static inline void name parameters {                                                         \
        if (__builtin_cpu_supports("avx2")) name##_wide arguments;                               \
        else name##_plain arguments;                                                             \
    }
#else
#define ONLINE_TWICE(name, parameters, arguments) \
    static inline void name parameters { name##_body arguments; }
#endif

/* gaps[q] = w_q'x - w_q[n], w being q_count rows of n + 1. */
ONLINE_INLINE void gaps_of_body(const double *ONLINE_RESTRICT x, const double *ONLINE_RESTRICT w, ptrdiff_t n,
                                ptrdiff_t q_count, double *ONLINE_RESTRICT gaps) {
    for (ptrdiff_t q = 0; q < q_count; q++) {
        const double *row = w + q * (n + 1);
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4) {
            a += x[i] * row[i];
            b += x[i + 1] * row[i + 1];
            c += x[i + 2] * row[i + 2];
            d += x[i + 3] * row[i + 3];
        }
        for (; i < n; i++) a += x[i] * row[i];
        gaps[q] = (a + b) + (c + d) - row[n];
    }
}
ONLINE_TWICE(gaps_of,
             (const double *ONLINE_RESTRICT x, const double *ONLINE_RESTRICT w, ptrdiff_t n, ptrdiff_t q_count,
              double *ONLINE_RESTRICT gaps),
             (x, w, n, q_count, gaps))

/* w += step x and sums += summed x */
ONLINE_INLINE void add_both_body(double *ONLINE_RESTRICT w, double *ONLINE_RESTRICT sums, double step, double summed,
                                 const double *ONLINE_RESTRICT x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        w[i] += step * x[i];
        sums[i] += summed * x[i];
    }
}
ONLINE_TWICE(add_both,
             (double *ONLINE_RESTRICT w, double *ONLINE_RESTRICT sums, double step, double summed,
              const double *ONLINE_RESTRICT x, ptrdiff_t n),
             (w, sums, step, summed, x, n))

#endif
