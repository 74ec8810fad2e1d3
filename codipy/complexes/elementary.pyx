# SPDX-License-Identifier: Apache-2.0
"""Functions of one active complex number while a tape records: the plain run's value, and Reals for both parts."""
import numpy as np

from libc.math cimport NAN, cos, cosh, exp, hypot, isfinite, isnormal, log, sin, sinh
from cpython.complex cimport PyComplex_FromDoubles
from cpython.object cimport PyObject

from codipy.active.scalar.kinds cimport DOUBLE, PYTHON, SINGLE, as_kind, kind_of
from codipy.active.scalar.partials cimport of_partials, takes_partials
from codipy.active.scalar.real cimport Real, apply1, apply2
from codipy.complexes.arithmetic cimport Statement, along, depend, has_bits, stated
from codipy.complexes.formulas cimport quotient_of
from codipy.complexes.number cimport (
    COMPLEX, OTHER, BaseComplex, Number, form_of, new_number, real_of, take)
from codipy.operations.kernels cimport OP_ATAN2, OP_COS, OP_EXP, OP_SIN
from codipy.tape.activity cimport current
from codipy.tape.recorder cimport Recorder

cdef extern from "Python.h":
    ctypedef struct Py_complex:
        double real
        double imag
    Py_complex PyComplex_AsCComplex(PyObject* o) except *

cdef object complex128 = np.complex128

cdef enum Function:
    EXP, LOG, LOG10, SQRT, SIN, COS, TAN, SINH, COSH, TANH, ATAN

cdef dict FUNCTIONS = {"exp": EXP, "log": LOG, "log10": LOG10, "sqrt": SQRT, "sin": SIN, "cos": COS, "tan": TAN,
                       "sinh": SINH, "cosh": COSH, "tanh": TANH, "arctan": ATAN}
cdef double LN10 = log(10.0)


cdef void slope_of(int code, const Number* z, const double* w, double* slope) noexcept:
    """The derivative of a function at z, where its value is w."""
    cdef Number one, divisor
    cdef double a = z.re, b = z.im
    one.re, one.im = 1.0, 0.0
    if code == EXP:
        slope[0], slope[1] = w[0], w[1]
    elif code == SIN:
        slope[0], slope[1] = cos(a) * cosh(b), -sin(a) * sinh(b)
    elif code == COS:
        slope[0], slope[1] = -sin(a) * cosh(b), -cos(a) * sinh(b)
    elif code == SINH:
        slope[0], slope[1] = cosh(a) * cos(b), sinh(a) * sin(b)
    elif code == COSH:
        slope[0], slope[1] = sinh(a) * cos(b), cosh(a) * sin(b)
    elif code == TAN:
        slope[0], slope[1] = 1.0 + (w[0] - w[1]) * (w[0] + w[1]), 2.0 * w[0] * w[1]
    elif code == TANH:
        slope[0], slope[1] = 1.0 - (w[0] - w[1]) * (w[0] + w[1]), -2.0 * w[0] * w[1]
    else:
        divisor.re, divisor.im = a, b
        if code == LOG10:
            divisor.re, divisor.im = a * LN10, b * LN10
        elif code == SQRT:
            divisor.re, divisor.im = 2.0 * w[0], 2.0 * w[1]
        elif code == ATAN:
            divisor.re, divisor.im = 1.0 + (a - b) * (a + b), 2.0 * a * b
        if not quotient_of(&one, &divisor, False, slope):
            slope[0] = slope[1] = NAN


cdef BaseComplex exponential(const Number* z, const double* w, int form):
    """Made of functions of Reals; None where the bits are others."""
    cdef Real power = real_of(z.a, z.re, PYTHON), angle = real_of(z.b, z.im, PYTHON)
    cdef Real size, re, im
    if not (isnormal(exp(z.re)) and isfinite(z.im)):
        return None
    size = apply1(OP_EXP, <PyObject*>power)
    re, im = size * apply1(OP_COS, <PyObject*>angle), size * apply1(OP_SIN, <PyObject*>angle)
    return new_number(as_kind(re, form), as_kind(im, form), form) if has_bits(re, w[0]) and has_bits(im, w[1]) else None


