/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the table's expressions use beside math.h; helpers.py has each under the same name. */
#ifndef CODIPY_OPERATIONS_HELPERS_H
#define CODIPY_OPERATIONS_HELPERS_H
#include "codipy/operations/base.h"
#include "codipy/operations/polygamma.h"
#include "codipy/operations/trigonometry.h"

/* A macro, so that only the branch taken is computed; kernels.h undefines it at its end. */
#define pick(condition, yes, no) ((condition) ? (yes) : (no))

/* -1, 0 or 1, and NaN of NaN. */
OP_INLINE double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x; }

/* x / y, and 0 where y is 0: the convention at the origin of hypot and atan2. */
OP_INLINE double ratio(double x, double y) { return y == 0 ? 0.0 : x / y; }

/* x - y, and 0 where both are the same infinity. */
OP_INLINE double difference(double x, double y) { return x == y ? 0.0 : x - y; }

/* Python's x % y: the sign is that of y, also of a zero. */
OP_INLINE double floor_mod(double x, double y)
{
    double r = fmod(x, y);
    if (r == 0) return copysign(y == 0 ? NAN : 0.0, y);
    return (y < 0) != (r < 0) ? r + y : r;
}

/* Python's math.remainder: glibc gives some zeros the wrong sign where y is subnormal. */
OP_INLINE double nearest_mod(double x, double y)
{
    double r = remainder(x, y);
    return r == 0 ? copysign(0.0, x) : r;
}

/* ---- x**y: the exponents that programs write cost a product; w / x replaces a second pow() where w is exact. ---- */
static inline double power_x(double x, double y, double w)
{
    if (y == 2) return 2 * x;
    if (y == 3) return 3 * x * x;
    if (y == 1) return 1.0;
    if (y == 0) return 0.0;
    if (y == 0.5) return 0.5 / fabs(w); /* of -0.0 as of 0.0 */
    if (y == -1) return -w * w;
    if (fabs(w) > 1e-290 && fabs(w) < 1e300) return y * (w / x); /* no subnormal w, no overflow before its time */
    return y * pow(x, y - 1);
}

static inline double power_y(double x, double y, double w)
{
    (void)y;
    if (x < 0)
        return NAN; /* not log(x): its floating-point flag would make NumPy's object loops warn of x**2 */
    return x == 0 || (w == 0 && x > 0) ? 0.0 : w * log(x);
}

static inline double power_xx(double x, double y, double w)
{
    double below;
    if (y == 2) return 2.0;
    if (y == 3) return 6 * x;
    if (y == 1 || y == 0) return 0.0;
    below = pow(x, y - 2);
    if (below == 0) return 0.0;                                         /* where y * y may be infinite */
    if (isinf(below) && x != 0 && !isinf(x)) return y * (w / x) * ((y - 1) / x); /* where y may be tiny */
    return y * (y - 1) * below;
}

static inline double power_xy(double x, double y, double w)
{
    double below = pow(x, y - 1); /* which may have digits where w is 0 */
    (void)w;
    return x == 0 || (below == 0 && x > 0) ? 0.0 : below * (1 + y * log(x));
}

static inline double power_yy(double x, double y, double w)
{
    (void)y;
    return x == 0 || (w == 0 && x > 0) ? 0.0 : w * log(x) * log(x);
}

/* ---- Slopes that cancel or overflow when written with w alone. ---- */
OP_INLINE double expm1_slope(double x, double w) { return w > -0.5 ? w + 1 : exp(x); }

/* exp(-|x|) / (1 + exp(-|x|))**2, the derivative of expit at either sign. */
OP_INLINE double logistic_density(double x)
{
    double e = exp(-fabs(x));
    return e / ((1 + e) * (1 + e));
}

OP_INLINE double tanh_slope(double x, double w)
{
    return fabs(w) < 0.9 ? (1 - w) * (1 + w) : 4 * logistic_density(2 * x);
}

OP_INLINE double expit(double x)
{
    double e = exp(-fabs(x));
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

OP_INLINE double expit_slope(double x, double w) { return w < 0.9 ? w * (1 - w) : logistic_density(x); }

OP_INLINE double logaddexp(double x, double y)
{
    if (x == y) return x + LN2;
    return x > y ? x + log1p(exp(y - x)) : y + log1p(exp(x - y));
}

OP_INLINE double erf_slope(double x) { return fabs(x) > 30 ? 0.0 : TWO_OVER_SQRT_PI * exp(-x * x); }

/* ---- The plane: no square is formed, so nothing overflows. ---- */
static inline double hypot_x(double x, double y, double w)
{
    if (w == 0) return 0.0;
    if (!isinf(w)) return x / w;
    if (isinf(x)) return isinf(y) ? NAN : sign(x);
    return isinf(y) ? 0.0 : 0.25 * x / hypot(0.25 * x, 0.25 * y);
}

OP_INLINE double hypot_xx(double x, double y, double w)
{
    (void)x;
    return ratio(ratio(y, w), w) * ratio(y, w); /* the square alone may underflow */
}

static inline double atan2_xx(double x, double y)
{
    double h = hypot(x, y);
    return -2 * ratio(ratio(ratio(x, h) * ratio(y, h), h), h);
}

static inline double atan2_xy(double x, double y)
{
    double h = hypot(x, y);
    return ratio(ratio((ratio(x, h) - ratio(y, h)) * (ratio(x, h) + ratio(y, h)), h), h);
}

/* ---- The parts of a double. ---- */
/* x * 2**y; beyond 4200 in either direction every double has become 0 or inf. */
OP_INLINE double scale(double x, double y) { return ldexp(x, y > 4200 ? 4200 : y > -4200 ? (int)y : -4200); }

OP_INLINE double mantissa(double x)
{
    int exponent;
    return frexp(x, &exponent);
}

static inline double mantissa_slope(double x)
{
    int exponent = 0;
    (void)frexp(x, &exponent);
    return isfinite(x) ? ldexp(1.0, -exponent) : 1.0;
}

OP_INLINE double fraction(double x)
{
    double whole;
    return modf(x, &whole);
}

/* x rounded to float32. */
OP_INLINE double single(double x) { return (double)(float)x; }
#endif
