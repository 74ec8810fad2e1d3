# SPDX-License-Identifier: Apache-2.0
"""The active scalar."""
import math
import numbers
import operator

import numpy as np

from libc.math cimport isfinite, isnormal
from libc.stdint cimport int32_t, int64_t, uint8_t
from cpython.complex cimport PyComplex_Check
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE, PyObject_RichCompare, destructor
cimport cython

from codipy.active.core.base_real cimport (
    BaseReal, IS_INPUT, MERGED, OF_ARRAY, OF_INPUT, OWNS, codipy_new_reference, described, new_real, real_type, set_spot)
from codipy.active.recordings.over cimport may_leave
from codipy.active.scalar.carried cimport carry, tangents_of
from codipy.active.scalar.expression cimport (
    as_number, combine, forget_flags, identify, identify_new, python_value, readmit, release_here, release_uses)
from codipy.active.scalar.kinds cimport (
    DOUBLE, PYTHON, SINGLE, apply_mixed, apply_to_list, beside_fraction, compare, formats, is_fraction, is_of_python,
    kind_of, numpy_value, operand_kind, plain_operation, plain_scalar, record)
from codipy.operations.kernels cimport *
from codipy.programs.program cimport OF_NUMPY
from codipy.programs.tiles cimport tiles_exact
from codipy.tape.activity cimport current, tape_of_epoch
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.provenance.running cimport look
from codipy.tape.provenance.spots cimport Spots
from codipy.tape.provenance.watching cimport watcher
from codipy.tape.recorder cimport Recorder, tangents_at

from codipy.active.doors import door
from codipy.active.messages.callers import in_rebound_code, refusal
from codipy.active.messages.dropped import refuse_dropped
from codipy.active.recordings.recognised import note_taken, recognise
from codipy.active.scalar.complexes import AS_COMPLEX, combine as combine_complex, power as complex_power
from codipy.active.scalar.expression import meet_complex as never_real
from codipy.errors import ActiveError, NoTangent, TapeError
from codipy.operations import TABLE
from codipy.tape.signatures import Signature
from codipy.tape.strategies.forward import TOO_LATE, seed_rows

cdef extern from "codipy/inline.h":
    pass

cdef extern from "codipy/active/core/object.h":
    void codipy_death(PyObject* o, int size) noexcept
    int codipy_clear_free_lists() noexcept

cdef extern from "Python.h":
    ctypedef struct WeakType "PyTypeObject":
        Py_ssize_t tp_weaklistoffset
    void PyObject_ClearWeakRefs(PyObject* o)


cdef inline bint take(PyObject* o, PyObject** operand, double* number, bint of_math) except -1:
    """Value and, where it has an epoch, the Real of an operand; False where it is none that Python combines."""
    cdef double converted
    if Py_TYPE(<object>o) == <PyTypeObject*>Real:
        if (<Real>o).kind and not of_math:
            return False
        number[0] = (<Real>o).primal
        operand[0] = o if (<Real>o).epoch else NULL
        return True
    operand[0] = NULL
    if PyFloat_CheckExact(<object>o):
        number[0] = PyFloat_AS_DOUBLE(<object>o)
        return True
    if not as_number(o, &converted) or not of_math and operand_kind(<object>o):
        return False
    number[0] = converted
    return True


# The class of active complex numbers, and their operators by name, as soon as there is one.
cdef PyTypeObject* complex_variable = NULL
cdef object complex_operator = combine_complex


def meet_complex(type kind not None, operate):
    """Let `operate(name, x, y)` be an operator of a Real and an instance of `kind`, or a number that is complex."""
    global complex_variable, complex_operator
    complex_variable, complex_operator = <PyTypeObject*>kind, operate
    never_real(kind)


cdef object of_complex(int code, int n, PyObject* x, PyObject* y):
    """The operation where an operand is complex; NotImplemented for all else that is no real number."""
    if n != 2 or not (PyComplex_Check(<object>x) or PyComplex_Check(<object>y)
                      or Py_TYPE(<object>x) == complex_variable or Py_TYPE(<object>y) == complex_variable):
        return NotImplemented
    return complex_operator(TABLE[code].name, <object>x, <object>y)


