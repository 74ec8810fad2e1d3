# SPDX-License-Identifier: Apache-2.0
# What an active complex number holds: two Reals. Its operators stand above what works on these fields, in arithmetic.pyx.
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE

from codipy.active.scalar.kinds cimport DOUBLE, PYTHON
from codipy.active.scalar.real cimport Real


cdef class BaseComplex:
    cdef Real re
    cdef Real im
    cdef int form                # PYTHON for complex, DOUBLE for numpy.complex128, SINGLE for numpy.complex64
    cdef object __weakref__

cdef enum:
    # What an operand is in the plain run.
    INTEGER, FLOAT, FLOAT64, COMPLEX, COMPLEX128, OTHER, SORTS

# An operand of an operator or a function. The parts are Reals that have an epoch, or NULL.
cdef struct Number:
    double re, im
    PyObject* a
    PyObject* b
    int sort

# The class of every BaseComplex, codipy.Complex, which makes itself known here.
cdef PyTypeObject* complex_type
# `take` of what is no variable.
cdef bint take_plain(PyObject* o, Number* n) except -1
cdef object plain(PyObject* o)
cdef object value_of(BaseComplex z)
# PYTHON, DOUBLE or SINGLE, for complex, numpy.complex128 or numpy.complex64.
cdef int form_of(object kind) noexcept
# A part of a number, as a Real that stands for a float of the class that belongs to it.
cdef Real part_of(object x, int form)
cdef BaseComplex new_number(Real re, Real im, int form)


cdef inline PyObject* active(Real x) noexcept:
    return <PyObject*>x if x.epoch else NULL


cdef inline bint take(PyObject* o, Number* n) except -1:
    """Whether something is a number that operators combine here; then `n` is it."""
    cdef BaseComplex z
    cdef Real x
    n.im, n.a, n.b = 0.0, NULL, NULL
    if Py_TYPE(<object>o) == complex_type:
        z = <BaseComplex>o
        n.re, n.im, n.a, n.b = z.re.primal, z.im.primal, active(z.re), active(z.im)
        n.sort = COMPLEX if z.form == PYTHON else COMPLEX128 if z.form == DOUBLE else OTHER
    elif type(<object>o) is Real:
        x = <Real>o
        n.re, n.a = x.primal, active(x)
        n.sort = FLOAT if x.kind == PYTHON else FLOAT64 if x.kind == DOUBLE else OTHER
    else:
        return take_plain(o, n)
    return True


cdef inline Real real_of(PyObject* x, double value, int kind):
    return part_of(value if x == NULL else <object>x, kind)
