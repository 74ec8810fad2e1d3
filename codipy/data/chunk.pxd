# SPDX-License-Identifier: Apache-2.0
# One chunk of a stream: its memory, the base pointers of its parallel arrays and how far it is filled.

from cpython.ref cimport PyObject

cdef enum:
    MAX_FIELDS = 4

cdef struct Chunk:
    PyObject* block            # the Block that holds the arrays, a strong reference; NULL: no memory yet
    char* fields[MAX_FIELDS]   # base of each parallel array, 64-byte aligned, inside the block
    Py_ssize_t capacity        # items that fit
    Py_ssize_t limit           # items it may take: the capacity, or less once sealed at a rollback
    Py_ssize_t used            # items in it once it is closed; of the open chunk the cursor knows better

# Memory of one chunk as an object, so that views of it keep it alive after the stream has let go of it.
# Whoever finds a second reference to it knows that someone still looks at the values.
cdef class Block:
    cdef char* memory
    cdef readonly Py_ssize_t nbytes

cdef Block new_block(size_t nbytes)
# Bytes of a block for `capacity` items of the given field sizes, each array padded to 64; -1: over the limit.
cdef Py_ssize_t block_bytes(Py_ssize_t capacity, const Py_ssize_t* sizes, int count) noexcept nogil
# How many items chunk number `chunk` takes, `n` of them at least, and its bytes; `fixed` items, 0: chunks grow.
cdef Py_ssize_t chunk_capacity(Py_ssize_t n, Py_ssize_t chunk, Py_ssize_t fixed, const Py_ssize_t* sizes, int count,
                               Py_ssize_t* nbytes) except -1
# Makes `chunk` use `block` (NULL: none) from its start, and drops the reference to the one it had.
cdef void install(Chunk* chunk, PyObject* block, Py_ssize_t capacity, const Py_ssize_t* sizes, int count) noexcept
# True when a view of the chunk's memory is alive.
cdef bint is_viewed(const Chunk* chunk) noexcept
