# SPDX-License-Identifier: Apache-2.0
"""The memory of an array's values."""
from cpython.mem cimport PyMem_Free, PyMem_Malloc
cimport cython

from codipy.data cimport pool

cdef enum:
    POOLED = 4096                # bytes: smaller ones come from Python's allocator, whose free lists are faster


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Buffer:
    """Buffer()
    --

    Memory for the values of arrays; made by them.
    """
    def __dealloc__(self):
        if self.data != NULL and self.array is None:
            if self.size * <Py_ssize_t>sizeof(double) < POOLED:
                PyMem_Free(self.data)
            else:
                pool.release(<char*>self.data, pooled_bytes(self.size))

    @property
    def address(self):
        """Of the first value."""
        return <size_t>self.data

    @property
    def bytes_used(self):
        """Bytes of the values."""
        return self.size * sizeof(double)

    @property
    def bytes_allocated(self):
        """Bytes of the memory behind them."""
        if self.array is not None or self.size * <Py_ssize_t>sizeof(double) < POOLED:
            return self.size * sizeof(double)
        return pooled_bytes(self.size)


cdef inline size_t pooled_bytes(Py_ssize_t size) noexcept:
    # Whole cache lines, so that sizes that differ by little share.
    return (size * sizeof(double) + 63) & ~<size_t>63


cdef Buffer new_buffer(Py_ssize_t size):
    cdef Buffer buffer = Buffer.__new__(Buffer)
    if size * <Py_ssize_t>sizeof(double) < POOLED:
        buffer.data = <double*>PyMem_Malloc(size * sizeof(double) + 1)
        if buffer.data == NULL:
            raise MemoryError(f"no memory for {size} values")
    else:
        buffer.data = <double*>pool.acquire(pooled_bytes(size))
    buffer.size = size
    return buffer


cdef Buffer wrap_array(object array, double* data, Py_ssize_t size):
    cdef Buffer buffer = Buffer.__new__(Buffer)
    buffer.array, buffer.data, buffer.size = array, data, size
    return buffer
