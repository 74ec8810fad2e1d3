# SPDX-License-Identifier: Apache-2.0
"""The one owner of raw memory in this folder: blocks for chunks, pooled when given back, and small tables."""

from libc.string cimport memset
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc

import operator

cdef extern from "codipy/data/pages.h":
    void* codipy_pages_new(size_t bytes) nogil
    void codipy_pages_free(void* memory, size_t bytes) nogil
    void codipy_pages_trim() nogil

cdef extern from "Python.h":
    int PyTraceMalloc_Track(unsigned int domain, size_t address, size_t bytes) nogil
    int PyTraceMalloc_Untrack(unsigned int domain, size_t address) nogil

# The header of a block that waits in the pool, written into the block itself, so that giving back never
# allocates. The block is in two lists: its bin (same power of two) and the ages of all blocks.
cdef struct Free:
    Free* bin_next
    Free* bin_previous
    Free* older
    Free* newer
    size_t bytes

cdef enum:
    DOMAIN = 0xC0D1   # of these blocks in tracemalloc, which sees what is in use and not what waits in the pool
    BINS = 64
    SMALLEST = 4096   # bytes; below, the C library's own free lists are as fast and share better
    SHARE = 4         # what waits and what is in use may be more than ever was in use, by this part of it ...
    LEAST = 4 << 20   # ... and this much in any case
    LOOKS = 32        # blocks of another size seen in a bin before a new block is asked for: O(1), not best

cdef Free* bins[BINS]
cdef Free* oldest = NULL
cdef Free* newest = NULL
cdef size_t pooled = 0
cdef size_t limit = 256 << 20
cdef size_t outstanding = 0    # bytes handed out and not yet given back ...
cdef size_t most = 0           # ... and the most of it at one time since clear_pool()
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
    cdef size_t freed
    while pooled > bytes:
        victim = oldest
        freed = victim.bytes
        unlink(victim)
        codipy_pages_free(victim, freed)


cdef size_t room_beside(size_t taken) noexcept:
    """Bytes that may wait while so many are in use.

    Where sizes change from gradient to gradient, what waits is of the wrong sizes, and a bound alone fills up with it:
    a process of 229 MB for its largest gradient grew to 630. Where they do not, what waits was in use at one time.
    """
    cdef size_t whole = max(most, taken)
    whole = max(whole + whole // SHARE, <size_t>LEAST)
    return min(limit, whole - taken)


cdef bint fails() noexcept:
    global countdown
    if countdown < 0:
        return False
    countdown -= 1
    return countdown < 0


cdef char* acquire(size_t bytes) except NULL:
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
                return handed_out(free, bytes)
            free = free.bin_next
            looks += 1
    shrink_to(room_beside(outstanding + bytes))
    memory = codipy_pages_new(bytes)
    if memory == NULL and pooled > 0:
        shrink_to(0)
        memory = codipy_pages_new(bytes)
    if memory == NULL:
        raise MemoryError(f"no memory for a chunk of {bytes} bytes")
    return handed_out(memory, bytes)


cdef inline char* handed_out(void* block, size_t bytes) noexcept:
    global outstanding, most
    outstanding += bytes
    most = max(most, outstanding)
    PyTraceMalloc_Track(DOMAIN, <size_t>block, bytes)
    return <char*>block


cdef void release(char* block, size_t bytes) noexcept:
    global outstanding, oldest, newest, pooled
    cdef Free* free = <Free*>block
    cdef size_t room
    cdef int index
    outstanding -= bytes
    PyTraceMalloc_Untrack(DOMAIN, <size_t>block)
    room = room_beside(outstanding)
    if bytes < SMALLEST or bytes > room:
        codipy_pages_free(block, bytes)
        return
    shrink_to(room - bytes)
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
    """Free every block that waits in the pool, and give the system what the C library keeps free."""
    global most
    shrink_to(0)
    most = outstanding
    codipy_pages_trim()


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
