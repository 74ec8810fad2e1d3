# SPDX-License-Identifier: Apache-2.0
"""What an active complex number holds, and numbers as operands: of Python, of NumPy, active or not."""
import numpy as np

from cpython.complex cimport PyComplex_CheckExact, PyComplex_FromDoubles
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_Check
cimport cython

from codipy.active.core.base_real cimport codipy_new_reference, new_real
from codipy.active.scalar.kinds cimport SINGLE, as_kind, plain_scalar

cdef extern from "Python.h":
    ctypedef struct Py_complex:
        double real
        double imag
    Py_complex PyComplex_AsCComplex(PyObject* o) except *
    long PyLong_AsLongAndOverflow(PyObject* o, int* overflow) except? -1

cdef extern from *:
    """
    #define CODIPY_NEW_NUMBER(type) ((type)->tp_new((type), codipy_no_arguments, NULL))
    static PyObject *codipy_no_arguments;
    """
    PyObject* codipy_no_arguments
    object CODIPY_NEW_NUMBER(PyTypeObject* type)

cdef tuple _no_arguments = ()
codipy_no_arguments = <PyObject*>_no_arguments

cdef double EXACT = 2.0 ** 53             # integers up to here are floats

cdef object complex128 = np.complex128, complex64 = np.complex64
cdef PyTypeObject* complex128_type = <PyTypeObject*><PyObject*>np.complex128
cdef PyTypeObject* float64_type = <PyTypeObject*><PyObject*>np.float64
cdef Real ZERO = Real(0.0)
cdef tuple OTHERS = (np.integer, np.bool_, np.floating, np.complex64)
cdef object LONGER = np.longdouble        # of which nothing is made that can be differentiated


@cython.no_gc
cdef class BaseComplex:
    """BaseComplex()
    --

    What a `codipy.Complex` is made of: two Reals, and the class that it stands for.
    """

    def __cinit__(self):
        self.re = self.im = ZERO

    @classmethod
    def of(cls, real, imag, kind):
        """The number of two parts that stands for one of a class: complex, numpy.complex128 or numpy.complex64."""
        cdef int form = form_of(kind)
        return new_number(part_of(real, form), part_of(imag, form), form)

    def _set(self, real, imag, kind):
        self.form = form_of(kind)
        self.re, self.im = part_of(real, self.form), part_of(imag, self.form)

    @property
    def kind(self):
        """type: what the plain run has in its place, complex, numpy.complex128 or numpy.complex64"""
        return complex if self.form == PYTHON else complex128 if self.form == DOUBLE else complex64

    @property
    def value(self):
        """complex: the plain value; of an element or of what NumPy computed the NumPy scalar that it is."""
        return value_of(self)

    @property
    def is_active(self):
        """bool: whether the value depends on a registered input."""
        return self.re.epoch != 0 or self.im.epoch != 0

    @property
    def real(self):
        """Real: the real part."""
        return self.re

    @property
    def imag(self):
        """Real: the imaginary part."""
        return self.im


def stand_as(kind):
    """Let `kind` be the class of every number that is made here.

    Parameters
    ----------
    kind : type
        A class that adds nothing to what one holds.
    """
    global complex_type
    complex_type = <PyTypeObject*>kind


cdef bint take_plain(PyObject* o, Number* n) except -1:
    cdef Py_complex c
    cdef int overflow = 0
    if PyFloat_CheckExact(<object>o):
        n.re, n.sort = PyFloat_AS_DOUBLE(<object>o), FLOAT
    elif PyComplex_CheckExact(<object>o) or Py_TYPE(<object>o) == complex128_type:
        c = PyComplex_AsCComplex(o)
        n.re, n.im = c.real, c.imag
        n.sort = COMPLEX128 if Py_TYPE(<object>o) == complex128_type else COMPLEX
    elif Py_TYPE(<object>o) == float64_type:
        n.re, n.sort = PyFloat_AS_DOUBLE(<object>o), FLOAT64
    elif PyLong_Check(<object>o):
        n.re, n.sort = PyLong_AsLongAndOverflow(o, &overflow), INTEGER
        return not overflow and -EXACT <= n.re <= EXACT
    elif isinstance(<object>o, OTHERS) and not isinstance(<object>o, LONGER):
        value = complex(<object>o)
        n.re, n.im, n.sort = value.real, value.imag, OTHER
    else:
        return False
    return True


cdef object plain(PyObject* o):
    if Py_TYPE(<object>o) == complex_type:
        return value_of(<BaseComplex>o)
    return plain_scalar(<Real>o) if type(<object>o) is Real else <object>o


cdef object value_of(BaseComplex z):
    value = PyComplex_FromDoubles(z.re.primal, z.im.primal)
    return value if z.form == PYTHON else complex128(value) if z.form == DOUBLE else complex64(value)


cdef int form_of(object kind) noexcept:
    return PYTHON if kind is complex else DOUBLE if kind is complex128 else SINGLE


cdef Real part_of(object x, int form):
    if type(x) is Real:
        return as_kind(<Real>x, form)
    return codipy_new_reference(new_real(<float>x if form == SINGLE else x, 0, form))


cdef BaseComplex new_number(Real re, Real im, int form):
    cdef BaseComplex z = CODIPY_NEW_NUMBER(complex_type)
    z.re, z.im, z.form = re, im, form
    return z


def element(pairs, index):
    """The number in a row of an Array of pairs, as NumPy's scalar.

    Parameters
    ----------
    pairs : Array
    index : tuple
        One integer for each axis but the last.

    Returns
    -------
    Complex
    """
    re, im = pairs[(*index, 0)], pairs[(*index, 1)]
    cdef int form = (<Real>re).kind if type(re) is Real else SINGLE if pairs.dtype.char == "f" else DOUBLE
    return new_number(part_of(re, form), part_of(im, form), form)
