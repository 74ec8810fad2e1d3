# SPDX-License-Identifier: Apache-2.0
"""Whether dicts and cells still hold what they held: the whole cost of entering rebound code, so in C."""
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject

cdef int DEEP = 4, FAR = 1024     # as far as lists are looked into: see containers.py

cdef extern from "Python.h":
    PyObject* PyCell_GET(PyObject* cell) noexcept
    bint PyFunction_Check(object f) noexcept
    PyObject* PyFunction_GetCode(object f) noexcept
    ctypedef struct PyTypeObject:
        PyObject* tp_dict


cdef class Watch:
    """Watch(mapping)
    --

    Names of a dict, or of a class, with the values that they had.

    Parameters
    ----------
    mapping : dict or type
        A class of Python code: its attributes are looked at where they are.
    """
    cdef readonly object mapping
    cdef readonly Py_ssize_t size
    cdef readonly tuple names, raws
    cdef dict _variables

    def __init__(self, mapping):
        if isinstance(mapping, type):
            self._variables = <dict>(<PyTypeObject*>mapping).tp_dict
        else:
            self._variables = mapping
        self.mapping = mapping
        self.names = self.raws = ()
        self.size = len(self._variables)

    def set(self, names, raws):
        """Watch these names and no others, and that no name is added to or taken from the dict."""
        names, raws = tuple(names), tuple(raws)
        assert len(names) == len(raws)
        self.size = len(self._variables)
        self.names, self.raws = names, raws

    def grow(self, Py_ssize_t by):
        """Expect that many names more."""
        self.size += by

    cpdef bint is_current(self):
        """Whether all names are there, with the very same values."""
        cdef Py_ssize_t i
        cdef tuple names = self.names, raws = self.raws
        if len(self._variables) != self.size:
            return False
        for i in range(len(names)):
            if PyDict_GetItem(self._variables, names[i]) != <PyObject*>raws[i]:
                return False
        return True


cdef class CellWatch:
    """CellWatch(cells, raws)
    --

    Cells of a closure with what they held.
    """
    cdef readonly tuple cells, raws

    def __init__(self, cells, raws):
        self.cells, self.raws = tuple(cells), tuple(raws)
        assert len(self.cells) == len(self.raws)

    cpdef bint is_current(self):
        """Whether the cells hold the very same values."""
        cdef Py_ssize_t i
        cdef tuple cells = self.cells, raws = self.raws
        for i in range(len(cells)):
            if PyCell_GET(<PyObject*>cells[i]) != <PyObject*>raws[i]:
                return False
        return True


def all_current(list watches):
    """Whether every Watch and CellWatch of a list is current."""
    for watch in watches:
        if type(watch) is Watch:
            if not (<Watch>watch).is_current():
                return False
        elif not (<CellWatch>watch).is_current():
            return False
    return True


cpdef bint all_of(arguments, frozenset kinds, int depth=0) except -1:
    """Whether the type of every argument, and of what stands first in lists, tuples and dicts, is one of `kinds`."""
    cdef int seen = 0
    for argument in arguments:
        kind = type(argument)
        if kind not in kinds:
            return False
        if kind is list or kind is tuple:
            if depth < DEEP and not all_of(argument, kinds, depth + 1):
                return False
        elif kind is dict:
            if depth < DEEP and not (all_of(argument.keys(), kinds, depth + 1)
                                     and all_of(argument.values(), kinds, depth + 1)):
                return False
        seen += 1
        if depth and seen == FAR:
            return True
    return True


def code_of(f):
    """What becomes another object when a module is reloaded in place."""
    if PyFunction_Check(f):
        return <object>PyFunction_GetCode(f)
    return getattr(f, "__code__", None)


cdef class Entrance:
    """Entrance()
    --

    Where rebound code is entered from outside: `Rebinding` inherits it and says how to rebuild what is no more current.

    Attributes
    ----------
    f, code, function : object
        A callable, its code when it was translated, and the translation.
    watches, caches : list
        What must not have changed since, and what is emptied.
    rebinder, version : Rebinder, int
        Who translates, and its version at the time.
    """
    cdef public object f, code, function, rebinder, version
    cdef public list watches, caches

    def current(self):
        """The rebuilt function, or `f` itself if there is nothing to rebuild, as of now.

        Returns
        -------
        callable
            A plain function with the code of `f`. It follows what is stored in the module's globals from outside only
            when this is called.
        """
        if (self.version == self.rebinder.version and all_current(self.watches)
                and self.code is code_of(self.f)):
            for cache in self.caches:
                cache.cache_clear()
            return self.function
        return self.rebuild()
