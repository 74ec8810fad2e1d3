/* SPDX-License-Identifier: Apache-2.0 */
/* Sine and cosine for partials, where speed counts and the last bit does not: values come from libm, always.

   glibc's own save and restore the rounding mode around every call, which was half of the primal sweep of a chain of
   sines (`python benchmarks/run.py values`: 2.8 Jacobian sweeps with libm's, 2.4 with these). Error at most 1.1 ulp in
   |x| <= 1e5 (tests/operations/test_trigonometry.py); beyond, libm. Method: reduction by pi/2 in three parts (Cody and
   Waite, Software Manual for the Elementary Functions, 1980) and minimax polynomials on [-pi/4, pi/4] (the
   coefficients of fdlibm, Sun Microsystems 1993, free to use with this notice). */
#ifndef CODIPY_OPERATIONS_TRIGONOMETRY_H
#define CODIPY_OPERATIONS_TRIGONOMETRY_H
#include "codipy/operations/base.h"

#define SINE_SERIES(z)                                                                                             \
    (-1.66666666666666324348e-01 + (z) * (8.33333333332248946124e-03 + (z) * (-1.98412698298579493134e-04          \
    + (z) * (2.75573137070700676789e-06 + (z) * (-2.50507602534068634195e-08 + (z) * 1.58969099521155010221e-10)))))
#define COSINE_SERIES(z)                                                                                           \
    (4.16666666666666019037e-02 + (z) * (-1.38888888888741095749e-03 + (z) * (2.48015872894767294178e-05           \
    + (z) * (-2.75573143513906633035e-07 + (z) * (2.08757232129817482790e-09 + (z) * -1.13596475577881948265e-11)))))

/* sin(x + quadrants * pi / 2). */
OP_INLINE double shifted_sine(double x, int quadrants)
{
    const double ROUND = 6755399441055744.0; /* adding it leaves the nearest whole number in the low bits */
    double n, first, second, low, r, z, chosen;
    int quadrant;
    if (!(fabs(x) <= 1e5)) return quadrants & 1 ? cos(x) : sin(x);
    n = (x * 6.36619772367581382433e-01 + ROUND) - ROUND;
    quadrant = (int)n + quadrants;
    first = x - n * 1.57079632673412561417e+00;           /* exact: 33 bits of pi / 2 */
    second = first - n * 6.07710050630396597660e-11;      /* the next 33 */
    low = n * 2.02226624879595063154e-21 - ((first - second) - n * 6.07710050630396597660e-11);
    r = second - low;
    low = (second - r) - low;
    z = r * r;
    if (quadrant & 1) /* a branch: arguments that follow one another mostly lie in one quadrant */
        chosen = 1.0 - (0.5 * z - (z * z * COSINE_SERIES(z) - r * low));
    else
        chosen = r + (r * z * SINE_SERIES(z) + low);
    return quadrant & 2 ? -chosen : chosen;
}

OP_INLINE double slope_sin(double x) { return shifted_sine(x, 0); }
OP_INLINE double slope_cos(double x) { return shifted_sine(x, 1); }
#endif
