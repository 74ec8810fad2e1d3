# SPDX-License-Identifier: Apache-2.0
"""Writing into arrays in place.

Identifiers of a clean storage are overwritten like its values: the statement's reverse consumes their adjoints, and what
was there before has none. That is only right while nobody else reads the old ones. A block that is shared, lent to Reals
or an input's is replaced by a fresh one first, into which the elements that stay are moved; where that would be most of
them, the storage gets explicit identifiers instead, and those of the written part alone change.
"""
import numpy as np
from numpy.lib.stride_tricks import as_strided

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp
from cpython.object cimport PyObject

from codipy.active.arrays.compute cimport admit_block, materialise
from codipy.active.arrays.elements cimport admit_mixed, element, go_mixed_in_passive, set_element
from codipy.active.arrays.elementwise cimport pending_of
from codipy.active.arrays.floating cimport report
from codipy.active.arrays.packing cimport from_nested
from codipy.active.arrays.renewal cimport moves_slabs, renew
from codipy.active.arrays.statements cimport record, run_recorded, run_values
from codipy.active.core.base_array cimport BaseArray, is_array, new_array
from codipy.active.core.pending cimport Pending
from codipy.active.recordings.over cimport is_past
from codipy.active.storage.block cimport Block, new_block
from codipy.active.storage.storage cimport Py_REFCNT, Storage, is_small, owns_block, owns_buffer
from codipy.active.storage.view cimport (
    View, broadcast_strides, is_contiguous, is_injective, same_view, set_contiguous, shape_tuple)
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.data.strided cimport advance, reach
from codipy.programs.tiles cimport MAX_DIMS, ROUND_NONE, ROUND_RESULT
from codipy.tape.activity cimport current
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport begins
from codipy.tape.recorder cimport Recorder

from codipy.active.doors import door
from codipy.active.scalar.given import number_of
from codipy.errors import ActiveError

cdef enum:
    FEW_WRITES = 8               # of single elements as statements; with more of them the storage goes mixed


cdef bint covers(const View* v, Py_ssize_t size) noexcept:
    """Whether a view shows every element of its storage."""
    cdef int k
    if v.size != size:
        return False
    for k in range(v.ndim):
        if v.strides[k] == 0 and v.shape[k] > 1:
            return False
    return True


cdef int demand_writable(BaseArray target) except -1:
    """The one check of what may be written through a variable."""
    if target.readonly:
        raise ValueError("assignment destination is read-only")
    if not is_injective(&target.geometry) and shows_one_twice(&target.geometry):
        raise ActiveError("assignment destination shows an element of its base more than once, so that two values would "
                          "be written to one place: copy it first")
    return 0


cdef bint shows_one_twice(const View* v) except -1:
    places = np.zeros((1,) * v.ndim, np.int64)
    cdef int k
    for k in range(v.ndim):
        places = places + (v.strides[k] * np.arange(v.shape[k])).reshape((-1,) + (1,) * (v.ndim - 1 - k))
    return np.unique(places).size < v.size


cdef int assign(BaseArray target, object value) except -1:
    cdef Recorder* r = current()
    cdef View* v = &target.geometry
    cdef Pending p
    cdef object nested = None
    cdef int flags, precision
    begins(r)
    demand_writable(target)
    if isinstance(value, (list, tuple)):
        nested = from_nested(value)
    if v.size == 0:
        np.empty(shape_tuple(v))[...] = np.empty(np.shape(value if nested is None else nested))      # or NumPy raises
        return 0
    # The second half of `u[1:-1] += e`, which Python carries out as `u[1:-1] = u[1:-1].__iadd__(e)`.
    if is_array(value) and (<BaseArray>value).storage is target.storage and same_view(v, &(<BaseArray>value).geometry):
        return 0
    if is_array(value) and (<BaseArray>value).storage is target.storage and reads_what_it_wrote(
            v, &(<BaseArray>value).geometry):
        return assign(target, in_turn(target, value))
    target.storage.begin_write()
    # `value` is never assigned to: Cython would count it once more, and a temporary expression would not look like one.
    if move_into(r, target, <PyObject*>value if nested is None else <PyObject*>nested):
        return 0
    p = pending_of(r, <PyObject*>value if nested is None else <PyObject*>nested, v)
    if p is None:
        given = door("given")(value)
        given = number_of(value) if given is value else given
        if given is not value:
            return assign(target, given)
        raise TypeError(f"an Array holds real numbers: cannot assign {type(value).__name__}")
    precision = p.single
    if target.storage.single and precision == ROUND_NONE:
        p.single = ROUND_RESULT
    try:
        flags = store(r, target, p)
        if flags:
            report(p, v, flags)
    finally:
        p.single = precision     # the expression may be somebody's after all: what looks like a temporary is a guess
    return 0


