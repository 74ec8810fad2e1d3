# SPDX-License-Identifier: Apache-2.0
"""What records on this thread, for Python code."""
from codipy.active.array_type cimport Array
from codipy.active.conversion cimport epoch_of_array
from codipy.active.over cimport may_leave
from codipy.active.real cimport Real
from codipy.tape.activity cimport current, is_passive
from codipy.tape.recorder cimport Recorder


def recording():
    """The tape that records on this thread, or None; None inside ``passive()``."""
    cdef Recorder* r = current()
    return None if r == NULL else <object>r.tape


def may_be_plain(x):
    """Whether an active Real or Array may leave as plain numbers."""
    return bool(may_leave(epoch_of_array(x) if type(x) is Array else (<Real>x).epoch))


def in_passive():
    """Whether this thread is inside ``with codipy.passive():``."""
    return bool(is_passive())
