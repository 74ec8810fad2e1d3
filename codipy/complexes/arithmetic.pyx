# SPDX-License-Identifier: Apache-2.0
"""Operators of active complex numbers: the plain run's value to the last bit, and Reals for both parts.

Where statements are Jacobians the parts are Reals of that value and of the partial derivatives, be the value what it
may. Where values are computed again they are composed of operations on Reals, if those have the same bits; else the
operator is recorded as a primitive.
"""
import numbers
import operator

import numpy as np

from libc.math cimport atan2, fabs, hypot, isfinite, isnormal, log
from cpython.complex cimport PyComplex_Check, PyComplex_FromDoubles
from cpython.ref cimport Py_REFCNT
cimport cython

from codipy.active.core.base_real cimport codipy_new_reference
from codipy.active.scalar.kinds cimport DOUBLE, PYTHON, SINGLE, kind_of
from codipy.active.scalar.partials cimport takes_partials
from codipy.active.scalar.real cimport apply_with_ufunc, combine_any
from codipy.complexes.formulas cimport (
    ADD, BY_RECIPROCAL, DIVIDE, MULTIPLY, OF_NUMPY, POWER, SUBTRACT, compute, known_of, product_of, quotient_of)
from codipy.complexes.number cimport (
    COMPLEX, OTHER, active, form_of, new_number, plain, real_of, take, value_of)
from codipy.operations.kernels cimport *
from codipy.tape.activity cimport current

from codipy.active.array_type import Array
from codipy.complexes.compared import doors

cdef extern from "Python.h":
    ctypedef struct Py_complex:
        double real
        double imag
    Py_complex PyComplex_AsCComplex(PyObject* o) except *

cdef extern from "codipy/active/core/object.h":
    bint codipy_is_temporary(PyObject* o) noexcept

cdef tuple NAMES = ("add", "subtract", "multiply", "divide", "power")
cdef dict CODES = {name: code for code, name in enumerate(NAMES)}
cdef tuple OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
cdef tuple UFUNCS = (np.add, np.subtract, np.multiply, np.true_divide, np.power)
cdef object complex128 = np.complex128


# ---- Recording -------------------------------------------------------------------------------------------------------

cdef inline bint dies(PyObject* owner, PyObject* x) noexcept:
    """Whether a part, or a Real that is an operand itself, is gone after the operator."""
    return x != NULL and codipy_is_temporary(owner) and (x == owner or Py_REFCNT(<object>x) == 1)


cdef BaseComplex along(Recorder* r, PyObject* left, const Number* x, double p, double q, PyObject* right,
                       const Number* y, double s, double t, const double* w, int form):
    cdef Statement re, im
    cdef bint once
    cdef Real real
    if not (isfinite(p) and isfinite(q) and isfinite(s) and isfinite(t) and isfinite(w[0]) and isfinite(w[1])):
        return None
    re.n = im.n = 0
    re.merged = im.merged = 0
    once = (p == 0.0 or q == 0.0) and left != right
    depend(r, &re, x.a, p, once and dies(left, x.a))
    depend(r, &im, x.a, q, once and dies(left, x.a))
    depend(r, &re, x.b, -q, once and dies(left, x.b))
    depend(r, &im, x.b, p, once and dies(left, x.b))
    if right != NULL:
        once = (s == 0.0 or t == 0.0) and left != right
        depend(r, &re, y.a, s, once and dies(right, y.a))
        depend(r, &im, y.a, t, once and dies(right, y.a))
        depend(r, &re, y.b, -t, once and dies(right, y.b))
        depend(r, &im, y.b, s, once and dies(right, y.b))
    real = stated(r, &re, w[0], form)
    return new_number(real, stated(r, &im, w[1], form), form)