cdef bint reads_what_it_wrote(const View* target, const View* source) noexcept:
    """Whether NumPy moves elements between two overlapping rows of one array one by one: it copies the others first."""
    cdef int last = source.ndim - 1
    cdef Py_ssize_t step, there
    if target.ndim != 1 or target.size < 2 or last < 0 or source.size != target.size or source.shape[last] != target.size:
        return False
    step, there = target.strides[0], source.strides[last]
    if step == there or (step < 0) != (there < 0) or there == 0:      # copied, or moved from the end that is right
        return False
    if step < 0:
        return (target.offset >= source.offset + (source.size - 1) * there
                and source.offset >= target.offset + (target.size - 1) * step)
    return (target.offset <= source.offset + (source.size - 1) * there
            and source.offset <= target.offset + (target.size - 1) * step)


cdef object in_turn(BaseArray target, BaseArray source):
    """What the elements are that NumPy moves, some of them written before they are read."""
    return written_in_turn(target, source, _assign)


def _assign(target, source):
    target[...] = source


def written_in_turn(BaseArray target not None, BaseArray source not None, write):
    """What an Array has once NumPy has written elements of the same storage into it, element by element.

    Parameters
    ----------
    target, source : Array
        Neither is written to.
    write : callable
        ``write(target, source)`` does it, to two arrays of integers that lie as these two do.

    Returns
    -------
    Array or None
        A copy of the shape of `target`; None where the two share no storage, so that the order does not matter.
    """
    cdef View whole
    cdef const View* v = &target.geometry
    cdef const View* w = &source.geometry
    cdef Py_ssize_t first, last, low, high
    if target.storage is not source.storage or not v.size or not w.size:
        return None
    reach(v.ndim, v.shape, v.strides, v.offset, &low, &high)
    reach(w.ndim, w.shape, w.strides, w.offset, &first, &last)
    if first > high or last < low:
        return None
    low, high = min(low, first), max(high, last)
    positions = np.arange(high - low + 1, dtype=np.int64)
    to = as_strided(positions[v.offset - low:], shape_tuple(v), [8 * v.strides[k] for k in range(v.ndim)])
    write(to, as_strided(positions[w.offset - low:], shape_tuple(w), [8 * w.strides[k] for k in range(w.ndim)]))
    whole.ndim, whole.shape[0] = 1, high - low + 1
    set_contiguous(&whole)
    whole.offset = low
    return new_array(target.storage, &whole)[to.copy()]


