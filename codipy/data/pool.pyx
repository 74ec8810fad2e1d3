# SPDX-License-Identifier: Apache-2.0
"""The one owner of raw memory in this folder: blocks for chunks, pooled when given back, and small tables."""

from libc.string cimport memset
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc

import operator

cdef extern from "pages.h":
    void* codipy_pages_new(size_t bytes) nogil
    void codipy_pages_free(void* memory) nogil

# The header of a block that waits in the pool, written into the block itself, so that giving back never
# allocates. The block is in two lists: its bin (same power of two) and the ages of all blocks.
cdef struct Free:
    Free* bin_next
    Free* bin_previous
    Free* older
    Free* newer
    size_t bytes

cdef enum:
    BINS = 64
    SMALLEST = 4096   # bytes; below, the C library's own free lists are as fast and share better
    LOOKS = 32        # blocks of another size seen in a bin before a new block is asked for: O(1), not best

cdef Free* bins[BINS]
cdef Free* oldest = NULL
cdef Free* newest = NULL
cdef size_t pooled = 0
cdef size_t limit = 256 << 20
cdef size_t outstanding = 0    # bytes handed out and not yet given back
cdef Py_ssize_t countdown = -1  # allocations until the injected failure; negative: none


cdef int bin_of(size_t bytes) noexcept:
    cdef int index = 0
    while bytes > 1:
        bytes >>= 1
        index += 1
    return index


cdef void unlink(Free* free) noexcept:
    global oldest, newest, pooled
    if free.bin_previous != NULL:
        free.bin_previous.bin_next = free.bin_next
    else:
        bins[bin_of(free.bytes)] = free.bin_next
    if free.bin_next != NULL:
        free.bin_next.bin_previous = free.bin_previous
    if free.older != NULL:
        free.older.newer = free.newer
    else:
        oldest = free.newer
    if free.newer != NULL:
        free.newer.older = free.older
    else:
        newest = free.older
    pooled -= free.bytes


cdef void shrink_to(size_t bytes) noexcept:
    # The oldest go first: a size that nobody asks for any more must not occupy the pool for ever.
    cdef Free* victim
    while pooled > bytes:
        victim = oldest
        unlink(victim)
        codipy_pages_free(victim)


cdef bint fails() noexcept:
    global countdown
    if countdown < 0:
        return False
    countdown -= 1
    return countdown < 0


cdef char* acquire(size_t bytes) except NULL:
    global outstanding
    cdef Free* free
    cdef int looks = 0
    cdef void* memory
    if countdown >= 0 and fails():
        raise MemoryError(f"no memory for a chunk of {bytes} bytes (injected by fail_after)")
    if bytes >= SMALLEST:
        free = bins[bin_of(bytes)]
        while free != NULL and looks < LOOKS:
            if free.bytes == bytes:
                unlink(free)
                outstanding += bytes
                return <char*>free
            free = free.bin_next
            looks += 1
    memory = codipy_pages_new(bytes)
    if memory == NULL and pooled > 0:
        shrink_to(0)
        memory = codipy_pages_new(bytes)
    if memory == NULL:
        raise MemoryError(f"no memory for a chunk of {bytes} bytes")
    outstanding += bytes
    return <char*>memory


cdef void release(char* block, size_t bytes) noexcept:
    global outstanding, oldest, newest, pooled
    cdef Free* free = <Free*>block
    cdef int index
    outstanding -= bytes
    if bytes < SMALLEST or bytes > limit:
        codipy_pages_free(block)
        return
    shrink_to(limit - bytes)
    index = bin_of(bytes)
    free.bytes = bytes
    free.bin_previous = NULL
    free.bin_next = bins[index]
    if free.bin_next != NULL:
        free.bin_next.bin_previous = free
    bins[index] = free
    free.newer = NULL
    free.older = newest
    if newest != NULL:
        newest.newer = free
    else:
        oldest = free
    newest = free
    pooled += bytes


cdef void* resize(void* table, size_t old_bytes, size_t new_bytes) except NULL:
    global outstanding
    cdef void* memory = NULL
    if countdown < 0 or not fails():
        memory = PyMem_RawRealloc(table, new_bytes)
    if memory == NULL:
        raise MemoryError(f"no memory for a table of {new_bytes} bytes")
    if new_bytes > old_bytes:
        memset(<char*>memory + old_bytes, 0, new_bytes - old_bytes)
    outstanding += new_bytes
    outstanding -= old_bytes
    return memory


cdef void discard(void* table, size_t bytes) noexcept:
    global outstanding
    outstanding -= bytes
    PyMem_RawFree(table)


def pool_bytes():
    """Return the bytes that wait in the pool for their next use."""
    return pooled


def pool_limit():
    """Return the bytes that the pool keeps at most."""
    return limit


def set_pool_limit(nbytes):
    """
    Bound the pool.

    Parameters
    ----------
    nbytes : int
        Bytes to keep at most; 0 switches the pool off. What is above is freed at once, oldest first.
    """
    global limit
    cdef Py_ssize_t value = operator.index(nbytes)
    if value < 0:
        raise ValueError(f"nbytes must be 0 or more, not {value}")
    limit = value
    shrink_to(limit)


def clear_pool():
    """Free every block that waits in the pool."""
    shrink_to(0)


def bytes_outstanding():
    """Return the bytes handed out and not given back: 0 when every stream, position and view is gone."""
    return outstanding


def fail_after(n):
    """
    Let one allocation of this folder fail, for tests.

    Parameters
    ----------
    n : int or None
        Allocations that still succeed before the one that raises MemoryError; None switches it off.
    """
    global countdown
    cdef Py_ssize_t value = -1 if n is None else operator.index(n)
    if n is not None and value < 0:
        raise ValueError(f"n must be 0 or more, or None, not {value}")
    countdown = value
