# SPDX-License-Identifier: Apache-2.0
"""What may hold an array of the user's: items of lists, dicts and tuples, attributes, cells, variables.

While a tape records, such a place can hold an Array instead, if it has the only reference to the array: whoever wants
the array asks for the place. When the recording is over it gets a plain array back, with the values that were written:
its own, if no record on the tape reads the memory of that. What has a second reference stays as it is.

An item of a tuple is exchanged in the tuple itself, so that all who have the tuple see the Array: no hash of it can
change, since arrays have none.

The Array stays where something else has it by then (a list, a view that was kept): what shared elements goes on sharing
them. It is tried again whenever a recording of the thread ends.
"""
import collections
import sys
import threading
from types import MemberDescriptorType

import numpy as np

from cpython.dict cimport PyDict_Check, PyDict_GetItemWithError
from cpython.list cimport PyList_CheckExact
from cpython.number cimport PyIndex_Check, PyNumber_AsSsize_t
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_Check, PyTuple_CheckExact

from codipy.active.array_type cimport Array
from codipy.tape.activity cimport at_end
from codipy.tools.rebinding.made cimport array_of, has_references, is_array

from codipy.tools.rebinding.containers import origin_of_view

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        PyObject* tp_dict
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept
    void Py_INCREF(PyObject* o) noexcept
    void Py_DECREF(PyObject* o) noexcept
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept
    PyObject* PyTuple_GET_ITEM(object o, Py_ssize_t i) noexcept
    void PyTuple_SET_ITEM(object o, Py_ssize_t i, PyObject* value) noexcept
    PyObject* PyCell_GET(PyObject* cell) noexcept
    bint PyCell_Check(object o) noexcept
    int PyCell_Set(object cell, object value) except -1
    object PyObject_GenericGetDict(object o, void* context)
    bint PyType_Check(object o) noexcept

cdef extern from "frameobject.h":
    ctypedef struct PyFrameObject
    void PyFrame_LocalsToFast(PyFrameObject* frame, int clear) noexcept

cdef enum:
    MANY = 64                    # places that are remembered before it is looked which are over

cdef object deque = collections.deque, ndarray = np.ndarray
# From Python 3.14 on the interpreter's stack lends what stands in a local variable, which no count of references tells.
cdef bint LENDS = sys.version_info >= (3, 14)
cdef frozenset MAPPINGS = frozenset((dict, collections.defaultdict, collections.OrderedDict))


class _Thread(threading.local):
    def __init__(self):
        self.places, self.shared, self.enough = [], [], MANY


cdef object thread = _Thread()
cdef list before = []            # what is called before places get their arrays back
cdef object others = None        # what is called with a place whose Array something else has by then


cdef class Place:
    """What holds one array. Each kind of holder says what it holds by a key, and how something else is put there."""
    def __init__(self, holder, key=None):
        self.holder, self.key = holder, key

    cdef PyObject* held(self) except? NULL:
        """What is there, borrowed; NULL where nothing is."""
        raise NotImplementedError

    cdef int put(self, object value) except -1:
        raise NotImplementedError

    cdef Py_ssize_t count(self, PyObject* value) except -1:
        """How many references to what is there this place has."""
        return 1

    cdef Place place_of(self, Array array):
        """The place that an Array has in the same holder, as after a swap; None for none."""
        return None

    cdef bint exchange(self, Py_ssize_t references=0) except -1:
        """Put an Array there instead of a plain array, which is there and which the caller has so many references to.

        Returns
        -------
        bint
            Whether that was possible.
        """
        cdef PyObject* value = self.held()
        if value == NULL or not has_references(value, self.count(value) + references):
            return False
        array = array_of(<object>value)
        if type(array) is not Array:
            return False
        self.plain, self.array = <object>value, array
        self.put(array)
        note(self)
        return True

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
        return (self.array.storage.buffer.array is self.plain and Py_REFCNT(buffer) == 1
                and self.array.storage.buffer.walk >= 0)

    cdef bint undo(self) except -1:
        """Give the user's array back, with the values of the Array; tell whether the place can be forgotten."""
        cdef PyObject* value = self.held()
        if value != <PyObject*>self.array:      # the user put something else there
            return True
        if self.array.pending is not None:
            self.array.value      # computes it
        if Py_REFCNT(value) != self.count(value) + 1 or not self.is_alone():
            return Py_REFCNT(<PyObject*>self.holder) == 1       # nobody else has what held it
        self.restore()
        self.put(self.plain)
        return True

    cdef int restore(self) except -1:
        """Write the values of the Array into the user's array, or make another one with them."""
        if self.is_unchanged():
            pass
        elif self.array.shape == self.plain.shape and Py_REFCNT(<PyObject*>self.plain) == 1:
            np.copyto(self.plain, self.array.value)
        else:                     # a record reads that memory, and the user is to write to what comes back
            self.plain = np.array(self.array.value, order="K")
        if self.array.readonly:
            self.plain.flags.writeable = False
        return 0

    cdef object root(self):
        """Where a search finds this place."""
        return self.holder


