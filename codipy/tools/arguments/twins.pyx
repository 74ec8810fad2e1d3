# SPDX-License-Identifier: Apache-2.0
"""The lists, dicts and dataclasses that a function gets in the place of the caller's: what both held before it ran.

A function gets containers of its own, with inputs in them. Where the caller's stand under another name that it reads,
Python would show there what is written here, and here what is written there. So what each of both holds is remembered,
as the objects that it holds, and compared when the function has returned.

Rejected: containers that tell when they are written to, which compiled code such as `heapq` does not ask. Rejected: to
look only where the bytecode of the function may write to a container: what it calls, and libraries, do so unseen.
"""
import functools
from types import MemberDescriptorType

from cpython.dict cimport PyDict_Next, PyDict_Size
from cpython.object cimport PyObject

from codipy.tools.arguments.forms import LEAVES, differentiable_fields, is_record
from codipy.tools.rebinding.together import plain_of

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept

cdef frozenset leaf_types = LEAVES


cdef class Twins:
    """Twins(trees=(), made=(), pairs=())
    --

    Containers of the caller, and those that were made of them for a function.

    Parameters
    ----------
    trees, made : list
        Arguments of a driver, and what the function gets for each.
    pairs : iterable of tuple, optional
        Of others: a container of the caller, what was made of it, what each of them held.
    """

    def __init__(self, trees=(), made=(), pairs=()):
        cdef list waiting = list(zip(trees, made))
        cdef tuple pair
        self.pairs = list(pairs)
        while waiting:
            pair = waiting.pop()
            tree, new = pair
            kind = type(tree)
            if kind is list is type(new):      # the usual cases, in fewer steps
                self.pairs.append((tree, new, (<list>tree).copy(), (<list>new).copy()))
                waiting += [(one, other) for one, other in zip(<list>tree, <list>new) if type(one) not in leaf_types]
            elif kind is dict is type(new):
                self.pairs.append((tree, new, entries_of(<dict>tree), entries_of(<dict>new)))
                waiting += [(branch, (<dict>new)[key]) for key, branch in (<dict>tree).items()
                            if type(branch) not in leaf_types]
            elif kind not in leaf_types and tree is not new:
                if not isinstance(tree, tuple):
                    if not are_alike(tree, new):      # a number; or ``__post_init__`` made something else of a field
                        continue
                    self.pairs.append((tree, new, held(tree), held(new)))
                waiting += branches(tree, new)

    cpdef bint are_as_before(self):
        """Whether nothing was written to any of them."""
        cdef tuple pair
        for pair in self.pairs:
            if is_changed(pair[0], pair[2]) or is_changed(pair[1], pair[3]):
                return False
        return True

    def written(self):
        """The caller's containers of which the function has written to what it got."""
        return [tree for tree, new, _, before in self.pairs if is_changed(new, before)]

    def written_elsewhere(self):
        """The caller's containers that were written to themselves."""
        return [tree for tree, _, before, _ in self.pairs if is_changed(tree, before)]

    def originals_of(self, made):
        """The caller's containers of which one of these was made."""
        return [tree for tree, new, _, _ in self.pairs if any([new is one for one in made])]


cdef bint are_alike(tree, new) except -1:
    return (isinstance(tree, list) and isinstance(new, list) or isinstance(tree, dict) and isinstance(new, dict)
            or is_record(tree) and is_record(new))


cdef list branches(tree, new):
    """Pairs of what two trees of the same form hold."""
    if isinstance(tree, dict):
        return [(branch, new[key]) for key, branch in tree.items() if type(branch) not in leaf_types and key in new]
    if is_record(tree):
        return [(getattr(tree, name), getattr(new, name)) for name in differentiable_fields(tree)]
    return list(zip(tree, new)) if isinstance(new, (list, tuple)) else []


cdef list held(x):
    """All that a container holds, to be compared by `is_changed`: a list, since Python's collector tells who has it.

    Dicts and tuples of arrays alone it does not track, and their references to what is filled would count as somebody
    else's.
    """
    kind = type(x)
    if kind is list:
        return (<list>x).copy()
    if kind is dict:
        return entries_of(<dict>x)
    return entries_of(<dict>x.__dict__) if has_only_variables(x) else contents_of(x, getattr(x, "__dict__", {}))


cdef list entries_of(dict x):
    return [*x, *x.values()]


cdef bint has_only_variables(x) except -1:
    """Whether all that an object holds stands in its ``__dict__``."""
    return not isinstance(x, (list, dict)) and not _slots_of(type(x)) and type(getattr(x, "__dict__", None)) is dict


cdef list contents_of(x, variables):
    """All that an object holds, with these variables, as a list."""
    cdef list found = [*list.__iter__(x)] if isinstance(x, list) else [*x, *dict.values(x)] if isinstance(x, dict) else []
    for name in _slots_of(type(x)):
        found += (name, getattr(x, name, None))
    for name, value in variables.items():
        if not isinstance(getattr(type(x), name, None), functools.cached_property):
            found += (name, value)
    return found


@functools.lru_cache(256)
def _slots_of(cls):
    """The names of the slots that objects of a class have."""
    return tuple([name for kind in cls.__mro__ for name, value in vars(kind).items()
                  if type(value) is MemberDescriptorType])


cdef bint is_changed(x, list before) except -1:
    kind = type(x)
    if kind is list:
        return not are_items(<list>x, before)
    if kind is dict:
        return not are_entries(<dict>x, before) and not are_the_same(entries_of(<dict>x), before)
    if not has_only_variables(x):
        return not are_the_same(contents_of(x, getattr(x, "__dict__", {})), before)
    if are_entries(<dict>x.__dict__, before):
        return False
    half = len(before) // 2
    return not are_the_same(contents_of(x, x.__dict__), contents_of(x, dict(zip(before[:half], before[half:]))))


cdef bint are_items(list now, list before) except -1:
    """Whether two lists hold the same objects."""
    cdef Py_ssize_t i
    if len(now) != len(before):
        return False
    for i in range(len(now)):
        if PyList_GET_ITEM(now, i) != PyList_GET_ITEM(before, i):
            return are_the_same(now, before)
    return True


cdef bint are_entries(dict now, list before) except -1:
    """Whether a dict holds the same objects by the same keys, in the same order, as when `entries_of` told them."""
    cdef Py_ssize_t here = 0, k = 0, size = PyDict_Size(now)
    cdef PyObject* key
    cdef PyObject* value
    if 2 * size != len(before):
        return False
    while PyDict_Next(now, &here, &key, &value):
        if key != PyList_GET_ITEM(before, k) or value != PyList_GET_ITEM(before, size + k):
            return False
        k += 1
    return True


cdef bint are_the_same(list now, list before) except -1:
    """The same, where an Array may stand for a plain array as long as the recording runs."""
    if len(now) != len(before):
        return False
    for one, other in zip(now, before):
        if one is not other and plain_of(one) is not other and one is not plain_of(other):
            return False
    return True