def of_function(str name not None, function, z, kind):
    """A function with a complex derivative, of one number, while a tape records.

    Parameters
    ----------
    name : str
        The ufunc that has the same derivative.
    function : callable
        Gives the plain value.
    z : number
    kind : type
        complex or numpy.complex128, in which the function takes its argument and gives its result.

    Returns
    -------
    Complex or None
        None where it has to be a primitive before the function is called, NotImplemented after that.
    """
    cdef Recorder* r = current()
    cdef BaseComplex found
    cdef Number x
    cdef Py_complex c
    cdef double w[2]
    cdef double slope[2]
    cdef int code = FUNCTIONS.get(name, -1)
    cdef int form = form_of(kind)
    if code < 0 or r == NULL or not take(<PyObject*>z, &x) or x.sort == OTHER or (x.a == NULL and x.b == NULL):
        return None
    if not (takes_partials(r) or code == EXP):
        return None
    value = PyComplex_FromDoubles(x.re, x.im)
    value = function(complex128(value) if form == DOUBLE else value)
    c = PyComplex_AsCComplex(<PyObject*>value)
    w[0], w[1] = c.real, c.imag
    if takes_partials(r):
        slope_of(code, &x, w, slope)
        found = along(r, <PyObject*>z, &x, slope[0], slope[1], NULL, NULL, 0.0, 0.0, w, form)
    else:
        found = exponential(&x, w, form)
    return NotImplemented if found is None else found


def phase_of(BaseComplex z not None, function):
    """The phase of a number other than 0 while a tape records.

    Parameters
    ----------
    z : Complex
    function : callable
        Gives the plain value.

    Returns
    -------
    Real or None
        None where it has to be a primitive.
    """
    cdef Recorder* r = current()
    cdef Number x
    cdef PyObject* operands[2]
    cdef double partials[2]
    cdef double size
    cdef Real angle
    take(<PyObject*>z, &x)
    size = hypot(x.re, x.im)
    if r == NULL or z.form == SINGLE or (x.a == NULL and x.b == NULL) or not isnormal(size):
        return None
    value = function(PyComplex_FromDoubles(x.re, x.im))
    if takes_partials(r):
        operands[0], operands[1] = x.a, x.b
        partials[0], partials[1] = -(x.im / size) / size, (x.re / size) / size
        return of_partials(r, 2, operands, partials, value, kind_of(value), 0)
    angle = apply2(OP_ATAN2, <PyObject*>z.im, <PyObject*>z.re)
    return as_kind(angle, kind_of(value)) if has_bits(angle, value) else None


def turned(size, angle, value):
    """The number of this size and angle, a Complex for a complex of Python, while a tape records.

    Parameters
    ----------
    size, angle : number
    value : complex
        What the plain run has.

    Returns
    -------
    Complex or None
        None where it has to be a primitive.
    """
    cdef Recorder* r = current()
    cdef Number x, y
    cdef Statement re, im
    cdef Py_complex w = PyComplex_AsCComplex(<PyObject*>value)
    cdef double c, s
    cdef Real one, other
    if (r == NULL or not take(<PyObject*>size, &x) or not take(<PyObject*>angle, &y) or x.sort >= COMPLEX
            or y.sort >= COMPLEX or not (isfinite(w.real) and isfinite(w.imag) and isfinite(x.re) and isfinite(y.re))):
        return None
    c, s = cos(y.re), sin(y.re)
    if takes_partials(r):
        re.n = im.n = 0
        re.merged = im.merged = 0
        depend(r, &re, x.a, c, False)
        depend(r, &im, x.a, s, False)
        depend(r, &re, y.a, -x.re * s, False)
        depend(r, &im, y.a, x.re * c, False)
        one = stated(r, &re, w.real, PYTHON)
        return new_number(one, stated(r, &im, w.imag, PYTHON), PYTHON)
    other = real_of(y.a, y.re, PYTHON)
    one = real_of(x.a, x.re, PYTHON)
    one, other = one * apply1(OP_COS, <PyObject*>other), one * apply1(OP_SIN, <PyObject*>other)
    return new_number(one, other, PYTHON) if has_bits(one, w.real) and has_bits(other, w.imag) else None
