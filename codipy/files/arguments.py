# SPDX-License-Identifier: Apache-2.0
"""What primitives were called with, as JSON and arrays, and back: numbers, text, None, tuples, slices, dtypes, arrays,
sparse matrices.

Floats are sixteen hexadecimal digits of their bits. Nothing is made but what is listed here, and nothing is run.
"""

from __future__ import annotations

import importlib
import struct
import sys

import numpy as np

from codipy.data.buffer import Buffer
from codipy.data.plain import array_on
from codipy.errors import TapeFormatError
from codipy.numpy.solved import Solver
from codipy.tape.contents.sound import FAR, extent

_MOST_DIMS = 64  # that NumPy's arrays have
_PLAIN = "?bhilqBHILQefdFD"  # dtypes that are the same on every machine; of "l" and "L" that of the size
_FAR = 2**62
_DEEP = 16
_SPARSE = {  # formats of SciPy's sparse matrices, and what each is made of
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
}


def bits(number):
    """A float as text that gives it back to the bit."""
    return struct.pack(">d", number).hex()


def number(text):
    """The float of such a text."""
    _demand(type(text) is str and len(text) == 16, "numbers have sixteen digits")
    return struct.unpack(">d", bytes.fromhex(text))[0]


class Unknown(Exception):
    """Something that a file cannot hold; its text says what it is."""


