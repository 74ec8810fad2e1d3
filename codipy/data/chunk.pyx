# SPDX-License-Identifier: Apache-2.0
"""One chunk of a stream: its memory, the base pointers of its parallel arrays and how far it is filled."""

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.ref cimport Py_INCREF, Py_XDECREF

from codipy.data cimport pool

cdef enum:
    FIRST_BLOCK = 1024        # bytes of a growing stream's first chunk; each later one has twice the bytes
    DOUBLINGS = 14            # until 16 MB: above, fewer chunks gain nothing and the last one's waste grows

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX
    Py_ssize_t Py_REFCNT(PyObject* o)


@cython.final
@cython.no_gc
cdef class Block:
    """Memory of one chunk; exports it as a read-only buffer. Made by streams only."""

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.memory, self.nbytes, 1, flags)

    def __dealloc__(self):
        if self.memory != NULL:
            pool.release(self.memory, self.nbytes)


cdef Block new_block(size_t nbytes):
    # The object first: were it second, its failure would have to give the memory back.
    cdef Block block = Block.__new__(Block)
    block.memory = pool.acquire(nbytes)
    block.nbytes = nbytes
    return block


cdef Py_ssize_t block_bytes(Py_ssize_t capacity, const Py_ssize_t* sizes, int count) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef int i
    for i in range(count):
        if capacity > (PY_SSIZE_T_MAX // MAX_FIELDS - 64) // sizes[i]:
            return -1
        total += (capacity * sizes[i] + 63) & ~<Py_ssize_t>63
    return total


cdef Py_ssize_t chunk_capacity(Py_ssize_t n, Py_ssize_t chunk, Py_ssize_t fixed, const Py_ssize_t* sizes, int count,
                               Py_ssize_t* nbytes) except -1:
    # By the chunk's number, not by the last chunk's size: one large reservation must not make all later ones large.
    cdef Py_ssize_t capacity = max(fixed, n), item_bytes = 0
    cdef Py_ssize_t wanted
    cdef int i
    nbytes[0] = block_bytes(capacity, sizes, count)
    if nbytes[0] < 0:
        raise MemoryError(f"no memory for a chunk of {capacity} items")
    if not fixed:
        wanted = <Py_ssize_t>FIRST_BLOCK << min(chunk, <Py_ssize_t>DOUBLINGS)
        if nbytes[0] <= wanted:
            # Whole powers of two, padding included, so that streams of all item sizes share the pool.
            nbytes[0] = wanted
            for i in range(count):
                item_bytes += sizes[i]
            capacity = max(n, wanted // item_bytes)
            while block_bytes(capacity, sizes, count) > wanted:
                capacity -= 1
    return capacity


cdef void install(Chunk* chunk, PyObject* block, Py_ssize_t capacity, const Py_ssize_t* sizes, int count) noexcept:
    cdef PyObject* old = chunk.block
    cdef char* base = NULL
    cdef int i
    if block != NULL:
        Py_INCREF(<object>block)
        base = (<Block>block).memory
    chunk.block = block
    chunk.capacity = chunk.limit = capacity
    chunk.used = 0
    for i in range(count):
        chunk.fields[i] = base
        if base != NULL:
            base += (capacity * sizes[i] + 63) & ~<Py_ssize_t>63
    Py_XDECREF(old)


cdef bint is_viewed(const Chunk* chunk) noexcept:
    return chunk.block != NULL and Py_REFCNT(chunk.block) > 1
