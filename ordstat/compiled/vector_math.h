/* Elementary functions as plain arithmetic, which compilers can vectorise.

   On x86-64 each loop is compiled twice, for every such processor and for those with AVX2 and FMA, and chosen at run time;
   the two round differently in the last place. */
#ifndef ORDSTAT_VECTOR_MATH_H
#define ORDSTAT_VECTOR_MATH_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#define ORDSTAT_RESTRICT __restrict
#define ORDSTAT_INLINE static __forceinline
#elif defined(__GNUC__)
#define ORDSTAT_RESTRICT __restrict__
#define ORDSTAT_INLINE static inline __attribute__((always_inline))
#else
#define ORDSTAT_RESTRICT
#define ORDSTAT_INLINE static inline
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define ORDSTAT_TWICE(name, parameters, arguments)                                                        \
    __attribute__((target("avx2,fma"))) static void name##_wide parameters { name##_body arguments; }     \
    static void name##_plain parameters { name##_body arguments; }                                        \
    static void name parameters {                                                                         \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) name##_wide arguments;       \
        else name##_plain arguments;                                                                      \
    }
#else
#define ORDSTAT_TWICE(name, parameters, arguments) \
    static void name parameters { name##_body arguments; }
#endif

/* (exp(r) - 1) / r with x = k log 2 + r, k whole and |r| <= log(2) / 2, by Taylor's polynomial; |x| <= 700. */
ORDSTAT_INLINE double ordstat_reduced(double x, double *r, double *power) {
    const double whole = 6755399441055744.0; /* 1.5 * 2^52: a sum with it is rounded to a whole number, in the low bits */
    double shifted = x * 1.44269504088896338700 + whole, k = shifted - whole, p, t;
    uint64_t bits;
    t = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    p = 1.0 / 6227020800.0;
    p = p * t + 1.0 / 479001600.0;
    p = p * t + 1.0 / 39916800.0;
    p = p * t + 1.0 / 3628800.0;
    p = p * t + 1.0 / 362880.0;
    p = p * t + 1.0 / 40320.0;
    p = p * t + 1.0 / 5040.0;
    p = p * t + 1.0 / 720.0;
    p = p * t + 1.0 / 120.0;
    p = p * t + 1.0 / 24.0;
    p = p * t + 1.0 / 6.0;
    p = p * t + 0.5;
    p = p * t + 1.0;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023u) << 52;
    memcpy(power, &bits, sizeof bits);
    *r = t;
    return p;
}

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#define ORDSTAT_LIBM 1
#else
#define ORDSTAT_LIBM 0
#endif

/* exp(x), |x| <= 700, within 2 units of the last place. */
ORDSTAT_INLINE double ordstat_exp(double x) {
    double p, r, power;
    if (ORDSTAT_LIBM) return exp(x);
    p = ordstat_reduced(x, &r, &power);
    return (p * r + 1.0) * power;
}

/* exp(x) - 1 for |x| <= 700, and exp(x). */
ORDSTAT_INLINE double ordstat_expm1(double x, double *exponential) {
    double p, r, power;
    if (ORDSTAT_LIBM) {
        *exponential = exp(x);
        return expm1(x);
    }
    p = ordstat_reduced(x, &r, &power);
    *exponential = (p * r + 1.0) * power;
    return p * r * power + (power - 1.0);
}

/* log(x) for normal x > 0: x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), log(1 + f) = 2 artanh(f / (2 + f)). */
ORDSTAT_INLINE double ordstat_log(double x) {
    const uint64_t root = 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
    uint64_t bits, power;
    double k, f, s, z, t;
    if (ORDSTAT_LIBM) return log(x);
    memcpy(&bits, &x, sizeof bits);
    power = (bits - root + ((uint64_t)1024 << 52)) >> 52; /* k + 1024 */
    bits = bits - (power << 52) + ((uint64_t)1024 << 52);
    memcpy(&f, &bits, sizeof f);
    power |= 0x4330000000000000u; /* 2^52 + k + 1024 */
    memcpy(&k, &power, sizeof k);
    k -= 4503599627370496.0 + 1024.0;
    f -= 1.0;
    s = f / (2.0 + f);
    z = s * s;
    t = 2.0 / 19.0;
    t = t * z + 2.0 / 17.0;
    t = t * z + 2.0 / 15.0;
    t = t * z + 2.0 / 13.0;
    t = t * z + 2.0 / 11.0;
    t = t * z + 2.0 / 9.0;
    t = t * z + 2.0 / 7.0;
    t = t * z + 2.0 / 5.0;
    t = t * z + 2.0 / 3.0;
    return k * 6.93147180369123816490e-01 + (f - (s * (f - t * z) - k * 1.90821492927058770002e-10));
}

/* log(1 + x) for x > -1, 1 + x normal. */
ORDSTAT_INLINE double ordstat_log1p(double x) {
    double sum = 1.0 + x;
    if (ORDSTAT_LIBM) return log1p(x);
    return ordstat_log(sum) + (x - (sum - 1.0)) / sum;
}

#endif
