/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned memory from the operating system, on huge pages where it is large and the system has them. */
#ifndef CODIPY_DATA_PAGES_H
#define CODIPY_DATA_PAGES_H

#include <stddef.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <malloc.h>
#elif defined(__linux__)
#include <sys/mman.h>
#endif

#define CODIPY_LINE ((size_t)64)        /* alignment of every array: one cache line, one AVX-512 register */
#define CODIPY_HUGE ((size_t)1 << 21)   /* size and alignment of a huge page on x86-64 and arm64 */

/* Whether the advice pays: `python benchmarks/bench_huge_pages.py` writes 16 MB chunks for the first time with and
 * without it. On a quiet virtual machine 64 MB took the writes from 2.5 to 18 GB/s and 384 MB from 2.3 to 17; on a busy
 * one the median of 384 MB gained nothing, and single runs were far slower both times (docs/design/streams.md).
 * Alignment alone, without advice: no gain.
 *
 * NULL when there is no memory. The system may decline the advice: then the pages are ordinary ones. */
static void *codipy_pages_new(size_t bytes) {
    size_t alignment = bytes >= CODIPY_HUGE ? CODIPY_HUGE : CODIPY_LINE;
    void *memory = NULL;
#if defined(_WIN32)
    memory = _aligned_malloc(bytes, alignment);
#else
    if (posix_memalign(&memory, alignment, bytes) != 0) return NULL;
#endif
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= CODIPY_HUGE) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

static void codipy_pages_free(void *memory) {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    free(memory);
#endif
}

#endif
