# SPDX-License-Identifier: Apache-2.0
# What a Real holds: a float, its identifier on a tape, and the expression that is not on the tape yet. Operators and
# methods stand above what works on these fields, in codipy/active/scalar/real.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE

from codipy.tape.recorder cimport Entry

cdef extern from "codipy/active/core/object.h":
    PyObject* codipy_birth(PyTypeObject* type, size_t entry, int size) except NULL
    object codipy_new_reference(PyObject* o)


# Three states:   passive      epoch 0
#                 identified   epoch, identifier > 0: on the tape
#                 pending      epoch, count > 0: `count` entries of an expression that is not on the tape yet
# A Real never changes its value. It turns from pending to identified when its expression is pushed, and
# register_input / register_output give it another identifier.
# No reference to the tape (see tape/activity.pxd), so no cycle can pass through a Real and the garbage collector
# need not track it. Birth and death bypass Cython's tp_new and tp_dealloc: object.h.
cdef class BaseReal:
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
    cdef uint8_t spot[3]         # pending, of a profiled recording: where it was made. In what was padding
    cdef PyObject* weakrefs
    cdef Entry own[1]            # the first entry; the others lie behind, as the size class allows


cdef enum RealFlags:
    OWNS = 1                     # counts as a user of its identifier, or of its entries', in a reuse manager
    IS_INPUT = 2
    IS_OUTPUT = 4
    MERGED = 8                   # went into another expression while pending: its own adjoint is not known
    OF_INPUT = 16                # its slot is an input's: no statement consumes the adjoint
    OF_ARRAY = 32                # an element: the slot may have been assigned before the Real's epoch

# The class of every BaseReal, codipy.Real, which makes itself known here.
cdef PyTypeObject* real_type
# What messages call a Real, also in rebound code, where its representation is that of the plain value.
cdef object described(BaseReal x)


cdef inline void set_spot(BaseReal x, int32_t spot) noexcept:
    x.spot[0], x.spot[1], x.spot[2] = spot & 0xFF, spot >> 8 & 0xFF, spot >> 16


cdef inline int32_t spot_of(BaseReal x) noexcept:
    return x.spot[0] | <int32_t>x.spot[1] << 8 | <int32_t>x.spot[2] << 16


cdef inline bint is_real(object x) noexcept:
    return Py_TYPE(x) == real_type


cdef inline PyObject* new_real(double value, int size, int kind) except NULL:
    """A passive Real of a size class; a new reference."""
    cdef PyObject* x = codipy_birth(real_type, sizeof(Entry), size)
    (<BaseReal>x).primal = value
    (<BaseReal>x).epoch = 0
    (<BaseReal>x).made = 0
    (<BaseReal>x).identifier = 0
    (<BaseReal>x).count = 0
    (<BaseReal>x).kept = 0
    (<BaseReal>x).size = <uint8_t>size
    (<BaseReal>x).flags = 0
    (<BaseReal>x).kind = <uint8_t>kind
    return x