cdef inline object apply(int code, int n, PyObject* x, PyObject* y, PyObject* z, bint of_math):
    """The Real of an operation; with `code`, `n` and `of_math` known only this operation on floats remains."""
    cdef PyObject* operands[3]
    cdef double u[3]
    cdef double value
    if (not take(x, operands, u, of_math) or n > 1 and not take(y, operands + 1, u + 1, of_math)
            or n > 2 and not take(z, operands + 2, u + 2, of_math)):
        return NotImplemented if of_math else numpy_operators[code](x, y)
    value = op_value(code, u[0], u[1] if n > 1 else 0.0, u[2] if n > 2 else 0.0)
    if op_python_value[code] or not (op_total[code] or isfinite(value)):
        if code == OP_POWER and not of_math and u[0] < 0.0 and value != value and u[1] == u[1]:
            forget_flags(code, u[0], u[1], 0.0)
            return complex_power(<object>x, <object>y)
        value = python_value(code, n, u[0], u[1] if n > 1 else 0.0, u[2] if n > 2 else 0.0)
    return recorded(code, n, operands, u, value, PYTHON)


# The same operators where a scalar of NumPy takes part, or no number. Out of line and found by an address, which gcc
# does not see through: as a branch of `apply` they took its registers, 6 % of the instructions of an operator.
cdef object (*numpy_operators[OP_COUNT])(PyObject* x, PyObject* y)


cdef bint leaves_power(object fraction) except -1:
    """Whether its power by a float32 is left to NumPy, which gives a float of Python: fractions of Python 3.13 do so."""
    return type(fraction).__pow__(fraction, np.float32(1.0)) is NotImplemented


cdef inline object apply_numpy(int code, int n, PyObject* x, PyObject* y):
    cdef PyObject* operands[2]
    cdef double u[2]
    cdef double value
    cdef int k, kind = PYTHON
    operands[0], operands[1] = x, y
    u[1] = 0.0
    for k in range(n):
        if Py_TYPE(<object>operands[k]) == <PyTypeObject*>Real:
            u[k] = (<Real>operands[k]).primal
            kind |= (<Real>operands[k]).kind
            if (<Real>operands[k]).epoch == 0:
                operands[k] = NULL
            continue
        if PyFloat_CheckExact(<object>operands[k]):
            u[k] = PyFloat_AS_DOUBLE(<object>operands[k])
        elif as_number(operands[k], u + k):
            if is_fraction(<object>operands[k]) and (k or (<Real>y).kind == SINGLE and (
                    code != OP_POWER or leaves_power(<object>x))):
                return beside_fraction(code, x, y)
            kind |= operand_kind(<object>operands[k])
        else:
            found = of_complex(code, n, x, y)
            return apply_to_list(code, n, x, y) if found is NotImplemented else found
        operands[k] = NULL
    if kind != DOUBLE:
        return apply_mixed(code, n, x, y)
    value = op_value(code, u[0], u[1], 0.0)
    if not (isnormal(value) if code in (OP_MULTIPLY, OP_DIVIDE, OP_POWER) else isfinite(value)):
        value = numpy_value(code, n, u[0], u[1], value)
    return recorded(code, n, operands, u, value, DOUBLE)


cdef object add_numpy(PyObject* x, PyObject* y):
    return apply_numpy(OP_ADD, 2, x, y)


cdef object subtract_numpy(PyObject* x, PyObject* y):
    return apply_numpy(OP_SUBTRACT, 2, x, y)


cdef object multiply_numpy(PyObject* x, PyObject* y):
    return apply_numpy(OP_MULTIPLY, 2, x, y)


cdef object divide_numpy(PyObject* x, PyObject* y):
    return apply_numpy(OP_DIVIDE, 2, x, y)


cdef object mod_numpy(PyObject* x, PyObject* y):
    return apply_numpy(OP_MOD, 2, x, y)


cdef object power_numpy(PyObject* x, PyObject* y):
    return apply_numpy(OP_POWER, 2, x, y)


cdef object negative_numpy(PyObject* x, PyObject* _):
    return apply_numpy(OP_NEGATIVE, 1, x, NULL)


cdef object positive_numpy(PyObject* x, PyObject* _):
    return apply_numpy(OP_POSITIVE, 1, x, NULL)


cdef object absolute_numpy(PyObject* x, PyObject* _):
    return apply_numpy(OP_ABSOLUTE, 1, x, NULL)