cdef class _DictItem(Place):
    """An item of a dict, be it one of attributes."""
    cdef PyObject* held(self) except? NULL:
        return PyDict_GetItemWithError(self.holder, self.key)

    cdef int put(self, object value) except -1:
        self.holder[self.key] = value
        return 0

    cdef Place place_of(self, Array array):
        for key in list(self.holder):
            if PyDict_GetItemWithError(self.holder, key) == <PyObject*>array:
                return _DictItem(self.holder, key)
        return None


cdef class _ListItem(Place):
    cdef PyObject* held(self) except? NULL:
        cdef Py_ssize_t index = self.key
        return PyList_GET_ITEM(self.holder, index) if index < len(<list>self.holder) else NULL

    cdef int put(self, object value) except -1:
        self.holder[self.key] = value
        return 0

    cdef Place place_of(self, Array array):
        for i in range(len(<list>self.holder)):
            if PyList_GET_ITEM(self.holder, i) == <PyObject*>array:
                return _ListItem(self.holder, i)
        return None


cdef class _DequeItem(Place):
    """An item of a ``collections.deque``."""
    cdef PyObject* held(self) except? NULL:
        if not self.key < len(self.holder):
            return NULL
        value = self.holder[self.key]
        return <PyObject*>value       # which the deque keeps

    cdef int put(self, object value) except -1:
        self.holder[self.key] = value
        return 0

    cdef Place place_of(self, Array array):
        for i in range(len(self.holder)):
            if self.holder[i] is array:
                return _DequeItem(self.holder, i)
        return None


cdef class _TupleItem(Place):
    cdef PyObject* held(self) except? NULL:
        return PyTuple_GET_ITEM(self.holder, self.key)

    cdef int put(self, object value) except -1:
        cdef PyObject* old = PyTuple_GET_ITEM(self.holder, self.key)
        Py_INCREF(<PyObject*>value)
        PyTuple_SET_ITEM(self.holder, self.key, <PyObject*>value)
        Py_DECREF(old)
        return 0


cdef class _Cell(Place):
    """The cell of a closure."""
    cdef PyObject* held(self) except? NULL:
        return PyCell_GET(<PyObject*>self.holder)

    cdef int put(self, object value) except -1:
        PyCell_Set(self.holder, value)
        return 0


cdef class _Slot(Place):
    """An attribute of an object whose class has ``__slots__``."""
    cdef PyObject* held(self) except? NULL:
        try:
            value = self.key.__get__(self.holder)
        except (AttributeError, TypeError):        # nothing is there, or the object is of another class by now
            return NULL
        return <PyObject*>value       # which the slot keeps

    cdef int put(self, object value) except -1:
        self.key.__set__(self.holder, value)
        return 0


cdef class _ClassAttribute(Place):
    cdef PyObject* held(self) except? NULL:
        return attribute_in(self.holder, self.key)

    cdef int put(self, object value) except -1:
        type.__setattr__(self.holder, self.key, value)
        return 0


