# SPDX-License-Identifier: Apache-2.0
"""The active array of complex numbers."""

from __future__ import annotations

import operator

import numpy as np

from codipy.active.messages.callers import in_rebound_code
from codipy.active.scalar.kinds import matched_as_ndarray
from codipy.complexes.compared import ComparedByValue, doors
from codipy.complexes.pairs import COMPLEX_OF, complex_of_pairs, pairs_of_complex
from codipy.errors import ActiveError
from codipy.tape.signatures import Signature
from codipy.tape.strategies.forward import seed_rows

__all__ = ["ComplexArray"]


class Flags:
    """As ``ndarray.flags``; ``writeable`` can be set."""

    def __init__(self, z):
        object.__setattr__(self, "_z", z)

    def __getattr__(self, name):
        return self._z.pairs.flags.writeable if name == "writeable" else getattr(self._z.value.flags, name)

    def __setattr__(self, name, value):
        if name != "writeable":
            raise ValueError(f"the flag {name} of a ComplexArray cannot be set")
        self._z.pairs.flags.writeable = value

    def __getitem__(self, name):
        return self.writeable if name in ("WRITEABLE", "W") else self._z.value.flags[name]


def _is_array_type(kind):
    return isinstance(kind, type) and (kind is ComplexArray or issubclass(kind, np.ndarray))