numpy_operators[<int>OP_ADD], numpy_operators[<int>OP_SUBTRACT] = add_numpy, subtract_numpy
numpy_operators[<int>OP_MULTIPLY], numpy_operators[<int>OP_DIVIDE] = multiply_numpy, divide_numpy
numpy_operators[<int>OP_MOD], numpy_operators[<int>OP_POWER] = mod_numpy, power_numpy
numpy_operators[<int>OP_NEGATIVE], numpy_operators[<int>OP_POSITIVE] = negative_numpy, positive_numpy
numpy_operators[<int>OP_ABSOLUTE] = absolute_numpy


cdef inline object recorded(int code, int n, PyObject** operands, const double* u, double value, int kind):
    cdef Recorder* r = current()
    if r != NULL and r.plain:
        return codipy_new_reference(combine(r, code, n, operands, u, value, kind, True, False))
    if r != NULL and r.noted and noted_operations[code] != NULL:
        return codipy_new_reference(noted_operations[code](r, operands[0], operands[1], u[0], u[1], value, kind))
    return codipy_new_reference(combine_any(r, code, n, operands, u, value, kind))


# `combine` for a profiled recording which would be plain without; of the commonest operations, which have two operands.
cdef PyObject* (*noted_operations[OP_COUNT])(Recorder* r, PyObject* x, PyObject* y, double u, double v, double value,
                                             int kind) except NULL


cdef PyObject* combine_any(Recorder* r, int code, int n, PyObject** operands, const double* u, double value,
                           int kind) except NULL:
    if r != NULL and r.apart:
        if r.carries:
            return carry(r, code, n, operands, u, value, kind)
        return combine_noted(r, code, n, operands, u, value, kind)
    return combine(r, code, n, operands, u, value, kind, False, False)


cdef PyObject* combine_noted(Recorder* r, int code, int n, PyObject** operands, const double* u, double value,
                             int kind) except NULL:
    cdef PyObject* result
    # A rounding is part of the operation before it.
    cdef Spots spots = (<Journal>r.journal).spots
    cdef int32_t spot = spots.locate() if code == OP_SINGLE else spots.here()
    if not r.eager:
        result = combine(r, code, n, operands, u, value, kind, False, True)
    else:
        r.eager = False          # it is pushed below, when its spot is known
        try:
            result = combine(r, code, n, operands, u, value, kind, False, True)
        finally:
            r.eager = True
    if (<BaseReal>result).count:
        set_spot(<BaseReal>result, spot)
        if r.eager:
            identify_new(r, result)
    return result


cdef inline PyObject* combine_noted_as(Recorder* r, int code, PyObject* x, PyObject* y, double u, double v, double value,
                                       int kind) except NULL:
    cdef int32_t spot = look(<PyObject*>(<Journal>r.journal).spots)
    cdef PyObject* operands[2]
    cdef double values[2]
    cdef PyObject* result
    operands[0], operands[1], values[0], values[1] = x, y, u, v
    result = combine(r, code, 2, operands, values, value, kind, True, True)
    set_spot(<BaseReal>result, spot)
    return result


cdef PyObject* noted_add(Recorder* r, PyObject* x, PyObject* y, double u, double v, double value,
                       int kind) except NULL:
    return combine_noted_as(r, OP_ADD, x, y, u, v, value, kind)


cdef PyObject* noted_subtract(Recorder* r, PyObject* x, PyObject* y, double u, double v, double value,
                       int kind) except NULL:
    return combine_noted_as(r, OP_SUBTRACT, x, y, u, v, value, kind)


cdef PyObject* noted_multiply(Recorder* r, PyObject* x, PyObject* y, double u, double v, double value,
                       int kind) except NULL:
    return combine_noted_as(r, OP_MULTIPLY, x, y, u, v, value, kind)


cdef PyObject* noted_divide(Recorder* r, PyObject* x, PyObject* y, double u, double v, double value,
                       int kind) except NULL:
    return combine_noted_as(r, OP_DIVIDE, x, y, u, v, value, kind)


noted_operations[<int>OP_ADD], noted_operations[<int>OP_SUBTRACT] = noted_add, noted_subtract
noted_operations[<int>OP_MULTIPLY], noted_operations[<int>OP_DIVIDE] = noted_multiply, noted_divide


cdef inline object unary(int code, PyObject* x):
    return apply(code, 1, x, NULL, NULL, False)


