/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned memory from the operating system, on huge pages where it is large and the system has them. */
#ifndef CODIPY_DATA_PAGES_H
#define CODIPY_DATA_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <malloc.h>
#elif defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#define CODIPY_LINE ((size_t)64)        /* alignment of every array: one cache line, one AVX-512 register */
#define CODIPY_HUGE ((size_t)1 << 21)   /* size and alignment of a huge page on x86-64 and arm64 */

/* Whether the advice pays: `python benchmarks/bench_huge_pages.py` writes 16 MB chunks for the first time with and
 * without it. On a quiet virtual machine 64 MB took the writes from 2.5 to 18 GB/s and 384 MB from 2.3 to 17; on a busy
 * one the median of 384 MB gained nothing, and single runs were far slower both times (docs/design/streams.md).
 * Alignment alone, without advice: no gain.
 *
 * On Linux such memory is a mapping of its own, which goes back to the system when it is freed. Rejected:
 * posix_memalign for these too. After the first large free() glibc takes blocks up to 32 MB from its heap, where what
 * is freed stays as holes between others: 236 MB after gradients of 1,000 to 2,000,000 elements.
 *
 * NULL when there is no memory. The system may decline the advice: then the pages are ordinary ones. */
static inline void *codipy_pages_new(size_t bytes) {
    void *memory = NULL;
#if defined(__linux__)
    if (bytes >= CODIPY_HUGE) {
        size_t lead, page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
        char *start;
        if (whole < bytes || whole > SIZE_MAX - CODIPY_HUGE) return NULL;
        start = mmap(NULL, whole + CODIPY_HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED) return NULL;
        lead = (CODIPY_HUGE - (size_t)start % CODIPY_HUGE) % CODIPY_HUGE;
        if (lead) (void)munmap(start, lead);
        (void)munmap(start + lead + whole, CODIPY_HUGE - lead);
#if defined(MADV_HUGEPAGE)
        (void)madvise(start + lead, whole, MADV_HUGEPAGE);
#endif
        return start + lead;
    }
#endif
#if defined(_WIN32)
    memory = _aligned_malloc(bytes, bytes >= CODIPY_HUGE ? CODIPY_HUGE : CODIPY_LINE);
#else
    if (posix_memalign(&memory, bytes >= CODIPY_HUGE ? CODIPY_HUGE : CODIPY_LINE, bytes) != 0) return NULL;
#endif
    return memory;
}

/* Memory of codipy_pages_new(bytes). */
static inline void codipy_pages_free(void *memory, size_t bytes) {
#if defined(__linux__)
    if (bytes >= CODIPY_HUGE) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        (void)munmap(memory, (bytes + page - 1) / page * page);
        return;
    }
#endif
    (void)bytes;
#if defined(_WIN32)
    _aligned_free(memory);
#else
    free(memory);
#endif
}

/* Give the system what the C library keeps of memory that everybody freed, where it can be told to. */
static inline void codipy_pages_trim(void) {
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}

#endif
