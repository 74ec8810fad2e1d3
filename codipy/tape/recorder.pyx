# SPDX-License-Identifier: Apache-2.0
"""The slow paths of recording: opening chunks, growing the vectors of values and of tangents."""
from libc.string cimport memset
from cpython.mem cimport PyMem_RawMalloc, PyMem_RawRealloc

from libc.stdint cimport int32_t

from codipy.data.stream cimport Stream
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.identifiers.waiting cimport WaitingBlocks
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.recorder cimport Entry, Recorder, JACOBIAN


cdef int make_room(Recorder* r, Py_ssize_t arguments, Py_ssize_t constants) except -1:
    """Reserve one statement, innermost stream to root; a failure leaves the streams as they were."""
    (<Stream>r.streams[0]).reserve(1)
    (<Stream>r.streams[1]).reserve(arguments)
    if r.kind != JACOBIAN:
        (<Stream>r.streams[2]).reserve(constants)
    return 0


cdef inline Py_ssize_t larger_size(Py_ssize_t size, Py_ssize_t identifier) noexcept:
    # Doubling keeps the cost per statement constant.
    return max(2 * size, identifier + 1, <Py_ssize_t>128)


cdef int grow_primals(Recorder* r, Py_ssize_t identifier) except -1:
    """Make room for the primal value of `identifier`."""
    cdef Py_ssize_t size = larger_size(r.primals_size, identifier)
    if r.counts and not r.reuse:
        return slide_primals(r, identifier)
    cdef double* larger = <double*>PyMem_RawRealloc(r.primals, size * sizeof(double))
    if larger == NULL:
        raise MemoryError(f"no memory for {size} primal values")
    memset(larger + r.primals_size, 0, (size - r.primals_size) * sizeof(double))
    r.primals, r.primals_size = larger, size
    return 0


cdef enum:
    WINDOW = 512             # identifiers


cdef int slide_primals(Recorder* r, Py_ssize_t identifier) except -1:
    """The same where values are counted: identifiers grow, and a recording reads none of their values."""
    if r.window == NULL:
        r.window = <double*>PyMem_RawMalloc(WINDOW * sizeof(double))
        if r.window == NULL:
            raise MemoryError(f"no memory for {WINDOW} primal values")
    if identifier >= r.primals_counted:
        r.primals_counted = larger_size(r.primals_counted, identifier)
    r.primals = <double*>(<size_t>r.window - identifier * sizeof(double))
    r.primals_size = min(identifier + WINDOW, r.primals_counted)
    return 0


cdef int grow_tangents(Recorder* r, Py_ssize_t identifier) except -1:
    cdef AdjointVector vector = <AdjointVector>r.tangent_vector
    vector.grow(<int32_t>identifier)
    r.tangents, r.tangents_size = vector.origin(), vector.slots
    return 0


cdef bint is_live(Recorder* r, Py_ssize_t first, Py_ssize_t n):
    cdef Py_ssize_t i
    if not r.reuse:
        return not (<WaitingBlocks>r.waiting).overlaps(<int32_t>first, n)
    for i in range(first, first + n):
        if not (<ReuseIdentifiers>r.reusing).uses_of(<int32_t>i):
            return False
    return True


cdef bint are_live(Recorder* r, const Entry* entries, Py_ssize_t count):
    cdef Py_ssize_t i
    for i in range(count):
        if entries[i].identifier and not is_live(r, entries[i].identifier, 1):
            return False
    return True