cdef inline object binary(int code, PyObject* x, PyObject* y):
    return apply(code, 2, x, y, NULL, False)


cdef object apply1(int code, PyObject* x):
    return apply(code, 1, x, NULL, NULL, True)


cdef object apply2(int code, PyObject* x, PyObject* y):
    return apply(code, 2, x, y, NULL, True)


cdef object apply3(int code, PyObject* x, PyObject* y, PyObject* z):
    return apply(code, 3, x, y, z, True)


cdef object apply_with_value(int code, int n, PyObject** operands, const double* u, object value):
    return apply_known(code, n, operands, u, value, 0)


cdef object apply_with_ufunc(int code, int n, PyObject** operands, const double* u, object value):
    return apply_known(code, n, operands, u, value, 0 if tiles_exact(code) else OF_NUMPY)


cdef object apply_known(int code, int n, PyObject** operands, const double* u, object value, int flags):
    cdef PyObject* active[3]
    cdef double values[3]
    cdef int k, kind = kind_of(value)
    for k in range(n):
        active[k] = operands[k] if Py_TYPE(<object>operands[k]) == <PyTypeObject*>Real else NULL
        values[k] = <float>u[k] if kind == SINGLE else u[k]
        if active[k] != NULL and (<Real>active[k]).epoch == 0:
            active[k] = NULL
    return codipy_new_reference(record(code, n, active, values, value, kind, flags))


cdef Real new_identified(double value, int64_t epoch, int32_t identifier, int flags, int kind):
    cdef Real x = codipy_new_reference(new_real(value, 0, kind))
    x.epoch, x.identifier, x.flags = epoch, identifier, flags
    return x


cdef bint as_value(PyObject* o, double* number) except -1:
    if Py_TYPE(<object>o) != <PyTypeObject*>Real:
        return as_number(o, number)
    number[0] = (<Real>o).primal
    return True


cdef int refuse_if_active(Real x, str what, str instead) except -1:
    if x.epoch and not may_leave(x.epoch):
        raise ActiveError(refusal(f"{what} of an active Real", instead))
    return 0


cdef BaseTape demand_own(Real self, str what):
    if not self.epoch:
        raise TapeError(f"{described(self)} has no {what}, it is passive: register it with tape.register_input(), or a "
                        "result with tape.register_output(), while the tape records")
    cdef PyObject* found = tape_of_epoch(self.epoch)
    if found == NULL:
        raise TapeError(f"{described(self)} has no {what}: its tape no longer exists")
    cdef BaseTape tape = <BaseTape>found
    if not tape.is_valid(self.epoch):
        raise TapeError(f"{described(self)} has no {what}: its tape was reset since; record again")
    if tape.recorder.counts or tape.recorder.carries:      # else it has no message, which takes long to write
        tape.demand_recorded(f"the {what} of {described(self)}")
    if self.count or self.flags & MERGED:
        raise TapeError(f"{described(self)} has no {what} of its own, it is part of a larger statement: call "
                        "tape.register_output() on it while recording, before it is used")
    return tape


cdef BaseTape forward_tape_of(Real self):
    """The tape of strategy 'forward' that this variable is of."""
    cdef PyObject* found = tape_of_epoch(self.epoch)
    if not self.epoch:
        raise NoTangent(f"{described(self)} has no tangent, it is passive: it depends on no input")
    if found == NULL:
        raise NoTangent(f"{described(self)} has no tangent: its tape no longer exists")
    (<BaseTape>found).demand_forward(described(self), self.epoch)
    return <BaseTape>found


cdef int demand_adjoint(BaseTape tape, AdjointVector adjoints, Real x) except -1:
    adjoints.consumed.demand_swept()
    if x.flags & OF_INPUT or adjoints.consumed.is_whole():
        return 0
    return adjoints.consumed.demand(x, x.identifier, x.epoch, x.flags & OF_ARRAY, tape.shares())


cdef double* seed_slot(BaseTape tape, AdjointVector adjoints, Real x) except NULL:
    adjoints.ensure(tape.largest())
    if not (x.flags & OF_INPUT or adjoints.consumed.is_whole()):
        adjoints.consumed.seed(x.identifier, x.epoch, x.flags & OF_ARRAY, tape.recorder.epoch, tape.largest())
        tape.look_back()
    tape.hold_for(adjoints)
    return adjoints.slot(x.identifier)


