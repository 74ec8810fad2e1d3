# SPDX-License-Identifier: Apache-2.0
"""Nested lists, tuples, dicts and dataclasses: taken apart into a flat list of leaves and put together again."""
from __future__ import annotations

import copy
import sys
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from codipy.active import Real
from codipy.active.array import Array, is_complex_variable
from codipy.active.bulk import all_floats, as_float
from codipy.tools.leaves import aligned, as_leaf

__all__ = ["LEAVES", "children", "differentiable_fields", "flatten", "is_record", "labelled", "map_leaves", "match",
           "plain_copy", "rebuild", "value"]

_T = TypeVar("_T")
LEAVES = frozenset((float, np.ndarray, Real, Array))      # of all types that are none of containers, the usual ones


def flatten(tree, path, leaves):
    """Append the leaves of `tree` to `leaves`, numbers as floats, in the order of iteration.

    Parameters
    ----------
    tree : number, ndarray, list, tuple, dict or dataclass
        Lists, tuples (named ones too), the values of dicts and the fields of dataclasses, nested at will. A field
        whose metadata say ``static`` (as in JAX), and one that ``__init__`` does not take, is no leaf.
    path : str
        How the caller names `tree`; errors extend it: ``argument 0['rates'][2]``.
    leaves : list
        Extended in place by floats and arrays of float64 or float32.

    Raises
    ------
    TypeError
        Naming the path of what cannot be differentiated by.
    ActiveError
        Naming the path of an active variable.
    """
    if type(tree) is float:
        leaves.append(tree)
    elif type(tree) in LEAVES:
        leaves.append(as_leaf(tree, path))
    elif type(tree) is list and all_floats(tree):
        leaves += tree
    elif isinstance(tree, (list, tuple)):
        for index, branch in enumerate(tree):
            if type(branch) is float:      # a path is text: not one for every number
                leaves.append(branch)
            else:
                flatten(branch, f"{path}[{index}]", leaves)
    elif isinstance(tree, dict) or is_record(tree):
        for label, branch in children(tree):
            flatten(branch, path + label, leaves)
    else:
        leaves.append(as_leaf(tree, path))


def is_record(tree):
    return is_dataclass(tree) and not isinstance(tree, type)


def differentiable_fields(record):
    """The names of the fields that are branches; the others are carried along."""
    return [field.name for field in fields(record) if field.init and not field.metadata.get("static")]


def children(tree):
    """Pairs of a label, as it extends a path, and a branch; None for a leaf."""
    if isinstance(tree, dict):
        return [(f"[{key!r}]", branch) for key, branch in tree.items()]
    if isinstance(tree, (list, tuple)):
        return [(f"[{index}]", branch) for index, branch in enumerate(tree)]
    if is_record(tree):
        return [(f".{name}", getattr(tree, name)) for name in differentiable_fields(tree)]
    return None


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


def _filled(record, mapped):
    """A copy with its branches mapped; what `__init__` does not take, computed from other fields, is None."""
    new = copy.copy(record)
    for field in fields(record):
        if not field.init:
            object.__setattr__(new, field.name, None)      # frozen dataclasses too
    for name in differentiable_fields(record):
        object.__setattr__(new, name, mapped(getattr(record, name)))
    return new


def _whole(record, mapped):
    """A copy with every field mapped."""
    new = copy.copy(record)
    for field in fields(record):
        object.__setattr__(new, field.name, mapped(getattr(record, field.name)))
    return new


def map_leaves(function, tree, records=_filled):
    """A tree of the same form with `function` applied to everything that is no container.

    Parameters
    ----------
    function : callable
        Takes one leaf; called in the order of `flatten`.
    tree : object
        It is not changed.
    records : callable, optional
        ``records(dataclass, mapped)`` makes the new dataclass, ``mapped(branch)`` each of its branches.

    Returns
    -------
    object
        New containers of the same types; subclasses of list and dict are copied and filled.
    """
    kind = type(tree)
    if kind in LEAVES:
        return function(tree)
    if kind is list:
        return [map_leaves(function, branch, records) for branch in tree]
    if kind is dict:
        return {key: map_leaves(function, branch, records) for key, branch in tree.items()}
    if isinstance(tree, tuple):
        branches = [map_leaves(function, branch, records) for branch in tree]
        return kind(*branches) if hasattr(kind, "_fields") else kind(branches)
    if isinstance(tree, (list, dict)):
        new = copy.copy(tree)
        for key, branch in tree.items() if isinstance(tree, dict) else enumerate(tree):
            new[key] = map_leaves(function, branch, records)
        return new
    if is_record(tree):
        return records(tree, lambda branch: map_leaves(function, branch, records))
    return function(tree)


def rebuild(tree, leaves, records=_filled):
    """A tree of the form of `tree` with the items of the list `leaves`, as many as `flatten` appended."""
    return _drawn(tree, iter(leaves), records)


def _drawn(tree, remaining, records):
    # A function inside of `rebuild` would name itself, and the leaves would live until Python's collector comes.
    if type(tree) in LEAVES:
        return next(remaining)
    if type(tree) is list:
        if all_floats(tree):      # most lists that are long: no call for each number
            return list(islice(remaining, len(tree)))
        return [_drawn(branch, remaining, records) for branch in tree]
    return map_leaves(lambda _: next(remaining), tree, records)


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
