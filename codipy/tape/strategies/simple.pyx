# SPDX-License-Identifier: Apache-2.0
"""The strategy `simple`: operator code, argument and result identifiers, argument primals.

It is the tape to read first: no statements, no programs, no reuse. CoDiPack's documentation builds one like it.
"""
from libc.stdint cimport int32_t
from libc.string cimport memset
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
cimport cython

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, Span, regions_between
from codipy.data.stream cimport Stream
from codipy.identifiers.linear cimport LinearIdentifiers
from codipy.operations.kernels cimport OP_COUNT, OP_IDENTITY, op_arity, op_partials_any, op_value_any
from codipy.programs.program cimport BARE, value_of_numpy
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.recorder cimport Entry, Recorder, SIMPLE, grow_primals, push_simple
from codipy.tape.records.replay cimport Replay
from codipy.tape.strategies.stored cimport operation_arguments
from codipy.tape.strategies.strategy cimport Strategy, accumulate
from codipy.tape.sweeps.walk cimport REVERSE, TANGENTS, VALUES, Bounds, Mode, Sweep, walk


@cython.final
cdef class Simple(Strategy):
    """Simple(chunk_size)
    --

    Streams, identifiers and sweeps of `simple`.
    """
    def __cinit__(self, chunk_size):
        operators = Stream("operator data", ["i4"], chunk_size)
        identifiers = Stream("identifier data", ["i4"], chunk_size, operators)
        self.root = Stream("primal data", ["f8"], chunk_size, identifiers)
        self.streams = (self.root, identifiers, operators)
        self.linear = LinearIdentifiers()
        self.first = 0

    cdef void connect(self, Recorder* r) noexcept:
        Strategy.connect(self, r)
        r.kind = SIMPLE
        r.keeps_values = r.names_results = True

    def __dealloc__(self):
        PyMem_RawFree(self.given)

    cdef int32_t push_input(self, Recorder* r, double value) except -1:
        self.make_room_for_given()
        cdef int32_t identifier = self.linear.assign()
        self.given[self.given_count] = GivenNumber(value, identifier)
        self.given_count += 1
        return identifier

    cdef int make_room_for_given(self) except -1:
        cdef Py_ssize_t capacity
        cdef GivenNumber* larger
        if self.given_count == self.given_capacity:
            capacity = max(2 * self.given_capacity, <Py_ssize_t>8)
            larger = <GivenNumber*>PyMem_RawRealloc(self.given, capacity * sizeof(GivenNumber))
            if larger == NULL:
                raise MemoryError(f"no memory for the values of {capacity} inputs")
            self.given, self.given_capacity = larger, capacity
        return 0

    cdef int note_given(self, Recorder* r, int32_t identifier, double value) except -1:
        self.make_room_for_given()
        self.given[self.given_count] = GivenNumber(value, identifier)
        self.given_count += 1
        if identifier < self.gathered and is_unknown(r.primals[identifier]):      # of an older file
            r.primals[identifier] = value
        return 0

    cdef int32_t push_copy(self, Recorder* r, int32_t source, double value) except -1:
        cdef Entry entry
        entry.number, entry.identifier = value, source
        return push_simple(r, &entry, 1, OP_IDENTITY)

    cdef int32_t push_handmade(self, Recorder* r, double value, const Entry* entries, Py_ssize_t count) except -1:
        cdef Position here = self.root.position() if self.handmade is None else self.handmade
        cdef int32_t lhs = push_simple(r, entries, count, OP_COUNT + <int32_t>count)
        self.handmade = here
        return lhs

    cdef int forget(self) except -1:
        Strategy.forget(self)
        self.gathered = 0
        self.given_count = 0
        return 0

    cdef int roll_back(self, Recorder* r, Position position, int32_t largest) except -1:
        cdef Py_ssize_t i, kept = 0
        self.gathered = min(self.gathered, largest + 1)     # what set_primal() gave is known nowhere else
        for i in range(self.given_count):
            if self.given[i].identifier <= largest:
                self.given[kept] = self.given[i]
                kept += 1
        self.given_count = kept
        return Strategy.roll_back(self, r, position, largest)

    cdef int reverse(self, Recorder* r, AdjointVector adjoints, Position start, Position end, Bounds bounds,
                     bint keep) except -1:
        cdef Sweep sweep = Sweep(REVERSE, adjoints.origin(), adjoints.width, NULL, 0, False, keep, False)
        return walk(r, self.root, start, end, bounds, adjoints, reverse_any, &sweep)

    cdef int forward(self, Recorder* r, AdjointVector adjoints, Position start, Position end,
                     Bounds bounds) except -1:
        cdef Sweep sweep = Sweep(TANGENTS, adjoints.origin(), adjoints.width, NULL, 0, False, False, False)
        return walk(r, self.root, start, end, bounds, adjoints, forward_any, &sweep)

    cdef int primal(self, Recorder* r, Position start, Position end, Bounds bounds) except -1:
        self.demand_recomputable()
        self.gather(r)
        (<Replay>r.replay).values = r.primals
        cdef Sweep sweep = Sweep(VALUES, NULL, 1, r.primals, 0, False, False, False)
        return walk(r, self.root, start, end, bounds, None, values_again, &sweep)

    cdef bint gather(self, Recorder* r) except? True:
        """Make the primal vector from the numbers of inputs and the arguments' stored primals, once per recording.

        An identifier that is neither has no stored primal: it stays unknown until it is an argument, until
        evaluate_primal computes it, or until set_primal gives it.
        """
        cdef Regions regions
        cdef const int32_t* identifiers
        cdef const double* primals
        cdef Py_ssize_t a, p, s, i
        cdef int32_t _k, code, count
        if self.gathered == self.linear.state.largest + 1:
            return True
        if self.linear.state.largest >= r.primals_size:
            grow_primals(r, self.linear.state.largest)
        regions = regions_between(self.root, None, None)
        memset(r.primals + self.gathered, 0xFF, (self.linear.state.largest + 1 - self.gathered) * sizeof(double))
        for i in range(self.given_count):
            if self.given[i].identifier >= self.gathered:
                r.primals[self.given[i].identifier] = self.given[i].value
        while regions.next_forward():
            primals, identifiers = <const double*>regions.spans[0].fields[0], <const int32_t*>regions.spans[1].fields[0]
            p, a = regions.spans[0].begin, regions.spans[1].begin
            for s in range(regions.spans[2].begin, regions.spans[2].end):
                code = (<const int32_t*>regions.spans[2].fields[0])[s]
                count = operation_arguments(code)
                if code & BARE >= OP_COUNT:      # made by hand: its primals are Jacobians
                    p += count
                    a += count + 1
                    continue
                for _k in range(count):
                    if is_unknown(r.primals[identifiers[a]]):
                        r.primals[identifiers[a]] = primals[p]
                    a += 1
                    p += 1
                a += 1
        self.gathered = self.linear.state.largest + 1
        return True


