# SPDX-License-Identifier: Apache-2.0
"""What rebuilt code calls where it reads something that it fills, so that it finds an Array there; see `places.pyx`.

``self.work[0] = x`` writes into an array that was made before. If the attribute has the only reference to it, it gets
an Array in its place until the recording is over.
"""
import sys
import threading
from collections import deque
from types import ModuleType

cimport cython
from cpython.list cimport PyList_CheckExact
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.tools.rebinding.made cimport array_of, has_references, is_array, records
from codipy.tools.rebinding.places cimport Place, attribute_of, cell_of, is_tuple, item_of, variable_of
from codipy.tools.rebinding.together cimport exchanged_here

import numpy as np

from codipy.tools.rebinding.containers import origin_of_view

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept
    object PyObject_GenericGetDict(object o, void* context)


class _Thread(threading.local):
    """What `lent` hands over: the array and the frame that calls the function, until that has it.

    The function's arguments are the user's, so none can say it. Rejected: an Array as the argument, with which a function
    that does not fill it would compute.
    """
    lent = None


cdef object thread = _Thread()


cdef Array exchanged(Place place, Py_ssize_t references=0):
    """An Array in a place where a plain array stands, and in all others where that stands; None where that cannot be."""
    if place is None:
        return None
    if place.exchange(references):
        return place.array
    return exchanged_here(place.held(), references, place.holder)


def hold_attribute(o, str name, /):
    """hold_attribute(o, name, /)
    --

    Let an attribute that is about to be read hold an Array, if it has the only reference to a plain array.

    Parameters
    ----------
    o : object
        What has the attribute: in its ``__dict__``, a slot, its class, or as a named tuple.
    name : str
        Of the attribute.

    Returns
    -------
    object
        `o` itself.
    """
    if not records():
        return o
    if isinstance(o, ModuleType):
        view = PyObject_GenericGetDict(o, NULL).get("_view")
        if getattr(view, "rebinder", None) is not None:      # a ModuleProxy's, and no variable of the user's
            exchanged(variable_of(view, name))
        return o
    exchanged(attribute_of(o, name))
    return o


def held_item(container, key, /):
    """held_item(container, key, /)
    --

    An item of a list, a dict or a tuple: an Array in the place of a plain array that only the container has.

    Parameters
    ----------
    container : object
        Of anything else the item is as it is.
    key : object
        An index or a key.

    Returns
    -------
    object
        ``container[key]``.
    """
    cdef Place place
    value = container[key]
    if is_array(<PyObject*>value) and records():
        place = item_of(container, key)
        if place is not None and place.held() == <PyObject*>value:
            array = exchanged(place, 1)      # one is the variable's here
            if array is not None:
                return array
    return value


def hold_item(container, key, /):
    """hold_item(container, key, /)
    --

    The same before an item is read and written in place.

    Parameters
    ----------
    container : object
        As for `held_item`.
    key : object
        An index or a key.

    Returns
    -------
    object
        `container` itself.
    """
    if type(container) is not Array and records():      # an Array has elements: the usual case in loops
        exchanged(item_of(container, key))
    return container


def hold_items(container, int depth=0, /):
    """hold_items(container, depth=0, /)
    --

    The same for all items.

    Parameters
    ----------
    container : object
        As for `held_item`.
    depth : int
        How deep in the items those of lists, dicts and tuples are meant, too.

    Returns
    -------
    object
        `container` itself.
    """
    if records():
        hold_down_to(container, depth)
    return container


cdef int hold_down_to(container, int depth) except -1:
    """The same of a recording, for items of items down to a depth."""
    holder = origin_of_view(container)
    if PyList_CheckExact(holder) or is_tuple(holder) or type(holder) is deque:
        keys = range(len(holder))
    elif isinstance(holder, dict):
        keys = list(dict.__iter__(holder))      # a class of the user's may have methods that count, or give something else
    else:
        return 0
    for key in keys:
        exchanged(item_of(holder, key))
        if depth > 0:
            hold_down_to(dict.__getitem__(holder, key) if isinstance(holder, dict) else holder[key], depth - 1)
    return 0


