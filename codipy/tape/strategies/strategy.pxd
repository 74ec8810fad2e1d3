# SPDX-License-Identifier: Apache-2.0
# What a taping strategy is to its tape: the streams it fills, the identifiers it hands out, and its three sweeps.
from libc.stdint cimport int32_t

from codipy.data.position cimport Position
from codipy.data.stream cimport Stream
from codipy.identifiers.linear cimport LinearIdentifiers
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.recorder cimport Entry, Recorder
from codipy.tape.sweeps.walk cimport Bounds


cdef class Strategy:
    cdef readonly Stream root                   # the outermost stream
    cdef readonly tuple streams                 # root first, innermost last
    cdef LinearIdentifiers linear               # one of the two is None
    cdef ReuseIdentifiers reusing
    cdef list inputs                            # with reuse: identifiers of inputs, used by the recording itself too
    cdef readonly Position handmade             # where the first statement is that cannot be recomputed, or None
    cdef readonly int32_t first                 # identifier of the first adjoint slot

    cdef void connect(self, Recorder* r) noexcept
    cdef Py_ssize_t statements(self) except -1      # in the streams
    # Inputs are statements of no argument where identifiers are linear; with reuse they take an identifier that
    # the recording never used, so that no statement before them shares their adjoint, and the tape holds it as well:
    # a sweep leaves an adjoint or tangent there, which a later owner would take for its own in the next sweep.
    cdef int32_t fresh_input(self) except -1
    cdef int32_t push_input(self, Recorder* r, double value) except -1
    # A copy of `source`; source 0 is a passive value.
    cdef int32_t push_copy(self, Recorder* r, int32_t source, double value) except -1
    # The same for an element of an array, of which no value is kept by identifier.
    cdef int32_t push_element(self, Recorder* r, int32_t source, double value) except -1
    # A statement made by hand: `value` and Jacobians come from outside.
    cdef int32_t push_handmade(self, Recorder* r, double value, const Entry* entries, Py_ssize_t count) except -1
    # Refuse to recompute values while a statement made by hand is on the tape.
    cdef int demand_recomputable(self) except -1
    # Drop everything, or what came after a position.
    cdef int forget(self) except -1
    cdef int roll_back(self, Recorder* r, Position position, int32_t largest) except -1
    # Make sure that r.primals holds the value of every identifier; 0 where the strategy stores no values.
    cdef bint gather(self, Recorder* r) except? True
    # Sweeps over [start, end], None: the beginning, and the end, of the recording; the GIL is released inside.
    # `keep`: intermediate adjoints are not consumed.
    cdef int reverse(self, Recorder* r, AdjointVector adjoints, Position start, Position end, Bounds bounds,
                     bint keep) except -1
    cdef int forward(self, Recorder* r, AdjointVector adjoints, Position start, Position end,
                     Bounds bounds) except -1
    cdef int primal(self, Recorder* r, Position start, Position end, Bounds bounds) except -1


# The inner loop of every sweep over stored values, written once.
cdef inline void accumulate(double* target, const double* bars, double jacobian, Py_ssize_t width) noexcept nogil:
    """target += jacobian * bars, where zero times anything is zero."""
    cdef Py_ssize_t d
    if jacobian != 0.0:
        for d in range(width):
            if bars[d] != 0.0:
                target[d] += jacobian * bars[d]

# The directions of a tape, None: 1; an error for what it cannot have.
cdef Py_ssize_t check_width(width, bint forward) except -1
# The size class of a Real whose entries have room for so many numbers (active/core/object.h); -1: none has.
cdef int carried_class(Py_ssize_t width) noexcept
