# SPDX-License-Identifier: Apache-2.0
"""The walk that all sweeps share."""
from libc.stdint cimport int32_t
from cpython.exc cimport PyErr_CheckSignals

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, regions_between
from codipy.data.stream cimport Stream
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.record cimport Record, Records
from codipy.tape.recorder cimport Recorder
from codipy.tape.replay cimport Replay


cdef int walk_regions(Regions regions, Kernel kernel, Sweep* sweep, bint reverse) except -1:
    """Run a kernel over all regions, without the GIL unless that would take longer; statements are the innermost stream."""
    cdef Py_ssize_t cursors[4]
    cdef Py_ssize_t count, statements = 0, innermost = regions.depth - 1
    assert regions.depth <= 4
    if 0 <= regions.brief() * max(<Py_ssize_t>1, sweep.width) <= NUMBERS_WITH_THE_GIL:
        while regions.next_reverse() if reverse else regions.next_forward():
            kernel(regions.spans, sweep, cursors)
            regions.check(cursors, reverse)
            count = regions.spans[innermost].end - regions.spans[innermost].begin
            sweep.lhs += <int32_t>(-count if reverse else count)
        return 0
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


cdef int walk(Recorder* r, Stream root, Position start, Position end, Bounds bounds, AdjointVector adjoints,
              Kernel kernel, Sweep* sweep, bint reverse) except -1:
    cdef Position here = end if reverse else start, there = start if reverse else end      # None: where the tape ends
    cdef Py_ssize_t i
    cdef Record record
    cdef list records
    if bounds.first < bounds.last:
        records = (<Records>r.records).items
        for i in range(bounds.last - bounds.first):
            record = records[bounds.last - 1 - i if reverse else bounds.first + i]
            if record.place is not here:
                if here is None or record.place.compare(here):
                    walk_regions(regions_between(root, record.place, here) if reverse else
                                 regions_between(root, here, record.place), kernel, sweep, reverse)
                here = record.place
            if adjoints is None:
                record.primal(<Replay>r.replay)
            elif reverse:
                record.reverse(adjoints, sweep.keep)
            else:
                record.forward(adjoints)
            sweep.lhs = record.before if reverse else record.after
            if i & 0xFF == 0 and not sweep.uninterrupted:
                PyErr_CheckSignals()
    if here is None or here is not there:
        walk_regions(regions_between(root, there, here) if reverse else regions_between(root, here, there),
                     kernel, sweep, reverse)
    return 0
