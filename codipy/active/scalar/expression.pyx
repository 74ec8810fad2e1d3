# SPDX-License-Identifier: Apache-2.0
"""The slow paths of expressions: pushing, readmitting, conversion of operands, values that Python defines."""
import numbers

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy
from cpython.complex cimport PyComplex_Check
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_Check
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_DECREF
cimport numpy as cnp

from codipy.active.core.base_array cimport is_array
from codipy.active.core.base_real cimport MERGED, OWNS, BaseReal, described, spot_of
from codipy.active.recordings.lending cimport lend_real, lender
from codipy.active.recordings.over cimport is_over, is_past, no_recording
from codipy.operations.kernels cimport op_value_any
from codipy.tape.activity cimport is_passive, tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Entry, Recorder, assign_identifier, push_expression, push_jacobian, tangents_at

from codipy.active.recordings.earlier import from_earlier, of_enclosing
from codipy.errors import TapeError
from codipy.operations import TABLE
from codipy.operations.callables import python_callable

cdef extern from "codipy/programs/flags.h" nogil:
    int flags_raised()
    void flags_clear()
    void flags_raise(int flags)

cnp.import_array()

cdef extern from "codipy/inline.h":
    pass


cdef int identify(Recorder* r, BaseReal x) except -1:
    if r.apart:
        return identify_carrier(r, x) if r.carries else push_noted(r, x)
    return push_pending(r, x)


cdef inline int push_pending(Recorder* r, BaseReal x) except -1:
    cdef int32_t identifier = push_expression(r, x.own, x.count, x.program, x.primal)
    if x.epoch == r.epoch:
        if r.reuse:
            release_here(r, x)
    else:
        # The expression is older than the last position. A reset to there drops the statement but not the variable,
        # which is then pushed again from the entries that it keeps: see readmit.
        x.made = x.epoch
        x.kept = x.count
        x.epoch = r.epoch
    x.identifier, x.count = identifier, 0
    return 0


cdef int push_noted(Recorder* r, BaseReal x) except -1:
    """Of a profiled recording: the statement is one of the spot where the expression was made."""
    (<Journal>r.journal).reserve()
    push_pending(r, x)
    (<Journal>r.journal).note(spot_of(x))
    return 0


cdef int identify_carrier(Recorder* r, BaseReal x) except -1:
    """Of a Real that carries its tangents: the identifier takes them over."""
    cdef int32_t identifier = assign_identifier(r)
    memcpy(tangents_at(r, identifier), x.own, r.width * sizeof(double))
    x.identifier, x.count = identifier, 0
    x.flags |= <uint8_t>(OWNS | MERGED)
    return 0


cdef int identify_new(Recorder* r, PyObject* x) except -1:
    try:
        identify(r, <BaseReal>x)
    except BaseException:
        Py_DECREF(<BaseReal>x)
        raise
    return 0


cdef int identify_plain(Recorder* r, PyObject* x) except -1:
    if (<BaseReal>x).epoch != r.epoch:
        return identify(r, <BaseReal>x)
    (<BaseReal>x).identifier = push_jacobian(r, (<BaseReal>x).own, (<BaseReal>x).count, True)
    (<BaseReal>x).count = 0
    return 0


cdef int identify_noted(Recorder* r, PyObject* x) except -1:
    if (<BaseReal>x).epoch != r.epoch:
        return identify(r, <BaseReal>x)
    (<Journal>r.journal).reserve()
    (<BaseReal>x).identifier = push_jacobian(r, (<BaseReal>x).own, (<BaseReal>x).count, True)
    (<BaseReal>x).count = 0
    (<Journal>r.journal).note(spot_of(<BaseReal>x))
    return 0


