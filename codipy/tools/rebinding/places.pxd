# SPDX-License-Identifier: Apache-2.0
# What may hold an array of the user's, and can hold an Array instead while a tape records.
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array


cdef class Place:
    cdef object holder, key
    cdef object plain            # the user's array
    cdef Array array             # what is in its place
    cdef PyObject* held(self) except? NULL
    cdef Py_ssize_t count(self, PyObject* value) except -1
    cdef int put(self, object value) except -1
    cdef Place place_of(self, Array array)
    cdef bint exchange(self, Py_ssize_t references=*) except -1
    cdef bint is_over(self) noexcept
    cdef bint is_alone(self) noexcept
    cdef bint is_unchanged(self) noexcept
    cdef bint undo(self) except -1
    cdef int restore(self) except -1
    cdef object root(self)


# Whether a tuple is read as tuples are: a named one, and none with items of its own ways.
cdef bint is_tuple(object o) except -1
# The place of an item of a list, a dict or a tuple that is a plain array, or any array; None for others. So below.
cdef Place item_of(object container, object key, bint any_array=*)
cdef Place cell_of(object cell, bint any_array=*)
# An attribute may be in the `__dict__` of an object, in a slot, in its class, or in a named tuple.
cdef Place attribute_of(object o, str name, bint any_array=*)
# A local variable of a function that is running: of rebuilt code, where that is known to have no other reference to it.
cdef Place local_of(object frame, str name)
cdef bint is_local(Place place) noexcept
# A global variable is known by a view of its module.
cdef Place variable_of(object view, str name, bint any_array=*)
# Undo all exchanges of this thread when its recording is over, after `f()`, which undoes those of several places.
cdef int undo_at_end() except -1
cdef int before_undoing(object f) except -1
# Where an Array stands elsewhere by then, `f(place)` tells whether the user's array stands there again.
cdef int when_left(object f) except -1
# Those that hold an Array, and those in which several hold one: what stood in one of them may stand in another by now.
cdef list places_of_thread()
cdef list shared_places()