@matched_as_ndarray
class ComplexArray(ComparedByValue):
    """A NumPy array of complex numbers that a tape can follow.

    It behaves as an ``ndarray`` of complex128 or complex64. In memory it is one `Array` with one axis more, the last,
    which has the real and the imaginary part: each has an adjoint of its own.

    Parameters
    ----------
    value : array_like
        Complex numbers, copied; active ones in nested lists stay active. At most 7 dimensions.

    Raises
    ------
    TypeError
        Of what holds no numbers.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> tape = codipy.Tape()
    >>> with tape:
    ...     z = tape.register_input(np.array([1.0 + 2.0j, 3.0j]))
    ...     energy = tape.register_output(np.sum(np.abs(z) ** 2))
    >>> energy.gradient = 1.0
    >>> tape.evaluate()
    >>> z.gradient
    array([2.+4.j, 0.+6.j])
    """

    __signature__ = Signature()
    __slots__ = ("__weakref__", "_base", "pairs")
    __array_priority__ = 1000.0
    is_complex_variable = True
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value=()):
        self.pairs, self._base = doors().pairs_of(value), None

    @classmethod
    def of_pairs(cls, pairs, base=None):
        """The array whose numbers are in an Array with one axis more."""
        made = object.__new__(cls)
        made.pairs, made._base = pairs, base
        return made

    # ---- Value and derivative ----

    @property
    def value(self):
        """ndarray: the plain values, not writable."""
        return complex_of_pairs(self.pairs.value)

    @property
    def is_active(self):
        """bool: whether an element depends on a registered input."""
        return self.pairs.is_active

    @property
    def identifier(self):
        """ndarray of int32: with one axis more, what names the adjoint slots of real and imaginary parts."""
        return self.pairs.identifier

    @property
    def gradient(self):
        """ndarray of complex128: dL/dRe(z) + i dL/dIm(z) of what was seeded."""
        return complex_of_pairs(self.pairs.gradient)

    @gradient.setter
    def gradient(self, seed):
        self.pairs.gradient = pairs_of_complex(np.broadcast_to(np.asarray(seed, np.complex128), self.shape))

    @property
    def tangent(self):
        """ndarray of complex128: the derivative along the seeds of a tape of strategy 'forward', with more directions
        than one of one axis more, the last; set it to seed an input that nothing has read yet."""
        parts = self.pairs.tangent
        return complex_of_pairs(parts if parts.ndim == self.pairs.ndim else np.moveaxis(parts, -2, -1))

    @tangent.setter
    def tangent(self, seed):
        width = self.pairs.tangent.shape[self.pairs.ndim :]
        rows = seed_rows(seed, self.shape, *(width or (1,)), np.complex128)
        parts = np.moveaxis(pairs_of_complex(rows).reshape(*self.shape, -1, 2), -1, -2)
        self.pairs.tangent = parts if width else parts[..., 0]

    # ---- Shape ----

    @property
    def shape(self):
        """tuple of int"""
        return self.pairs.shape[:-1]

    @shape.setter
    def shape(self, shape):
        other = self.reshape(shape)
        if not np.shares_memory(other.pairs, self.pairs) and self.size:
            raise AttributeError("incompatible shape for in-place modification: use reshape()")
        self.pairs = other.pairs

    @property
    def ndim(self):
        """int"""
        return self.pairs.ndim - 1

    @property
    def size(self):
        """int"""
        return self.pairs.size // 2

    @property
    def dtype(self):
        """numpy.dtype"""
        return COMPLEX_OF[self.pairs.dtype]

    @property
    def itemsize(self):
        """int: bytes of an element"""
        return self.dtype.itemsize

    @property
    def nbytes(self):
        """int: bytes of all elements"""
        return self.pairs.nbytes

    @property
    def strides(self):
        """tuple of int: in bytes"""
        return self.pairs.strides[:-1]

    @property
    def flags(self):
        """Flags: as ``ndarray.flags``"""
        return Flags(self)

    def setflags(self, write=None, align=None, uic=None):
        """As ``ndarray.setflags``."""
        self.pairs.setflags(write, align, uic)

    @property
    def base(self):
        """ComplexArray or None: the one whose elements these are"""
        return self._base

    @property
    def T(self):
        """The transpose, a view."""
        return self.transpose()

    @property
    def mT(self):
        """The transpose of the last two dimensions, a view."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def real(self):
        """Array: the real parts, a view that can be written to."""
        return self.pairs[..., 0]

    @real.setter
    def real(self, value):
        self.pairs[..., 0] = value

    @property
    def imag(self):
        """Array: the imaginary parts, a view that can be written to."""
        return self.pairs[..., 1]

    @imag.setter
    def imag(self, value):
        self.pairs[..., 1] = value

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.pairs.shape[0]

    def reshape(self, *shape, order="C", copy=None):
        """As ``ndarray.reshape``: a view where that is possible."""
        options = {"order": order} if copy is None else {"order": order, "copy": copy}
        return doors().seen(self, operator.methodcaller("reshape", *shape, **options))

    def ravel(self, order="C"):
        """As ``ndarray.ravel``: a view where that is possible."""
        return doors().seen(self, operator.methodcaller("ravel", order))

    def flatten(self, order="C"):
        """As ``ndarray.flatten``: a copy."""
        return doors().seen(self, operator.methodcaller("flatten", order))

    def transpose(self, *axes):
        """As ``ndarray.transpose``: a view."""
        return doors().seen(self, operator.methodcaller("transpose", *axes))

    def swapaxes(self, axis1, axis2):
        """As ``ndarray.swapaxes``: a view."""
        return doors().seen(self, operator.methodcaller("swapaxes", axis1, axis2))

    def squeeze(self, axis=None):
        """As ``ndarray.squeeze``: a view."""
        return doors().seen(self, operator.methodcaller("squeeze", axis))

    def diagonal(self, offset=0, axis1=0, axis2=1):
        """As ``ndarray.diagonal``: a read-only view."""
        return doors().seen(self, operator.methodcaller("diagonal", offset, axis1, axis2))

    def view(self, dtype=None, type=None):
        """A second array on the same elements; ``view(float)`` is the Array of both parts, interleaved."""
        if _is_array_type(dtype) or _is_array_type(type):
            dtype, type = None if _is_array_type(dtype) else dtype, None
        if type is not None:
            raise TypeError("a ComplexArray has no views of another type: take codipy.value(z).view(...)")
        if dtype is None or np.dtype(dtype) == self.dtype:
            return ComplexArray.of_pairs(self.pairs.view(), self if self._base is None else self._base)
        return doors().seen(self, operator.methodcaller("view", dtype))

    def copy(self, order="C"):
        """A copy: values and identifiers are shared until one of the two is written to."""
        return doors().copied(self, order)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return ComplexArray, (np.array(self.__array__()),)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """As ``ndarray.astype``: complex128 and complex64 stay active; a real dtype is refused, take ``z.real``."""
        return doors().as_type(self, dtype, order, casting, copy)

    # ---- Elements ----

    def __getitem__(self, index):
        return doors().get_item(self, index)

    def __setitem__(self, index, value):
        doors().set_item(self, index, value)

    def __delitem__(self, index):
        raise ValueError("cannot delete array elements")

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, item):
        return item in self.value

    def item(self, *args):
        """As ``ndarray.item``: one element, a Complex that stands for a complex of Python."""
        return doors().item(self, args)

    def tolist(self):
        """Nested lists of Complex, of complex where nothing is active."""
        if not self.is_active:
            return self.value.tolist()
        return self.item() if self.ndim == 0 else [part.tolist() for part in self] if self.ndim > 1 else [
            self.item(k) for k in range(len(self))]  # fmt: skip

    def fill(self, value):
        """Write one value into all elements."""
        if np.ndim(doors().plain(value)):
            np.empty(()).fill(doors().plain(value))  # which says what NumPy says
        self[...] = value

    @property
    def flat(self):
        """The elements in C order; ``z.flat[i]`` and ``z.flat[i] = v`` work."""
        return doors().ComplexFlat(self)

    @flat.setter
    def flat(self, value):
        if self.size:
            self.flat[:] = value

    # ---- Truth, leaving ----

    def __bool__(self):
        return bool(self.value)

    def __complex__(self):
        return complex(self.__array__())

    def __float__(self):
        raise (ActiveError if self.is_active else TypeError)(
            "a complex number is no float, nor does it go into a real array: take z.real or abs(z), or make the "
            "array complex: np.zeros(n, complex)"
        )

    def __int__(self):
        raise TypeError("a complex number is no integer: take z.real")

    def __array__(self, dtype=None, copy=None):
        values = complex_of_pairs(np.array(self.pairs))  # or the error that a derivative would be lost
        return values if dtype is None else values.astype(dtype)

    # ---- NumPy's protocols ----

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return doors().array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return doors().array_function(func, types, args, kwargs)

    def __getattr__(self, name):
        function = None if name.startswith("_") else doors().METHODS.get(name)
        if function is not None:
            return function.__get__(self)
        if name in ("ctypes", "data", "tobytes", "tofile", "dump", "dumps"):
            return getattr(self.__array__(), name)
        if name == "tangent":
            return self.pairs.tangent  # which has said why there is none
        raise AttributeError(f"'ComplexArray' object has no attribute {name!r}")

    # ---- Text ----

    def __repr__(self):
        text = repr(self.value)
        if in_rebound_code():
            return text
        text = text.replace("array(", "ComplexArray(", 1)
        return f"{text[:-1]}, active)" if self.is_active else text

    def __str__(self):
        return str(self.value)

    def __format__(self, spec):
        return format(self.value, spec)


def _binary(ufunc):
    def left(self, other):
        return doors().operate(ufunc, self, other, other)

    def right(self, other):
        return doors().operate(ufunc, other, self, other)

    def in_place(self, other):
        return doors().in_place(ufunc, self, other)

    return left, right, in_place


for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "pow": np.power,
    "matmul": np.matmul, "floordiv": np.floor_divide, "mod": np.remainder,
}.items():  # fmt: skip
    _left, _right, _in_place = _binary(_ufunc)
    setattr(ComplexArray, f"__{_name}__", _left)
    setattr(ComplexArray, f"__r{_name}__", _right)
    setattr(ComplexArray, f"__i{_name}__", _in_place)


def _unary(ufunc):
    return lambda self: doors().array_ufunc(ufunc, "__call__", (self,), {})


for _name, _ufunc in {"neg": np.negative, "pos": np.positive, "abs": np.absolute}.items():
    setattr(ComplexArray, f"__{_name}__", _unary(_ufunc))
