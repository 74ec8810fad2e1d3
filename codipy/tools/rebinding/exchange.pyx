# SPDX-License-Identifier: Apache-2.0
"""Arrays in the places of plain ones that only one attribute, item, cell or global variable holds, while a tape records.

``self.work[0] = x`` writes into an array that was made before. If the attribute has the only reference to it, whoever
wants the array asks for the attribute: so the attribute gets an Array, which everybody sees, and when the recording is
over it gets a plain array back, with the values that were written: its own, if no record on the tape reads the memory of
that. What has a second reference stays as it is.

The Array stays where something else has it by then (a list, a view that was kept): what shared elements goes on sharing
them. It is tried again whenever a recording of the thread ends.
"""
import threading
from types import ModuleType

import numpy as np

from cpython.dict cimport PyDict_CheckExact, PyDict_GetItemWithError
from cpython.list cimport PyList_CheckExact
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.tape.activity cimport at_end
from codipy.tools.rebinding.made cimport array_of, has_references, records

from codipy.tools.rebinding.containers import origin_of_view

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept
    PyObject* PyCell_GET(PyObject* cell) noexcept
    bint PyCell_Check(object o) noexcept
    int PyCell_Set(object cell, object value) except -1
    object PyObject_GenericGetDict(object o, void* context)
    bint PyType_Check(object o) noexcept

cdef enum:
    MANY = 64                    # places that are remembered before it is looked which are over


class _Thread(threading.local):
    def __init__(self):
        self.places, self.enough = [], MANY


cdef object thread = _Thread()


cdef PyObject* found(object holder, object key) except? NULL:
    """What a dict, a list or the cell of a closure holds, borrowed; NULL where that is nothing, or for other holders."""
    cdef Py_ssize_t size
    if PyDict_CheckExact(holder):
        return PyDict_GetItemWithError(holder, key)
    if PyList_CheckExact(holder):
        size = len(<list>holder)
        return PyList_GET_ITEM(holder, key % size) if type(key) is int and -size <= key < size else NULL
    return PyCell_GET(<PyObject*>holder) if PyCell_Check(holder) else NULL


cdef class _Place:
    """What holds one array: an item of a dict or a list, or the cell of a closure."""
    cdef object holder, key
    cdef object plain            # the user's array
    cdef Array array             # what is in its place

    def __init__(self, holder, key=None):
        self.holder, self.key = holder, key

    cdef PyObject* held(self) except? NULL:
        """What is there, borrowed; NULL where nothing is."""
        return found(self.holder, self.key)

    cdef Py_ssize_t count(self, PyObject* value) except -1:
        """How many references to what is there this place has."""
        return 1

    cdef int put(self, object value) except -1:
        if PyCell_Check(self.holder):
            PyCell_Set(self.holder, value)
        else:
            self.holder[self.key] = value
        return 0

    cdef int exchange(self, object plain) except -1:
        """Put an Array there instead of a plain array, which is there and nowhere else."""
        cdef object array = array_of(plain)
        if type(array) is Array:
            self.plain, self.array = plain, array
            self.put(array)
            note(self)
        return 0

    cdef bint is_over(self) noexcept:
        """Whether nobody else has the Array, or what holds it, so that nothing is to be given back."""
        return Py_REFCNT(<PyObject*>self.array) == 1 or Py_REFCNT(<PyObject*>self.holder) == 1

    cdef bint is_alone(self) noexcept:
        """Whether no other Array shares elements with this one; its base is one, if NumPy's array has a base."""
        cdef Array base = self.array.owner
        cdef PyObject* storage = <PyObject*>self.array.storage
        if base is None or <PyObject*>base.storage != storage:
            return Py_REFCNT(storage) == 1
        return Py_REFCNT(storage) == 2 and Py_REFCNT(<PyObject*>base) == 2        # the second is the variable here

    cdef bint is_unchanged(self) noexcept:
        """Whether the values are in the user's own memory, and nothing else reads them there."""
        cdef PyObject* buffer = <PyObject*>self.array.storage.buffer
        return self.array.storage.buffer.array is self.plain and Py_REFCNT(buffer) == 1

    cdef bint follow(self) except -1:
        """Whether the Array has another place in the same list or dict now, as after a swap; then that is the place."""
        if PyDict_CheckExact(self.holder):
            for key in list(self.holder):
                if PyDict_GetItemWithError(self.holder, key) == <PyObject*>self.array:
                    self.key = key
                    return True
        elif PyList_CheckExact(self.holder):
            for i in range(len(<list>self.holder)):
                if PyList_GET_ITEM(self.holder, i) == <PyObject*>self.array:
                    self.key = i
                    return True
        return False

    cdef bint undo(self) except -1:
        """Give the user's array back, with the values of the Array; tell whether the place can be forgotten."""
        cdef PyObject* value = self.held()
        if value != <PyObject*>self.array:      # the user put something else there
            if Py_REFCNT(<PyObject*>self.array) == 1 or not self.follow():
                return True
            value = self.held()
        if self.array.pending is not None:
            self.array.value      # computes it
        if Py_REFCNT(value) != self.count(value) + 1 or not self.is_alone():
            return Py_REFCNT(<PyObject*>self.holder) == 1       # nobody else has what held it
        if self.is_unchanged():
            pass
        elif self.array.shape == self.plain.shape and Py_REFCNT(<PyObject*>self.plain) == 1:
            np.copyto(self.plain, self.array.value)
        else:                     # a record reads that memory, and the user is to write to what comes back
            self.plain = np.array(self.array.value, order="K")
        if self.array.readonly:
            self.plain.flags.writeable = False
        self.put(self.plain)
        return True


