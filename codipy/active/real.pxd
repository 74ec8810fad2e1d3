# SPDX-License-Identifier: Apache-2.0
# The active scalar: a float, its identifier on a tape, and the expression that is not on the tape yet.
from libc.stdint cimport int32_t, int64_t, uint8_t
from cpython.object cimport PyObject
cimport cython

from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Entry, Recorder


# Three states:   passive      epoch 0
#                 identified   epoch, identifier > 0: on the tape
#                 pending      epoch, count > 0: `count` entries of an expression that is not on the tape yet
# A Real never changes its value. It turns from pending to identified when its expression is pushed, and
# register_input / register_output give it another identifier.
# No reference to the tape (see tape/activity.pxd), so no cycle can pass through a Real and the garbage collector
# need not track it. Birth and death bypass Cython's tp_new and tp_dealloc: object.h.
@cython.final
cdef class Real:
    cdef double primal
    cdef int64_t epoch           # tape and generation that the identifier or the entries are of
    cdef int64_t made            # of a pending expression pushed in a later epoch than its own (else 0): see readmit
    cdef int32_t identifier
    cdef int32_t program         # value strategies: the shape of the pending expression
    cdef uint8_t count           # pending: entries in use
    cdef uint8_t kept            # entries still there after a push in a later epoch
    cdef uint8_t size            # size class of the memory: see object.h
    cdef uint8_t flags
    cdef uint8_t kind            # which number of the plain run it stands for: see kinds.pxd
    cdef PyObject* weakrefs
    cdef Entry own[1]            # the first entry; the others lie behind, as the size class allows


cdef enum RealFlags:
    OWNS = 1                     # counts as a user of its identifier, or of its entries', in a reuse manager
    IS_INPUT = 2
    IS_OUTPUT = 4
    MERGED = 8                   # went into another expression while pending: its own adjoint is not known
    OF_INPUT = 16                # its slot is an input's: no statement consumes the adjoint
    OF_ARRAY = 32                # an element: the slot may have been assigned before the Real's epoch

# The operations of the table as the functions of `math` do them, on any operands that are real numbers, NotImplemented
# for others: Python's values and exceptions, floats of Python.
cdef object apply1(int code, PyObject* x)
cdef object apply2(int code, PyObject* x, PyObject* y)
cdef object apply3(int code, PyObject* x, PyObject* y, PyObject* z)
# The Real of an operation of which the caller has the value, NumPy's say; its kind is the value's. operands[k] is any
# object, its value u[k].
cdef object apply_with_value(int code, int n, PyObject** operands, const double* u, object value)
# The same where the value is that of NumPy's ufunc, which a replay then asks again.
cdef object apply_with_ufunc(int code, int n, PyObject** operands, const double* u, object value)
# What messages call a Real, also in rebound code, where its representation is that of the plain value.
cdef object described(Real x)
# expression.pxd's `identify` for a plain recorder (see Recorder), here beside the operators that call it most.
cdef int identify_plain(Recorder* r, PyObject* x) except -1
# A Real that is on a tape already.
cdef Real new_identified(double value, int64_t epoch, int32_t identifier, int flags, int kind)
# The tape on which a Real has an identifier in force, or an error that says what ("gradient") it has none of.
cdef BaseTape demand_own(Real x, str what)
# An error where sweeps have consumed the adjoint of a Real that has an identifier.
cdef int demand_adjoint(BaseTape tape, AdjointVector adjoints, Real x) except -1
# Set an adjoint.
cdef double* seed_slot(BaseTape tape, AdjointVector adjoints, Real x) except NULL
# `combine` of expression.pxd for any recorder.
cdef PyObject* combine_any(Recorder* r, int code, int n, PyObject** operands, const double* u, double value,
                           int kind) except NULL