cdef class _Variable(Place):
    """A global variable of a module, by a view of that."""
    cdef PyObject* held(self) except? NULL:
        return PyDict_GetItemWithError(self.holder.origin, self.key)

    cdef Py_ssize_t count(self, PyObject* value) except -1:
        return self.holder.references(self.key, <object>value)

    cdef int put(self, object value) except -1:
        self.holder.exchange(self.key, value)
        return 0

    cdef Place place_of(self, Array array):
        cdef dict variables = self.holder.origin
        for key in list(variables):
            if type(key) is str and PyDict_GetItemWithError(variables, key) == <PyObject*>array:
                return _Variable(self.holder, key)
        return None

    cdef object root(self):
        return self.holder.origin


cdef class _Local(Place):
    """A local variable of rebuilt code that is running. It is gone when its function has ended: none is kept."""
    cdef PyObject* held(self) except? NULL:
        variables = self.holder.f_locals
        value = variables.get(self.key)
        forget_locals(variables)
        return <PyObject*>value       # which the variable keeps

    cdef int put(self, object value) except -1:
        variables = self.holder.f_locals
        if type(variables) is dict and sys.gettrace() is None:
            variables.clear()
        variables[self.key] = value
        if type(variables) is dict:       # up to Python 3.12: a copy
            PyFrame_LocalsToFast(<PyFrameObject*><PyObject*>self.holder, 0)
            forget_locals(variables)
        return 0


cdef bint is_local(Place place) noexcept:
    return type(place) is _Local


cdef int forget_locals(variables) except -1:
    """Empty the copy of local variables that a frame keeps, unless somebody else has it."""
    if type(variables) is dict and Py_REFCNT(<PyObject*>variables) == 2 and sys.gettrace() is None:
        variables.clear()
    return 0


cdef int note(Place place) except -1:
    """Remember a place until the recording ends, or until it is over: a recording of many steps may make many."""
    cdef list places = thread.places
    undo_at_end()
    if len(places) >= thread.enough:
        places[:] = [other for other in places if not (<Place>other).is_over()]
        thread.enough = MANY + 2 * len(places)
    places.append(place)
    return 0


cdef int undo_at_end() except -1:
    at_end(_undo)
    return 0


cdef int before_undoing(object f) except -1:
    before.append(f)
    return 0


cdef int when_left(object f) except -1:
    global others
    others = f
    return 0


cdef list places_of_thread():
    return thread.places


cdef list shared_places():
    return thread.shared


cdef list moved_along(list places):
    """The places in which the Arrays stand now: some may have changed places, as buffers that are swapped do."""
    cdef Place place, found
    cdef dict pairs = {}
    cdef list now = []
    for place in places:
        pairs[<size_t><PyObject*>place.array] = (place.plain, place.array)
    for place in places:
        place.plain, place.array = pairs.pop(<size_t>place.held(), (None, None))
        if place.array is not None:
            now.append(place)
    for plain, array in pairs.values():
        if Py_REFCNT(<PyObject*>array) == 2:       # by the pair and the variable here
            continue
        for place in places + thread.shared:
            found = place.place_of(array)
            if found is not None:
                found.plain, found.array = plain, array
                now.append(found)
                break
    return now


def _undo():
    """Undo what can be undone on this thread; tell whether something is left."""
    error = None
    for f in before:
        try:
            f()
        except Exception as new:
            error = new
    places, thread.places = thread.places, []
    found = moved_along(places)
    thread.shared.clear()
    for place in found:
        try:
            if not (<Place>place).undo() and not others(place):
                thread.places.append(place)
        except Exception as new:      # so that the other places are not left behind
            error = error or new
    if error is not None:
        raise error
    return bool(thread.places)


def plain_in_one_place(array, /):
    """plain_in_one_place(array, /)
    --

    The user's array for which an Array stands in one place.

    Parameters
    ----------
    array : Array
        Any.

    Returns
    -------
    ndarray or Array
        `array` itself where it stands for none.
    """
    for place in thread.places:
        if (<Place>place).array is array:
            return (<Place>place).plain
    return array