cdef int readmit(Recorder* r, BaseReal x) except -1:
    if r == NULL:
        if is_passive() or (is_over(x.epoch) and (not x.kept or is_over(x.made))):
            return 0
        raise no_recording(x.epoch, f"{described(x)} is used in an operation")
    cdef BaseTape tape = <BaseTape>r.tape
    if tape.is_valid(x.epoch):
        if r.carries:
            x.flags |= MERGED
        return 1
    if x.kept and tape.is_valid(x.made):
        if x.flags & OWNS:
            tape.release_identifier(x.identifier)
        x.identifier, x.count, x.kept = 0, x.kept, 0
        x.epoch, x.made = x.made, 0
        return 1
    lender_of_x = lender(r, x.epoch)
    if lender_of_x is not None:
        if x.count:
            identify(&(<BaseTape>lender_of_x).recorder, x)
        lend_real(r, x)
        return 1
    what = (f"{described(x)} is from before a reset of its tape: compute it again, or register it again with "
            "tape.register_input()" if x.epoch >> 32 == tape.serial else
            f"{described(x)} belongs to another tape or to a finished recording: take codipy.value(x), or register it "
            "with the recording tape's register_input()")
    raise TapeError(from_earlier(what, x) if is_past(x.epoch) else of_enclosing(described(x)))


cdef void release_uses(BaseReal x) noexcept:
    """A reuse manager no longer counts x; called when x dies or leaves its tape."""
    cdef PyObject* found = tape_of_epoch(x.epoch)
    cdef Entry* entries = x.own
    cdef int i
    if found == NULL or not (<BaseTape>found).owns(x.epoch):
        return
    if x.identifier:
        (<BaseTape>found).release_identifier(x.identifier)
    for i in range(x.count + x.kept):
        if entries[i].identifier:
            (<BaseTape>found).release_identifier(entries[i].identifier)


cdef void make_passive(BaseReal x) noexcept:
    if x.flags & OWNS:
        release_uses(x)
    x.epoch, x.made, x.identifier, x.program, x.count, x.kept, x.flags = 0, 0, 0, 0, 0, 0, 0


# ---- Values and operands ----

cdef tuple callables = tuple([python_callable(row.python) for row in TABLE])


cdef object callable_of(int code):
    return callables[code]


cdef void forget_flags(int code, double x, double y, double z) noexcept:
    """Clear the processor's flags that an operation has set: NumPy would tell of them after a loop over objects.

    Python looks at the operands of many before it computes. Flags that were set before stay, but for the same ones.
    """
    cdef int raised = flags_raised(), own
    if not raised:
        return
    flags_clear()
    op_value_any(code, x, y, z)
    own = flags_raised()
    flags_clear()
    flags_raise(raised & ~own)


cdef double python_value(int code, int n, double x, double y, double z) except? -1.0:
    forget_flags(code, x, y, z)
    function = callables[code]
    if function is None:
        return op_value_any(code, x, y, z)
    if n == 1:
        return function(x)
    return function(x, y) if n == 2 else function(x, y, z)


cdef PyTypeObject* complex_variable = NULL        # the class of active complex numbers, as soon as there is one


def meet_complex(type kind not None):
    """Tell at once of an instance of this class that it is no real number."""
    global complex_variable
    complex_variable = <PyTypeObject*>kind


cdef int as_number(PyObject* o, double* number) except -1:
    if Py_TYPE(<object>o) == complex_variable:
        return 0
    if PyFloat_Check(<object>o):
        number[0] = PyFloat_AS_DOUBLE(<object>o)
    elif PyLong_Check(<object>o):
        number[0] = PyLong_AsDouble(<object>o)
    elif PyComplex_Check(<object>o) or is_array(<object>o) or (
            cnp.PyArray_CheckExact(<object>o) and cnp.PyArray_NDIM(<cnp.ndarray>o)):
        return 0                 # of arrays too: to ask whether they are rational numbers takes as long as an operation
    elif isinstance(<object>o, (np.floating, np.integer, np.bool_, numbers.Rational)):
        number[0] = float(<object>o)
    elif cnp.PyArray_Check(<object>o) and (<object>o).ndim == 0 and (<object>o).dtype.kind in "fiub":
        number[0] = float(<object>o)      # not by isinstance, which an Array answers in numpy.polynomial
    else:
        return 0
    return 1
