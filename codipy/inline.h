/* SPDX-License-Identifier: Apache-2.0 */
/* Make Cython's inline functions inline for good in the module that includes this.

   The kernels are meant to be folded with the literals they are called with (an operation code, a width, a strategy);
   left to itself gcc finds some of them too large and calls one general copy with a switch inside. Measured with
   `python benchmarks/run.py`: recording cost a fifth more that way. */
#if defined(__GNUC__) || defined(__clang__)
#undef CYTHON_INLINE
#define CYTHON_INLINE inline __attribute__((always_inline))
#endif
