# SPDX-License-Identifier: Apache-2.0
"""NumPy's universal functions on Reals."""
import operator
import sys

import numpy as np

from cpython.object cimport PyObject

from codipy.active.recordings.over cimport is_over
from codipy.active.scalar.expression cimport as_number
from codipy.active.scalar.kinds cimport plain_scalar
from codipy.active.scalar.real cimport Real, apply_with_ufunc, apply_with_value
from codipy.tape.activity cimport current, is_passive

from codipy.active.doors import door
from codipy.active.messages.callers import refused_out
from codipy.active.scalar.kinds import called_by_operator, converted, type_of
from codipy.errors import ActiveError
from codipy.active.recordings.recognised import note_equal
from codipy.operations import BY_NAME, PASSIVE, TABLE

# By the ufunc itself, not by its name: a ufunc made elsewhere may be called "square" and mean something else.
_ROWS = {getattr(np, name): row for row in TABLE for name in row.numpy if hasattr(np, name)}
_PASSIVE = {getattr(np, name) for row in PASSIVE for name in row.numpy if hasattr(np, name)}
# What the operators of NumPy's scalars leave to a ufunc when a Real stands behind them, and what they do themselves.
_OPERATORS = {np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
              np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.power: operator.pow, np.divmod: divmod}
# Two results, one of them with a derivative: its row and its place.
_PAIRS = {np.modf: (BY_NAME["fraction"], 0), np.frexp: (BY_NAME["mantissa"], 0), np.divmod: (BY_NAME["mod"], 1)}
_DOOR_OF_ARRAYS = np.ndarray.__array_ufunc__
_FLOATS = {np.float64, np.float32}
_HARMLESS = {"out", "casting", "order", "subok"}


def call_ufunc(ufunc, str method, tuple inputs, dict options):
    """``Real.__array_ufunc__``: the value is the ufunc's own in double precision, the derivative the table's.

    With a plain array of numbers an active Real makes an Array; where nothing records it is its value. Lists and object
    arrays become object arrays of Reals, element by element.

    Raises
    ------
    ActiveError
        For a ufunc that has no row, for ``where=`` and ``signature=``, and for ``out=`` into a plain array, if a
        derivative would be lost.
    TypeError
        For an operand that is no real number.
    """
    if method == "__call__" and not options and are_numbers(inputs):
        row = _ROWS.get(ufunc)
        if row is not None and ufunc not in _PAIRS and ufunc not in _PASSIVE:
            return _record(row, ufunc.__name__, inputs, ufunc(*[_value(x) for x in inputs]))
    inputs = tuple([np.asarray(x) if type(x) is range else x for x in inputs])
    if any([_has_own_door(x) for x in inputs]) or any([_has_own_door(x) for x in options.get("out") or ()]):
        return NotImplemented       # codipy.Array, xarray and their like know what to do with a Real
    if any([is_complex_number(x) for x in inputs]):
        return door("complexes")().array_ufunc(ufunc, method, inputs, options)
    if method == "at" and isinstance(inputs[0], Real):
        return ufunc.at(*map(_value, inputs))       # which raises: into a number nothing can be written
    name = ufunc.__name__
    method = sys.intern(method)     # NumPy makes a new string for each call, and Python's cache of attributes keeps it
    cdef bint active = not is_passive() and any(
        [isinstance(x, Real) and x.is_active and not is_over((<Real>x).epoch) for x in inputs])
    outputs = [out for out in options.get("out") or () if out is not None]
    if method == "outer":
        inputs = tuple([np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs])
        if not any(map(_is_array, inputs)):       # of numbers it is the call, and not that of objects
            return call_ufunc(ufunc, "__call__", tuple(map(_as_element, inputs)), options)
    if any([out.dtype != object for out in outputs]):
        if active:
            raise ActiveError(refused_out())
        return getattr(ufunc, method)(*map(_value, inputs), **options)
    if method in ("__call__", "outer") and not outputs and any(map(_is_numeric, inputs)) and not any(
            map(_is_of_objects, inputs)):
        if active:
            return door("ufunc")(ufunc, method, inputs, options)
        if current() != NULL:     # whether a program meets objects must not depend on what is active
            return door("fillable")(getattr(ufunc, method)(*map(_value, inputs), **options))
        return getattr(ufunc, method)(*map(_value, inputs), **options)
    if (method != "__call__" and ufunc.nin == 2 or outputs) and _says_truth(ufunc) and not any(map(_is_array, inputs)):
        return getattr(ufunc, method)(*map(_value, inputs), **options)
    if method == "reduce" and active and not outputs and ufunc.nin == 2:
        return door("ufunc")(ufunc, method, (door("array")(inputs[0]),), options)[()]
    if method != "__call__" or outputs or any(map(_is_array, inputs)):
        result = getattr(ufunc, method)(*map(_as_object_array, inputs), **options)
        # NumPy adds a number to 0.0, by which a negative zero becomes a positive one.
        is_zero = method == "reduce" and ufunc is np.add and result is inputs[0] and result.value == 0.0
        return result + 0.0 if is_zero else result
    others = {key for key, given in options.items() if key not in _HARMLESS and (key != "where" or given is not True)}
    if others == {"dtype"} and active:
        return door("ufunc")(ufunc, method, inputs, options)
    if others and active:
        raise ActiveError(f"np.{name}: {', '.join(sorted(others))}= cannot be used with a Real: leave it away")
    values = [_value(x) for x in inputs]
    call = ufunc
    if ufunc in _OPERATORS and isinstance(inputs[0], np.generic) and not options and called_by_operator():
        call = _OPERATORS[ufunc]
    if ufunc in _PASSIVE:
        found = call(*values, **options)
        if active and (ufunc is np.equal or ufunc is np.not_equal):
            note_equal(found, ufunc is np.equal, [isinstance(x, Real) and x.is_active for x in inputs])
        return found
    if ufunc in _PAIRS:
        row, place = _PAIRS[ufunc]
        results = list(call(*values, **options))
        results[place] = _record(row, name, inputs, results[place])
        return tuple(results)
    row = _ROWS.get(ufunc) or _scipy_rows().get(ufunc)
    if row is not None:
        return _record(row, name, inputs, call(*values, **options))
    if all([set(types) <= set("O->") for types in ufunc.types]):
        return ufunc(*map(_as_object_array, inputs), **options)      # np.frompyfunc: Python code that sees the Reals
    if active:      # the doors of Arrays know more: scipy.special, steps, and what is refused
        return door("ufunc")(ufunc, method, inputs, options)
    return ufunc(*values, **options)


