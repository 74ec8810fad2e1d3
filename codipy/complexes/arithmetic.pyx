# SPDX-License-Identifier: Apache-2.0
"""Operators of active complex numbers: the plain run's value to the last bit, and Reals for both parts.

Python and NumPy have formulas of their own for a product and a quotient. Which it is for two classes is found once, by
numbers: where a formula gives the bits of the operator, C computes it, as long as every step is a normal number, so
that there is nothing to warn of. Zeros are asked for apart, since a real operand may be a complex one or not, which is
another sign of a zero. Else the operator is run.

Where statements are Jacobians the parts are Reals of that value and of the partial derivatives, be the value what it
may. Where values are computed again they are composed of operations on Reals, if those have the same bits; else the
operator is recorded as a primitive.
"""
import numbers
import operator
import random

import numpy as np

from libc.math cimport NAN, atan2, cos, cosh, exp, fabs, hypot, isfinite, isnormal, log, sin, sinh
from cpython.complex cimport PyComplex_Check, PyComplex_CheckExact, PyComplex_FromDoubles
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_REFCNT
cimport cython

from codipy.active.core.base_real cimport codipy_new_reference, new_real
from codipy.active.scalar.kinds cimport DOUBLE, PYTHON, SINGLE, as_kind, kind_of, plain_scalar
from codipy.active.scalar.partials cimport of_partials, takes_partials
from codipy.active.scalar.real cimport Real, apply1, apply2, apply_with_ufunc, combine_any
from codipy.operations.kernels cimport *
from codipy.tape.activity cimport current
from codipy.tape.recorder cimport Recorder

from codipy.active.array_type import Array
from codipy.active.scalar.real import meet_complex
from codipy.complexes.compared import doors

cdef extern from "<math.h>":
    bint signbit(double x) noexcept nogil

cdef extern from "Python.h":
    ctypedef struct Py_complex:
        double real
        double imag
    Py_complex PyComplex_AsCComplex(PyObject* o) except *
    long PyLong_AsLongAndOverflow(PyObject* o, int* overflow) except? -1

cdef extern from "codipy/active/core/object.h":
    bint codipy_is_temporary(PyObject* o) noexcept

cdef extern from *:
    """
    #define CODIPY_NEW_NUMBER(type) ((type)->tp_new((type), codipy_no_arguments, NULL))
    static PyObject *codipy_no_arguments;
    """
    PyObject* codipy_no_arguments
    object CODIPY_NEW_NUMBER(PyTypeObject* type)

cdef tuple _no_arguments = ()
codipy_no_arguments = <PyObject*>_no_arguments

cdef enum Operator:
    ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER

cdef enum:
    # What an operand is in the plain run.
    INTEGER, FLOAT, FLOAT64, COMPLEX, COMPLEX128, OTHER, SORTS
    # What is known of the operator on two of them: the formula, and the class of the result.
    SAME_FORMULA = 1             # a quotient by two divisions
    BY_RECIPROCAL = 2            # a quotient by two multiplications
    OF_NUMPY = 4
    ZEROS = 8                    # zeros have the formula's signs, too

cdef double EXACT = 2.0 ** 53             # integers up to here are floats

cdef tuple NAMES = ("add", "subtract", "multiply", "divide", "power")
cdef dict CODES = {name: code for code, name in enumerate(NAMES)}
cdef tuple OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
cdef tuple UFUNCS = (np.add, np.subtract, np.multiply, np.true_divide, np.power)
cdef object complex128 = np.complex128, complex64 = np.complex64, float64 = np.float64
cdef PyTypeObject* complex128_type = <PyTypeObject*><PyObject*>np.complex128
cdef PyTypeObject* float64_type = <PyTypeObject*><PyObject*>np.float64
cdef Real ZERO = Real(0.0)
cdef tuple OTHERS = (np.integer, np.bool_, np.floating, np.complex64)
cdef PyTypeObject* complex_type = NULL           # of every ComplexNumber: codipy.Complex, which makes itself known here

