# SPDX-License-Identifier: Apache-2.0
"""What a NumPy scalar can do and a float cannot, for the Reals that stand for one: elements, sums, results of ufuncs.

A Real that stands for a float of Python has none of it, as ``hasattr(x, "shape")`` has to say what it says in the plain
run. `codipy.active.scalar.functions` puts these into the type's dictionary, so that no other look-up takes longer.
Rejected: ``__getattr__``, which every attribute of Real would be looked up through.
"""

import sys

import numpy as np

from codipy.active.doors import door
from codipy.active.messages.callers import in_rebound_code, is_at_operator, is_users, refusal, refused_operand
from codipy.active.recordings import status
from codipy.active.scalar.kinds import converted, type_of
from codipy.errors import ActiveError

__all__ = ["METHODS"]


def _demand_passive(x, what, instead):
    if x.is_active and not status.may_be_plain(x):
        raise ActiveError(refusal(f"{what} of an active Real", instead))


# ---- What it is ----


def _dtype(x):
    """numpy.dtype: float64 or float32."""
    # Asked for through `_OfNumPy`, a frame between. The mean of an array of objects is made a `dtype.type` where it has
    # one, which would lose the derivative: for NumPy's own code a Real is an object like any other.
    if sys._getframe(2).f_globals.get("__name__", "").startswith("numpy."):
        raise AttributeError("'Real' object has no attribute 'dtype'")
    return np.dtype(type_of(x))


def _constant(value, text):
    return property(lambda x: value, doc=text)


_PROPERTIES = {
    "T": property(lambda x: x, doc="The number itself."),
    "base": _constant(None, "None."),
    "data": property(lambda x: _left(x, "data"), doc="memoryview: of a passive one."),
    "device": _constant("cpu", "str: \"cpu\"."),
    "dtype": property(_dtype),
    "flags": property(lambda x: x.value.flags, doc="numpy.flagsobj: those of a NumPy scalar."),
    "flat": property(lambda x: door("array")(x).flat, doc="The one element, to iterate over."),
    "itemsize": property(lambda x: x.value.itemsize, doc="int: bytes of the value."),
    "nbytes": property(lambda x: x.value.itemsize, doc="int: bytes of the value."),
    "ndim": _constant(0, "int: 0."),
    "shape": _constant((), "tuple: ()."),
    "size": _constant(1, "int: 1."),
    "strides": _constant((), "tuple: ()."),
}


# ---- What gives the number itself, or an Array ----


def _through(name, is_self=False):
    """The method of a 0-dimensional Array; without arguments the number itself, where that is the result."""

    def method(self, *args, **kwargs):
        if is_self and not args and not kwargs:
            return self + 0.0 if name in _ADDED and self.value == 0.0 else self
        array = door("array")(self)
        found = getattr(array, name)(*args, **kwargs)
        return found[()] if isinstance(found, (type(array), np.ndarray)) and found.ndim == 0 else found

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As ``numpy.float64.{name}``."
    return method


_ITSELF = ["copy", "max", "mean", "min", "prod", "squeeze", "sum", "transpose"]
_ADDED = ("mean", "sum")  # to 0.0, so that a negative zero becomes a positive one
_AS_ARRAY = [
    "all", "any", "argmax", "argmin", "argsort", "choose", "clip", "compress", "cumprod", "cumsum", "diagonal", "dot",
    "fill", "flatten", "nonzero", "ptp", "put", "ravel", "repeat", "reshape", "round", "searchsorted", "sort", "std",
    "swapaxes", "take", "trace", "var",
]  # fmt: skip


def item(self, *args):
    """As ``numpy.float64.item``: a Real that stands for a float of Python."""
    self.value.item(*args)  # refuses what NumPy does
    return converted(self, float)


def tolist(self):
    """As ``numpy.float64.tolist``: a Real that stands for a float of Python."""
    return converted(self, float)


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """As ``numpy.float64.astype``: floats stay active, float32 rounded; integers and booleans are plain values."""
    if not self.is_active or np.dtype(dtype) not in (np.float64, np.float32):
        if self.is_active:
            return door("array")(self).astype(dtype, order, casting, subok, copy)[()]
        return self.value.astype(dtype, order, casting, subok, copy)
    return converted(self, np.dtype(dtype).type)


