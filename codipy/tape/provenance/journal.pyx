# SPDX-License-Identifier: Apache-2.0
"""What a profiled recording notes beside the tape."""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from cpython.time cimport perf_counter_ns

import numpy as np

from codipy.data.stream cimport Cursor
from codipy.tape.provenance.spots cimport Spots
from codipy.tape.recorder cimport Recorder

profiler = None


def profiled_by(function):
    """Call a function with each tape that begins to record from now on; None: no more."""
    global profiler
    profiler = function


cdef Journal new_journal(Spots spots, Recorder* recorder, object ended):
    cdef Journal journal = Journal.__new__(Journal)
    journal.spots, journal.recorder, journal.ended = spots, recorder, ended
    journal.truncate(0, 0)
    return journal


cdef class Journal:
    """Journal()
    --

    The spots of what one tape records; made by its tape.
    """
    def __dealloc__(self):
        PyMem_RawFree(self.statements)
        PyMem_RawFree(self.records)
        PyMem_RawFree(self.shares)

    cdef int grow(self) except -1:
        cdef Py_ssize_t room = max(4 * self.room, <Py_ssize_t>1024)       # what is not used is not touched
        self.statements = <Noted*>larger(self.statements, room * sizeof(Noted))
        self.room = room
        return 0

    cdef int catch_up(self, Py_ssize_t total) except -1:
        cdef int32_t spot
        if self.count < total:
            spot = self.spots.here()
            # Several at once are inputs, without arguments: what others have put into a stream ends in one chunk.
            while self.count < total:
                self.reserve()
                self.note(spot)
        return 0

    cdef int note_record(self) except -1:
        cdef int32_t spot = self.spots.running_on()
        cdef Py_ssize_t room = max(2 * self.records_room, <Py_ssize_t>64)
        if self.record_count == self.records_room:
            self.records = <NotedRecord*>larger(self.records, room * sizeof(NotedRecord))
            self.records_room = room
        self.records[self.record_count].spot = self.next if self.next else spot
        self.records[self.record_count].statement = self.count
        self.record_count += 1
        self.next = 0
        return 0

    cdef void truncate(self, Py_ssize_t statements, Py_ssize_t records) noexcept:
        cdef Py_ssize_t k
        cdef Cursor* cursor = self.recorder.arguments
        self.count, self.record_count = min(statements, self.count), min(records, self.record_count)
        self.arguments_written.chunk, self.arguments_written.end = cursor.fields[0], cursor.used
        cursor = self.recorder.constants
        if cursor != NULL:
            self.constants_written.chunk, self.constants_written.end = cursor.fields[0], cursor.used
        self.next = 0
        if self.count < self.shared:
            for k in range(self.shares_room):
                self.shares[k].statements = self.shares[k].arguments = self.shares[k].constants = 0
            self.shared = 0

    cdef int make_shares(self) except -1:
        cdef Py_ssize_t count = self.spots.spot_count
        if count > self.shares_room:
            self.shares = <Share*>larger(self.shares, 2 * count * sizeof(Share))
            memset(self.shares + self.shares_room, 0, (2 * count - self.shares_room) * sizeof(Share))
            self.shares_room = 2 * count
        return 0

    cdef void share(self) noexcept:
        cdef Share* share
        cdef Py_ssize_t k
        for k in range(self.shared, self.count):
            share = self.shares + self.statements[k].spot
            share.statements += 1
            share.arguments += self.statements[k].arguments
            share.constants += self.statements[k].constants
        self.shared = self.count

    cdef int begin_sweep(self) except -1:
        self.make_shares()
        self.spots.switch(0)     # what it takes is not a line's time of recording
        self.since = perf_counter_ns()
        return 0

    cdef void end_statements(self, Py_ssize_t k) noexcept:
        """The time belongs to each statement by its share of the arguments; equally, if none has one."""
        cdef int64_t taken = perf_counter_ns() - self.since, i, arguments = 0
        cdef int64_t first = self.records[k - 1].statement if k > 0 else 0
        cdef int64_t last = self.records[k].statement if k < self.record_count else self.count
        cdef bint whole = first == 0 and last == self.count      # then the sums by spot say all
        cdef double each
        if whole:
            self.share()
            for i in range(self.shares_room):
                arguments += self.shares[i].arguments
        else:
            for i in range(first, last):
                arguments += self.statements[i].arguments
        each = <double>taken / max(arguments if arguments else last - first, <int64_t>1)
        if whole:
            for i in range(self.shares_room):
                self.shares[i].reverse += each * (self.shares[i].arguments if arguments else self.shares[i].statements)
        else:
            for i in range(first, last):
                self.shares[self.statements[i].spot].reverse += each * (self.statements[i].arguments if arguments else 1)
        self.since = perf_counter_ns()

    cdef void end_record(self, Py_ssize_t k) noexcept:
        cdef int64_t now = perf_counter_ns()
        if k < self.record_count:
            self.shares[self.records[k].spot].reverse += <double>(now - self.since)
        self.since = now

    def totals(self):
        """
        What belongs to each spot.

        Returns
        -------
        counts : ndarray
            For each spot: statements, then items of arguments, then items of constants.
        noted : tuple of int
            Their sums.
        reverse : ndarray
            Nanoseconds of reverse sweeps.
        """
        cdef Py_ssize_t k, spots = self.spots.spot_count
        counts, reverse = np.empty((3, spots), np.int64), np.empty(spots)
        cdef int64_t[:, ::1] c = counts
        cdef double[::1] r = reverse
        cdef int64_t statements = 0, arguments = 0, constants = 0
        self.make_shares()
        self.share()
        for k in range(spots):
            c[0, k], c[1, k], c[2, k] = self.shares[k].statements, self.shares[k].arguments, self.shares[k].constants
            r[k] = self.shares[k].reverse
            statements, arguments, constants = statements + c[0, k], arguments + c[1, k], constants + c[2, k]
        return counts, (statements, arguments, constants), reverse

    def spots_of(self):
        """
        The spot of each statement and record, in their order.

        Returns
        -------
        statements : ndarray
            Spot of each.
        records : ndarray
            Spot of each, and how many statements were before it.
        """
        cdef Py_ssize_t k
        statements, records = np.empty(self.count, np.int32), np.empty((self.record_count, 2), np.int64)
        cdef int32_t[::1] s = statements
        cdef int64_t[:, ::1] r = records
        for k in range(self.count):
            s[k] = self.statements[k].spot
        for k in range(self.record_count):
            r[k, 0], r[k, 1] = self.records[k].spot, self.records[k].statement
        return statements, records


cdef void* larger(void* memory, size_t size) except NULL:
    cdef void* moved = PyMem_RawRealloc(memory, size)
    if moved == NULL:
        raise MemoryError(f"no memory for {size} bytes of a profile")
    return moved
