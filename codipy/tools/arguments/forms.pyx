# SPDX-License-Identifier: Apache-2.0
"""Nested lists, tuples, dicts and dataclasses, in the steps that a driver takes at each call: apart, and together again.

What walks over other trees, or seldom, is in `trees.py`.
"""
import copy
import functools
from dataclasses import fields
from itertools import islice

import numpy as np

cimport numpy as cnp

from codipy.active import Real
from codipy.active.array import Array
from codipy.active.bulk import all_floats
from codipy.tools.arguments.leaves import DOUBLE, as_leaf

cnp.import_array()

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where) noexcept
    void Py_LeaveRecursiveCall() noexcept

LEAVES = frozenset((float, np.ndarray, Real, Array))      # of all types that are none of containers, the usual ones

cdef frozenset leaf_types = LEAVES
cdef object are_floats = all_floats, leaf_of = as_leaf, ndarray = np.ndarray, double_dtype = DOUBLE


cdef int enter() except -1:
    """Count a call that may go deep, as Python does: a tree that holds itself is an error, not the end of the process."""
    return -1 if Py_EnterRecursiveCall(b" in nested lists, dicts or dataclasses") else 0


cdef bint is_leaf_as_it_is(x):
    """Whether something is what most leaves are, a float or an array of float64."""
    kind = type(x)
    return kind is float or kind is ndarray and (<cnp.ndarray>x).descr is double_dtype


def flatten(tree, path, list leaves not None):
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
    cdef Py_ssize_t index
    kind = type(tree)
    if is_leaf_as_it_is(tree):
        leaves.append(tree)
    elif kind in leaf_types:
        leaves.append(leaf_of(tree, path))
    elif kind is list and are_floats(tree):
        leaves += tree
    else:
        enter()
        try:
            if isinstance(tree, (list, tuple)):
                for index, branch in enumerate(tree):
                    if is_leaf_as_it_is(branch):      # a path is text: not one for every number
                        leaves.append(branch)
                    else:
                        flatten(branch, f"{path}[{index}]", leaves)
            elif isinstance(tree, dict):
                for key, branch in tree.items():
                    if is_leaf_as_it_is(branch):
                        leaves.append(branch)
                    else:
                        flatten(branch, f"{path}[{key!r}]", leaves)
            elif is_record(tree):
                for name in differentiable_fields(tree):
                    flatten(getattr(tree, name), f"{path}.{name}", leaves)
            else:
                leaves.append(leaf_of(tree, path))
        finally:
            Py_LeaveRecursiveCall()


def is_record(tree):
    """is_record(tree)
    --

    Whether something is an object of a dataclass.
    """
    return hasattr(type(tree), "__dataclass_fields__") and not isinstance(tree, type)


def differentiable_fields(record):
    """differentiable_fields(record)
    --

    The names of the fields that are branches; the others are carried along.
    """
    kept, names = _named(type(record))
    if kept is not getattr(type(record), "__dataclass_fields__", None):      # it was made a dataclass once more
        _named.cache_clear()
        names = _named(type(record))[1]
    return names


@functools.lru_cache(256)
def _named(cls):
    names = tuple([field.name for field in fields(cls) if field.init and not field.metadata.get("static")])
    return cls.__dataclass_fields__, names


def children(tree):
    """children(tree)
    --

    Pairs of a label, as it extends a path, and a branch; None for a leaf.
    """
    if isinstance(tree, dict):
        return [(f"[{key!r}]", branch) for key, branch in tree.items()]
    if isinstance(tree, (list, tuple)):
        return [(f"[{index}]", branch) for index, branch in enumerate(tree)]
    if is_record(tree):
        return [(f".{name}", getattr(tree, name)) for name in differentiable_fields(tree)]
    return None


def standing_twice(list trees not None):
    """standing_twice(trees)
    --

    The addresses of lists, dicts and dataclasses that stand in several places of trees.
    """
    cdef set seen = set(), twice = set()
    cdef list waiting = [tree for tree in trees if type(tree) not in leaf_types]
    while waiting:
        tree = waiting.pop()
        key = id(tree)
        if key in seen:
            if not isinstance(tree, tuple):
                twice.add(key)
            continue
        seen.add(key)
        if isinstance(tree, (list, tuple)):
            waiting += [branch for branch in tree if type(branch) not in leaf_types]
        elif isinstance(tree, dict):
            waiting += [branch for branch in tree.values() if type(branch) not in leaf_types]
        elif is_record(tree):
            for name in differentiable_fields(tree):
                branch = getattr(tree, name)
                if type(branch) not in leaf_types:
                    waiting.append(branch)
    return twice


def filled(record, mapped):
    """filled(record, mapped)
    --

    A copy with its branches mapped; what `__init__` does not take, computed from other fields, is None.
    """
    new = copy.copy(record)
    for field in fields(record):
        if not field.init:
            object.__setattr__(new, field.name, None)      # frozen dataclasses too
    for name in differentiable_fields(record):
        object.__setattr__(new, name, mapped(getattr(record, name)))
    return new


def map_leaves(function, tree, records=filled):
    """map_leaves(function, tree, records=filled)
    --

    A tree of the same form with `function` applied to everything that is no container.

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
    if kind in leaf_types:
        return function(tree)
    enter()
    try:
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
            return records(tree, functools.partial(mapped_branch, function, records))
        return function(tree)
    finally:
        Py_LeaveRecursiveCall()


def mapped_branch(function, records, branch):
    """mapped_branch(function, records, branch)
    --

    What `map_leaves` makes of a branch of a dataclass.
    """
    return map_leaves(function, branch, records)


cdef class Remaining:
    """Remaining()
    --

    Called with anything, the next of the leaves. No function inside of `rebuild`, which would name itself: the leaves
    would live until Python's collector comes.
    """
    cdef object leaves

    def __call__(self, leaf):
        return next(self.leaves)


def rebuild(tree, leaves, records=filled):
    """rebuild(tree, leaves, records=filled)
    --

    A tree of the form of `tree` with the items of the list `leaves`, as many as `flatten` appended.
    """
    cdef Remaining remaining = Remaining.__new__(Remaining)
    remaining.leaves = iter(leaves)
    return drawn(tree, remaining, records)


cdef object drawn(tree, Remaining remaining, records):
    kind = type(tree)
    if kind in leaf_types:
        return next(remaining.leaves)
    if kind is list and are_floats(tree):      # most lists that are long: no step for each number
        return list(islice(remaining.leaves, len(<list>tree)))
    if kind is not list and kind is not dict:
        return map_leaves(remaining, tree, records)
    enter()
    try:
        if kind is list:
            return [drawn(branch, remaining, records) for branch in <list>tree]
        return {key: drawn(branch, remaining, records) for key, branch in (<dict>tree).items()}
    finally:
        Py_LeaveRecursiveCall()
