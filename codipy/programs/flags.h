/* SPDX-License-Identifier: Apache-2.0 */
/* The processor's floating-point flags of this thread: what happened since they were cleared. */
#ifndef CODIPY_PROGRAMS_FLAGS_H
#define CODIPY_PROGRAMS_FLAGS_H
#include <fenv.h>

enum { FLAGS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };

#if defined(__x86_64__) && defined(__GNUC__)
/* The register of SSE alone, whose bits have the values of <fenv.h>: that asks the x87 too, which takes ten times as
   long and computes no doubles. */
#include <xmmintrin.h>

static inline int flags_raised(void) { return (int)_mm_getcsr() & FLAGS; }

static inline void flags_clear(void)
{
    const unsigned int state = _mm_getcsr();
    if (state & FLAGS) _mm_setcsr(state & ~(unsigned int)FLAGS);
}

static inline void flags_raise(int flags)
{
    if (flags) _mm_setcsr(_mm_getcsr() | (unsigned int)flags);
}
#else
static inline int flags_raised(void) { return fetestexcept(FLAGS); }

/* Looking first: to clear takes several times as long. */
static inline void flags_clear(void)
{
    if (fetestexcept(FLAGS)) feclearexcept(FLAGS);
}

static inline void flags_raise(int flags)
{
    if (flags) feraiseexcept(flags);
}
#endif
#endif
