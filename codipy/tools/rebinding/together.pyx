# SPDX-License-Identifier: Apache-2.0
"""A plain array that stands in several places, or that the caller has too: one Array stands in all of them.

As in `places.pyx`, but what is exchanged has a memory of its own, so that records can read it, and when the recording
is over the user's array gets the values and stands in its places again: it is the same object, since others have it.
Views of the array that stand somewhere, ``self.inner = self.u[1:-1]``, become views of the Array.
"""
import gc
import sys
import threading

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.active.arrays.packing cimport from_ndarray
from codipy.active.arrays.plain cimport shown_as
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport at_end
from codipy.tools.pool cimport differentiated_by, waits_for_rebound
from codipy.tools.rebinding.holders cimport Holders
from codipy.tools.rebinding.made cimport has_references, is_array
from codipy.tools.rebinding.places cimport (
    Place,
    before_undoing,
    is_local,
    places_of_thread,
    shared_places,
    undo_at_end,
    when_left,
)

from codipy.errors import ActiveError
from codipy.tools.rebinding.places import plain_in_one_place
from codipy.tools.swallowed import raised

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept

cdef enum:
    MANY = 64                    # groups that are remembered before it is looked which are over
    AGAIN = 20                   # searches without the collector after one in vain


class _Thread(threading.local):
    def __init__(self):
        self.groups, self.enough, self.failures, self.refused, self.has_collected = [], MANY, {}, {}, False


cdef object thread = _Thread()


cdef class Member:
    """An array of a family, and the Array for which it stands."""
    cdef object plain
    cdef Array array


cdef class Group:
    """Group()
    --

    The places of one array and of its views.
    """
    cdef list members                # the first has the memory
    cdef list places, roots

    cdef PyObject* plain(self, Py_ssize_t k) noexcept:
        cdef Member member = <Member>PyList_GET_ITEM(self.members, k)
        return <PyObject*>member.plain

    cdef PyObject* array(self, Py_ssize_t k) noexcept:
        cdef Member member = <Member>PyList_GET_ITEM(self.members, k)
        return <PyObject*>member.array

    cdef Py_ssize_t holders_of_storage(self) noexcept:
        cdef Member member = <Member>PyList_GET_ITEM(self.members, 0)
        return Py_REFCNT(<PyObject*>member.array.storage)

    cdef bint is_over(self) noexcept:
        """Whether nobody else has the Arrays, or what holds them, so that nothing is to be given back."""
        cdef Py_ssize_t k, views = len(self.members) - 1
        for place in self.places:
            if not (<Place>place).is_over():
                return False
        for k in range(views + 1):
            if Py_REFCNT(self.plain(k)) != (1 if k else 1 + views):
                return False
        return bool(self.places) or self.is_alone()

    cdef int undo(self) except -1:
        """Give the user's arrays back, with the values of the Arrays."""
        cdef Member member
        if not self.places and self.is_over():
            return 0
        member = self.members[0]
        values = member.array.value
        if values.shape != member.plain.shape:
            member.plain.shape = values.shape
        np.copyto(member.plain, values)
        values = None
        for member in self.members:
            if member.array.shape != member.plain.shape:
                member.plain.shape = member.array.shape
            if member.array.readonly:
                member.plain.flags.writeable = False
        member = None
        self.put_back(self.places)
        if self.is_alone():
            return 0
        if not self.places:
            self.find_others(False)
            if self.is_alone():
                return 0
        gc.collect(1)             # of functions that refer to themselves
        if self.is_alone():
            return 0
        self.find_others(True)
        if not self.is_alone() and not self.is_left_by_errors():
            raise ActiveError("an array that was there before the recording stands in several places, or the caller has "
                              "it, and the function keeps it, or a view of it, in another place, where it would be "
                              "another array afterwards: keep a copy, `u.copy()`")
        return 0

    cdef bint is_alone(self) noexcept:
        """Whether nobody else has one of the Arrays or a view of one."""
        cdef Py_ssize_t k, count = len(self.members)
        for k in range(count):
            if Py_REFCNT(self.array(k)) != (1 if k else count):       # views have what they are of
                return False
        return self.holders_of_storage() == count

    cdef int exchange(self, Place place) except -1:
        """Put the Array in a place of the array for which it stands."""
        cdef PyObject* held = place.held()
        cdef Py_ssize_t k
        for k in range(len(self.members)):
            if held == self.plain(k):
                place.put(<object>self.array(k))
                if place.held() != self.array(k):      # a variable of a comprehension, which Python lets nobody set
                    raise RuntimeError("the place did not take the Array")
                break
        return 0

    cdef int put_back(self, list places) except -1:
        cdef PyObject* held
        cdef Py_ssize_t k
        for place in places:
            held = (<Place>place).held()
            for k in range(len(self.members)):
                if held == self.array(k):
                    (<Place>place).put(<object>self.plain(k))
                    break
        return 0

    cdef int find_others(self, bint asks) except -1:
        """Put the user's arrays where else the Arrays stand by now."""
        cdef Holders holders = Holders.__new__(Holders)
        cdef list holding = [(<Place>place).holder for place in shared_places() + places_of_thread()]
        cdef Py_ssize_t k
        holders.begin(self.array(0), {})
        for k in range(1, len(self.members)):
            holders.add_member(self.array(k))
        holders.search(holding + self.roots, frames_of_errors() + running(), 0, asks)
        for k in range(len(self.members), len(holders.members)):
            self.add_view(holders.members[k])
        holders.members.clear()
        return self.put_back(holders.places)

    cdef int add_view(self, Array view) except -1:
        """Let a view that the function made stand for one of the user's array."""
        cdef Member member = Member.__new__(Member)
        cdef Py_ssize_t k
        plain = <object>self.plain(0)
        strides = tuple([view.geometry.strides[k] * plain.itemsize for k in range(view.geometry.ndim)])
        member.array, member.plain = view, np.ndarray(view.shape, plain.dtype, plain.ravel("K"),
                                                      view.geometry.offset * plain.itemsize, strides)
        if view.readonly:
            member.plain.flags.writeable = False
        self.members.append(member)
        return 0

    cdef bint is_left_by_errors(self) except -1:
        """Whether only functions that an error has ended have the Arrays and their views."""
        cdef Py_ssize_t k, count = len(self.members), views = 0
        cdef list own = [0] * count
        cdef dict found = {}, numbers = {}
        cdef Array other
        for k in range(count):
            numbers[<size_t>self.array(k)] = k
        storage = (<Array>self.array(0)).storage
        for frame in frames_of_errors():
            code, variables = frame.f_code, frame.f_locals
            for name in list(variables):
                if type(variables[name]) is Array and name not in code.co_cellvars and name not in code.co_freevars:
                    other = variables[name]
                    if <size_t><PyObject*>other in numbers:
                        own[numbers[<size_t><PyObject*>other]] += 1
                    elif other.storage is storage:
                        found.setdefault(id(other), [0, other])[0] += 1
            other = None
            forget_variables(frame, variables)
        storage = None
        for several, view in found.values():
            if Py_REFCNT(<PyObject*>view) != several + 2:      # by the list and the variable here
                return False
            views += (<Array>view).owner is <object>self.array(0)
        for k in range(count):
            if Py_REFCNT(self.array(k)) != own[k] + (1 if k else count + views):
                return False
        return self.holders_of_storage() == count + len(found)


