# SPDX-License-Identifier: Apache-2.0
# What a profiled recording notes beside the tape: the spot of each statement and record, how much it put into the
# streams, and what the sweeps took. The tape itself is as it is without.
from libc.stdint cimport int32_t, int64_t
cimport cython

from codipy.data.stream cimport Cursor
from codipy.tape.provenance.spots cimport Spots
from codipy.tape.recorder cimport Recorder

cdef struct Noted:
    int32_t spot
    int32_t arguments            # items that the statement put into the stream of arguments ...
    int32_t constants            # ... and into that of constants

cdef struct NotedRecord:
    int32_t spot
    int64_t statement            # how many statements were before it

# What is of one spot.
cdef struct Share:
    int64_t statements, arguments, constants
    double reverse               # nanoseconds of reverse sweeps

# Where the last items of a stream went, and how far.
cdef struct Written:
    char* chunk
    Py_ssize_t end

@cython.final
cdef class Journal:
    cdef readonly Spots spots
    cdef object ended            # called with the tape before the recording is dropped
    cdef Recorder* recorder      # of the tape that it is of
    cdef Noted* statements
    cdef Py_ssize_t count, room
    cdef NotedRecord* records
    cdef Py_ssize_t record_count, records_room
    cdef Share* shares           # by spot
    cdef Py_ssize_t shares_room
    cdef Py_ssize_t shared       # so many statements are counted in them
    cdef Written arguments_written, constants_written
    cdef int32_t next            # spot of the record that comes next; 0: where the program is
    cdef int64_t since           # when the clock was read in a sweep

    cdef inline int reserve(self) except -1:            # room for one statement
        if self.count == self.room:
            return self.grow()
        return 0

    cdef inline void note(self, int32_t spot) noexcept:         # a statement that was pushed
        cdef Noted* noted = self.statements + self.count
        noted.spot = spot
        noted.arguments = written(self.recorder.arguments, &self.arguments_written)
        noted.constants = 0
        if self.recorder.constants != NULL:
            noted.constants = written(self.recorder.constants, &self.constants_written)
        self.count += 1

    cdef int grow(self) except -1
    # Those that were pushed by others than operations: there are `total`.
    cdef int catch_up(self, Py_ssize_t total) except -1
    cdef int make_shares(self) except -1                # room for all spots that there are
    cdef void share(self) noexcept                      # count all statements
    cdef int note_record(self) except -1                # one that is being appended
    cdef void truncate(self, Py_ssize_t statements, Py_ssize_t records) noexcept
    # A reverse sweep: it begins; it has done the statements before record k; it has done that record.
    cdef int begin_sweep(self) except -1
    cdef void end_statements(self, Py_ssize_t k) noexcept
    cdef void end_record(self, Py_ssize_t k) noexcept

cdef inline int32_t written(const Cursor* cursor, Written* before) noexcept:
    """Items since the last call: they are in one chunk, the same or a new one."""
    cdef Py_ssize_t begin = before.end if cursor.fields[0] == before.chunk else 0
    before.chunk, before.end = <char*>cursor.fields[0], cursor.used
    return <int32_t>(cursor.used - begin)

cdef inline int begins(Recorder* r) except -1:
    """An operation on arrays: what it takes is of the line where it begins, in a profiled recording."""
    if r != NULL and r.journal != NULL:
        (<Journal>r.journal).spots.here()
    return 0

# Of what a tape, which owns both, records.
cdef Journal new_journal(Spots spots, Recorder* recorder, object ended)

# What is called with each tape that begins to record: it may give it a journal.
cdef object profiler
