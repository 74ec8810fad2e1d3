# SPDX-License-Identifier: Apache-2.0
"""What records on this thread, for Python code."""
from libc.stdint cimport int64_t

from codipy.active.core.base_array cimport BaseArray, epoch_of_array, is_array
from codipy.active.core.base_real cimport BaseReal, is_real
from codipy.active.recordings.over cimport is_past, may_leave
from codipy.tape.activity cimport current, is_passive
from codipy.tape.recorder cimport Recorder


def recording():
    """The tape that records on this thread, or None; None inside ``passive()``."""
    cdef Recorder* r = current()
    return None if r == NULL else <object>r.tape


def may_be_plain(x):
    """Whether an active Real or Array may leave as plain numbers."""
    return bool(may_leave(epoch_of_array(x) if is_array(x) else (<BaseReal>x).epoch))


def is_from_earlier(x):
    """Whether `x` is an active Real or Array of a recording that is over, while another one records on this thread."""
    cdef Recorder* r = current()
    cdef int64_t epoch
    if r == NULL or not (is_real(x) or is_array(x)) or not x.is_active:
        return False
    epoch = epoch_of_array(x) if is_array(x) else (<BaseReal>x).epoch
    return is_past(epoch) and not (is_real(x) and (<BaseReal>x).kept and not is_past((<BaseReal>x).made))


def is_left(x):
    """Whether `x` is an Array in memory of a recording that is over, be its elements active or not."""
    cdef BaseArray a
    cdef int64_t epoch
    if not is_array(x):
        return False
    a = x
    if a.pending is None and a.storage.identifiers == NULL and a.storage.block is None:
        return False
    epoch = epoch_of_array(a)
    return epoch != 0 and is_past(epoch)


def is_plain(BaseReal x):
    """True where nothing records, and a Real is its value; False of an active one in a recording; else None."""
    if current() == NULL and not is_passive():
        return True if x.epoch == 0 or may_leave(x.epoch) else None
    return None if is_passive() or x.epoch == 0 else False


def in_passive():
    """Whether this thread is inside ``with codipy.passive():``."""
    return bool(is_passive())