# ---- The kernels. ----

cdef inline double value_of(int32_t code, double x, double y, double z, bint exactly) noexcept nogil:
    return op_value_any(code, x, y, z) if code & BARE == code else value_of_numpy(code, x, y, z, exactly)


cdef inline void partials_of(int32_t code, const double* primals, double* partials) noexcept nogil:
    """Partials of an operation at its arguments' primals; arguments beyond its arity are 0."""
    cdef double u[3]
    cdef int32_t k, arity = op_arity(code & BARE)
    for k in range(3):
        u[k] = primals[k] if k < arity else 0.0
    op_partials_any(code & BARE, u[0], u[1], u[2], value_of(code, u[0], u[1], u[2], False), partials)


cdef inline void reverse_region(const Span* spans, double* origin, Py_ssize_t width, bint keep,
                                Py_ssize_t* cursors) noexcept nogil:
    cdef const double* primals = <const double*>spans[0].fields[0]
    cdef const int32_t* identifiers = <const int32_t*>spans[1].fields[0]
    cdef const int32_t* codes = <const int32_t*>spans[2].fields[0]
    cdef Py_ssize_t p = spans[0].end, a = spans[1].end, s, d
    cdef double partials[3]
    cdef const double* jacobian
    cdef double* bars
    cdef int32_t k, count
    cdef bint any_bar
    for s in range(spans[2].end - 1, spans[2].begin - 1, -1):
        count = operation_arguments(codes[s])
        a -= count + 1
        p -= count
        bars = origin + width * identifiers[a + count]
        any_bar = False
        for d in range(width):
            any_bar |= bars[d] != 0.0
        if not any_bar:
            continue
        jacobian = primals + p
        if codes[s] & BARE < OP_COUNT:
            partials_of(codes[s], primals + p, partials)
            jacobian = partials
        for k in range(count):
            accumulate(origin + width * identifiers[a + k], bars, jacobian[k], width)
        if not keep:
            for d in range(width):
                bars[d] = 0.0
    cursors[0], cursors[1], cursors[2] = p, a, spans[2].begin


cdef inline void forward_region(const Span* spans, double* values, double* origin, Py_ssize_t width,
                                Mode mode, Py_ssize_t* cursors) noexcept nogil:
    # TANGENTS or VALUES, a literal.
    cdef double* primals = <double*>spans[0].fields[0]
    cdef const int32_t* identifiers = <const int32_t*>spans[1].fields[0]
    cdef const int32_t* codes = <const int32_t*>spans[2].fields[0]
    cdef Py_ssize_t p = spans[0].begin, a = spans[1].begin, s, d
    cdef double partials[3]
    cdef const double* jacobian
    cdef double* dots
    cdef int32_t k, count
    for s in range(spans[2].begin, spans[2].end):
        count = operation_arguments(codes[s])
        if mode == VALUES:
            for k in range(count):
                if identifiers[a + k]:
                    primals[p + k] = values[identifiers[a + k]]
            values[identifiers[a + count]] = value_of(codes[s], primals[p], primals[p + 1] if count > 1 else 0.0,
                                                      primals[p + 2] if count > 2 else 0.0, True)
        else:
            jacobian = primals + p
            if codes[s] & BARE < OP_COUNT:
                partials_of(codes[s], primals + p, partials)
                jacobian = partials
            dots = origin + width * identifiers[a + count]
            for d in range(width):
                dots[d] = 0.0
            for k in range(count):
                if identifiers[a + k]:
                    accumulate(dots, origin + width * identifiers[a + k], jacobian[k], width)
        a += count + 1
        p += count
    cursors[0], cursors[1], cursors[2] = p, a, spans[2].end


cdef void reverse_any(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    reverse_region(spans, sweep.origin, sweep.width, sweep.keep, cursors)


cdef void forward_any(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    forward_region(spans, sweep.primals, sweep.origin, sweep.width, TANGENTS, cursors)


cdef void values_again(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    forward_region(spans, sweep.primals, sweep.origin, 1, VALUES, cursors)
