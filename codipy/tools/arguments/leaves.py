# SPDX-License-Identifier: Apache-2.0
"""What drivers differentiate by: numbers and arrays of floats, checked, joined to one vector, and named."""
from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from codipy.active import Real
from codipy.active.array import Array, is_complex_variable
from codipy.active.bulk import all_floats, as_float
from codipy.active.recordings.status import in_passive
from codipy.errors import ActiveError
from codipy.tape import active_tape

__all__ = ["DOUBLE", "Names", "aligned", "as_array", "as_leaf", "cut", "demand_real", "in_dtypes", "is_array",
           "is_complex", "is_without_axes", "join", "shape_of", "split", "stack"]

_COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))
_OTHER_ORDER = tuple(dtype.newbyteorder() for dtype in _COMPLEX)
DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
_ASIDE = "pass it as an argument that argnums does not name, or bind it by functools.partial"


def as_leaf(leaf, path):
    """The float or array of floats to differentiate by; an error that names `path` for anything else."""
    if is_array(leaf):
        return leaf
    if type(leaf) is Real or type(leaf) is Array or is_complex_variable(leaf):
        if leaf.is_active and not in_passive():
            raise ActiveError(
                f"{path} is active on a tape that does not record here: call this inside of `with tape:`, or pass its "
                "value, codipy.value(x), if it is a constant")
        return leaf.value
    if isinstance(leaf, np.ndarray):
        return _as_array(leaf, path)
    if is_complex(leaf):
        return leaf
    number = as_float(leaf)
    if number is None:
        fix = ("pass np.asarray(x)" if getattr(leaf, "ndim", 0) else
               f"{_ASIDE}; in a dataclass, mark the field: field(metadata={{'static': True}})")
        raise TypeError(f"{path} is not a real number but {_said(leaf)}: only numbers and arrays of float64 or "
                        f"float32, in lists, tuples, dicts and dataclasses, can be differentiated by; {fix}")
    if isinstance(leaf, np.generic):      # a scalar of NumPy's stays one, in float64 or float32
        return leaf[()] if leaf.dtype in (DOUBLE, SINGLE) else np.float64(number)
    return number


def is_complex(leaf):
    """Whether a leaf is a number or an array of complex128 or complex64, in either byte order."""
    return type(leaf) is complex or getattr(leaf, "dtype", None) in _COMPLEX + _OTHER_ORDER


def demand_real(leaves, path):
    """Raise if one of the leaves is complex."""
    for leaf in leaves:
        if not is_array(leaf) and is_complex(leaf):
            raise TypeError(f"{path} is or holds {_kind_said(leaf)}, and this driver differentiates by real numbers "
                            "only: use grad, vjp or jvp, or differentiate by the real and the imaginary part")


def _kind_said(leaf):
    return f"a complex number {leaf!r}" if np.ndim(leaf) == 0 else f"an ndarray of dtype {leaf.dtype}"


def _as_array(array, path):
    if type(array) not in (np.ndarray, np.memmap):
        raise TypeError(f"{path} is a {type(array).__name__}, whose operations are not those of an array: "
                        "pass np.asarray(x)")
    for dtype in (DOUBLE, SINGLE, *_COMPLEX):
        if array.dtype.kind == dtype.kind and array.itemsize == dtype.itemsize:
            return array.astype(dtype, copy=False)      # the other byte order
    fix = ("differentiate by the real and the imaginary part" if array.dtype.kind == "c" else
           f"pass x.astype(float), or, if it is no variable, {_ASIDE}" if array.dtype.kind in "iub" else
           "pass x.astype(float)" if array.dtype.kind in "fO" else _ASIDE)
    raise TypeError(f"{path} is an ndarray of dtype {array.dtype}, which cannot be differentiated by: {fix}")


def _said(leaf):
    text = "None" if leaf is None else f"{type(leaf).__name__} {leaf!r}"
    return text if len(text) <= 60 else f"{type(leaf).__name__}"


def is_array(leaf):
    """Whether a leaf is what most are: an array of float64."""
    return type(leaf) is np.ndarray and leaf.dtype is DOUBLE


def shape_of(leaf):
    """The shape of an array, active or not; () for numbers and Reals."""
    if type(leaf) is np.ndarray or type(leaf) is Array:
        return leaf.shape
    return leaf.shape if isinstance(leaf, (np.ndarray, Array)) or hasattr(type(leaf), "of_pairs") else ()


