# SPDX-License-Identifier: Apache-2.0
"""Copies of an Array's values that libraries got in rebound code, where the Array may stand for a plain array.

A library may write into what it is given (BLAS routines, ctypes). So what is another number in the copy at the end of
the call is written to the Array; what is written there later is an error when the recording ends, since others may have
read the Array before. As long as somebody has the copy, nothing is written to the Array itself, which would not be seen
there: see `demand_unseen` in `storage.pyx`.

Once nobody has the Array any more, a library may write to the copy as it likes: `scipy.optimize.curve_fit` computes in
the memory of what the user's function returned.
"""
import opcode
import sys
import threading
import weakref

import numpy as np

from cpython.object cimport PyObject

from codipy.active.core.base_array cimport BaseArray, new_array
from codipy.active.storage.storage cimport Storage, on_death, shown
from codipy.active.storage.view cimport View
from codipy.data.strided cimport reach
from codipy.tape.activity cimport at_end

from codipy.active.arrays.plain import is_writable
from codipy.active.messages.callers import place
from codipy.errors import ActiveError

cdef int POP_TOP = opcode.opmap["POP_TOP"]


class _Thread(threading.local):
    def __init__(self):
        self.kept, self.complaints, self.recording = [], [], object()


cdef object thread = _Thread()


cdef class Copy:
    """Copy()
    --

    One copy that a library got, as long as somebody has it.
    """
    cdef PyObject* storage           # borrowed: it forgets its copies when it goes
    cdef object given                # a weak reference to the copy
    # What the library may write to; of what it may only read, None:
    cdef object values               # the memory of the copy
    cdef View geometry               # the elements that were copied
    cdef bytes before                # what was there
    cdef tuple call                  # the call that it got it in: frame, instruction and line
    cdef object recording            # of the thread, while which it got it
    cdef bint is_double              # another copy has some of the elements, too: the library does not see that they are one
    cdef str where

    def end(self, reference):
        """When nobody has the copy any more."""
        key = <size_t>self.storage
        copies = shown.pop(key, [])       # so that what is taken over can be written
        try:
            if self.values is not None:
                self.take_over(False)
        except Exception as error:       # nobody would see it here
            complain(f"what a library wrote to an array that it was given ({self.where}) cannot be written there: {error}")
        finally:
            copies = [copy for copy in copies + shown.get(key, []) if (<Copy>copy).given() is not None]
            if copies:
                shown[key] = copies

    cdef int take_over(self, bint is_kept) except -1:
        """Write to the array what the library wrote to the copy, which it keeps or has let go of; else complain."""
        if self.values.tobytes() == self.before:
            return 0
        if not is_kept and not self.is_double and is_in_call(self.call):
            new_array(<Storage>self.storage, &self.geometry)[...] = self.values
        elif is_kept or self.is_double or self.recording is thread.recording:
            self.complain_of_it()
        return 0

    cdef int complain_of_it(self) except -1:
        complain(f"a library wrote to an array that it was given ({self.where}), and what it wrote there would not be "
                 f"read in the array: give it a copy, `u.copy()`, and read what it returns")
        self.values = None           # it is said once
        return 0


cdef int look_for_doubles(Copy copy) except -1:
    """Note which copies of the same elements a library has at a time."""
    cdef Py_ssize_t low, high, other_low, other_high
    cdef View* own = &copy.geometry
    reach(own.ndim, own.shape, own.strides, own.offset, &low, &high)
    for other in shown.get(<size_t>copy.storage, ()):
        other_view = &(<Copy>other).geometry
        if (<Copy>other).values is None:
            continue
        reach(other_view.ndim, other_view.shape, other_view.strides, other_view.offset, &other_low, &other_high)
        if low <= other_high and other_low <= high:
            copy.is_double = (<Copy>other).is_double = True
    return 0


def show(BaseArray array, values, /):
    """show(array, values, /)
    --

    Note that a library gets a plain array in the place of this one.

    Parameters
    ----------
    array : Array
        In rebound code, where it may stand for a plain one; its elements are computed.
    values : ndarray
        A copy of its values, or a read-only array on their memory.

    Returns
    -------
    ndarray
        What the library is to get.
    """
    cdef Copy copy = Copy.__new__(Copy)
    copy.storage = <PyObject*>array.storage
    if not array.readonly and values.dtype == array.dtype and is_writable(values):
        frame = sys._getframe()
        copy.geometry, copy.values, copy.before = array.geometry, values, values.tobytes()
        copy.call, copy.where = (id(frame), frame.f_lasti, frame.f_lineno), place(frame)
        copy.recording = thread.recording
        look_for_doubles(copy)
        values = np.asarray(memoryview(values))      # which stays the base of all views, since that of it is no array
        at_end(look_at_shown)
    copy.given = weakref.ref(values, copy.end)
    shown.setdefault(id(array.storage), []).append(copy)
    return values


def keep(values, /):
    """Let an array whose address was asked for live until the recording ends: who has that has no reference."""
    thread.kept.append(values)
    at_end(look_at_shown)


def look_at_shown():
    """At the end of a recording: whether a library wrote to what it still has."""
    for copies in list(shown.values()):
        for copy in copies:
            if (<Copy>copy).values is not None:
                (<Copy>copy).take_over(True)
    thread.kept.clear()
    thread.recording = object()


def forget_copies(size_t storage):
    """When nobody has the elements any more: what a library has written there may have been read in between."""
    for copy in shown.pop(storage):
        copied = <Copy>copy
        if copied.values is not None and copied.recording is thread.recording:
            if copied.values.tobytes() != copied.before and not is_in_call(copied.call):
                copied.complain_of_it()
        copied.values = copied.given = None      # without the weak reference nobody hears of the copy's own end


on_death(forget_copies)


cdef int complain(str message) except -1:
    """Let the recording of this thread end with an error, found where nothing can be raised."""
    thread.complaints.append(message)
    at_end(raise_complaint)
    return 0


def raise_complaint():
    """Raise the first one of this thread, and forget the others."""
    complaints, thread.complaints = thread.complaints, []
    if complaints:
        raise ActiveError(complaints[0])


cdef bint is_in_call(tuple call) except -1:
    """Whether no code of the user's has run since: the call is not over, or what it returns is thrown away."""
    try:
        frame = sys._getframe()
    except ValueError:      # no Python code runs on this thread
        return False
    if id(frame) != call[0]:
        return False
    return frame.f_lasti == call[1] or (frame.f_lineno == call[2] and frame.f_code.co_code[frame.f_lasti] == POP_TOP)
