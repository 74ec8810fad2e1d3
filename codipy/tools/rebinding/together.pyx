# SPDX-License-Identifier: Apache-2.0
"""A plain array that stands in several places, or that the caller has too: one Array stands in all of them.

As in `places.pyx`, but what is exchanged has a memory of its own, so that records can read it, and when the recording
is over the user's array gets the values and stands in its places again: it is the same object, since others have it.
"""
import gc
import sys
import threading

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.active.arrays.packing cimport from_ndarray
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport at_end
from codipy.tools.pool cimport waits_for_rebound
from codipy.tools.rebinding.holders cimport Holders
from codipy.tools.rebinding.made cimport has_references
from codipy.tools.rebinding.places cimport Place, before_undoing, places_of_thread, shared_places, undo_at_end

from codipy.errors import ActiveError
from codipy.tools.rebinding.places import plain_in_one_place
from codipy.tools.swallowed import raised

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept

cdef enum:
    MANY = 64                    # groups that are remembered before it is looked which are over
    AGAIN = 20                   # searches without the collector after one in vain


class _Thread(threading.local):
    def __init__(self):
        self.groups, self.enough, self.failures, self.refused = [], MANY, {}, {}


cdef object thread = _Thread()


cdef class Group:
    """Group()
    --

    The places of one array.
    """
    cdef object plain
    cdef Array array
    cdef list places, roots

    cdef bint is_over(self) noexcept:
        """Whether nobody else has the Array, or what holds it, so that nothing is to be given back."""
        for place in self.places:
            if not (<Place>place).is_over():
                return False
        return Py_REFCNT(<PyObject*>self.plain) == 1

    cdef int undo(self) except -1:
        """Give the user's array back, with the values of the Array."""
        values = self.array.value
        if values.shape != self.plain.shape:
            self.plain.shape = values.shape
        np.copyto(self.plain, values)
        values = None
        if self.array.readonly:
            self.plain.flags.writeable = False
        self.put_back(self.places)
        if self.is_alone():
            return 0
        gc.collect(1)             # of functions that refer to themselves
        if self.is_alone():
            return 0
        self.find_others()
        if not self.is_alone() and not self.is_left_by_errors():
            raise ActiveError("an array that was there before the recording stands in several places, or the caller has "
                              "it, and the function keeps it, or a view of it, in another place, where it would be "
                              "another array afterwards: keep a copy, `u.copy()`")
        return 0

    cdef bint is_alone(self) noexcept:
        return Py_REFCNT(<PyObject*>self.array) == 1 and Py_REFCNT(<PyObject*>self.array.storage) == 1

    cdef int put_back(self, list places) except -1:
        for place in places:
            if (<Place>place).held() == <PyObject*>self.array:
                (<Place>place).put(self.plain)
        return 0

    cdef int find_others(self) except -1:
        """Put the user's array where else the Array stands by now."""
        cdef Holders holders = Holders.__new__(Holders)
        cdef list holding = [(<Place>place).holder for place in shared_places() + places_of_thread()]
        holders.wanted = <PyObject*>self.array
        holders.search(holding + self.roots, frames_of_errors(), 0, Py_REFCNT(<PyObject*>self.array) - 1)
        return self.put_back(holders.places)

    cdef bint is_left_by_errors(self) except -1:
        """Whether only functions that an error has ended have the Array and its views."""
        cdef Py_ssize_t own = 0, views = 0
        cdef dict found = {}
        cdef Array other
        for frame in frames_of_errors():
            code, variables = frame.f_code, frame.f_locals
            for name in list(variables):
                if type(variables[name]) is Array and name not in code.co_cellvars and name not in code.co_freevars:
                    other = variables[name]
                    if other is self.array:
                        own += 1
                    elif other.storage is self.array.storage:
                        found.setdefault(id(other), [0, other])[0] += 1
            other = None
            if type(variables) is dict and sys.gettrace() is None:
                variables.clear()
        for count, view in found.values():
            if Py_REFCNT(<PyObject*>view) != count + 2:      # by the list and the variable here
                return False
            views += (<Array>view).owner is self.array
        return (Py_REFCNT(<PyObject*>self.array) == 1 + own + views
                and Py_REFCNT(<PyObject*>self.array.storage) == 1 + len(found))


cdef list frames_of_errors():
    """The functions that the error which is on its way has ended, and those that others did which were caught."""
    cdef list waiting = [sys.exc_info()[1], *[error for _, error in raised]], seen = [], frames = []
    for error in waiting:
        if error is None or error in seen:
            continue
        seen.append(error)
        waiting += [error.__context__, error.__cause__]
        entry = error.__traceback__
        while entry is not None:
            if entry.tb_frame not in frames:
                frames.append(entry.tb_frame)
            entry = entry.tb_next
    return frames


