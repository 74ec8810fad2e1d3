# SPDX-License-Identifier: Apache-2.0
"""Operands of matrix products that depend on what is active in the same way all along an axis."""
from libc.math cimport isfinite
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from codipy.active.arrays.reductions cimport values_of
from codipy.active.arrays.statements cimport Loaded, statement_of
from codipy.active.core.base_array cimport BaseArray, new_array
from codipy.active.core.pending cimport Pending
from codipy.active.storage.block cimport append_block
from codipy.active.storage.storage cimport new_storage
from codipy.active.storage.view cimport View, set_contiguous
from codipy.programs.tiles cimport ROUND_NONE
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.statement cimport Statement

cdef enum:
    FEW = 256                    # elements: of fewer, the product's cotangent takes less than a statement of another shape


cdef tuple without_axis(Recorder* r, BaseArray a, int axis):
    """In `(x - mean) @ w` each row of the first factor moves with `mean`: its cotangents are needed as their sum alone.

    So the statement is recorded for one row, and the product adds what flows back to all rows to the identifiers of
    that one: the sum of the product's adjoints is multiplied, not the adjoints. None where slopes are no constants.
    """
    cdef Pending p = a.pending
    cdef Loaded loaded
    cdef View once, repeated
    cdef Statement statement
    cdef BaseArray values, named
    if p is None or r == NULL or not p.active or not p.waits or a.kept is not None or a.storage is not None:
        return None
    if r.keeps_values or not (<BaseTape>r.tape).by_value or p.single != ROUND_NONE or p.epoch != r.epoch:
        return None
    if a.geometry.size <= FEW or a.geometry.shape[axis] < 2:
        return None
    p.load(&loaded.program, loaded.operands, a.geometry.ndim)
    once = a.geometry
    once.shape[axis] = 1
    set_contiguous(&once)
    statement = statement_of(r, p, &loaded, &once, once.strides)
    if not has_constant_slopes(p, statement, axis):
        return None
    values = values_of(r, a)
    if r.journal != NULL:
        (<Journal>r.journal).next = p.spot
    repeated = a.geometry
    memcpy(repeated.strides, once.strides, once.ndim * sizeof(Py_ssize_t))
    repeated.strides[axis] = repeated.offset = 0
    named = new_array(new_storage(values.storage.buffer, append_block(<BaseTape>r.tape, statement, once.size), False), &repeated)
    return values, named


cdef bint has_constant_slopes(Pending p, Statement statement, int axis) noexcept:
    """Whether what is active is the same all along the axis, and so are the slopes: no array is read for them."""
    cdef uint32_t active = 0, needed
    cdef int k
    for k in range(p.leaf_count):
        if p.leaves[k].identifier:
            active |= <uint32_t>1 << k
            if p.leaves[k].strides[axis]:
                return False
    needed = statement.program.needed(active)
    for k in range(p.leaf_count):
        # Infinite slopes make NaN of adjoints that cancel each other, but not of their sum.
        if needed >> k & 1 and (p.leaves[k].buffer != NULL or not isfinite(p.leaves[k].number)):
            return False
    return True
