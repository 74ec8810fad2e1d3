# SPDX-License-Identifier: Apache-2.0
"""The methods of `codipy.Array` that are functions of NumPy, with the arguments that `numpy.ndarray`'s have."""

from __future__ import annotations

import numpy as np

from codipy.active.array import plain

from .arguments import refuse
from .standard import array_namespace, to_device

__all__ = ["METHODS"]

# Methods that hand all arguments to the function of the same name.
_SAME = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "cumprod", "cumsum", "diagonal", "dot", "max",
    "mean", "min", "nonzero", "partition", "prod", "ptp", "put", "repeat", "round", "searchsorted", "sort",
    "squeeze", "std", "sum", "swapaxes", "take", "trace", "var"
]  # fmt: skip
_IN_PLACE = {"sort", "partition"}


def _method(name):
    function = getattr(np, name)

    def method(a, *args, **kwargs):
        if "correction" in kwargs:
            getattr(np.zeros(2), name)(correction=0)  # which no method takes
        return function(a, *args, **kwargs)

    def method_in_place(a, *args, **kwargs):
        a[...] = function(a, *args, **kwargs)

    chosen = method_in_place if name in _IN_PLACE else method
    chosen.__name__, chosen.__doc__ = name, f"``ndarray.{name}``."
    return chosen


def clip(a, min=None, max=None, out=None, **kwargs):
    """``ndarray.clip``."""
    return np.clip(a, min, max, out=out, **kwargs)


def choose(a, choices, out=None, mode="raise"):
    """``ndarray.choose``: the Array is the index."""
    return np.choose(plain(a), choices, out, mode)


def compress(a, condition, axis=None, out=None):
    """``ndarray.compress``."""
    return np.compress(condition, a, axis, out)


def conjugate(a):
    """``ndarray.conjugate``: of real numbers the array itself."""
    return a


def resize(a, *new_shape, refcheck=True):
    """``ndarray.resize`` to another shape of the same size: an Array keeps that."""
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    made = np.empty(a.shape)
    made.resize(shape, refcheck=False)  # or what NumPy raises
    if made.size != a.size or not a.flags.c_contiguous:
        refuse("ndarray.resize", "an Array keeps its size: write `a = np.resize(a, shape)`")
    a.shape = made.shape


def _refused(name, why):
    def method(a, *args, **kwargs):
        refuse(f"ndarray.{name}", why)

    method.__name__, method.__doc__ = name, f"``ndarray.{name}``: {why}."
    return method


METHODS = {name: _method(name) for name in _SAME}
METHODS |= {function.__name__: function for function in (clip, choose, compress, conjugate, resize)}
METHODS |= {"conj": conjugate, "to_device": to_device, "__array_namespace__": array_namespace}
METHODS |= {
    "byteswap": _refused("byteswap", "swapped bytes are no numbers"),
    "setfield": _refused("setfield", "an Array has no fields"),
    "getfield": _refused("getfield", "an Array has no fields"),
}