# An operand. The parts are Reals that have an epoch, or NULL.
cdef struct Number:
    double re, im
    PyObject* a
    PyObject* b
    int sort


cdef inline PyObject* active(Real x) noexcept:
    return <PyObject*>x if x.epoch else NULL


cdef bint take(PyObject* o, Number* n) except -1:
    """Whether o is a number that operators combine here."""
    cdef ComplexNumber z
    cdef Real x
    cdef Py_complex c
    cdef int overflow = 0
    n.im, n.a, n.b = 0.0, NULL, NULL
    if Py_TYPE(<object>o) == complex_type:
        z = <ComplexNumber>o
        n.re, n.im, n.a, n.b = z.re.primal, z.im.primal, active(z.re), active(z.im)
        n.sort = COMPLEX if z.form == PYTHON else COMPLEX128 if z.form == DOUBLE else OTHER
    elif type(<object>o) is Real:
        x = <Real>o
        n.re, n.a = x.primal, active(x)
        n.sort = FLOAT if x.kind == PYTHON else FLOAT64 if x.kind == DOUBLE else OTHER
    elif PyFloat_CheckExact(<object>o):
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
    elif isinstance(<object>o, OTHERS):
        value = complex(<object>o)
        n.re, n.im, n.sort = value.real, value.imag, OTHER
    else:
        return False
    return True


cdef object plain(PyObject* o):
    if Py_TYPE(<object>o) == complex_type:
        return value_of(<ComplexNumber>o)
    return plain_scalar(<Real>o) if type(<object>o) is Real else <object>o


cdef object value_of(ComplexNumber z):
    value = PyComplex_FromDoubles(z.re.primal, z.im.primal)
    return value if z.form == PYTHON else complex128(value) if z.form == DOUBLE else complex64(value)


cdef int form_of(object kind) noexcept:
    return PYTHON if kind is complex else DOUBLE if kind is complex128 else SINGLE


cdef Real part_of(object x, int form):
    """A part of a number, as a Real that stands for a float of the class that belongs to it."""
    if type(x) is Real:
        return as_kind(<Real>x, form)
    return codipy_new_reference(new_real(<float>x if form == SINGLE else x, 0, form))


cdef ComplexNumber new_number(Real re, Real im, int form):
    cdef ComplexNumber z = CODIPY_NEW_NUMBER(complex_type)
    z.re, z.im, z.form = re, im, form
    return z


# ---- Formulas --------------------------------------------------------------------------------------------------------

cdef inline bint is_exact(double x, double y, double product) noexcept:
    """Whether a product or a quotient is nothing that NumPy could warn of."""
    return isnormal(product) or x == 0.0 or y == 0.0


cdef bint product_of(const Number* x, const Number* y, double* w) noexcept:
    cdef double p = x.re * y.re, q = x.im * y.im, s = x.re * y.im, t = x.im * y.re
    w[0], w[1] = p - q, s + t
    return is_exact(x.re, y.re, p) and is_exact(x.im, y.im, q) and is_exact(x.re, y.im, s) and is_exact(x.im, y.re, t)


cdef bint quotient_of(const Number* x, const Number* y, bint by_reciprocal, double* w) noexcept:
    """Smith's: by the ratio of the divisor's parts."""
    cdef bint is_flat = fabs(y.re) >= fabs(y.im)
    cdef double large = y.re if is_flat else y.im, small = y.im if is_flat else y.re
    cdef double ratio, step, size, p, q, scale, re, im
    if large == 0.0:
        return False
    ratio = small / large
    step = small * ratio
    size = large + step
    p, q = x.re * ratio, x.im * ratio
    if is_flat:
        re, im = x.re + q, x.im - p
    else:
        re, im = p + x.im, q - x.re
    if by_reciprocal:
        scale = 1.0 / size
        w[0], w[1] = re * scale, im * scale
    else:
        scale = 1.0
        w[0], w[1] = re / size, im / size
    return (is_exact(small, 1.0, ratio) and is_exact(small, ratio, step) and isnormal(size) and isnormal(scale)
            and is_exact(x.re, ratio, p) and is_exact(x.im, ratio, q) and is_exact(re, 1.0, w[0])
            and is_exact(im, 1.0, w[1]))


