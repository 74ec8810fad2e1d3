/* SPDX-License-Identifier: Apache-2.0 */
/* digamma and its first two derivatives; polygamma.py is the same text in Python.
 *
 * Recurrence up to x >= 10 (Abramowitz & Stegun 6.3.5, 6.4.6), there the asymptotic series (6.3.18, 6.4.12, 6.4.13);
 * reflection for negative x (6.3.7, 6.4.7); digamma near its positive root by its Taylor series, since the recurrence
 * would leave only an absolute accuracy there.
 */
#ifndef CODIPY_OPERATIONS_POLYGAMMA_H
#define CODIPY_OPERATIONS_POLYGAMMA_H
#include "codipy/operations/base.h"

/* The positive root of digamma in two doubles, and digamma's Taylor coefficients there, from the first order on. */
#define DIGAMMA_ROOT 1.4616321449683622
#define DIGAMMA_ROOT_REST 9.549995429965697e-17
static const double DIGAMMA_TAYLOR[16] = {
    0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652,
    0.10782405069126237, -0.07219956125645471, 0.04880428816414311, -0.03316112647484736,
    0.022597648232218104, -0.01542476490594896, 0.010538791616612175, -0.007204534386356869,
    0.004926781395729853, -0.003369801655439328, 0.002305126326734928, -0.0015769367714301972,
};

/* Bernoulli numbers B2, B4, ... B18. */
static const double BERNOULLI[9] = {
    1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510, 43867.0 / 798,
};

/* The fractional part of x in [-1/2, 1/2], exact, so that sin and cos of PI times it keep their accuracy. */
static inline double from_nearest(double x) { return x - rint(x); }

static inline double digamma(double x)
{
    double rest = 0.0, u, sum = 0.0;
    int k;
    if (x <= 0) {
        if (x == 0) return -1 / x;
        if (x == rint(x)) return NAN; /* a pole, and every large double */
        rest = -PI / tan(PI * from_nearest(x));
        x = 1 - x;
    }
    if (fabs(x - DIGAMMA_ROOT) < 0.15) {
        u = (x - DIGAMMA_ROOT) - DIGAMMA_ROOT_REST;
        for (k = 15; k >= 0; k--) sum = (sum + DIGAMMA_TAYLOR[k]) * u;
        return rest + sum;
    }
    for (; x < 10; x += 1) rest -= 1 / x;
    u = 1 / (x * x);
    for (k = 8; k >= 0; k--) sum = (sum + BERNOULLI[k] / (2 * k + 2)) * u;
    return rest + (log(x) - 0.5 / x - sum);
}

static inline double trigamma(double x)
{
    double rest = 0.0, sign = 1.0, u, sum = 0.0;
    int k;
    if (x <= 0) {
        u = sin(PI * from_nearest(x));
        if (u == 0) return INFINITY; /* the poles 0, -1, -2, ... */
        rest = PI / u * (PI / u);
        sign = -1.0;
        x = 1 - x;
    }
    for (; x < 10; x += 1) rest += sign / (x * x);
    u = 1 / (x * x);
    for (k = 8; k >= 0; k--) sum = (sum + BERNOULLI[k]) * u;
    return rest + sign * ((1 + 0.5 / x + sum) / x);
}

static inline double tetragamma(double x)
{
    double rest = 0.0, u, sum = 0.0;
    int k;
    if (x <= 0) {
        u = PI / sin(PI * from_nearest(x));
        rest = -2 * u * u * u * cos(PI * from_nearest(x)); /* -inf + inf at a pole would be NaN: it has no sign */
        x = 1 - x;
    }
    for (; x < 10; x += 1) rest -= 2 / (x * x * x);
    u = 1 / (x * x);
    for (k = 8; k >= 0; k--) sum = (sum + (2 * k + 3) * BERNOULLI[k]) * u;
    return rest - (1 + 1 / x + sum) / x / x;
}
#endif
