# SPDX-License-Identifier: Apache-2.0
"""The strategies `jacobian` and `jacobian-reuse`: a statement stores the Jacobians of its arguments.

The sweeps run, for a statement ``w = phi(u)`` (Griewank and Walther, *Evaluating Derivatives*, 2008, ch. 3),

    reverse:  u_bar += J^T w_bar;  w_bar = 0        forward:  w_dot = J u_dot

"""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset
cimport cython

from codipy.data.position cimport Position
from codipy.data.region cimport Span
from codipy.data.stream cimport Stream
from codipy.identifiers.linear cimport LinearIdentifiers
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.recorder cimport (
    Entry, Recorder, INPUT_TAG, JACOBIAN, MAX_ARGUMENTS, assign_identifier, push_jacobian, reserve_statement)
from codipy.tape.strategies.strategy cimport Strategy
from codipy.tape.sweeps.walk cimport REVERSE, TANGENTS, Bounds, Kernel, Sweep, walk


@cython.final
cdef class Jacobian(Strategy):
    """Jacobian(reuse, chunk_size)
    --

    Streams, identifiers and sweeps of `jacobian` and `jacobian-reuse`.
    """
    def __cinit__(self, bint reuse, chunk_size):
        statements = Stream("statement entries", ["u1", "i4"] if reuse else ["u1"], chunk_size)
        self.root = Stream("Jacobian entries", ["f8", "i4"], chunk_size, statements)
        self.streams = (self.root, statements)
        self.linear = None if reuse else LinearIdentifiers()
        self.reusing = ReuseIdentifiers() if reuse else None
        self.first = 1

    cdef void connect(self, Recorder* r) noexcept:
        Strategy.connect(self, r)
        r.kind = JACOBIAN

    cdef int32_t push_input(self, Recorder* r, double value) except -1:
        cdef int32_t lhs
        if r.reuse:
            return self.fresh_input()
        reserve_statement(r, 0, 0)
        lhs = assign_identifier(r)
        (<uint8_t*>r.statements.fields[0])[r.statements.used] = INPUT_TAG
        r.statements.used += 1
        return lhs

    cdef int32_t push_copy(self, Recorder* r, int32_t source, double value) except -1:
        cdef Entry entry
        entry.number, entry.identifier = 1.0, source
        return push_jacobian(r, &entry, 1 if source else 0, False)

    cdef int32_t push_handmade(self, Recorder* r, double value, const Entry* entries, Py_ssize_t count) except -1:
        if count <= MAX_ARGUMENTS:
            return push_jacobian(r, entries, count, False)
        # The argument count is one byte: a wider statement is a chain of sums, each carrying the last one's result.
        # Room for all of it comes first, so that a failure on the way is undone by setting the cursors back.
        cdef Py_ssize_t links = (count - 2) // (MAX_ARGUMENTS - 1) + 1, done = MAX_ARGUMENTS, part, i
        self.root.nested.reserve(links)
        self.root.reserve(count + links - 1)
        cdef Py_ssize_t statements = r.statements.used, arguments = r.arguments.used
        cdef Entry link[MAX_ARGUMENTS]
        cdef int32_t lhs = push_jacobian(r, entries, done, False), partial
        try:
            while done < count:
                part = min(count - done, MAX_ARGUMENTS - 1)
                link[0].number, link[0].identifier = 1.0, lhs
                for i in range(part):
                    link[1 + i] = entries[done + i]
                partial, lhs = lhs, push_jacobian(r, link, part + 1, False)
                if r.reuse:
                    self.reusing.release(partial)
                done += part
        except BaseException:
            if r.reuse:
                self.reusing.release(lhs)
            else:
                self.linear.state.largest -= <int32_t>(r.statements.used - statements)
            r.statements.used, r.arguments.used = statements, arguments
            raise
        return lhs

    cdef int reverse(self, Recorder* r, AdjointVector adjoints, Position start, Position end, Bounds bounds,
                     bint keep) except -1:
        cdef Sweep sweep = Sweep(REVERSE, adjoints.origin(), adjoints.width, NULL, bounds.end, r.reuse, keep, False)
        cdef Kernel kernel = reverse_wide if adjoints.width > 1 else reverse_reuse if r.reuse else reverse_linear
        return walk(r, self.root, start, end, bounds, adjoints, kernel, &sweep)

    cdef int forward(self, Recorder* r, AdjointVector adjoints, Position start, Position end,
                     Bounds bounds) except -1:
        cdef Sweep sweep = Sweep(TANGENTS, adjoints.origin(), adjoints.width, NULL, bounds.start, r.reuse, False, False)
        return walk(r, self.root, start, end, bounds, adjoints,
                    forward_wide if adjoints.width > 1 else forward_single, &sweep)


cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define codipy_prefetch(address) __builtin_prefetch(address)
    #else
    #define codipy_prefetch(address) ((void)(address))
    #endif
    """
    void codipy_prefetch(const void* address) noexcept nogil

cdef enum:
    AHEAD = 448              # items: a reverse walk is too wide for the hardware's own prefetching; measured with
                             # `python benchmarks/run.py bandwidth`: 57 % of the triad without, 67 % with it


# ---- The kernels; their parameters are those of Sweep. ----

cdef inline void reverse_region(const Span* spans, double* origin, Py_ssize_t width, int32_t lhs, bint reuse,
                                bint keep, Py_ssize_t* cursors) noexcept nogil:
    cdef const double* jacobians = <const double*>spans[0].fields[0]
    cdef const int32_t* arguments = <const int32_t*>spans[0].fields[1]
    cdef const uint8_t* counts = <const uint8_t*>spans[1].fields[0]
    cdef const int32_t* results = <const int32_t*>spans[1].fields[1]
    cdef Py_ssize_t a = spans[0].end, s = spans[1].end, begin = spans[1].begin, i, d, count
    cdef double* result
    cdef double* argument
    cdef double bar
    while s > begin:
        s -= 1
        count = counts[s]
        result = origin + width * (results[s] if reuse else lhs)
        lhs -= 1
        if count == INPUT_TAG:
            continue             # an input keeps what it gathered
        a -= count
        if a >= AHEAD:
            codipy_prefetch(jacobians + a - AHEAD)
            codipy_prefetch(jacobians + a - AHEAD + 8)
            codipy_prefetch(arguments + a - AHEAD)
        if width == 1:
            bar = result[0]
            if not keep:
                result[0] = 0.0
            if bar != 0.0:       # a zero adjoint propagates nothing, not even inf * 0
                for i in range(a, a + count):
                    origin[arguments[i]] += jacobians[i] * bar
        else:
            for i in range(a, a + count):
                argument = origin + width * arguments[i]
                for d in range(width):
                    if result[d] != 0.0:
                        argument[d] += jacobians[i] * result[d]
            if not keep:
                memset(result, 0, width * sizeof(double))
    cursors[0], cursors[1] = a, s


cdef inline void forward_region(const Span* spans, double* origin, Py_ssize_t width, int32_t lhs, bint reuse,
                                Py_ssize_t* cursors) noexcept nogil:
    cdef const double* jacobians = <const double*>spans[0].fields[0]
    cdef const int32_t* arguments = <const int32_t*>spans[0].fields[1]
    cdef const uint8_t* counts = <const uint8_t*>spans[1].fields[0]
    cdef const int32_t* results = <const int32_t*>spans[1].fields[1]
    cdef Py_ssize_t a = spans[0].begin, s = spans[1].begin, end = spans[1].end, i, d, count
    cdef double* result
    cdef double dot, u
    while s < end:
        count = counts[s]
        lhs += 1
        result = origin + width * (results[s] if reuse else lhs)
        s += 1
        if count == INPUT_TAG:
            continue             # an input keeps its seed
        for d in range(width):
            dot = 0.0
            for i in range(a, a + count):
                u = origin[width * arguments[i] + d]
                if u != 0.0:     # as in reverse: a zero tangent propagates nothing
                    dot += jacobians[i] * u
            result[d] = dot
        a += count
    cursors[0], cursors[1] = a, s


cdef void reverse_linear(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    reverse_region(spans, sweep.origin, 1, sweep.lhs, False, sweep.keep, cursors)


cdef void reverse_reuse(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    reverse_region(spans, sweep.origin, 1, sweep.lhs, True, sweep.keep, cursors)


cdef void reverse_wide(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    reverse_region(spans, sweep.origin, sweep.width, sweep.lhs, sweep.reuse, sweep.keep, cursors)


cdef void forward_single(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    forward_region(spans, sweep.origin, 1, sweep.lhs, sweep.reuse, cursors)


cdef void forward_wide(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    forward_region(spans, sweep.origin, sweep.width, sweep.lhs, sweep.reuse, cursors)
