# SPDX-License-Identifier: Apache-2.0
"""From pending array expressions to values, and to statements on the tape."""
from libc.stdint cimport int64_t
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE

from codipy.active.arrays.floating cimport report
from codipy.active.arrays.statements cimport Loaded, run_loaded, run_values, statement_of
from codipy.active.core.base_array cimport BaseArray
from codipy.active.core.base_real cimport BaseReal
from codipy.active.core.pending cimport Pending
from codipy.active.recordings.lending cimport lend_block, lender
from codipy.active.recordings.over cimport is_over, is_past, no_recording
from codipy.active.scalar.expression cimport readmit
from codipy.active.storage.block cimport Block, append_block
from codipy.active.storage.storage cimport Storage, new_storage
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.programs.tiles cimport ROUND_NONE
from codipy.tape.activity cimport current, is_passive, tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.statement cimport Statement

from codipy.active.recordings.earlier import from_earlier, of_enclosing
from codipy.errors import TapeError


cdef int admit_block(Recorder* r, Storage storage) except -1:
    cdef Block block = storage.block
    if r != NULL and block is not None and block.epoch == r.epoch:
        return 1
    if r != NULL and lender(r, block.epoch) is not None:
        lend_block(r, storage)
        return 1
    return admit_owner(r, block)


cdef int admit_owner(Recorder* r, Block block) except -1:
    if r == NULL:
        if is_passive() or is_over(block.epoch):
            return 0
        raise no_recording(block.epoch, "an active Array is used in an operation")
    if (<BaseTape>r.tape).is_valid(block.epoch):
        return 1
    what = ("an Array is from before a reset of its tape: compute it again, or register it again with "
            "tape.register_input()" if block.epoch >> 32 == (<BaseTape>r.tape).serial else
            "an Array belongs to another tape or to a finished recording: take codipy.value(x), or register it with the "
            "recording tape's register_input()")
    raise TapeError(from_earlier(what) if is_past(block.epoch) else of_enclosing("an Array"))


cdef bint is_lent(Recorder* r, Pending p) except -1:
    return p.active and r != NULL and p.epoch != r.epoch and lender(r, p.epoch) is not None


cdef int revive(Recorder* r, BaseArray a) except -1:
    if a.storage.overwritten or a.storage.identifiers != NULL or a.storage.block is None:
        a.kept = None
    elif r != NULL and not (<BaseTape>r.tape).is_valid(a.storage.block.epoch) and (
            lender(r, a.storage.block.epoch) is None):
        a.storage = new_storage(a.storage.buffer, None, a.storage.single)
        a.pending, a.kept = a.kept, None
    return 0


cdef int settle(BaseArray a) except -1:
    if a.pending is not None and a.storage is None:
        try:
            materialise(a)
        except TapeError:
            told(a, a.pending, compute(a))
    return 0


cdef int check_owners(Recorder* r, Pending p) except -1:
    cdef int k
    cdef PyObject* owner
    if r != NULL and p.epoch >> 32 != (<BaseTape>r.tape).serial and p.epoch:
        # Its identifiers may be those of a recording inside of this one, to which its owners were lent.
        raise TapeError(from_earlier("an array expression belongs to another tape or to a finished recording: compute it "
                                     "again, or take codipy.value(x) while that records"))
    for k in range(p.leaf_count):
        owner = p.leaves[k].owner
        if owner == NULL:
            continue
        if Py_TYPE(<object>owner) == <PyTypeObject*>Block:
            admit_owner(r, <Block>owner)
        elif (<BaseReal>owner).identifier != p.leaves[k].identifier or not (readmit(r, <BaseReal>owner) or r == NULL):
            raise TapeError("a Real in an array expression was registered anew before the expression was computed: "
                            "compute the expression again")
    return 0


cdef int compute(BaseArray a) except -1:
    """The values: the flags that are up."""
    cdef Buffer buffer
    cdef int flags = 0
    if a.storage is None:
        buffer = new_buffer(a.geometry.size)
        flags = run_values(a.pending, &a.geometry, buffer.data, a.geometry.strides)
        a.storage = new_storage(buffer, None, a.pending.single != ROUND_NONE)
    if a.pending is not None and not a.pending.active:
        a.pending = None
    return flags


cdef inline int told(BaseArray a, Pending p, int flags) except -1:
    if flags:
        report(p, &a.geometry, flags)
    return 0


cdef int materialise(BaseArray a) except -1:
    return materialise_on(current(), a)


cdef int materialise_in_passive(BaseArray a) except -1:
    cdef PyObject* tape
    cdef int k
    for k in range(a.pending.leaf_count if a.pending is not None else 0):
        if a.pending.leaves[k].owner != NULL:
            tape = tape_of_epoch(epoch_of(a.pending.leaves[k].owner))
            if tape != NULL and (<BaseTape>tape).recordings:
                return materialise_on(&(<BaseTape>tape).recorder, a)
    return materialise(a)


cdef inline int64_t epoch_of(PyObject* owner):
    return (<Block>owner).epoch if Py_TYPE(<object>owner) == <PyTypeObject*>Block else (<BaseReal>owner).epoch


cdef int materialise_on(Recorder* r, BaseArray a) except -1:
    cdef Pending p = a.pending
    if p is None and a.kept is not None:
        revive(r, a)
        p = a.pending
    if p is None:
        return 0
    if is_lent(r, p):
        # What it reads may be lent by now, under other identifiers; it has those of the enclosing recording.
        return push_pending(&lender(r, p.epoch).recorder, a, p)
    if p.active:
        check_owners(r, p)       # where no tape records, what goes on lives in passive() alone
    if not p.active or r == NULL:
        return told(a, p, compute(a))
    return push_pending(r, a, p)


cdef int push_pending(Recorder* r, BaseArray a, Pending p) except -1:
    """Put an active expression on a tape, and compute it where that was not done."""
    cdef Loaded loaded
    cdef Buffer buffer
    cdef Statement statement
    cdef BaseTape tape = <BaseTape>r.tape
    cdef int flags = 0
    tape.demand_idle("an array operation")
    p.load(&loaded.program, loaded.operands, a.geometry.ndim)
    if a.storage is None:
        buffer = new_buffer(a.geometry.size)
        flags = run_loaded(&loaded, &a.geometry, buffer.data, a.geometry.strides)
        a.storage = new_storage(buffer, None, p.single != ROUND_NONE)
    statement = statement_of(r, p, &loaded, &a.geometry, a.geometry.strides)
    if r.journal != NULL:
        (<Journal>r.journal).next = p.spot
    a.storage.block = append_block(tape, statement, a.geometry.size)
    a.pending = None
    if p.epoch != r.epoch:
        a.kept = p
    return told(a, p, flags)