cdef bint _says_truth(object ufunc) except -1:
    return all([types.endswith("?") for types in ufunc.types if "O" not in types])


cdef bint is_complex_number(object x) except -1:
    if isinstance(x, (complex, np.complexfloating)):
        return True
    return isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind == "c"


cdef bint are_numbers(tuple inputs) noexcept:
    """Whether all are Reals and Python's numbers: nothing has to be asked then."""
    for x in inputs:
        if type(x) is not Real and type(x) is not float and type(x) is not int:
            return False
    return True


cdef _record(row, str name, tuple inputs, value):
    cdef PyObject* operands[3]
    cdef double u[3]
    cdef Py_ssize_t k
    for k in range(len(inputs)):
        operands[k] = <PyObject*>inputs[k]
        if isinstance(inputs[k], Real):
            u[k] = (<Real>inputs[k]).primal
        elif as_number(operands[k], u + k) != 1:
            raise TypeError(f"np.{name}: operands must be real numbers, got {type(inputs[k]).__name__}")
    if type(value) not in _FLOATS:
        if any([isinstance(x, Real) and x.is_active for x in inputs]) and not is_passive():
            raise ActiveError(f"np.{name}: the result is {type(value).__name__}, and only float64 and float32 can be "
                              "differentiated: use float()")
        return value
    if name == "float_power":       # whose loop is not power's
        return apply_with_value(row.code, row.arity, operands, u, value)
    return apply_with_ufunc(row.code, row.arity, operands, u, value)


cdef dict _scipy_found = {}


cdef dict _scipy_rows():
    """The rows of scipy.special's ufuncs, as soon as somebody has imported it."""
    special = sys.modules.get("scipy.special")
    if special is not None and not _scipy_found:
        _scipy_found.update({getattr(special, row.scipy): row for row in TABLE if row.scipy})
    return _scipy_found


def _has_own_door(x):
    """Whether the type of x answers ufuncs itself: neither a Real nor one of NumPy's own."""
    own = getattr(type(x), "__array_ufunc__", None)
    return own is not None and own is not _DOOR_OF_ARRAYS and type(x) is not Real


def _is_numeric(x):
    """Whether x is a plain array of numbers, which with an active Real makes an active Array."""
    return isinstance(x, np.ndarray) and x.ndim > 0 and x.dtype.kind in "fiubc"


def _is_of_objects(x):
    return isinstance(x, np.ndarray) and x.dtype == object


def _is_array(x):
    return isinstance(x, (list, tuple)) or isinstance(x, np.ndarray) and (x.ndim > 0 or x.dtype == object)


def _as_element(x):
    """A number as one of NumPy's: beside single numbers a float of Python is then no single one."""
    if type(x) is Real:
        return converted(x, np.float64) if type_of(x) is float else x
    return np.asarray(x)[()]


def _value(x):
    return plain_scalar(<Real>x) if type(x) is Real else x


def _as_object_array(x):
    if not isinstance(x, Real):
        return x
    box = np.empty((), dtype=object)
    box[()] = converted(x, float)        # which NumPy makes of a scalar
    return box
