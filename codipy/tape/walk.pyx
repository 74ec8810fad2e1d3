# SPDX-License-Identifier: Apache-2.0
"""The walk that all sweeps share."""
from libc.stdint cimport int32_t
from cpython.exc cimport PyErr_CheckSignals

from codipy.data.region cimport Regions


cdef int walk(Regions regions, Kernel kernel, Sweep* sweep, bint reverse) except -1:
    """Run a kernel over all regions without the GIL; statements are the innermost stream."""
    cdef Py_ssize_t cursors[4]
    cdef Py_ssize_t count, statements = 0, innermost = regions.depth - 1
    assert regions.depth <= 4
    with nogil:
        while regions.next_reverse() if reverse else regions.next_forward():
            kernel(regions.spans, sweep, cursors)
            regions.check(cursors, reverse)
            count = regions.spans[innermost].end - regions.spans[innermost].begin
            sweep.lhs += <int32_t>(-count if reverse else count)
            statements += count
            if statements > STATEMENTS_PER_SIGNAL_CHECK and not sweep.uninterrupted:
                statements = 0
                with gil:
                    PyErr_CheckSignals()
    return 0
