# SPDX-License-Identifier: Apache-2.0
"""The interface of a strategy, which Jacobian, Primal, Simple and Forward implement."""
from libc.stdint cimport int32_t
from cpython.object cimport PyObject

from codipy.data.position cimport Position
from codipy.data.stream cimport Stream
from codipy.programs.program cimport program_blocks
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.recorder cimport Entry, Recorder

from codipy.errors import TapeError


cdef class Strategy:
    """Abstract: Jacobian, Primal, Simple and Forward implement it."""

    def __cinit__(self, *_):
        self.inputs = []

    cdef void connect(self, Recorder* r) noexcept:
        """Point the recorder at the streams' cursors and at the identifiers; a strategy adds its kind and its abilities."""
        cdef Py_ssize_t i
        for i in range(len(self.streams)):
            r.streams[i] = <PyObject*>self.streams[len(self.streams) - 1 - i]
        r.statements = &(<Stream>r.streams[0]).cursor if r.streams[0] != NULL else NULL
        r.arguments = &(<Stream>r.streams[1]).cursor if r.streams[1] != NULL else NULL
        r.constants = &(<Stream>r.streams[2]).cursor if r.streams[2] != NULL else NULL
        r.programs = program_blocks()
        r.reuse = self.reusing is not None
        r.linear = <PyObject*>self.linear
        r.reusing = <PyObject*>self.reusing

    cdef Py_ssize_t statements(self) except -1:
        return (<Stream>self.streams[len(self.streams) - 1]).items

    cdef int32_t fresh_input(self) except -1:
        cdef int32_t identifier = self.reusing.assign_fresh()
        try:
            self.inputs.append(identifier)
        except BaseException:
            self.reusing.release(identifier)
            raise
        self.reusing.retain(identifier)
        return identifier

    cdef int32_t push_input(self, Recorder* r, double value) except -1:
        raise NotImplementedError

    cdef int32_t push_copy(self, Recorder* r, int32_t source, double value) except -1:
        raise NotImplementedError

    cdef int32_t push_element(self, Recorder* r, int32_t source, double value) except -1:
        return self.push_copy(r, source, value)

    cdef int32_t push_handmade(self, Recorder* r, double value, const Entry* entries, Py_ssize_t count) except -1:
        raise NotImplementedError

    cdef int demand_recomputable(self) except -1:
        if self.handmade is not None:
            raise TapeError("evaluate_primal() cannot recompute a statement of push_statement(), whose value came "
                            "from outside: record again")
        return 0

    cdef int forget(self) except -1:
        self.inputs.clear()
        self.handmade = None
        if self.reusing is not None:
            self.reusing.reset()
        else:
            self.linear.reset()
        return 0

    cdef int roll_back(self, Recorder* r, Position position, int32_t largest) except -1:
        """Reused identifiers are not taken back: they return when their stale variables die."""
        self.root.reset_to(position)
        if self.handmade is not None and position.compare(self.handmade) <= 0:
            self.handmade = None
        if self.linear is not None:
            self.linear.reset_to(largest)
        # Inputs are fresh identifiers, so those above `largest` are younger than the position.
        while self.inputs and self.inputs[len(self.inputs) - 1] > largest:
            self.reusing.release(self.inputs.pop())
        return 0

    cdef bint gather(self, Recorder* r) except? True:
        return False

    cdef int reverse(self, Recorder* r, AdjointVector adjoints, Position start, Position end, Bounds bounds,
                     bint keep) except -1:
        raise NotImplementedError

    cdef int forward(self, Recorder* r, AdjointVector adjoints, Position start, Position end,
                     Bounds bounds) except -1:
        raise NotImplementedError

    cdef int primal(self, Recorder* r, Position start, Position end, Bounds bounds) except -1:
        raise TapeError("evaluate_primal() needs a tape that stores values: "
                        "use strategy='simple', 'primal' or 'primal-reuse'")


# ---- Directions ----

cdef enum:
    WIDEST = 1 << 20             # directions, as of external adjoints


cdef Py_ssize_t check_width(width, bint forward) except -1:
    if width is None:
        return 1
    if isinstance(width, bool) or not isinstance(width, int):
        raise TypeError(f"width must be an int, got {type(width).__name__}")
    if not forward:
        raise ValueError("width is a matter of strategy='forward': other tapes are swept in so many directions with "
                         "tape.new_adjoints(width)")
    if not 1 <= width <= WIDEST:
        raise ValueError(f"width must be from 1 to {WIDEST}, got {width}")
    return width


cdef int carried_class(Py_ssize_t width) noexcept:
    """The size class of a Real whose entries have room for so many numbers (active/core/object.h); -1: none has."""
    cdef Py_ssize_t each = sizeof(Entry) // sizeof(double)
    return 0 if width <= each else 1 if width <= 4 * each else 2 if width <= 16 * each else -1
