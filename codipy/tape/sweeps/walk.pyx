# SPDX-License-Identifier: Apache-2.0
"""The walk that all sweeps share."""
from libc.stdint cimport int32_t
from cpython.exc cimport PyErr_CheckSignals

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, regions_between
from codipy.data.stream cimport Stream
from codipy.tape.adjoints cimport NUMBERS_WITH_THE_GIL, WORTH_LEAVING, AdjointVector
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.record cimport Record, Records
from codipy.tape.records.replay cimport Replay


# Directions that the scalar statements are swept in one after the other, and from one to the next in numbers.
cdef struct Planes:
    Py_ssize_t count, step


cdef int walk_regions(Regions regions, Kernel kernel, Sweep* sweep) except -1:
    """Run a kernel over all regions, without the GIL unless that would take longer; statements are the innermost stream."""
    cdef Py_ssize_t cursors[4]
    cdef Py_ssize_t count, statements = 0, innermost = regions.depth - 1
    cdef bint reverse = sweep.mode == REVERSE
    assert regions.depth <= 4
    if 0 <= regions.brief() * sweep.width <= NUMBERS_WITH_THE_GIL:
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


cdef int walk_between(Stream root, Position start, Position end, Planes* planes, Kernel kernel, Sweep* sweep) except -1:
    """Scalar statements: each plane of adjoints by itself."""
    cdef int32_t lhs = sweep.lhs
    cdef double* origin = sweep.origin
    cdef Py_ssize_t d
    for d in range(planes.count):
        sweep.lhs, sweep.origin = lhs, origin + d * planes.step
        walk_regions(regions_between(root, start, end), kernel, sweep)
    sweep.origin = origin
    return 0


cdef int walk(Recorder* r, Stream root, Position start, Position end, Bounds bounds, AdjointVector adjoints,
              Kernel kernel, Sweep* sweep) except -1:
    cdef bint reverse = sweep.mode == REVERSE
    cdef Position here = end if reverse else start, there = start if reverse else end      # None: where the tape ends
    cdef Py_ssize_t i
    cdef Record record
    cdef list records
    cdef bint apart = sweep.mode != VALUES and adjoints.planes
    cdef Planes planes = Planes(adjoints.width, adjoints.step()) if apart else Planes(1, 0)
    cdef Journal journal = <Journal>r.journal if r.journal != NULL and reverse else None
    if journal is not None:
        journal.begin_sweep()
    if apart:
        sweep.width = 1
    if bounds.first < bounds.last:
        records = (<Records>r.records).items
        for i in range(bounds.last - bounds.first):
            record = records[bounds.last - 1 - i if reverse else bounds.first + i]
            if record.place is not here:
                if here is None or record.place.compare(here):
                    walk_between(root, record.place if reverse else here, here if reverse else record.place, &planes, kernel,
                                 sweep)
                    if journal is not None:
                        journal.end_statements(bounds.last - i)
                here = record.place
            if sweep.mode == VALUES:
                record.primal(<Replay>r.replay)
            elif apart:
                record.planes(adjoints, reverse, sweep.keep)
            elif reverse:
                record.reverse(adjoints, sweep.keep)
                if record.after - record.before >= WORTH_LEAVING and not (sweep.keep or sweep.reuse) and record.clears():
                    adjoints.leave(record.before, record.after)
            else:
                record.forward(adjoints)
            if journal is not None:
                journal.end_record(bounds.last - 1 - i)
            sweep.lhs = record.before if reverse else record.after
            if i & 0xFF == 0 and not sweep.uninterrupted:
                PyErr_CheckSignals()
    if here is None or here is not there:
        walk_between(root, there if reverse else here, here if reverse else there, &planes, kernel, sweep)
        if journal is not None:
            journal.end_statements(bounds.first)
    return 0
