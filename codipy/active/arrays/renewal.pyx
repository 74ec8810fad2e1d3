# SPDX-License-Identifier: Apache-2.0
"""Fresh values and identifiers for a storage, of which some elements are overwritten next.

``un = u.copy(); un[1:-1, 1:-1] = ...`` shares everything until the assignment; then only the border is moved, as a few
slabs around the hole that the assignment fills.
"""
from libc.stdint cimport int32_t
from cpython.object cimport PyObject

from codipy.active.arrays.statements cimport record, run_values
from codipy.active.core.pending cimport Leaf, Pending, new_pending
from codipy.active.storage.block cimport Block, new_block
from codipy.active.storage.storage cimport Storage, is_small, new_storage, owns_buffer
from codipy.active.storage.view cimport View, set_contiguous
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.operations.kernels cimport OP_POSITIVE
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder


cdef bint is_box(const View* v, Py_ssize_t size, Py_ssize_t* shape, Py_ssize_t* first) noexcept:
    """Whether a view is a box of unit steps in a C-ordered array of `size` elements: that array's shape, the corner."""
    cdef Py_ssize_t outer = size, rest = v.offset
    cdef int k
    if v.ndim == 0 or v.size == 0:
        return False
    for k in range(v.ndim):
        if v.strides[k] <= 0 or outer % v.strides[k] or v.shape[k] * v.strides[k] > outer:
            return False
        shape[k] = outer // v.strides[k]
        outer = v.strides[k]
        first[k] = rest // outer
        rest %= outer
        if first[k] + v.shape[k] > shape[k]:
            return False
    return outer == 1


cdef bint moves_slabs(const View* hole, Py_ssize_t size, Py_ssize_t* shape, Py_ssize_t* first) noexcept:
    """Whether the elements around a hole are moved, and not all of them."""
    return 2 * hole.size >= size and is_box(hole, size, shape, first)


cdef Storage renew(Recorder* r, Storage storage, const View* hole, bint in_place):
    cdef bint fresh = not in_place, copied = not owns_buffer(storage)
    cdef Block old = storage.block, block = old
    cdef Buffer values = storage.buffer, buffer = values
    cdef BaseTape tape = <BaseTape>r.tape
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t first[MAX_DIMS]
    cdef Py_ssize_t n, size = values.size
    cdef int32_t before = tape.largest()
    cdef View slab
    cdef int k
    if copied:
        buffer = new_buffer(size)
        storage.parted |= is_small(hole.size, size)
    if not fresh:
        tape.shared = True
        if buffer is values:
            return storage
    if fresh:
        block = new_block(tape, size)
    if not moves_slabs(hole, size, shape, first):
        tape.shared = True       # the identifiers of the hole are set here, and then again
        slab.ndim, slab.shape[0] = 1, size
        set_contiguous(&slab)
        move(r, old, values, block, buffer, &slab, before)
    else:
        # Dimension by dimension: what lies before and behind the hole, within its extent in the dimensions before.
        slab = hole[0]
        slab.offset = 0
        for k in range(hole.ndim):
            slab.shape[k] = shape[k]
        for k in range(hole.ndim):
            n = slab.offset
            slab.shape[k] = first[k]
            before = move(r, old, values, block, buffer, &slab, before)
            slab.offset = n + (first[k] + hole.shape[k]) * hole.strides[k]
            slab.shape[k] = shape[k] - first[k] - hole.shape[k]
            before = move(r, old, values, block, buffer, &slab, before)
            slab.offset = n + first[k] * hole.strides[k]
            slab.shape[k] = hole.shape[k]
    return new_storage(buffer, block, storage.single)


cdef int32_t move(Recorder* r, Block old, Buffer values, Block block, Buffer buffer, View* slab, int32_t before) except -1:
    """Copy the elements of a slab; where the block is a fresh one, as a statement. Returns largest()."""
    cdef Leaf leaf
    cdef Pending p = new_pending(1, 1)
    cdef int k
    slab.size = 1
    for k in range(slab.ndim):
        slab.size *= slab.shape[k]
        leaf.strides[k] = slab.strides[k]
    if slab.size == 0:
        return before
    leaf.buffer, leaf.data, leaf.number = <PyObject*>values, values.data + slab.offset, 0.0
    leaf.owner, leaf.identifier = <PyObject*>old, old.base + <int32_t>slab.offset
    p.append(&leaf, slab.ndim)
    p.steps[0].code, p.steps[0].sources[0], p.steps[0].sources[1], p.steps[0].sources[2] = OP_POSITIVE, 0, 0, 0
    p.step_count = 1
    if buffer is not values:
        run_values(p, slab, buffer.data + slab.offset, slab.strides)
    if block is not old:
        record(r, p, slab, block.base + <int32_t>slab.offset, slab.strides, before)
    return (<BaseTape>r.tape).largest()
