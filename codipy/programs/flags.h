/* SPDX-License-Identifier: Apache-2.0 */
/* The processor's floating-point flags of this thread: what happened since they were cleared. */
#ifndef CODIPY_PROGRAMS_FLAGS_H
#define CODIPY_PROGRAMS_FLAGS_H
#include <fenv.h>

enum { FLAGS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };

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