cdef bint can_stand(PyObject* value, list frames=None, Py_ssize_t first=0, bint in_drivers=True) except -1:
    """Whether an Array can stand for a plain array that others have; of a view it must be known who has its memory."""
    cdef Holders holders
    cdef cnp.ndarray plain
    cdef PyObject* base
    cdef int kind
    if value == NULL or not has_references(value, Py_REFCNT(value)):
        return False
    plain = <object>value
    kind = cnp.PyArray_TYPE(plain)
    if kind != cnp.NPY_DOUBLE and kind != cnp.NPY_FLOAT or cnp.PyArray_NDIM(plain) > MAX_DIMS:
        return False
    base = cnp.PyArray_BASE(plain)
    if base != NULL and not has_references(base, 1):
        if frames is None or not has_references(base, Py_REFCNT(base)):
            return frames is None
        holders = Holders.__new__(Holders)
        holders.wanted = base
        if not holders.search([], frames, first, Py_REFCNT(base) - 1, in_drivers, in_drivers) or holders.places:
            return False
    return cnp.PyArray_ISBEHAVED(plain) and cnp.PyArray_CHKFLAGS(plain if base == NULL else <cnp.ndarray>base,
                                                                 cnp.NPY_ARRAY_OWNDATA)


cdef bint is_refused(PyObject* value) except -1:
    """Whether a search for the same references was in vain since the recording began."""
    return thread.refused.get(<size_t>value) == Py_REFCNT(value)


cdef bint asks_again(PyObject* value) except -1:
    """Whether to ask the collector for an array whose places were not found a short while ago."""
    cdef list found = thread.failures.get(<size_t>value)
    if found is None or found[0] != Py_REFCNT(value):
        return True
    found[1] -= 1
    if not found[1]:
        del thread.failures[<size_t>value]
    return False


def _forget_refused():
    thread.refused.clear()


cdef Array exchanged_together(PyObject* plain, Py_ssize_t references, list roots, list frames, Py_ssize_t first,
                              bint asks=True, bint in_drivers=True):
    cdef Holders holders
    cdef Group group
    cdef list done = []
    if not can_stand(plain, frames, first, in_drivers):
        return None
    holders = Holders.__new__(Holders)
    holders.wanted = plain
    if not holders.search(roots, frames, first, Py_REFCNT(plain) - references, asks, in_drivers):
        if len(thread.failures) >= MANY:
            thread.failures.clear()
        thread.failures.setdefault(<size_t>plain, [Py_REFCNT(plain), AGAIN])[0] = Py_REFCNT(plain)
        if not thread.refused:
            at_end(_forget_refused)
        thread.refused[<size_t>plain] = Py_REFCNT(plain)
        return None
    group = Group.__new__(Group)
    group.plain, group.places, group.roots = <object>plain, holders.places, roots
    copied = np.array(group.plain, order="K", subok=False)
    if copied.strides != group.plain.strides:
        return None
    group.array = from_ndarray(copied)
    try:
        for place in group.places:
            done.append(place)
            (<Place>place).put(group.array)
    except Exception:             # of a class that lets nobody set its attribute
        group.put_back(done)
        return None
    note(group)
    return group.array


cdef int note(Group group) except -1:
    cdef list groups = thread.groups
    undo_at_end()
    if len(groups) >= thread.enough:
        groups[:] = [other for other in groups if not (<Group>other).is_over()]
        thread.enough = MANY + 2 * len(groups)
        shared_places()[:] = [place for other in groups for place in (<Group>other).places]
    groups.append(group)
    shared_places().extend(group.places)
    return 0


def _undo():
    """Undo all exchanges of this thread that are of several places."""
    groups, thread.groups = thread.groups, []
    error = None
    for group in groups:
        try:
            (<Group>group).undo()
        except Exception as new:      # so that the others are not left behind
            error = error or new
    if error is not None:
        raise error


before_undoing(_undo)


cdef list running():
    """The functions that run on this thread, the innermost first."""
    cdef list frames = []
    frame = sys._getframe()
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


cdef Array exchanged_here(PyObject* plain, Py_ssize_t references, object holder):
    cdef list frames
    cdef Py_ssize_t first, k
    if not can_stand(plain) or is_refused(plain):
        return None
    frames = running()
    roots = [holder, *[frame.f_builtins["__rebound__"].origin for frame in frames if "__rebound__" in frame.f_builtins]]
    first = len(frames)
    if waits_for_rebound():      # those that called the driver see nothing before it returns
        for k in range(len(frames)):
            if is_rebound(frames[k]):
                first = k + 1
    return exchanged_together(plain, references, roots, frames, first, asks_again(plain), False)


cdef bint is_rebound(frame) except -1:
    return "__rebound__" in frame.f_builtins or (
        frame.f_code.co_name == "rebound" and frame.f_globals.get("__name__") == "codipy.tools.rebind")


def plain_of(array, /):
    """plain_of(array, /)
    --

    The user's array for which an Array stands while the recording of this thread runs.

    Parameters
    ----------
    array : Array
        Of which rebuilt code asks what is known by the array that it stands for, such as ``id(array)``.

    Returns
    -------
    ndarray or Array
        `array` itself where it stands for none.
    """
    for group in thread.groups:
        if (<Group>group).array is array:
            return (<Group>group).plain
    return plain_in_one_place(array)