cdef int forget_variables(frame, variables) except -1:
    """Empty the copy that a frame keeps of its variables; a tracing function's is what these are set by while it runs."""
    if type(variables) is dict and (sys.gettrace() is None or frame not in running()):
        variables.clear()
    return 0


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


cdef PyObject* memory_of(PyObject* value) noexcept:
    """The array that has the memory of a plain array, borrowed; NULL where no Array can stand for that."""
    cdef PyObject* base
    cdef int kind
    if not is_plain(value):
        return NULL
    base = cnp.PyArray_BASE(<cnp.ndarray>value)
    if base == NULL:
        base = value
    elif not is_plain(base):
        return NULL
    kind = cnp.PyArray_TYPE(<cnp.ndarray>value)
    if kind != cnp.NPY_DOUBLE and kind != cnp.NPY_FLOAT or not cnp.PyArray_ISBEHAVED(<cnp.ndarray>value):
        return NULL
    return base if cnp.PyArray_CHKFLAGS(<cnp.ndarray>base, cnp.NPY_ARRAY_OWNDATA) else NULL


cdef bint is_plain(PyObject* value) noexcept:
    """Whether it is an array without weak references to it."""
    return value != NULL and has_references(value, Py_REFCNT(value))


cdef bint is_differentiated_by(PyObject* plain) except -1:
    """Whether the driver that runs differentiates by what has the memory of a plain array: that is a variable."""
    cdef list leaves = differentiated_by()
    cdef PyObject* memory = memory_of(plain)
    cdef PyObject* leaf
    cdef Py_ssize_t k
    for k in range(len(leaves)):
        leaf = PyList_GET_ITEM(leaves, k)
        if leaf == memory or is_array(leaf) and cnp.PyArray_BASE(<cnp.ndarray>leaf) == memory:
            return True
    return False


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
    thread.has_collected = False


cdef bint collects() except -1:
    """Whether garbage in cycles, as solvers leave it, has gone, which may have referred to an array: once a recording."""
    if thread.has_collected:
        return False
    thread.has_collected = True
    at_end(_forget_refused)
    return gc.collect() > 0