cdef int store(Recorder* r, BaseArray target, Pending p) except -1:
    """Compute an expression into its place and record that: the floating-point flags that are up."""
    cdef View* v = &target.geometry
    cdef Storage storage = target.storage, fresh
    cdef BaseTape tape
    cdef bint active = p.active and r != NULL, in_place
    cdef int32_t before
    cdef int flags
    storage.begin_write()        # again: a value that shows a part of this storage has been read since
    if r != NULL and covers(v, storage.buffer.size) and is_left(r, storage):
        storage.drop_identifiers()
        (<BaseTape>r.tape).demand_idle("an array operation")
        return replace(r, storage, v, p, active)
    if storage.block is not None and r == NULL:
        admit_block(r, storage)
        go_mixed_in_passive(storage)
    if storage.identifiers != NULL:
        if admit_mixed(r, storage) or r == NULL:
            return assign_mixed(r, target, p, active)
        storage.drop_identifiers()
    if not active and storage.block is None:
        storage.own_values(v.size)
        return run_values(p, v, storage.buffer.data + v.offset, v.strides)
    if v.size == 1 and storage.buffer.size > 1:
        storage.writes += 1
        if storage.writes > FEW_WRITES:
            return assign_element(target, p)
    if storage.block is not None:
        admit_block(r, storage)
        storage.block.lent |= storage.block.base <= (<BaseTape>r.tape).held
    in_place = storage.block is not None and is_overwritable(storage, v, p)
    if not in_place and (is_small(v.size, storage.buffer.size) and (storage.block is not None or not is_contiguous(v))
                         or storage.block is not None and (<BaseTape>r.tape).twice and sets_again(storage, v)):
        storage.make_mixed(<BaseTape>r.tape)
        return assign_mixed(r, target, p, active)
    tape = <BaseTape>r.tape
    tape.demand_idle("an array operation")
    if covers(v, storage.buffer.size):
        return replace(r, storage, v, p, active)
    if storage.block is None:
        start_block(r, storage)
        storage.own_values(v.size)
        fresh = storage
    else:
        fresh = renew(r, storage, v, in_place)
    # The record first, since it may fail for want of memory: values and identifiers change together or not at all.
    before = tape.largest()
    record(r, p, v, fresh.block.base + <int32_t>v.offset, v.strides, before)
    flags = run_recorded(r, p, v, fresh.buffer.data + v.offset, v.strides, before)
    fresh.block.epoch = r.epoch
    storage.become(fresh.buffer, fresh.block)
    return flags


cdef bint is_left(Recorder* r, Storage storage) except -1:
    """Whether a recording that is over has left the identifiers: where all is overwritten, nothing is lost with them."""
    cdef int64_t epoch = r.epoch
    if storage.block is not None:
        epoch = storage.block.epoch
    elif storage.identifiers != NULL:
        epoch = storage.epoch
    return epoch != r.epoch and is_past(epoch)