cdef BaseComplex with_partials(Recorder* r, int code, PyObject* left, const Number* x, PyObject* right,
                               const Number* y, const double* w, int form):
    cdef Number one, quotient
    cdef double u[2]
    cdef double v[2]
    cdef double size
    u[0] = u[1] = v[0] = v[1] = 0.0
    if code == ADD or code == SUBTRACT:
        return along(r, left, x, 1.0, 0.0, right, y, 1.0 if code == ADD else -1.0, 0.0, w, form)
    if code == MULTIPLY:
        if left == right:
            return along(r, left, x, 2.0 * x.re, 2.0 * x.im, NULL, NULL, 0.0, 0.0, w, form)
        return along(r, left, x, y.re, y.im, right, y, x.re, x.im, w, form)
    one.re, one.im = 1.0, 0.0
    if code == DIVIDE:
        quotient_of(&one, y, False, u)
        if y.a != NULL or y.b != NULL:
            quotient.re, quotient.im = -w[0], -w[1]
            quotient_of(&quotient, y, False, v)
        return along(r, left, x, u[0], u[1], right, y, v[0], v[1], w, form)
    if (x.re == 0.0 and x.im == 0.0) or (w[0] == 0.0 and w[1] == 0.0) or not (isfinite(w[0]) and isfinite(w[1])):
        return None
    if x.a != NULL or x.b != NULL:               # y w / x
        quotient.re, quotient.im = w[0], w[1]
        product_of(y, &quotient, v)
        quotient.re, quotient.im = v[0], v[1]
        quotient_of(&quotient, x, False, u)
    v[0] = v[1] = 0.0
    if y.a != NULL or y.b != NULL:               # w log(x)
        one.re, one.im = w[0], w[1]
        size = hypot(x.re, x.im)
        quotient.re, quotient.im = log(size), atan2(x.im, x.re)
        product_of(&one, &quotient, v)
    if left == right:
        return along(r, left, x, u[0] + v[0], u[1] + v[1], NULL, NULL, 0.0, 0.0, w, form)
    return along(r, left, x, u[0], u[1], right, y, v[0], v[1], w, form)


# ---- Composition -----------------------------------------------------------------------------------------------------

cdef Real combined(Recorder* r, int code, PyObject* x, double u, PyObject* y, double v, int kind):
    cdef PyObject* operands[2]
    cdef double values[2]
    operands[0], operands[1], values[0], values[1] = x, y, u, v
    return codipy_new_reference(combine_any(r, code, op_arity(code), operands, values, op_value_any(code, u, v, 0.0),
                                            kind))


cdef inline Real of_reals(Recorder* r, int code, Real x, Real y, int kind):
    return combined(r, code, active(x), x.primal, active(y), y.primal, kind)


cdef BaseComplex sum_of_parts(Recorder* r, int code, const Number* x, const Number* y, int form):
    cdef int operation = OP_ADD if code == ADD else OP_SUBTRACT
    return new_number(combined(r, operation, x.a, x.re, y.a, y.re, form),
                      combined(r, operation, x.b, x.im, y.b, y.im, form), form)


cdef BaseComplex product_of_parts(Recorder* r, const Number* x, const Number* y, int form):
    cdef Real p, q
    if y.sort < COMPLEX:
        return new_number(combined(r, OP_MULTIPLY, x.a, x.re, y.a, y.re, form),
                          combined(r, OP_MULTIPLY, x.b, x.im, y.a, y.re, form), form)
    if x.sort < COMPLEX:
        return product_of_parts(r, y, x, form)
    p = combined(r, OP_MULTIPLY, x.a, x.re, y.a, y.re, form)
    q = combined(r, OP_MULTIPLY, x.b, x.im, y.b, y.im, form)
    p = of_reals(r, OP_SUBTRACT, p, q, form)
    q = combined(r, OP_MULTIPLY, x.a, x.re, y.b, y.im, form)
    q = of_reals(r, OP_ADD, q, combined(r, OP_MULTIPLY, x.b, x.im, y.a, y.re, form), form)
    return new_number(p, q, form)


cdef BaseComplex quotient_of_parts(Recorder* r, const Number* x, const Number* y, bint by_reciprocal, int form):
    """Smith's without a branch, since a replay may have the other: both parts of the divisor over the larger size.

    Where that part is negative, every numerator and denominator has the other sign than in the formula, and the
    quotients are the same.
    """
    cdef Real one, other, size, p, q
    if y.sort < COMPLEX:
        if not by_reciprocal:
            return new_number(combined(r, OP_DIVIDE, x.a, x.re, y.a, y.re, form),
                              combined(r, OP_DIVIDE, x.b, x.im, y.a, y.re, form), form)
        size = combined(r, OP_DIVIDE, NULL, 1.0, y.a, y.re, form)
        return new_number(combined(r, OP_MULTIPLY, x.a, x.re, active(size), size.primal, form),
                          combined(r, OP_MULTIPLY, x.b, x.im, active(size), size.primal, form), form)
    one = combined(r, OP_ABSOLUTE, y.a, y.re, NULL, 0.0, form)
    size = combined(r, OP_ABSOLUTE, y.b, y.im, NULL, 0.0, form)
    size = of_reals(r, OP_MAXIMUM, one, size, form)
    one = combined(r, OP_DIVIDE, y.a, y.re, active(size), size.primal, form)
    other = combined(r, OP_DIVIDE, y.b, y.im, active(size), size.primal, form)
    p = combined(r, OP_MULTIPLY, y.a, y.re, active(one), one.primal, form)
    size = of_reals(r, OP_ADD, p, combined(r, OP_MULTIPLY, y.b, y.im, active(other), other.primal, form), form)
    p = combined(r, OP_MULTIPLY, x.a, x.re, active(one), one.primal, form)
    p = of_reals(r, OP_ADD, p, combined(r, OP_MULTIPLY, x.b, x.im, active(other), other.primal, form), form)
    q = combined(r, OP_MULTIPLY, x.b, x.im, active(one), one.primal, form)
    q = of_reals(r, OP_SUBTRACT, q, combined(r, OP_MULTIPLY, x.a, x.re, active(other), other.primal, form), form)
    if by_reciprocal:
        size = combined(r, OP_DIVIDE, NULL, 1.0, active(size), size.primal, form)
        return new_number(of_reals(r, OP_MULTIPLY, p, size, form), of_reals(r, OP_MULTIPLY, q, size, form), form)
    return new_number(of_reals(r, OP_DIVIDE, p, size, form), of_reals(r, OP_DIVIDE, q, size, form), form)


