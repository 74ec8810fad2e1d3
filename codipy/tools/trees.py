# SPDX-License-Identifier: Apache-2.0
"""Nested lists, tuples and dicts of numbers: taken apart into a flat list of floats and put together again."""
from __future__ import annotations

import copy

import numpy as np

from codipy.active import Real
from codipy.active.bulk import as_float
from codipy.errors import ActiveError

__all__ = ["flatten", "map_leaves", "paths", "rebuild", "value"]


def flatten(tree, path, leaves):
    """Append the numbers of `tree` to `leaves` as floats, in the order of iteration.

    Parameters
    ----------
    tree : number, list, tuple or dict
        Lists, tuples (named ones too) and the values of dicts, nested at will.
    path : str
        How the caller names `tree`; errors extend it: ``argument 0['rates'][2]``.
    leaves : list
        Extended in place.

    Raises
    ------
    TypeError
        Naming the path of what is no real number.
    ActiveError
        Naming the path of an active Real.
    """
    if type(tree) is float:
        leaves.append(tree)
    elif isinstance(tree, (list, tuple)):
        for index, branch in enumerate(tree):
            if type(branch) is float:      # a path is text: not one for every number
                leaves.append(branch)
            else:
                flatten(branch, f"{path}[{index}]", leaves)
    elif isinstance(tree, dict):
        for key, branch in tree.items():
            flatten(branch, f"{path}[{key!r}]", leaves)
    else:
        leaves.append(_leaf(tree, path))


def _leaf(leaf, path):
    if type(leaf) is Real:
        if leaf.is_active:
            raise ActiveError(
                f"{path} is active on a tape already, and derivatives of derivatives are not supported: differentiate "
                "the whole function at once, or pass its value, x.value, if it is a constant here")
        return leaf.value
    number = as_float(leaf)
    if number is None:
        fix = (", pass x.tolist()" if isinstance(leaf, np.ndarray) else
               "; pass it as an argument that argnums does not name, or by keyword")
        raise TypeError(f"{path} is not a real number but {_said(leaf)}: only numbers in lists, tuples and dicts can "
                        f"be differentiated{fix}")
    return number


def _said(leaf):
    text = "None" if leaf is None else f"{type(leaf).__name__} {leaf!r}"
    return text if len(text) <= 60 else f"{type(leaf).__name__}"


def paths(tree, path):
    """The paths of the numbers of `tree`, in the order of `flatten`."""
    if isinstance(tree, dict):
        items = tree.items()
    elif isinstance(tree, (list, tuple)):
        items = enumerate(tree)
    else:
        return [path]
    return [name for key, branch in items for name in paths(branch, f"{path}[{key!r}]")]


def map_leaves(function, tree):
    """A tree of the same form with `function` applied to everything that is no container.

    Parameters
    ----------
    function : callable
        Takes one leaf; called in the order of `flatten`.
    tree : object
        It is not changed.

    Returns
    -------
    object
        New containers of the same types; subclasses of list and dict are copied and filled.
    """
    kind = type(tree)
    if kind is list:
        return [map_leaves(function, branch) for branch in tree]
    if kind is dict:
        return {key: map_leaves(function, branch) for key, branch in tree.items()}
    if isinstance(tree, tuple):
        branches = [map_leaves(function, branch) for branch in tree]
        return kind(*branches) if hasattr(kind, "_fields") else kind(branches)
    if isinstance(tree, (list, dict)):
        new = copy.copy(tree)
        for key, branch in tree.items() if isinstance(tree, dict) else enumerate(tree):
            new[key] = map_leaves(function, branch)
        return new
    return function(tree)


def rebuild(tree, leaves):
    """A tree of the form of `tree` with the items of the list `leaves`, as many as `flatten` appended."""
    remaining = iter(leaves)
    return map_leaves(lambda _: next(remaining), tree)


def value(z):
    """The plain value of anything: every Real in it becomes a float.

    Parameters
    ----------
    z : object
        A Real, or lists, tuples, dicts, sets and object arrays of them, nested at will. Anything else is returned
        as it is.

    Returns
    -------
    object
        A new object of the same form; arrays of Reals become arrays of floats.

    Examples
    --------
    >>> import codipy
    >>> codipy.value({"a": [codipy.Real(1.0), 2.0], "name": "b"})
    {'a': [1.0, 2.0], 'name': 'b'}
    """
    return map_leaves(_plain, z)


def _plain(z):
    if type(z) is Real:
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