cdef bint compute(int code, int known, const Number* x, const Number* y, double* w) noexcept:
    """The value by a formula, and whether it is the operator's without a doubt."""
    cdef bint is_sure = True
    if code == ADD:
        w[0], w[1] = x.re + y.re, x.im + y.im
    elif code == SUBTRACT:
        w[0], w[1] = x.re - y.re, x.im - y.im
    elif code == MULTIPLY:
        is_sure = product_of(x, y, w)
    else:
        is_sure = quotient_of(x, y, known & BY_RECIPROCAL, w)
    if known & ZEROS:
        return is_sure and isfinite(w[0]) and isfinite(w[1])
    return is_sure and isnormal(w[0]) and isnormal(w[1])


cdef unsigned char KNOWN[4][SORTS][SORTS]


cdef int look_up(int code, int left, int right, list samples, list zeros) except -1:
    """What the operator does with two classes."""
    cdef int formula, known
    function = OPERATORS[code]
    made = type(function(samples[0][left], samples[0][right]))
    if made is not complex and made is not complex128:
        return 0
    for formula in range(SAME_FORMULA, BY_RECIPROCAL + (code == DIVIDE)):
        known = formula | (OF_NUMPY if made is complex128 else 0)
        if agrees(code, known, left, right, samples, False):
            return known | ZEROS if agrees(code, known | ZEROS, left, right, zeros, True) else known
    return 0


cdef bint agrees(int code, int known, int left, int right, list samples, bint unsure) except -1:
    """Whether a formula gives the operator's bits; `unsure`: where it says that it does."""
    cdef Number x, y
    cdef double w[2]
    function = OPERATORS[code]
    for one in samples:
        for other in samples:
            if one is other and not unsure:
                continue                         # a difference of 0
            take(<PyObject*>one[left], &x)
            take(<PyObject*>other[right], &y)
            if not compute(code, known, &x, &y, w):
                if unsure:
                    continue
                return False
            value = function(one[left], other[right])
            if w[0] != value.real or w[1] != value.imag:
                return False
            if signbit(w[0]) != signbit(value.real) or signbit(w[1]) != signbit(value.imag):
                return False
    return True


cdef int look_all_up() except -1:
    rng = random.Random(1)
    samples, zeros = [], []
    for x in (0.0, -0.0, 1.5):
        for y in (0.0, -0.0, -0.5):
            z = complex(x, y)
            zeros.append((int(x), x, float64(x), z, complex128(z)))
    for _ in range(6):
        x, z = rng.uniform(0.5, 3.0), complex(rng.uniform(-3.0, -0.5), rng.uniform(0.5, 3.0))
        samples.append((rng.randrange(3, 99), x, float64(x), z, complex128(z)))
    for code in range(4):
        for left in range(OTHER):
            for right in range(OTHER):
                if left >= COMPLEX or right >= COMPLEX:
                    KNOWN[code][left][right] = <unsigned char>look_up(code, left, right, samples, zeros)
    return 0


look_all_up()


# ---- Recording -------------------------------------------------------------------------------------------------------

# The statement of a part: operands, partial derivatives, and a bit for each of those that nobody else needs.
cdef struct Statement:
    PyObject* operands[4]
    double partials[4]
    unsigned int merged
    int n


cdef inline void depend(Recorder* r, Statement* s, PyObject* x, double partial, bint merged) noexcept:
    if x != NULL and not (partial == 0.0 and r.skip_zero):
        s.operands[s.n], s.partials[s.n] = x, partial
        s.merged |= <unsigned int>merged << s.n
        s.n += 1


