# SPDX-License-Identifier: Apache-2.0
"""Nested lists, tuples, dicts and dataclasses: what is in them, by path; two of one form; their plain values.

Rejected: the package optree, which would be a second dependency of every user, knows a dataclass only if its class was
registered, and names no path in the words of the program.
"""
from __future__ import annotations

import copy
import sys
from dataclasses import fields
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from codipy.active import Real
from codipy.active.array import Array, is_complex_variable
from codipy.active.bulk import all_floats, as_float
from codipy.active.recordings.recognised import note_taken
from codipy.tape.activity import active_tape
from codipy.tools.arguments.forms import LEAVES, children, map_leaves
from codipy.tools.arguments.leaves import aligned

__all__ = ["labelled", "match", "plain_copy", "value"]

_T = TypeVar("_T")


def labelled(tree, path):
    """Pairs of path and leaf, in the order of `flatten`."""
    branches = children(tree) if type(tree) not in LEAVES else None
    if branches is None:
        return [(path, tree)]
    return [pair for label, branch in branches for pair in labelled(branch, path + label)]


def match(tree, like, path, leaves):
    """Append the leaves of `tree`, which must have the form of `like`: the same containers, leaves of the same shapes.

    Parameters
    ----------
    tree : object
        What the caller passed: tangents or cotangents.
    like : object
        What it belongs to; its leaves may be active.
    path : str
        See `flatten`.
    leaves : list
        Extended in place.

    Raises
    ------
    TypeError, ValueError
        Naming the path where the two differ.
    """
    if type(like) is list and type(tree) is list and len(tree) == len(like) and all_floats(tree) and all_floats(like):
        leaves += tree      # not looked at one by one
        return
    own = children(like) if type(like) not in LEAVES else None
    if own is None:
        leaves.append(aligned(tree, like, path))
        return
    alike = (isinstance(tree, dict) and tree.keys() == like.keys() if isinstance(like, dict) else
             isinstance(tree, (list, tuple)) and len(tree) == len(like) if isinstance(like, (list, tuple)) else
             type(tree) is type(like))
    if not alike:
        form = (f" with the keys {list(like)}" if isinstance(like, dict) else
                f" of {len(like)}" if isinstance(like, (list, tuple)) else "")
        raise TypeError(f"{path} must have the form of what it belongs to, a {type(like).__name__}{form}, "
                        f"got {type(tree).__name__}")
    branches = dict(children(tree))
    for label, branch in own:
        match(branches[label], branch, path + label, leaves)


def _whole(record, mapped):
    """A copy with every field mapped."""
    new = copy.copy(record)
    for field in fields(record):
        object.__setattr__(new, field.name, mapped(getattr(record, field.name)))
    return new


@overload
def value(z: Real) -> float: ...
@overload
def value(z: Array) -> NDArray[np.float64]: ...
@overload
def value(z: _T) -> _T: ...
def value(z):
    """The plain value of anything: every Real in it becomes a float, every Array an ndarray.

    Parameters
    ----------
    z : object
        A Real, an Array, or lists, tuples, dicts, dataclasses, sets and object arrays of them, nested at will.
        Anything else is returned as it is.

    Returns
    -------
    object
        A new object of the same form; arrays of Reals become arrays of floats. The value of an Array is read-only.

    Examples
    --------
    >>> import codipy
    >>> codipy.value({"a": [codipy.Real(1.0), 2.0], "name": "b"})
    {'a': [1.0, 2.0], 'name': 'b'}
    """
    if active_tape() is not None:
        note_taken()
    if hasattr(type(z), "__codipy_value__"):
        return z.__codipy_value__()
    if "scipy.sparse" in sys.modules and "__codipy_origin__" in vars(type(z)) and hasattr(z, "tocsr"):
        from codipy.scipy.kernels.whole import plain_matrix  # here: few programs have any

        return plain_matrix(z)
    return map_leaves(_plain, z, _whole)


def plain_copy(result):
    """The value of a function's result, with arrays of its own: a view of the tape's memory would keep the tape's."""
    return map_leaves(_apart, result, _whole)


def _apart(leaf):
    plain = _plain(leaf)
    return plain.copy() if isinstance(plain, np.ndarray) and plain is not leaf and hasattr(leaf, "is_active") else plain


def _plain(z):
    if type(z) is Real or type(z) is Array or is_complex_variable(z):
        return z.value
    if isinstance(z, (set, frozenset)):
        return type(z)(value(item) for item in z)
    if isinstance(z, np.ndarray) and z.dtype == object:
        numeric = z.size > 0 and all(type(item) is Real or as_float(item) is not None for item in z.flat)
        plain = np.empty(z.shape, np.float64 if numeric else object)
        for index, item in np.ndenumerate(z):
            plain[index] = value(item)
        return plain
    return z
