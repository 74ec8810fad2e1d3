/* SPDX-License-Identifier: Apache-2.0 */
/* Make Cython's inline functions inline for good in the module that includes this.

   `combine` is meant to be folded with its operation code and operand count; left to itself gcc finds it too large and
   calls one general copy with a switch inside, and recording costs a fifth more (docs/design/scalars.md). */
#if defined(__GNUC__) || defined(__clang__)
#undef CYTHON_INLINE
#define CYTHON_INLINE inline __attribute__((always_inline))
#endif