def encoded(value, add_bytes, number_of, deep=_DEEP):
    """A value as JSON.

    Parameters
    ----------
    value : object
        Anything.
    add_bytes, number_of : callable
        Take an array of bytes, and a Buffer, to the number by which the file knows them.

    Raises
    ------
    Unknown
        Where there is no such form.
    """

    def inner(x):
        return encoded(x, add_bytes, number_of, deep - 1)

    kind = type(value)
    if value is None or kind is bool or kind is int and abs(value) < _FAR:
        return value
    if kind is str:
        return ["text", value]
    if isinstance(value, Solver):      # who loads it has none
        return ["text", value.text]
    if kind is float:
        return ["float", bits(value)]
    if kind is complex:
        return ["complex", bits(value.real), bits(value.imag)]
    if value is Ellipsis:
        return ["..."]
    if value is np._NoValue:      # what NumPy has for an argument that was not given
        return ["no value"]
    if deep and kind in (tuple, list):
        return [kind.__name__, *map(inner, value)]
    if deep and kind is dict and all(type(key) is str for key in value):
        return ["dict", *([key, inner(x)] for key, x in value.items())]
    if deep and kind is slice:
        return ["slice", inner(value.start), inner(value.stop), inner(value.step)]
    if isinstance(value, np.dtype) and value.char in _PLAIN:
        return ["dtype", _name(value)]
    if isinstance(value, type) and (value in (float, int, bool, complex) or issubclass(value, np.generic)):
        return ["type", _name(np.dtype(value))]
    if isinstance(value, np.generic) and value.dtype.char in _PLAIN:
        return ["scalar", _name(value.dtype), value.astype(_name(value.dtype)).tobytes().hex()]
    if kind is np.ndarray and type(value.base) is Buffer and value.dtype == np.float64:
        offset = (value.ctypes.data - value.base.address) // 8
        return ["values", number_of(value.base), offset, list(value.shape), [step // 8 for step in _strides(value)]]
    if kind is np.ndarray and value.dtype.char in _PLAIN:
        return _array(value, add_bytes)
    if kind.__module__.startswith("scipy.sparse.") and getattr(value, "ndim", 2) == 2:
        return _sparse(value, add_bytes)
    raise Unknown(f"{kind.__name__} {value!r:.60}")


def _sparse(matrix, add_bytes):
    """In its own format: the order in which a product adds, and so its last bits, depends on that."""
    form = getattr(matrix, "format", None)
    is_array = type(matrix).__name__ == f"{form}_array"
    if form not in _SPARSE or not is_array and type(matrix).__name__ != f"{form}_matrix":
        raise Unknown(f"{type(matrix).__name__}, a sparse matrix: multiply by matrix.tocsr()")
    parts = [np.ascontiguousarray(getattr(matrix, name)) for name in _SPARSE[form]]
    return ["sparse", form, is_array, list(matrix.shape), *(_array(part, add_bytes) for part in parts)]


def _name(dtype):
    if dtype.char not in _PLAIN:
        raise Unknown(f"dtype {dtype}")
    return dtype.newbyteorder("<").str


def _array(value, add_bytes):
    """With its strides, on which last bits of sums depend; what lies between its elements is left out."""
    strides = _strides(value)
    ways = [(n - 1) * step for n, step in zip(value.shape, strides)]
    before = -sum(way for way in ways if way < 0) if value.size else 0
    extent = before + sum(way for way in ways if way > 0) + value.itemsize if value.size else 0
    memory = np.zeros(extent, np.uint8)
    np.ndarray(value.shape, _name(value.dtype), memory, before, strides)[...] = value
    return ["array", _name(value.dtype), list(value.shape), list(strides), before, add_bytes(memory)]


def _strides(array):
    """Those of an array, where one of them is farther than a file says those of an axis that is never walked along."""
    return tuple(step if abs(step) < FAR else array.itemsize for step in array.strides)


def decoded(form, bytes_of, buffer_of, deep=_DEEP):
    """The value of a form.

    Parameters
    ----------
    form : object
        From JSON.
    bytes_of, buffer_of : callable
        The array of bytes, and the Buffer, of a number.

    Raises
    ------
    TapeFormatError, and what Python raises of other types than expected
        Where it is no form of a value.
    """

    def inner(x):
        return decoded(x, bytes_of, buffer_of, deep - 1)

    if form is None or type(form) is bool or type(form) is int and abs(form) < _FAR:
        return form
    _demand(type(form) is list and form and deep, "a value has a form")
    kind, *parts = form
    if kind == "text":
        (text,) = parts
        _demand(type(text) is str, "text is text")
        return text
    if kind == "float":
        (text,) = parts
        return number(text)
    if kind == "complex":
        real, imaginary = parts
        return complex(number(real), number(imaginary))
    if kind == "...":
        return Ellipsis
    if kind == "no value":
        return np._NoValue
    if kind == "tuple":
        return tuple(map(inner, parts))
    if kind == "list":
        return list(map(inner, parts))
    if kind == "dict":
        _demand(all(type(key) is str for key, _ in parts), "keys are text")
        return {key: inner(x) for key, x in parts}
    if kind == "slice":
        start, stop, step = parts
        return slice(inner(start), inner(stop), inner(step))
    if kind in ("dtype", "type"):
        (name,) = parts
        return _dtype(name) if kind == "dtype" else _dtype(name).type
    if kind == "scalar":
        name, digits = parts
        content = bytes.fromhex(digits)
        _demand(len(content) == _dtype(name).itemsize, "a number has the bytes of its type")
        return np.frombuffer(content, np.dtype(name))[0].astype(_dtype(name))[()]
    if kind == "values":
        buffer, offset, shape, strides = parts
        return array_on(buffer_of(buffer), integers([offset])[0], integers(shape), integers(strides))
    if kind == "sparse":
        form, is_array, shape, *parts = parts
        return _sparse_matrix(form, is_array, integers(shape), [inner(part) for part in parts])
    _demand(kind == "array", f"{kind!r:.40} is a kind of value")
    name, shape, strides, offset, memory = parts
    native, memory = _dtype(name), bytes_of(memory)
    shape, strides, (offset,) = integers(shape), integers(strides), integers([offset])
    # In integers that do not overflow: NumPy's own comparison of strides with a memory does.
    lowest, highest = extent(offset, shape, strides, _MOST_DIMS)
    inside = 0 <= lowest <= highest <= len(memory) - native.itemsize if lowest <= highest else offset == 0
    _demand(inside, "an array lies inside of its memory")
    found = np.ndarray(shape, np.dtype(name), memory, offset, strides)
    found.flags.writeable = False
    return found if sys.byteorder == "little" else found.astype(native, order="K")


def _sparse_matrix(form, is_array, shape, parts):
    """A matrix whose indices are inside of it: the loops of SciPy that read them do not look."""
    _demand(type(form) is str and form in _SPARSE and type(is_array) is bool, "a sparse matrix has a format")
    _demand(len(shape) == 2 and min(shape) >= 0, "a sparse matrix has two dimensions")
    _demand(len(parts) == 3, "a sparse matrix has three parts")
    data, first, second = parts
    for part in parts:
        _demand(type(part) is np.ndarray and part.ndim == 1 and part.flags.c_contiguous, "a part is a row of numbers")
    _demand(all(part.dtype in (np.int32, np.int64) for part in (first, second)), "indices are integers")
    _demand(len(data) == len(first), "each element has its index")
    if form == "coo":
        _demand(len(second) == len(data), "each element has its index")
        _demand(_inside(first, shape[0]) and _inside(second, shape[1]), "indices are inside of a matrix")
    else:
        lines, others = shape if form == "csr" else shape[::-1]
        _demand(len(second) == lines + 1 and second[0] == 0 and second[-1] <= len(data), "lines are inside of parts")
        _demand(bool(np.all(second[1:] >= second[:-1])) and _inside(first, others), "indices are inside of a matrix")
    try:
        module = importlib.import_module("scipy.sparse")
    except ImportError:
        raise TapeFormatError("it has a sparse matrix, and SciPy is not installed: pip install scipy") from None
    made = getattr(module, f"{form}_{'array' if is_array else 'matrix'}")
    return made((data, (first, second)) if form == "coo" else (data, first, second), shape=shape)


def _inside(indices, length):
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < length)


def _dtype(name):
    _demand(type(name) is str and len(name) in (3, 4), "a dtype has a name")
    dtype = np.dtype(name)
    _demand(dtype.char in _PLAIN, f"{name!r} is a dtype that files have")
    return dtype.newbyteorder("=")


def integers(those):
    """A tuple of integers from JSON."""
    _demand(type(those) is list and all(type(n) is int and abs(n) < _FAR for n in those), "integers are integers")
    return tuple(those)


def _demand(holds, rule):
    if not holds:
        raise TapeFormatError(f"it breaks the rule: {rule}")
