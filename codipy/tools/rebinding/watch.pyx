# SPDX-License-Identifier: Apache-2.0
"""Whether dicts, functions and cells still hold what they held: the whole cost of entering rebound code, so in C."""
from numpy import ndarray

from cpython.dict cimport PyDict_GetItem
from cpython.float cimport PyFloat_CheckExact
from cpython.object cimport PyObject

from codipy.tape.activity cimport surroundings_of_thread, thread_slot

from codipy.tools.rebinding.diverted import code_of

cdef object NUMBER = object()

cdef extern from "Python.h":
    PyObject* PyCell_GET(PyObject* cell) noexcept
    PyObject* PyFunction_GetCode(object f) noexcept
    PyObject* PyFunction_GetDefaults(object f) noexcept
    PyObject* PyFunction_GetKwDefaults(object f) noexcept
    ctypedef struct PyTypeObject:
        PyObject* tp_dict


cdef inline bint is_same(PyObject* defaults, object known) noexcept:
    return (<PyObject*>None if defaults == NULL else defaults) == <PyObject*>known


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


cdef class FunctionWatch:
    """FunctionWatch(f, kinds)
    --

    A function with its code and defaults, which who reloads a module in place sets anew, and with what its cells hold. One
    without attributes must have none later: what these hold is looked at where there are some.

    Parameters
    ----------
    f : function
    kinds : frozenset
        Types of numbers, which may come for others.
    """
    cdef readonly object f, code, defaults, by_name
    cdef readonly list cells, raws       # which hold no number: who writes into an array counts its references
    cdef frozenset kinds
    cdef dict attributes         # that of a function without any

    def __init__(self, f, frozenset kinds):
        self.attributes = f.__dict__ if not f.__dict__ else None
        self.f, self.code, self.defaults, self.by_name = f, code_of(f), f.__defaults__, f.__kwdefaults__
        self.cells, self.raws, self.kinds = [], [], kinds

    def add(self, cell, bint is_fixed):
        """Watch a cell too, that is not empty: that it holds the very same, or any number."""
        self.cells.append(cell)
        self.raws.append(cell.cell_contents if is_fixed else NUMBER)

    cpdef bint is_current(self):
        """Whether all are the very same."""
        cdef Py_ssize_t i
        cdef PyObject* value
        if PyFunction_GetCode(self.f) != <PyObject*>self.code and code_of(self.f) is not self.code:
            return False
        if self.attributes:
            return False
        if not is_same(PyFunction_GetDefaults(self.f), self.defaults):
            return False
        if not is_same(PyFunction_GetKwDefaults(self.f), self.by_name):
            return False
        for i in range(len(self.cells)):
            value = PyCell_GET(<PyObject*>self.cells[i])
            if value != <PyObject*>self.raws[i]:
                if value == NULL or self.raws[i] is not NUMBER or not self.is_number(<object>value):
                    return False
        return True

    cdef bint is_number(self, object value) except -1:
        return PyFloat_CheckExact(value) or type(value) in self.kinds and not (type(value) is ndarray and value.dtype.hasobject)


def all_current(list watches):
    """Whether every Watch and FunctionWatch of a list is current."""
    for watch in watches:
        if type(watch) is Watch:
            if not (<Watch>watch).is_current():
                return False
        elif not (<FunctionWatch>watch).is_current():
            return False
    return True


cdef class Entrance:
    """Entrance()
    --

    Where rebound code is entered from outside: `Rebinding` inherits it and says how to rebuild what is no more current.

    Attributes
    ----------
    f, function : object
        A callable, and its translation.
    watches, caches : list
        What must not have changed since, and what is emptied.
    rebinder, version : Rebinder, int
        Who translates, and its version at the time.
    """
    cdef public object f, function, rebinder, version
    cdef public list watches, caches

    def current(self):
        """The rebuilt function, or `f` itself if there is nothing to rebuild, as of now.

        Returns
        -------
        callable
            A plain function with the code of `f`. It follows what is stored in the module's globals from outside only
            when this is called.
        """
        if surroundings_of_thread() != NULL:
            thread_slot()[4] = <void*>1       # see `ClassOf`
        if self.version == self.rebinder.version and all_current(self.watches):
            for cache in self.caches:
                cache.cache_clear()
            return self.function
        return self.rebuild()