cdef class _Global(_Place):
    """A global variable of a module, by a view of that."""
    cdef PyObject* held(self) except? NULL:
        return PyDict_GetItemWithError(self.holder.origin, self.key)

    cdef Py_ssize_t count(self, PyObject* value) except -1:
        return self.holder.references(self.key, <object>value)

    cdef int put(self, object value) except -1:
        self.holder.exchange(self.key, value)
        return 0


cdef int note(_Place place) except -1:
    """Remember a place until the recording ends, or until it is over: a recording of many steps may make many."""
    cdef list places = thread.places
    if not places:
        at_end(_undo)
    elif len(places) >= thread.enough:
        places[:] = [other for other in places if not (<_Place>other).is_over()]
        thread.enough = MANY + 2 * len(places)
    places.append(place)
    return 0


def _undo():
    """Undo what can be undone on this thread; tell whether something is left."""
    places, thread.places = thread.places, []
    thread.places += [place for place in places if not (<_Place>place).undo()]
    return bool(thread.places)


cdef int hold(object holder, object key) except -1:
    """Exchange the array that an item of a list or a dict, or a cell, holds, if nothing else does."""
    cdef PyObject* value = found(holder, key)
    if value != NULL and has_references(value, 1):
        _Place(holder, key).exchange(<object>value)
    return 0


cdef int hold_variable(object view, str name) except -1:
    """The same for a global variable of a module, which all views of the module have too."""
    cdef PyObject* value = PyDict_GetItemWithError(view.origin, name)
    if value == NULL or type(<object>value) is not np.ndarray:
        return 0
    if has_references(value, view.references(name, <object>value)):
        _Global(view, name).exchange(<object>value)
    return 0


def hold_attribute(o, str name, /):
    """hold_attribute(o, name, /)
    --

    Let an attribute that is about to be read hold an Array, if it has the only reference to a plain array.

    Parameters
    ----------
    o : object
        What has the attribute; only a ``__dict__`` counts.
    name : str
        Of the attribute.

    Returns
    -------
    object
        `o` itself.
    """
    if not records() or PyType_Check(o):
        return o
    if isinstance(o, ModuleType):
        view = PyObject_GenericGetDict(o, NULL).get("_view")
        if getattr(view, "rebinder", None) is not None:      # a ModuleProxy's, and no variable of the user's
            hold_variable(view, name)
        return o
    try:
        variables = PyObject_GenericGetDict(o, NULL)
    except AttributeError:
        return o
    hold(variables, name)
    return o


def hold_item(container, key, /):
    """hold_item(container, key, /)
    --

    The same for an item of a list or a dict.

    Parameters
    ----------
    container : object
        Anything but a list or a dict is left alone.
    key : object
        Anything but a text or a number is left alone.

    Returns
    -------
    object
        `container` itself.
    """
    if records() and (type(key) is str or type(key) is int):
        hold(origin_of_view(container), key)
    return container


def hold_items(container, /):
    """hold_items(container, /)
    --

    The same for all items of a list or a dict.

    Parameters
    ----------
    container : object
        As for `hold_item`.

    Returns
    -------
    object
        `container` itself.
    """
    if records():
        holder = origin_of_view(container)
        if PyList_CheckExact(holder):
            for i in range(len(<list>holder)):
                hold(holder, i)
        elif PyDict_CheckExact(holder):
            for key in list(holder):
                if type(key) is str or type(key) is int:
                    hold(holder, key)
    return container


def hold_cell(cell, /):
    """hold_cell(cell, /)
    --

    The same for a variable of an enclosing function.

    Parameters
    ----------
    cell : cell
        Of the closure.

    Returns
    -------
    None
    """
    if records():
        hold(cell, None)


def hold_global(view, str name, /):
    """hold_global(view, name, /)
    --

    The same for a global variable.

    Parameters
    ----------
    view : View
        Of the module.
    name : str
        Of the variable.

    Returns
    -------
    None
    """
    if records():
        hold_variable(view, name)