def aligned(leaf, like, path):
    """The tangent or cotangent `leaf` that belongs to the leaf `like`: a float, or a float64 array of its shape."""
    shape = shape_of(like)
    if shape and is_array(leaf) and leaf.shape == shape:
        return leaf
    if type(leaf) is Real or type(leaf) is Array:
        if leaf.is_active and active_tape() is not None and np.shape(leaf) == shape:
            return leaf                 # inside of another recording
        leaf = as_leaf(leaf, path)      # a passive one is its value
    if is_complex(like):
        if is_complex_variable(leaf):
            if leaf.is_active and active_tape() is not None and np.shape(leaf.value) == shape:
                return leaf
            leaf = as_leaf(leaf, path)
        return _aligned_complex(leaf, shape, path)
    number = as_float(leaf)
    if number is not None and not shape:
        return number
    try:
        array = np.asarray(leaf)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{path} must be numbers of shape {shape}, got {_said(leaf)}") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{path} must be numbers of shape {shape}, got {_said(leaf)}")
    if array.shape != shape:
        raise ValueError(f"{path} must have the shape {shape} of what it belongs to, got {array.shape}")
    return array.astype(np.float64, copy=False)


def _aligned_complex(leaf, shape, path):
    array = np.asarray(leaf)
    if array.dtype.kind not in "iufc":
        raise TypeError(f"{path} must be complex numbers of shape {shape}, got {_said(leaf)}")
    if array.shape != shape:
        raise ValueError(f"{path} must have the shape {shape} of what it belongs to, got {array.shape}")
    return array.astype(np.complex128, copy=False)


def in_dtypes(derivatives, leaves):
    """Derivatives, which come in float64, in the dtypes of the leaves that they belong to; arrays where these are."""
    if len(leaves) == 1 and is_array(leaves[0]) and leaves[0].ndim or all_floats(leaves):
        return list(derivatives)
    return [_like_complex(x, leaf) if is_complex(leaf) else _like_real(x, leaf)
            for x, leaf in zip(derivatives, leaves)]


def _like_real(x, leaf):
    if is_without_axes(leaf):
        x = as_array(x)
    if getattr(leaf, "dtype", None) == SINGLE and isinstance(x, (np.ndarray, Array)):
        return x.astype(np.float32)
    return x


def is_without_axes(leaf):
    """Whether a leaf is an array of no axes, which can be written to where a number cannot."""
    return isinstance(leaf, (np.ndarray, Array)) and leaf.ndim == 0


def as_array(x):
    """An array, active or not; of a number one without axes."""
    return Array([x]).reshape(()).copy() if type(x) is Real else x if type(x) is Array else np.asarray(x)


def _like_complex(x, leaf):
    """A derivative by complex numbers, in their dtype; a number of Python where the leaf is one."""
    if is_complex_variable(x):      # inside of another recording
        return x.astype(leaf.dtype) if hasattr(x, "pairs") else x
    if type(leaf) is complex:
        return complex(x)
    found = np.asarray(x).astype(leaf.dtype)
    return found if isinstance(leaf, np.ndarray) else found[()]


def join(leaves):
    """One float64 vector of all numbers, in the order of C."""
    if len(leaves) == 1 and is_array(leaves[0]):
        return leaves[0].flatten()
    if type(leaves) is list and all_floats(leaves):
        return np.array(leaves, np.float64)
    demand_real(leaves, "an argument")
    parts = [np.ravel(leaf) for leaf in leaves]
    return np.concatenate(parts).astype(np.float64, copy=False)


def split(vector, leaves):
    """Leaves of the kinds and shapes of `leaves` with the numbers of a vector; the arrays are new."""
    if all_floats(leaves):
        return vector.tolist()
    new, start = [], 0
    for leaf in leaves:
        if not isinstance(leaf, np.ndarray):
            new.append(type(leaf)(vector[start]))
            start += 1
        else:
            new.append(vector[start:start + leaf.size].reshape(leaf.shape).copy())
            start += leaf.size
    return new


def cut(matrix, shapes):
    """The rows of a matrix, shared out: for each shape an array of it, followed by the columns unless there is one."""
    blocks, start, columns = [], 0, matrix.shape[1:] if matrix.shape[1] > 1 else ()
    for shape in shapes:
        stop = start + math.prod(shape)
        blocks.append(matrix[start:stop].reshape(shape + columns)[()])
        start = stop
    return blocks


def stack(blocks, columns):
    """The inverse of `cut`."""
    parts = [block if np.shape(block)[1:] == (columns,) else np.reshape(block, (-1, columns)) for block in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros((0, columns))


class Names(Sequence):
    """What each number of some leaves is called, made when asked for: arrays have many.

    Parameters
    ----------
    pairs : list of tuple
        Path and leaf.
    """

    def __init__(self, pairs):
        self._pairs = pairs
        self._ends = list(accumulate(math.prod(shape_of(leaf)) for _, leaf in pairs))

    def __len__(self):
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index):
        index = range(len(self))[index]      # counts from the end too, and knows what is out of range
        leaf = bisect_right(self._ends, index)
        path, like = self._pairs[leaf]
        if not shape_of(like):
            return path
        place = np.unravel_index(index - self._ends[leaf] + math.prod(like.shape), like.shape)
        return f"{path}[{', '.join(str(int(i)) for i in place)}]"
