# SPDX-License-Identifier: Apache-2.0
"""The slow paths of recording: opening chunks and growing the primal vector."""
from libc.stdlib cimport realloc
from libc.string cimport memset

from codipy.data.stream cimport Stream
from codipy.tape.recorder cimport Recorder, JACOBIAN


cdef int make_room(Recorder* r, Py_ssize_t arguments, Py_ssize_t constants) except -1:
    """Reserve one statement, innermost stream to root; a failure leaves the streams as they were."""
    (<Stream>r.streams[0]).reserve(1)
    (<Stream>r.streams[1]).reserve(arguments)
    if r.kind != JACOBIAN:
        (<Stream>r.streams[2]).reserve(constants)
    return 0


cdef int grow_primals(Recorder* r, Py_ssize_t identifier) except -1:
    """Make room for the primal value of `identifier`; doubling keeps the cost per statement constant."""
    cdef Py_ssize_t size = 2 * r.primals_size
    if size < identifier + 1:
        size = identifier + 1
    if size < 128:
        size = 128
    cdef double* larger = <double*>realloc(r.primals, size * sizeof(double))
    if larger == NULL:
        raise MemoryError(f"no memory for {size} primal values")
    memset(larger + r.primals_size, 0, (size - r.primals_size) * sizeof(double))
    r.primals, r.primals_size = larger, size
    return 0
