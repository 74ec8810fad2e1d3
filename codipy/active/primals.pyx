# SPDX-License-Identifier: Apache-2.0
"""Values of Arrays on the tape: new ones for inputs, and those that a replay computed."""
from bisect import bisect_left

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from codipy.active.arrays.plain cimport ndarray_of
from codipy.active.core.base_array cimport BaseArray
from codipy.active.inputs cimport block_of, tape_of
from codipy.active.scalar.real cimport Real
from codipy.active.storage.block cimport Block
from codipy.active.storage.view cimport View
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.data.plain cimport plain_array
from codipy.tape.base cimport BaseTape
from codipy.tape.records.mark cimport Mark
from codipy.tape.records.record cimport Record
from codipy.tape.records.replay cimport Replay

from codipy.errors import TapeError


cdef object shown(double* data, const View* v, bint writable):
    return plain_array(data + v.offset, v.ndim, v.shape, v.strides, 1, writable, None)


cdef object record_of(BaseTape tape, int32_t identifier):
    """The record that took an identifier from those never used before, or None."""
    cdef list records = tape.records.items
    cdef Py_ssize_t i = bisect_left(records, identifier, key=lambda record: record.after)
    if i < len(records) and (<Record>records[i]).before < identifier:
        return records[i]
    return None


cdef Block checked(BaseTape tape, BaseArray x):
    cdef Block block = block_of(x, "value on the tape")
    if tape_of(block) is not tape:
        raise TapeError("x is an Array of another tape, not a variable of this one: register it first")
    return block


cdef int set_values(BaseTape tape, BaseArray x, object value) except -1:
    cdef Block block = checked(tape, x)
    cdef Buffer new
    cdef Mark mark
    if x.storage.input is None:
        raise TapeError("x is not an input: only inputs take a new value, results are recomputed")
    given = value if isinstance(value, (np.ndarray, np.number, list, tuple, int, float)) else None
    if given is not None:
        given = np.asarray(given, np.float32 if x.storage.single else None)
    if given is None or given.dtype.kind not in "fiub":
        raise TypeError(f"value must be a plain array of real numbers, got {type(value).__name__}")
    if given.shape != x.shape:
        raise ValueError(f"value must have the shape {x.shape} of x, got {given.shape}")
    tape.demand_idle("set_primal()")
    if given.size:
        mark = record_of(tape, block.base)
        new = new_buffer(block.size)     # the present one is the Array's own
        memcpy(new.data, mark.values.data, block.size * sizeof(double))
        shown(new.data, &x.geometry, True)[...] = given
        mark.values = new
    tape.replay.changed = True
    return 0


cdef object get_values(BaseTape tape, BaseArray x):
    cdef Block block = checked(tape, x)
    cdef Replay replay = tape.replay
    if x.storage.input is not None:
        if x.geometry.size == 0:
            return np.empty(x.shape)
        return shown((<Mark>record_of(tape, block.base)).values.data, &x.geometry, False).astype(x.dtype)
    if x.storage.block is None:
        raise TapeError("the Array has no value on the tape: it is passive since all of it was overwritten")
    replay.demand_whole()
    if block.epoch > replay.farthest or x.geometry.size == 0:      # never computed again
        return np.array(ndarray_of(x))
    if block.epoch > replay.epoch:
        raise behind()
    return shown((tape.recorder.primals if replay.own == NULL else replay.own) + block.base, &x.geometry, False).astype(
        x.dtype)


cdef int demand_known(BaseTape tape, Real x) except -1:
    tape.replay.demand_whole()
    # A Real that is an array's element has an identifier that the array may have used for other values before.
    if (tape.replay.begun and x.epoch > tape.replay.epoch and tape.store.reusing is None
            and not tape.replay.ended(tape.store.root.position(), len(tape.records.items))
            and record_of(tape, x.identifier) is not None):
        raise behind()
    return 0


cdef object behind():
    return TapeError("x was recorded behind the end of the last evaluate_primal(): run it to the end first")
