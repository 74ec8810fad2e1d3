# SPDX-License-Identifier: Apache-2.0
"""What a Real holds, and what messages call it."""
from cpython.object cimport PyObject

from codipy.tape.activity cimport tape_of_epoch
from codipy.tape.base cimport BaseTape

real_type = NULL


cdef class BaseReal:
    """The state of a Real; no object is of this class alone."""


cdef object described(BaseReal x):
    """What messages call x: its value and its tape."""
    if not x.epoch:
        return f"Real({x})"
    cdef PyObject* found = tape_of_epoch(x.epoch)
    if found == NULL:
        return f"Real({x}, active on a tape that is gone)"
    cdef BaseTape tape = <BaseTape>found
    if not tape.is_valid(x.epoch) and not (x.kept and tape.is_valid(x.made)):
        return f"Real({x}, active before a reset of its tape)"
    return f"Real({x}, active on {tape.strategy} tape {tape.serial})"