def view(self, *args, **kwargs):
    """The number itself; other dtypes are refused."""
    if args or kwargs:
        raise TypeError("a Real has no views of another dtype or type: take codipy.value(x).view(...)")
    return self


def to_device(self, device, /, *, stream=None):
    """The number itself, for "cpu"."""
    return door("array")(self).to_device(device, stream=stream)[()]


# ---- Leaving ----


def _left(x, name):
    _demand_passive(x, name, f"take codipy.value(x).{name}")
    return getattr(x.value, name)


def _leaving(name):
    def method(self, *args, **kwargs):
        return _left(self, name)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As ``numpy.float64.{name}``; refused while active."
    return method


class _OfNumPy:
    """A member that a Real has if it stands for a scalar of NumPy."""

    def __init__(self, name, member):
        self.name, self.member = name, member

    def __get__(self, x, owner=None):
        if x is None:
            return self.member.__get__(None, owner)
        if type_of(x) is float:
            raise AttributeError(f"'float' object has no attribute {self.name!r}", name=self.name, obj=x)
        return self.member.__get__(x, owner)

    def __set__(self, x, value):
        raise AttributeError(f"attribute {self.name!r} of 'Real' objects is not writable")


_MEMBERS = _PROPERTIES | {name: _through(name, True) for name in _ITSELF} | {name: _through(name) for name in _AS_ARRAY}
_MEMBERS |= {function.__name__: function for function in (item, tolist, astype, view, to_device)}
_MEMBERS |= {name: _leaving(name) for name in ("dump", "dumps", "tobytes", "tofile")}
class _OfFloat(_OfNumPy):
    """A member that a Real has unless it stands for a float32."""

    def __get__(self, x, owner=None):
        if x is not None and type_of(x) is np.float32:
            raise AttributeError(f"'numpy.float32' object has no attribute {self.name!r}", name=self.name, obj=x)
        return self.member.__get__(x, owner)


METHODS: dict = {"hex": _OfFloat("hex", _leaving("hex"))}
METHODS |= {name: _OfNumPy(name, member) for name, member in _MEMBERS.items()}


_OF_OBJECTS = {"scipy.optimize._optimize", "scipy.optimize._minimize"}  # do with an array of objects as with a number


class _AsArray:
    """``__array__``, which a Real has while nothing records, so that NumPy takes lists of Reals for numbers.

    In a recording it must find none: an array of objects keeps the Reals. But what SciPy does with such an array ends
    in an error that says nothing of Reals, so SciPy is told at once. So is rebound code where an operator of a plain
    array gets a list: its result would be objects there, and numbers in the plain run.
    """

    def __get__(self, x, owner=None):
        plain = None if x is None else status.is_plain(x)
        if plain:
            return lambda dtype=None, copy=None: np.array(x.value, dtype)
        frame = sys._getframe(1)
        if x is not None and is_at_operator(frame) and is_users(frame) and in_rebound_code():
            if plain is None:
                return lambda dtype=None, copy=None: np.array(x.value, dtype)
            if (message := refused_operand(frame)) is not None:
                raise ActiveError(message)
        if plain is False:
            name = frame.f_globals.get("__name__", "")
            if name[:6] == "scipy." and name not in _OF_OBJECTS and "__rebound__" not in frame.f_builtins:
                _demand_passive(x, "np.asarray()", "write x.astype(float64)")
        raise AttributeError("__array__")


METHODS["__array__"] = _AsArray()


class _Conform:
    """``__conform__``, by which `sqlite3` asks what an object is: a passive Real is its value, as in the plain run."""

    def __get__(self, x, owner=None):
        if x is None or x.is_active and not status.may_be_plain(x):
            raise AttributeError("__conform__")
        return lambda protocol: float(x)


METHODS["__conform__"] = _Conform()
