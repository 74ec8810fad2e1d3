# SPDX-License-Identifier: Apache-2.0
"""Copies of an Array's values that libraries got in rebound code, where the Array may stand for a plain array.

A library may write into what it is given (BLAS routines, ctypes). So what is another number in the copy at the end of
the call is written to the Array; what is written there later is an error when the recording ends, since others may have
read the Array before. As long as somebody has the copy, nothing is written to the Array itself, which would not be seen
there: see `demand_unseen` in `storage.pyx`.
"""
import opcode
import sys
import threading
import weakref

import numpy as np

from codipy.active.array_type cimport Array
from codipy.active.storage cimport Storage, shown
from codipy.active.views cimport second
from codipy.tape.activity cimport at_end, current

from codipy.active.callers import place
from codipy.errors import ActiveError

cdef int POP_TOP = opcode.opmap["POP_TOP"]


class _Thread(threading.local):
    def __init__(self):
        self.kept, self.complaints = [], []


cdef object thread = _Thread()


cdef class Copy:
    """Copy()
    --

    One copy that a library got, as long as somebody has it.
    """
    cdef Storage storage
    cdef object given                # a weak reference to the copy
    # What the library may write to; of what it may only read, None:
    cdef Array array                 # another variable on what was copied
    cdef object values               # the memory of the copy
    cdef bytes before                # what was there
    cdef tuple call                  # the call that it got it in: frame, instruction and line
    cdef str where

    def end(self, reference):
        """When nobody has the copy any more."""
        key = id(self.storage)
        copies = shown.pop(key, [])       # so that what is taken over can be written
        try:
            if self.array is not None:
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
        if not is_kept and is_in_call(self.call):
            self.array[...] = self.values
        elif is_kept or current() != NULL:
            complain(f"a library wrote to an array that it was given ({self.where}), and what it wrote there would not be "
                     f"read in the array: give it a copy, `u.copy()`, and read what it returns")
            self.array = None        # it is said once
        return 0


def show(Array array, values, /):
    """show(array, values, /)
    --

    Note that a library gets a plain array in the place of this one.

    Parameters
    ----------
    array : Array
        In rebound code, where it may stand for a plain one.
    values : ndarray
        A copy of its values, or a read-only array on their memory.

    Returns
    -------
    ndarray
        What the library is to get.
    """
    cdef Copy copy = Copy.__new__(Copy)
    copy.storage = array.storage
    if not array.readonly and values.dtype == array.dtype and values.flags.writeable:
        frame = sys._getframe()
        copy.array, copy.values, copy.before = second(array), values, values.tobytes()
        copy.call, copy.where = (id(frame), frame.f_lasti, frame.f_lineno), place(frame)
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
            if (<Copy>copy).array is not None:
                (<Copy>copy).take_over(True)
    thread.kept.clear()


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