def hold_result(container, /):
    """hold_result(container, /)
    --

    The same for all items of what a function returned and is taken apart: of a tuple or a list that is no more than that.

    Parameters
    ----------
    container : object
        Anything else, which may see when it is gone, is left alone.

    Returns
    -------
    object
        `container` itself.
    """
    return hold_items(container) if type(container) is tuple or type(container) is list else container


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
        exchanged(cell_of(cell))


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
        view.flush_all()      # what the function has stored by ``global`` is in the module then, where it is looked for
        exchanged(variable_of(view, name))


def taken(value, /):
    """taken(value, /)
    --

    What a call gave and is filled: as `made` gives it, and an Array in all places of an array that was there before.

    Parameters
    ----------
    value : object
        On the interpreter's stack, and wherever else.

    Returns
    -------
    object
        An Array, or `value` itself.
    """
    return exchanged_of(<PyObject*>value, True)


cdef object exchanged_of(PyObject* plain, bint may_be_alone):
    """What is on the interpreter's stack, and perhaps nowhere else, as it is filled."""
    if not is_array(plain) or not records():
        return <object>plain
    if may_be_alone and has_references(plain, 1):
        return array_of(<object>plain)
    array = exchanged_here(plain, 1, None)
    return <object>plain if array is None else array


def popped(value, /):
    """popped(value, /)
    --

    The same of what was taken out of a list or dict, which may be put back there: an Array until the recording is over.

    Parameters
    ----------
    value : object
        On the interpreter's stack, and wherever else.

    Returns
    -------
    object
        An Array, or `value` itself.
    """
    return exchanged_of(<PyObject*>value, False)


def is_plain(value, /):
    """is_plain(value, /)
    --

    Whether something is a plain array, while a tape records.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        Of instances of subclasses False.
    """
    return is_array(<PyObject*>value) and records()


@cython.final
cdef class Defaults:
    """Defaults(f)
    --

    The default arguments of a function, which its rebuilt code knows.

    Parameters
    ----------
    f : function
        The user's.
    """
    cdef object f

    def __init__(self, f):
        self.f = f


def lent(function, array, args, dict kwargs, /):
    """lent(function, array, args, kwargs, /)
    --

    The result of a function for an array that nobody else has: if it fills that, no search for others is needed.

    Parameters
    ----------
    function : callable
        The user's.
    array : object
        The first argument. Of a plain array the function gets a copy.
    args, kwargs : tuple, dict
        The other arguments.

    Returns
    -------
    object
        ``function(array, *args, **kwargs)``.
    """
    if not is_array(<PyObject*>array) or not records():
        return function(array, *args, **kwargs)
    array = np.array(array)
    before = thread.lent
    thread.lent = array, sys._getframe()
    try:
        return function(array, *args, **kwargs)
    finally:
        thread.lent = before


cdef bint is_lent(PyObject* array) except -1:
    """Whether it was lent to the function that runs, which has not run before: none of the user's has seen it."""
    if thread.lent is None:
        return False
    known, caller = thread.lent
    if known is not <object>array or sys._getframe().f_back is not caller:
        return False
    thread.lent = None
    return True


def held_parameter(list value, defaults, /):
    """held_parameter(value, defaults, /)
    --

    What a parameter has when its function begins: an Array in all places of a plain array, be it a default argument.

    Parameters
    ----------
    value : list
        What the parameter had, and something else that it has meanwhile, so that the list has the only reference.
    defaults : Defaults
        Of the function; anything else for one that was made while rebound code ran.

    Returns
    -------
    object
        The first item of the list, or an Array.
    """
    cdef PyObject* item = PyList_GET_ITEM(value, 0)
    if type(defaults) is Defaults and is_array(item) and records():
        for holder in ((<Defaults>defaults).f.__defaults__, (<Defaults>defaults).f.__kwdefaults__):
            for key in range(len(holder)) if type(holder) is tuple else list(holder or ()):
                if holder[key] is <object>item:
                    array = exchanged(item_of(holder, key), 1)
                    if array is not None:
                        return array
    if is_array(item) and records():
        if is_lent(item):
            return array_of(<object>item)
        array = exchanged_here(item, 1, None)
        if array is not None:
            return array
    return value[0]
