# SPDX-License-Identifier: Apache-2.0
"""What records on this thread, for Python code."""
from codipy.tape.activity cimport current, is_passive
from codipy.tape.recorder cimport Recorder


def recording():
    """The tape that records on this thread, or None; None inside ``passive()``."""
    cdef Recorder* r = current()
    return None if r == NULL else <object>r.tape


def in_passive():
    """Whether this thread is inside ``with codipy.passive():``."""
    return bool(is_passive())
