/* SPDX-License-Identifier: Apache-2.0 */
/* Loops for several instruction sets, chosen when the module is loaded.
 *
 * All give the same bits: nothing is contracted and no sum is taken in another order. Sanitizers are not ready when the
 * choice is made. */
#ifndef CODIPY_OPERATIONS_CLONES_H
#define CODIPY_OPERATIONS_CLONES_H
#include <stdlib.h> /* says __GLIBC__ */

#if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TILE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TILE_CLONES
#endif
#endif