cdef BaseComplex power_of_parts(Recorder* r, const Number* x, const Number* y, int form):
    """A passive integer of Python's as exponent: products of squares; else None."""
    cdef Number factor, power, one
    cdef BaseComplex square = None, w = None
    cdef int n
    if y.a != NULL or y.b != NULL or y.im != 0.0 or not 1.0 < fabs(y.re) <= 100.0 or x.sort < COMPLEX:
        return None
    n = <int>fabs(y.re)
    if n != fabs(y.re):
        return None
    factor = x[0]
    while n:
        if n & 1 and w is None:
            w = square if square is not None else new_number(real_of(x.a, x.re, form), real_of(x.b, x.im, form), form)
        elif n & 1:
            take(<PyObject*>w, &power)
            w = product_of_parts(r, &power, &factor, form)
        n >>= 1
        if n:
            square = product_of_parts(r, &factor, &factor, form)
            take(<PyObject*>square, &factor)
    if y.re > 0.0:
        return w
    one.re, one.im, one.a, one.b, one.sort = 1.0, 0.0, NULL, NULL, COMPLEX
    take(<PyObject*>w, &power)
    return quotient_of_parts(r, &one, &power, False, form)


cdef inline tuple parts_of(const Number* x):
    return None if x.a == NULL else <object>x.a, None if x.b == NULL else <object>x.b


cdef BaseComplex composed(Recorder* r, int code, int known, PyObject* left, const Number* x, PyObject* right,
                          const Number* y, const double* w, int form):
    """The number made of operations on Reals; None where its bits are others, or there is no such way."""
    cdef BaseComplex z = None
    # Whoever holds the parts needs them again: see codipy_is_temporary.
    _left = None if code <= SUBTRACT and codipy_is_temporary(left) else parts_of(x)
    _right = None if code <= SUBTRACT and codipy_is_temporary(right) else parts_of(y)
    if form == SINGLE or x.sort == OTHER or y.sort == OTHER:
        return None
    if code <= SUBTRACT:
        z = sum_of_parts(r, code, x, y, form)
    elif code == MULTIPLY:
        z = product_of_parts(r, x, y, form)
    elif code == DIVIDE:
        z = quotient_of_parts(r, x, y, known & BY_RECIPROCAL, form)
    else:
        z = power_of_parts(r, x, y, form)
    return z if z is not None and has_bits(z.re, w[0]) and has_bits(z.im, w[1]) else None


# ---- Operators -------------------------------------------------------------------------------------------------------

cdef object operate(int code, PyObject* left, PyObject* right):
    cdef Recorder* r = current()
    cdef Number x, y
    cdef Py_complex c
    cdef double w[2]
    cdef int known, form
    cdef BaseComplex z
    if r == NULL or not take(left, &x) or not take(right, &y) or (
            x.a == NULL and x.b == NULL and y.a == NULL and y.b == NULL):
        return generally(code, <object>left, <object>right)
    known = known_of(code, &x, &y)
    value = None
    form = DOUBLE if known & OF_NUMPY else PYTHON
    if not known or not compute(code, known, &x, &y, w):
        value = OPERATORS[code](plain(left), plain(right))
        if not (takes_partials(r) or PyComplex_Check(value)):    # a complex64 is none of Python's
            return doors().recorded_operator(NAMES[code], (<object>left, <object>right), value)
        c = PyComplex_AsCComplex(<PyObject*>value)
        w[0], w[1], form = c.real, c.imag, form_of(type(value))
    if takes_partials(r):
        z = with_partials(r, code, left, &x, right, &y, w, form)
    else:
        z = composed(r, code, known, left, &x, right, &y, w, form)
    if z is not None:
        return z
    if value is None:
        value = PyComplex_FromDoubles(w[0], w[1])
        value = complex128(value) if form == DOUBLE else value
    return doors().recorded_operator(NAMES[code], (<object>left, <object>right), value)