cdef bint sets_again(Storage storage, const View* v) noexcept:
    """Whether identifiers of a fresh block would be set twice, by the elements that stay and then by this part."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t first[MAX_DIMS]
    return not covers(v, storage.buffer.size) and not moves_slabs(v, storage.buffer.size, shape, first)


cdef int replace(Recorder* r, Storage storage, const View* v, Pending p, bint active) except -1:
    """Every element is overwritten: nothing of the old values or identifiers stays."""
    cdef BaseTape tape = <BaseTape>r.tape
    cdef bint copied = not owns_buffer(storage)      # by the expression, too
    cdef Buffer buffer = new_buffer(storage.buffer.size) if copied else storage.buffer
    cdef Block block = None
    cdef int32_t before
    cdef int flags
    if active:
        before = tape.largest()
        block = new_block(tape, buffer.size)
        record(r, p, v, block.base + <int32_t>v.offset, v.strides, before)
        flags = run_recorded(r, p, v, buffer.data + v.offset, v.strides, before)
    else:
        flags = run_values(p, v, buffer.data + v.offset, v.strides)
    storage.become(buffer, block)
    return flags


cdef int start_block(Recorder* r, Storage storage) except -1:
    """Identifiers for a passive storage; a statement without active arguments makes their adjoints end here."""
    cdef BaseTape tape = <BaseTape>r.tape
    cdef int32_t before = tape.largest()
    cdef Block block = new_block(tape, storage.buffer.size)
    cdef View whole
    whole.ndim, whole.shape[0] = 1, storage.buffer.size
    set_contiguous(&whole)
    cdef object value = 0.0              # where nothing is replayed, no sweep reads it
    if r.keeps_values:
        value = storage.buffer.data[0] if is_uniform(storage.buffer) else new_array(storage, &whole)
    record(r, pending_of(r, <PyObject*>value, &whole), &whole, block.base, whole.strides, before)
    storage.become(storage.buffer, block)
    return 0


cdef bint is_uniform(Buffer buffer) noexcept:
    """Whether all values are the same, as in an array made by zeros()."""
    return memcmp(buffer.data, buffer.data + 1, (buffer.size - 1) * sizeof(double)) == 0


cdef int assign_element(BaseArray target, Pending p) except -1:
    """One of many single elements: the storage goes mixed, and their identifiers move."""
    cdef View single = target.geometry
    cdef BaseArray scalar
    single.ndim, single.offset, single.size = 0, 0, 1
    scalar = new_array(None, &single)
    scalar.pending = p
    return set_element(target, 0, element(scalar, 0))


cdef bint is_overwritable(Storage storage, const View* v, Pending p) noexcept:
    """Whether nobody can reach the identifiers of a part of a clean storage; p may, if it reads other parts only."""
    cdef PyObject* block = <PyObject*>storage.block
    cdef Py_ssize_t readers = 0, first, last, low, high
    cdef int k
    if storage.block.lent or storage.block.is_input:
        return False
    reach(v.ndim, v.shape, v.strides, v.offset, &first, &last)
    for k in range(p.leaf_count):
        if p.leaves[k].owner == block:
            readers += 1
            reach(v.ndim, v.shape, p.leaves[k].strides, p.leaves[k].identifier - storage.block.base, &low, &high)
            if low <= last and first <= high:
                return False
    return Py_REFCNT(block) == 1 + readers


cdef bint move_into(Recorder* r, BaseArray target, PyObject* value) except -1:
    """Copy values and identifiers of a stored array into a part whose identifiers are explicit; nothing is recorded."""
    cdef Storage storage = target.storage, source
    cdef View* v = &target.geometry
    cdef BaseArray x
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef bint active
    if r == NULL or not is_array(<object>value):
        return False
    if (<BaseArray>value).pending is not None or (<BaseArray>value).kept is not None or (<BaseArray>value).storage is storage:
        return False
    x = <BaseArray>value
    source = x.storage
    active = source.identifiers != NULL or source.block is not None
    if storage.single and not source.single:
        return False
    if storage.identifiers == NULL and not (active and is_small(v.size, storage.buffer.size) and (
            not owns_block(storage) if storage.block is not None else not is_contiguous(v))):
        return False
    if covers(v, storage.buffer.size) or not broadcast_strides(&x.geometry, x.geometry.strides, v, strides):
        return False
    if storage.block is not None:
        admit_block(r, storage)
    if storage.identifiers != NULL and not admit_mixed(r, storage):
        storage.drop_identifiers()
    if active:
        active = admit_mixed(r, source) if source.identifiers != NULL else admit_block(r, source)
    (<BaseTape>r.tape).demand_idle("an array operation")
    storage.make_mixed(<BaseTape>r.tape)
    put_all(r, target, source, x.geometry.offset, strides, active)
    return True


cdef int assign_mixed(Recorder* r, BaseArray target, Pending p, bint active) except -1:
    """Values are written, identifiers moved: those of a new block with one statement, or 0."""
    cdef Storage storage = target.storage
    cdef View* v = &target.geometry
    cdef View shape = v[0]
    cdef BaseArray whole
    if covers(v, storage.buffer.size):
        storage.drop_identifiers()
        if active:
            return replace(r, storage, v, p, True)
        storage.own_values(v.size)
        return run_values(p, v, storage.buffer.data + v.offset, v.strides)
    set_contiguous(&shape)
    whole = new_array(None, &shape)
    whole.pending = p
    materialise(whole)
    put_all(r, target, whole.storage, 0, shape.strides, active)
    return 0


cdef int put_all(Recorder* r, BaseArray target, Storage source, Py_ssize_t place, const Py_ssize_t* strides,
                 bint active) except -1:
    """Write the elements of another storage, from `place` on by `strides`, into a part of a mixed one."""
    cdef Storage storage = target.storage
    cdef View* v = &target.geometry
    cdef Py_ssize_t index[MAX_DIMS]
    cdef const Py_ssize_t* rows[2]
    cdef Py_ssize_t at[2]
    cdef Py_ssize_t _i
    cdef int k
    rows[0], at[0] = v.strides, v.offset
    rows[1], at[1] = strides, place
    storage.own_values(v.size)
    for k in range(v.ndim):
        index[k] = 0
    for _i in range(v.size):
        storage.buffer.data[at[0]] = source.buffer.data[at[1]]
        if r == NULL:
            storage.make_passive(at[0])
        else:
            storage.put(<BaseTape>r.tape, at[0], source.hand_out(<BaseTape>r.tape, at[1]) if active else 0)
        advance(v.ndim, v.shape, index, 2, rows, at)
    return 0