cdef inline bint dies(PyObject* owner, PyObject* x) noexcept:
    """Whether a part, or a Real that is an operand itself, is gone after the operator."""
    return x != NULL and codipy_is_temporary(owner) and (x == owner or Py_REFCNT(<object>x) == 1)


cdef inline bint has_bits(Real x, double value) noexcept:
    return x.primal == value and signbit(x.primal) == signbit(value) or x.primal != x.primal and value != value


cdef inline Real stated(Recorder* r, Statement* s, double value, int form):
    return of_partials(r, s.n, s.operands, s.partials, value, form, s.merged)


cdef ComplexNumber along(Recorder* r, PyObject* left, const Number* x, double p, double q, PyObject* right,
                         const Number* y, double s, double t, const double* w, int form):
    """The number of value w whose derivative by x is p + iq, and by y s + it. None where one is not finite."""
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


cdef ComplexNumber with_partials(Recorder* r, int code, PyObject* left, const Number* x, PyObject* right,
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


cdef inline Real real_of(PyObject* x, double value, int kind):
    return part_of(value if x == NULL else <object>x, kind)


cdef inline Real of_reals(Recorder* r, int code, Real x, Real y, int kind):
    return combined(r, code, active(x), x.primal, active(y), y.primal, kind)


cdef ComplexNumber sum_of_parts(Recorder* r, int code, const Number* x, const Number* y, int form):
    cdef int operation = OP_ADD if code == ADD else OP_SUBTRACT
    return new_number(combined(r, operation, x.a, x.re, y.a, y.re, form),
                      combined(r, operation, x.b, x.im, y.b, y.im, form), form)


cdef ComplexNumber product_of_parts(Recorder* r, const Number* x, const Number* y, int form):
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


cdef ComplexNumber quotient_of_parts(Recorder* r, const Number* x, const Number* y, bint by_reciprocal, int form):
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


cdef ComplexNumber power_of_parts(Recorder* r, const Number* x, const Number* y, int form):
    """A passive integer of Python's as exponent: products of squares; else None."""
    cdef Number factor, power, one
    cdef ComplexNumber square = None, w = None
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


cdef ComplexNumber composed(Recorder* r, int code, int known, PyObject* left, const Number* x, PyObject* right,
                            const Number* y, const double* w, int form):
    """The number made of operations on Reals; None where its bits are others, or there is no such way."""
    cdef ComplexNumber z = None
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
    cdef ComplexNumber z
    if r == NULL or not take(left, &x) or not take(right, &y) or (
            x.a == NULL and x.b == NULL and y.a == NULL and y.b == NULL):
        return generally(code, <object>left, <object>right)
    known = KNOWN[code][x.sort][y.sort] if code != POWER else 0
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
    mine, other = (left, right) if isinstance(left, ComplexNumber) else (right, left)
    if isinstance(mine, ComplexNumber):
        if isinstance(other, (list, tuple)) and (<ComplexNumber>mine).form == PYTHON:
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


def size_of(ComplexNumber z not None, function):
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


# ---- Functions -------------------------------------------------------------------------------------------------------

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


cdef ComplexNumber exponential(const Number* z, const double* w, int form):
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
    cdef ComplexNumber found
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


def phase_of(ComplexNumber z not None, function):
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


@cython.no_gc
cdef class ComplexNumber:
    """ComplexNumber()
    --

    What a `codipy.Complex` is made of: two Reals, the class that it stands for, and the operators.
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


def stand_as(kind):
    """Let `kind` be the class of every ComplexNumber that is made here.

    Parameters
    ----------
    kind : type
        A class that adds nothing to what one holds.
    """
    global complex_type
    complex_type = <PyTypeObject*>kind
    meet_complex(kind, combine)