cdef bint is_tuple(object o) except -1:
    """Whether it is a tuple that is read as tuples are: a named one, and none with items of its own ways."""
    if PyTuple_CheckExact(o):
        return True
    kind = type(o)
    return PyTuple_Check(o) and kind.__getitem__ is tuple.__getitem__ and kind.__len__ is tuple.__len__ \
        and kind.__iter__ is tuple.__iter__


cdef inline bint stands(PyObject* o, bint any_array) noexcept:
    return is_array(o) or (any_array and o != NULL and type(<object>o) is Array)


cdef Place item_of(object container, object key, bint any_array=False):
    cdef Py_ssize_t size, index
    container = origin_of_view(container)
    if PyDict_Check(container):
        if type(container) in MAPPINGS and stands(PyDict_GetItemWithError(container, key), any_array):
            return _DictItem(container, key)
    elif type(container) is deque and PyIndex_Check(key):
        index = PyNumber_AsSsize_t(key, None)
        size = len(container)
        if index < 0:
            index += size
        if 0 <= index < size and (type(container[index]) is ndarray or any_array and type(container[index]) is Array):
            return _DequeItem(container, index)
    elif (PyList_CheckExact(container) or is_tuple(container)) and PyIndex_Check(key):
        index, size = PyNumber_AsSsize_t(key, None), len(container)
        if index < 0:
            index += size
        if 0 <= index < size:
            if PyTuple_Check(container):
                return _TupleItem(container, index) if stands(PyTuple_GET_ITEM(container, index), any_array) else None
            return _ListItem(container, index) if stands(PyList_GET_ITEM(container, index), any_array) else None
    return None


cdef Place cell_of(object cell, bint any_array=False):
    return _Cell(cell) if stands(PyCell_GET(<PyObject*>cell), any_array) else None


cdef Place local_of(object frame, str name):
    return _Local(frame, name) if "__rebound__" in frame.f_builtins and not LENDS else None


cdef PyObject* attribute_in(object cls, str name) except? NULL:
    """What a class itself has by a name, borrowed; NULL for nothing."""
    cdef PyObject* variables = (<TypeObject*>cls).tp_dict
    return PyDict_GetItemWithError(<object>variables, name) if variables != NULL else NULL


cdef bint is_set_as_usual(object cls, str name) except -1:
    """Whether its metaclass has nothing to say about an attribute of a class."""
    if type(cls).__setattr__ is not type.__setattr__:
        return False
    for kind in type(cls).__mro__:
        if attribute_in(kind, name) != NULL:
            return False
    return True


cdef Place attribute_of(object o, str name, bint any_array=False):
    cdef PyObject* value
    if not PyType_Check(o):
        try:
            variables = PyObject_GenericGetDict(o, NULL)
        except AttributeError:
            variables = None
        if variables is not None and PyDict_GetItemWithError(variables, name) != NULL:
            value = PyDict_GetItemWithError(variables, name)
            return _DictItem(variables, name) if stands(value, any_array) else None
    for cls in (o if PyType_Check(o) else type(o)).__mro__:
        value = attribute_in(cls, name)
        if stands(value, any_array):
            return _ClassAttribute(cls, name) if is_set_as_usual(cls, name) else None
        if value != NULL:
            if PyType_Check(o):
                return None
            if type(<object>value) is MemberDescriptorType:
                return _Slot(o, <object>value)
            return named_item(o, name, any_array) if PyTuple_Check(o) else None
    return None


cdef Place named_item(object o, str name, bint any_array):
    """The place of an attribute of a named tuple."""
    names = getattr(type(o), "_fields", ())
    return item_of(o, names.index(name), any_array) if type(names) is tuple and name in names else None


cdef Place variable_of(object view, str name, bint any_array=False):
    return _Variable(view, name) if stands(PyDict_GetItemWithError(view.origin, name), any_array) else None
