/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions and expressions of the table are written with: inlining, and constants. */
#ifndef CODIPY_OPERATIONS_BASE_H
#define CODIPY_OPERATIONS_BASE_H
#include <math.h>

#if defined(_MSC_VER)
#define OP_INLINE static __forceinline
#elif defined(__GNUC__)
#define OP_INLINE static inline __attribute__((always_inline))
#else
#define OP_INLINE static inline
#endif

#define LN2 0.6931471805599453
#define LN10 2.302585092994046
#define PI 3.141592653589793
#define DEGREES (180.0 / PI)
#define RADIANS (PI / 180.0)
#define TWO_OVER_SQRT_PI 1.1283791670955126
#endif