cdef Array exchanged_together(PyObject* plain, dict references, list roots, list frames, Py_ssize_t first,
                              bint asks=True, bint in_drivers=True):
    cdef Holders holders
    cdef Group group
    cdef Member member
    cdef PyObject* memory = memory_of(plain)
    cdef list done = []
    if memory == NULL:
        return None
    holders = Holders.__new__(Holders)
    holders.begin(memory, references)
    if plain != memory:
        holders.add_member(plain)
    if not holders.search(roots, frames, first, asks, in_drivers):
        holders.members.clear()
        holders = None
        if asks and collects():
            return exchanged_together(plain, references, roots, frames, first, True, in_drivers)
        if len(thread.failures) >= MANY:
            thread.failures.clear()
        thread.failures.setdefault(<size_t>plain, [Py_REFCNT(plain), AGAIN])[0] = Py_REFCNT(plain)
        if not thread.refused:
            at_end(_forget_refused)
        thread.refused[<size_t>plain] = Py_REFCNT(plain)
        return None
    group = Group.__new__(Group)
    group.members, group.places, group.roots = family(holders.members), holders.places, roots
    if group.members is None:
        return None
    holders.members.clear()
    try:
        for place in group.places:
            done.append(place)
            group.exchange(place)
    except Exception:             # of a class that lets nobody set its attribute
        group.put_back(done)
        return None
    group.places = [place for place in group.places if not is_local(place)]
    note(group)
    for member in group.members:
        if <PyObject*>member.plain == plain:
            return member.array
    return None


cdef list family(list arrays):
    """A Member for each array, the first of which has the memory; None where no Arrays can show the same."""
    cdef list members = []
    cdef Member member
    for array in arrays:
        if members and not is_plain(<PyObject*>array) or cnp.PyArray_NDIM(array) > MAX_DIMS:
            return None
        if not cnp.PyArray_ISBEHAVED_RO(array) or not (members or cnp.PyArray_ISWRITEABLE(array)):
            return None
        if array.dtype != arrays[0].dtype or any([step % array.itemsize for step in array.strides]):
            return None
        member = Member.__new__(Member)
        member.plain = array
        if members:
            member.array = shown_as((<Member>members[0]).array, arrays[0], array)
        else:
            copied = np.array(array, order="K", subok=False)
            if copied.strides != array.strides:
                return None
            member.array = from_ndarray(copied)
        members.append(member)
    return members


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


cdef Py_ssize_t own_base(Array array, Py_ssize_t members) noexcept:
    """How many Arrays only an Array, as its base, and its views have."""
    cdef Array base = array.owner
    if base is None or base.storage is not array.storage:
        return 0
    return 1 if Py_REFCNT(<PyObject*>base) == 1 + members else -1      # 1 is the variable's here


def _undo_with_others(Place place):
    """Put the user's array also where else the function put the Array, or a view of it; tell whether that is all."""
    cdef Holders holders = Holders.__new__(Holders)
    cdef Group group = Group.__new__(Group)
    cdef Member member = Member.__new__(Member)
    cdef Array array = place.array
    cdef Py_ssize_t k
    if array.geometry.offset or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return False
    holders.begin(<PyObject*>array, {<size_t><PyObject*>array: 2})      # of the place, and of the variable here
    if (not holders.search([place.root()], frames_of_errors() + running(), 0)
            or Py_REFCNT(<PyObject*>array.storage) != len(holders.members) + own_base(array, len(holders.members))):
        holders.members.clear()
        return False
    place.restore()
    member.plain, member.array = place.plain, array
    group.members, group.places, group.roots = [member], holders.places, []
    for k in range(1, len(holders.members)):
        group.add_view(holders.members[k])
    holders.members.clear()
    group.put_back(group.places)
    return True


when_left(_undo_with_others)


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
    cdef PyObject* memory = memory_of(plain)
    cdef bint waits = waits_for_rebound()
    if memory == NULL or is_refused(plain) or waits and is_differentiated_by(plain):
        return None
    frames = running()
    roots = [holder, *[frame.f_builtins["__rebound__"].origin for frame in frames if "__rebound__" in frame.f_builtins]]
    first = len(frames)
    if waits:      # those that called the driver see nothing before it returns
        for k in range(len(frames)):
            if is_rebound(frames[k]):
                first = k + 1
    return exchanged_together(plain, {<size_t>plain: references}, roots, frames, first, asks_again(plain), waits)


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
        for member in (<Group>group).members:
            if (<Member>member).array is array:
                return (<Member>member).plain
    return plain_in_one_place(array)


def standing_for(array, /):
    """standing_for(array, /)
    --

    The Array that stands for a user's array while the recording of this thread runs.

    Parameters
    ----------
    array : object
        What a cache has kept, which is no place where an Array could be put.

    Returns
    -------
    Array or object
        `array` itself where none stands for it.
    """
    found = standing_at(id(array)) if is_array(<PyObject*>array) else None
    return array if found is None else found


def standing_at(address, /):
    """standing_at(address, /)
    --

    The Array that stands for a user's array, to which the caller has no reference.

    Parameters
    ----------
    address : int
        The array's ``id``.

    Returns
    -------
    Array or None
        None where none stands for it.
    """
    for group in thread.groups:
        for member in (<Group>group).members:
            if <size_t><PyObject*>(<Member>member).plain == <size_t>address:
                return (<Member>member).array
    for place in places_of_thread():
        if <size_t><PyObject*>(<Place>place).plain == <size_t>address:
            return (<Place>place).array
    return None