@cython.final
@cython.c_api_binop_methods(True)
cdef class Real(BaseReal):
    """Real(value=0.0)
    --

    A float that a tape can follow.

    Behaves as ``float``, or as the scalar of NumPy that an element of an array is; results of operations on active Reals
    are active. Immutable: an operation makes a new Real. An active Real cannot be hashed, since a table would take one
    variable for another of equal value.

    Parameters
    ----------
    value : float
        The value; anything that ``float()`` takes. Of a scalar of NumPy the Real behaves as one.

    Raises
    ------
    TypeError, ValueError
        As ``float()``, of what is no number.
    ActiveError
        Of an active Real or Array, whose derivative would be lost.

    Examples
    --------
    >>> import codipy
    >>> tape = codipy.Tape()
    >>> with tape:
    ...     x = tape.register_input(codipy.Real(3.0))
    ...     y = tape.register_output(x * x + 1.0)
    >>> y.gradient = 1.0
    >>> tape.evaluate()
    >>> y.value, x.gradient
    (10.0, 6.0)
    """
    __signature__ = Signature()
    __array_priority__ = 1000.0

    def __cinit__(self, value=0.0):
        self.primal = float(value)
        self.kind = <uint8_t>kind_of(value)

    # ---- Value and derivative ----

    @property
    def value(self):
        """float: the plain value; of an element or of what NumPy computed the NumPy scalar that it is."""
        return plain_scalar(self) if watcher is None else watcher.plain(self, plain_scalar(self))

    @property
    def gradient(self):
        """float: the adjoint (or tangent) in the tape's own vector; set it to seed a sweep, which consumes it."""
        cdef BaseTape tape = demand_own(self, "gradient")
        demand_adjoint(tape, tape.adjoint_vector, self)
        cdef double* slot = tape.adjoint_vector.slot(self.identifier)
        return 0.0 if slot == NULL else slot[0]

    @gradient.setter
    def gradient(self, seed):
        cdef double number
        if type(seed) is Real or as_number(<PyObject*>seed, &number) != 1:
            raise TypeError(f"gradient: a seed must be a plain real number, got {type(seed).__name__}")
        cdef BaseTape tape = demand_own(self, "gradient")
        tape.demand_idle("setting a gradient")
        seed_slot(tape, tape.adjoint_vector, self)[0] = number

    @property
    def tangent(self):
        """float: the derivative along the seeds of a tape of strategy 'forward', an array with more directions than one; set
        it to seed an input that nothing has read yet."""
        cdef BaseTape tape = forward_tape_of(self)
        cdef const double* tangents = tangents_of(&tape.recorder, <PyObject*>self)
        cdef Py_ssize_t d
        if tape.recorder.width == 1:
            return tangents[0]
        result = np.empty(tape.recorder.width)
        for d in range(tape.recorder.width):
            result[d] = tangents[d]
        return result

    @tangent.setter
    def tangent(self, seed):
        cdef BaseTape tape = forward_tape_of(self)
        cdef Py_ssize_t d
        cdef double number = 0.0
        cdef bint one = type(seed) is not Real and as_number(<PyObject*>seed, &number) == 1
        if not one:
            rows = seed_rows(seed, (), tape.recorder.width)
        tape = forward_tape_of(self)         # a seed may be Python code, which may reset the tape
        if not self.flags & IS_INPUT:
            raise TapeError(f"{described(self)} is no input: only the tangents of inputs can be set")
        if self.flags & MERGED or self.made != tape.recorder.steps or tape.store.reusing.uses_of(self.identifier) != 1:
            raise TapeError(TOO_LATE)
        for d in range(tape.recorder.width):
            tangents_at(&tape.recorder, self.identifier)[d] = number if one else rows[0, d]

    @property
    def is_active(self):
        """bool: whether the value depends on a registered input."""
        return self.epoch != 0

    # ---- Arithmetic ----

    def __add__(x, y):
        return binary(OP_ADD, <PyObject*>x, <PyObject*>y)

    def __sub__(x, y):
        return binary(OP_SUBTRACT, <PyObject*>x, <PyObject*>y)

    def __mul__(x, y):
        return binary(OP_MULTIPLY, <PyObject*>x, <PyObject*>y)

    def __truediv__(x, y):
        return binary(OP_DIVIDE, <PyObject*>x, <PyObject*>y)

    def __mod__(x, y):
        return binary(OP_MOD, <PyObject*>x, <PyObject*>y)

    def __pow__(x, y, modulus):
        if modulus is not None:
            raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
        return binary(OP_POWER, <PyObject*>x, <PyObject*>y)

    def __floordiv__(x, y):
        cdef PyObject* operand
        cdef double a, b
        if take(<PyObject*>x, &operand, &a, False) and take(<PyObject*>y, &operand, &b, False):
            return <object>a // <object>b       # of Python floats: C divides by zero
        return plain_operation(operator.floordiv, <PyObject*>x, <PyObject*>y)

    def __divmod__(x, y):
        cdef PyObject* operands[2]
        cdef double u[2]
        operands[0], operands[1] = <PyObject*>x, <PyObject*>y
        found = plain_operation(divmod, operands[0], operands[1])
        if found is NotImplemented:
            return found
        if not (as_value(operands[0], u) and as_value(operands[1], u + 1)):
            other = y if isinstance(x, Real) else x
            if isinstance(other, (list, tuple)):
                other = door("from_nested")(other)
            elif getattr(type(other), "__array_ufunc__", None) is None or door("answers")(other):
                return found        # a class of the user's has answered
            return np.divmod(x, other) if isinstance(x, Real) else np.divmod(other, y)
        if not isinstance(found[1], (float, np.float32)):
            return found[0], binary(OP_MOD, operands[0], operands[1])      # which refuses, or nothing is active
        return found[0], apply_with_value(OP_MOD, 2, operands, u, found[1])

    def __neg__(self):
        return unary(OP_NEGATIVE, <PyObject*>self)

    def __pos__(self):
        return unary(OP_POSITIVE, <PyObject*>self)

    def __abs__(self):
        return unary(OP_ABSOLUTE, <PyObject*>self)

    # ---- Passive results ----

    def __richcmp__(self, other, int op):
        cdef double x = (<Real>self).primal, y
        cdef int kind = (<Real>self).kind
        if type(other) is Real:
            y = (<Real>other).primal
            kind |= (<Real>other).kind
        elif PyFloat_CheckExact(other):
            y = PyFloat_AS_DOUBLE(other)
        else:
            if (op == 2 or op == 3) and (<Real>self).epoch and isinstance(other, float) and x == <double>other:
                recognise()
            found = door("compares")(self, other, op, kind == PYTHON) if is_of_python(other) else None
            if found is not None:
                return found
            if x == 0.0 and self.epoch != 0 and type(other) is int and (op == 2 or op == 3):
                refuse_dropped(self)
            return PyObject_RichCompare(plain_scalar(self), other, op)
        if (op == 2 or op == 3) and x == y and (<Real>self).epoch and not (type(other) is Real and (<Real>other).epoch):
            recognise()
        if kind:
            return compare(x, y, op, kind)
        if op == 0:
            return x < y
        if op == 1:
            return x <= y
        if op == 2:
            return x == y
        if op == 3:
            return x != y
        if op == 4:
            return x > y
        return x >= y

    def __bool__(self):
        return self.primal != 0.0

    def __hash__(self):
        # By value, a table would hand what it has for one variable to another of equal value, and with it the wrong
        # derivative; by identity, it would not find what is equal, which is another path than the plain run's. NaN is
        # not equal to itself, so containers find it by identity; a float made here would have another one each time.
        if self.epoch and not may_leave(self.epoch):
            raise ActiveError("an active Real cannot be a key of a dictionary or of a cache, nor be in a set: two of equal "
                              "value have two derivatives. Take functools.cache for results; codipy.value(x) for the key "
                              "of what is filled anew for each gradient, since what a plain run has left there is a "
                              "constant; or for a seed, random.seed(codipy.value(x))")
        if self.primal != self.primal:
            return object.__hash__(self)
        return hash(self.primal)

    def __int__(self):
        return int(self.primal)

    def __trunc__(self):
        return math.trunc(plain_scalar(self))

    def __floor__(self):
        return math.floor(self.primal)

    def __ceil__(self):
        return math.ceil(self.primal)

    def __round__(self, ndigits=None):
        note_taken()
        return round(plain_scalar(self), ndigits)

    def as_integer_ratio(self):
        """The value as a ratio of integers, as ``float.as_integer_ratio``."""
        # statistics.mean and Fraction calculate with it, and would make passive numbers.
        refuse_if_active(self, "as_integer_ratio()", "write np.mean or np.var for the functions of statistics, the number "
                         "itself for a Fraction of it, and codipy.value(x) where no derivative is wanted")
        return self.primal.as_integer_ratio()

    def is_integer(self):
        """Whether the value is integral."""
        return self.primal.is_integer()

    # ---- Leaving ----

    def __float__(self):
        if self.epoch and formats():         # "%.3f" % x
            note_taken()
        elif self.epoch:
            refuse_if_active(self, "float()", "take codipy.value(x), or codipy.math for the functions of math")
        return self.primal

    def __complex__(self):
        refuse_if_active(self, "complex()", AS_COMPLEX)
        return complex(self.primal)

    def __index__(self):
        raise TypeError("a Real is no integer: take int(codipy.value(x)); a whole number among what is differentiated "
                        "by, as n in grad(f)({'n': 3, 'a': 0.5}), is a float: pass it in an argument of its own")

    def __reduce__(self):
        refuse_if_active(self, "pickling", "pickle codipy.value(x)")
        return Real, (plain_scalar(self),)

    def __copy__(self):
        """A second variable on the same adjoint slot."""
        cdef PyObject* found = tape_of_epoch(self.epoch)
        if not self.epoch:
            return Real(plain_scalar(self))
        if self.count and found == NULL:
            raise TapeError(f"{described(self)} cannot be copied: its tape no longer exists; copy codipy.value(x)")
        # An expression may be pending, or be so again after a reset.
        if found != NULL and (self.count or self.kept) and readmit(&(<BaseTape>found).recorder, self) and self.count:
            identify(&(<BaseTape>found).recorder, self)
        cdef Real new = new_identified(self.primal, self.epoch, self.identifier, self.flags & (OWNS | MERGED | OF_INPUT | OF_ARRAY),
                                       self.kind)
        if new.flags & OWNS and found != NULL and (<BaseTape>found).owns(self.epoch):
            (<BaseTape>found).store.reusing.retain(self.identifier)
        return new

    def __deepcopy__(self, memo):
        return self.__copy__()

    # ---- The rest of float ----

    @property
    def real(self):
        """The number itself."""
        return self

    @property
    def imag(self):
        """0, of the type of the value."""
        return plain_scalar(self).imag

    def conjugate(self):
        """The number itself."""
        return self

    def conj(self):
        """The number itself."""
        return self

    def __format__(self, spec):
        note_taken()
        return format(plain_scalar(self), spec)

    def __str__(self):
        note_taken()
        return str(plain_scalar(self))

    def __repr__(self):
        if not in_rebound_code():
            return described(self)
        note_taken()
        return repr(plain_scalar(self))

    def _repr_html_(self):
        from codipy.active.html import number_html      # notebooks alone ask for it
        return number_html(plain_scalar(self), described(self))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        from codipy.active.scalar.ufuncs import call_ufunc      # it needs this module first
        return call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, arguments, options):
        return door("function")(function, types, arguments, options)


real_type = <PyTypeObject*>Real
numbers.Real.register(Real)


# ---- Death: Cython's own tp_dealloc would give the memory back and knows nothing of the free lists. ----

cdef void bury(PyObject* x) noexcept:
    cdef Recorder* r
    if (<Real>x).weakrefs != NULL:
        PyObject_ClearWeakRefs(x)
    if (<Real>x).flags & OWNS:
        r = current()
        if r != NULL and r.epoch == (<Real>x).epoch:
            release_here(r, <Real>x)
        else:
            release_uses(<Real>x)
    codipy_death(x, (<Real>x).size)


def clear_free_lists():
    """Give the memory of dead Reals, kept for new ones, back.

    Returns
    -------
    int
        How many there were.
    """
    return codipy_clear_free_lists()


cdef int _allow_weak_references() except -1:
    # Not by `__weakref__`, which the free lists could not set.
    cdef Real x = Real()
    (<WeakType*>Real).tp_weaklistoffset = <char*>&x.weakrefs - <char*><PyObject*>x
    return 0


_allow_weak_references()
(<PyTypeObject*>Real).tp_dealloc = <destructor>bury