cdef object generally(int code, object left, object right):
    """An operator with what is no number, or where nothing is recorded; arrays know more."""
    mine, other = (left, right) if isinstance(left, BaseComplex) else (right, left)
    if isinstance(mine, BaseComplex):
        if isinstance(other, (list, tuple)) and (<BaseComplex>mine).form == PYTHON:
            return NotImplemented
        if isinstance(other, (np.ndarray, list, tuple)) or hasattr(type(other), "of_pairs") or type(other) is Array:
            return doors().operate(UFUNCS[code], left, right, other)
        if not isinstance(other, (numbers.Number, np.generic)):
            return NotImplemented
    return doors().applied_operator(NAMES[code], (left, right))


def combine(str name not None, x, y):
    """An operator of two numbers, one of which is a Complex, or a Real beside a complex number.

    Parameters
    ----------
    name : str
        add, subtract, multiply, divide or power; of others NotImplemented is the result.
    x, y : number

    Returns
    -------
    number
    """
    cdef int code = CODES.get(name, -1)
    return NotImplemented if code < 0 else operate(code, <PyObject*>x, <PyObject*>y)


def size_of(BaseComplex z not None, function):
    """The absolute value of a number while a tape records.

    Parameters
    ----------
    z : Complex
    function : callable
        Gives the plain value.

    Returns
    -------
    Real, or None
        None where it has to be a primitive before the function is called, NotImplemented after that.
    """
    cdef Recorder* r = current()
    cdef Number x
    cdef PyObject* operands[2]
    cdef double partials[2]
    cdef double size
    take(<PyObject*>z, &x)
    if r == NULL or z.form == SINGLE or (x.a == NULL and x.b == NULL):
        return None
    value = function(value_of(z))
    size = value
    if not isnormal(size):
        return NotImplemented
    if takes_partials(r):
        operands[0], operands[1] = x.a, x.b
        partials[0], partials[1] = x.re / size, x.im / size
        return of_partials(r, 2, operands, partials, size, kind_of(value), 0)
    operands[0], operands[1] = <PyObject*>z.re, <PyObject*>z.im
    partials[0], partials[1] = x.re, x.im
    if np.hypot(x.re, x.im) != size:
        return NotImplemented
    return apply_with_ufunc(OP_HYPOT, 2, operands, partials, value)


@cython.no_gc
cdef class ComplexNumber(BaseComplex):
    """ComplexNumber()
    --

    The operators of a `codipy.Complex`.
    """

    def __add__(self, other):
        return operate(ADD, <PyObject*>self, <PyObject*>other)

    def __radd__(self, other):
        return operate(ADD, <PyObject*>other, <PyObject*>self)

    def __sub__(self, other):
        return operate(SUBTRACT, <PyObject*>self, <PyObject*>other)

    def __rsub__(self, other):
        return operate(SUBTRACT, <PyObject*>other, <PyObject*>self)

    def __mul__(self, other):
        return operate(MULTIPLY, <PyObject*>self, <PyObject*>other)

    def __rmul__(self, other):
        return operate(MULTIPLY, <PyObject*>other, <PyObject*>self)

    def __truediv__(self, other):
        return operate(DIVIDE, <PyObject*>self, <PyObject*>other)

    def __rtruediv__(self, other):
        return operate(DIVIDE, <PyObject*>other, <PyObject*>self)

    def __pow__(self, other, modulus):
        if modulus is not None:
            raise ValueError("complex modulo")
        return operate(POWER, <PyObject*>self, <PyObject*>other)

    def __rpow__(self, other, modulus):
        if modulus is not None:
            raise ValueError("complex modulo")
        return operate(POWER, <PyObject*>other, <PyObject*>self)

    def __neg__(self):
        return new_number(-self.re, -self.im, self.form)

    def __pos__(self):
        return new_number(+self.re, +self.im, self.form)

    def __abs__(self):
        found = size_of(self, abs)
        if found is None:
            return doors().applied_operator("absolute", (self,))
        return doors().recorded_operator("absolute", (self,), abs(value_of(self))) if found is NotImplemented else found

    def conjugate(self):
        """The conjugate number."""
        return new_number(+self.re, -self.im, self.form)      # variables of its own

