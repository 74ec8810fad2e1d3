# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations on arrays become pending expressions."""
import sys

import numpy as np

from libc.stdint cimport int32_t
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_CheckExact
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_INCREF, Py_XDECREF

from codipy.active.arrays.compute cimport admit_block, is_lent, materialise, revive
from codipy.active.arrays.constants cimport constant, snapshot
from codipy.active.arrays.elements cimport element
from codipy.active.arrays.floating cimport may_wait, rules_in_force
from codipy.active.arrays.packing cimport from_nested, readable
from codipy.active.arrays.precision cimport (
    DOUBLE, HALF, SINGLE, UNKNOWN, WEAK, Source, demand_exponent, demand_precision,
    is_half_result, is_refused, is_single_result, single_value,
    strength_of, strength_of_real)
from codipy.active.core.base_array cimport BaseArray, is_array, is_single, new_array
from codipy.active.core.pending cimport MOST_LEAVES, MOST_STEPS, Leaf, Pending, new_pending
from codipy.active.scalar.expression cimport as_number, codipy_is_temporary, identify, readmit
from codipy.active.scalar.real cimport Real, apply1, apply2, apply3, apply_with_ufunc
from codipy.active.storage.storage cimport Storage
from codipy.active.storage.view cimport (
    View, broadcast_shape, broadcast_strides, same_shape, set_contiguous, shape_tuple)
from codipy.operations.kernels cimport OP_POSITIVE, OP_SCALE
from codipy.programs.tiles cimport MAX_DIMS, ROUND_NONE, ROUND_STEPS, Step, tiles_reads, tiles_slow
from codipy.tape.activity cimport current
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Recorder

from codipy.errors import ActiveError
from codipy.operations import TABLE

cdef enum:
    WORTH_KEEPING = 256          # elements: values that a sweep would compute again slowly are kept instead

cdef object ndarray = np.ndarray      # looked up once
cdef list ufuncs = [getattr(np, row.numpy[0], None) if row.numpy else None for row in TABLE]     # by operation code


cdef int keep(PyObject** kept, object x) except -1:
    """Hold a temporary until the operation is done; a list only where there is one."""
    cdef list items
    if kept[0] == NULL:
        items = []
        Py_INCREF(items)
        kept[0] = <PyObject*>items
    (<list>kept[0]).append(x)
    return 0


cdef int take(PyObject* o, Source* source, PyObject** kept) except -1:
    """What an operand is; 0 where it is no array of numbers and no number. What is made for it is kept in a list."""
    source.array, source.real, source.strength = NULL, NULL, WEAK
    if is_array(<object>o):
        if (<BaseArray>o).kept is not None:
            revive(current(), <BaseArray>o)
        source.strength = SINGLE if is_single(<BaseArray>o) else DOUBLE
        if (<BaseArray>o).geometry.ndim:
            source.array = o
            return 1
        x = element(<BaseArray>o, 0)
        keep(kept, x)
        o = <PyObject*>x
    if PyFloat_CheckExact(<object>o):
        source.number = PyFloat_AS_DOUBLE(<object>o)
        return 1
    if Py_TYPE(<object>o) == <PyTypeObject*>Real:
        source.number = (<Real>o).primal
        source.strength = strength_of_real(o)
        if (<Real>o).epoch:
            source.real = o
        return 1
    if as_number(o, &source.number) == 1:
        if Py_TYPE(<object>o) != <PyTypeObject*>int:
            source.strength = UNKNOWN
            if not PyFloat_Check(<object>o):
                demand_precision(<object>o)
        return 1
    if is_refused(<object>o):
        raise TypeError(f"{type(<object>o).__name__} beside an Array is not supported: use a plain array, np.asarray(...) "
                        "or .filled(...)")
    if isinstance(<object>o, ndarray) and (<object>o).dtype.kind in "fiub":
        x = constant(current(), <object>o)
        keep(kept, x)
        source.array, source.strength = <PyObject*>x, strength_of(<object>o)
        return 1
    if isinstance(<object>o, (list, tuple)):
        x = from_nested(<object>o)
        x = x if is_array(x) else snapshot(x)
        keep(kept, x)
        return take(<PyObject*>x, source, kept)
    return 0


cdef bint is_reversed(const View* view) noexcept:
    cdef int k
    for k in range(view.ndim):
        if view.strides[k] < 0 and view.shape[k] > 1:
            return True
    return False


cdef int leaf_of(Recorder* r, BaseArray x, const View* shape, Leaf* leaf, PyObject** kept) except -1:
    """A leaf that reads a stored array, as part of an expression of the given shape; it borrows."""
    cdef Storage storage = x.storage
    cdef View* view = &x.geometry
    if storage.identifiers != NULL or storage.parted:
        x = readable(r, x)
        keep(kept, x)
        storage, view = x.storage, &x.geometry
    leaf.buffer = <PyObject*>storage.buffer
    leaf.data = storage.buffer.data + view.offset
    leaf.number = 0.0
    leaf.owner, leaf.identifier = NULL, 0
    if storage.block is not None and admit_block(r, storage):
        # Of a part's copy the whole's block, so that who writes to the whole can count who reads it.
        leaf.owner = <PyObject*>(storage.block if storage.block.parent is None else storage.block.parent)
        leaf.identifier = storage.block.base + <int32_t>view.offset
    if not broadcast_strides(view, view.strides, shape, leaf.strides):
        raise ValueError(f"could not broadcast an Array of shape {shape_tuple(view)} to shape {shape_tuple(shape)}")
    return 0


cdef int scalar_leaf(Recorder* r, Source* source, Leaf* leaf) except -1:
    cdef int k
    leaf.buffer, leaf.owner, leaf.data, leaf.identifier = NULL, NULL, NULL, 0
    leaf.number = source.number
    for k in range(MAX_DIMS):
        leaf.strides[k] = 0
    if source.real != NULL and readmit(r, <Real>source.real):
        if (<Real>source.real).count:
            identify(r, <Real>source.real)
        leaf.owner, leaf.identifier = source.real, (<Real>source.real).identifier
    return 0


cdef object operate(int code, int n, PyObject** operands):
    cdef bint spare[3]
    cdef int k
    for k in range(n):
        spare[k] = codipy_is_temporary(operands[k])
    return operate_on(code, n, operands, spare)


cdef object operate_on(int code, int n, PyObject** operands, const bint* spare):
    cdef PyObject* kept = NULL
    try:
        return combine(code, n, operands, spare, &kept)
    finally:
        Py_XDECREF(kept)


cdef object combine(int code, int n, PyObject** operands, const bint* spare, PyObject** kept):
    cdef Source sources[3]
    cdef Leaf leaf
    cdef View shape, wider
    cdef Recorder* r = current()
    cdef int k, a, leaves = 0, steps = 1
    cdef int place[3]
    cdef int32_t moved[MOST_LEAVES]
    cdef bint merged[3]
    cdef bint any_array = False, any_single = False, any_half = False, waits, slow = tiles_slow(code)
    cdef int single = ROUND_NONE
    cdef Pending p, part
    cdef Step* step
    shape.ndim = 0
    set_contiguous(&shape)
    for k in range(n):
        if not take(operands[k], sources + k, kept):
            return NotImplemented
        any_single |= sources[k].strength == SINGLE
        any_half |= sources[k].strength == HALF
        if sources[k].array != NULL:
            any_array = True
            if not broadcast_shape(&shape, &(<BaseArray>sources[k].array).geometry, &wider):
                raise ValueError("operands could not be broadcast together with shapes " + " ".join(
                    [str(shape_tuple(&(<BaseArray>sources[a].array).geometry)) if sources[a].array != NULL else "()"
                     for a in range(n)]))
            shape = wider
    if code == OP_SCALE:
        demand_exponent(<object>operands[1])
    if any_single and is_single_result(code, n, sources, operands):
        single = ROUND_STEPS
    if any_single and single == ROUND_NONE:
        for k in range(n):      # NumPy casts what is float32, and its loop sees the copies
            if sources[k].array != NULL and sources[k].strength == SINGLE and is_reversed(
                    &(<BaseArray>sources[k].array).geometry):
                x = (<object>sources[k].array).copy("C")
                keep(kept, x)
                sources[k].array = <PyObject*>x
    if any_half and not any_single and is_half_result(n, sources, operands):
        raise ActiveError("a float beside an array of float16 gives float16, and only float64 and float32 can be "
                          "differentiated: use a.astype(np.float32)")
    if not any_array:
        return scalars(code, n, operands, <list>kept[0] if kept[0] != NULL else None, single)
    rules = rules_in_force()
    waits = may_wait(rules)
    for k in range(n):
        merged[k] = False
        if sources[k].array != NULL and (<BaseArray>sources[k].array).pending is not None:
            part = (<BaseArray>sources[k].array).pending
            if (waits and spare[k] and part.single == single and part.rules is rules
                    and same_shape(&shape, &(<BaseArray>sources[k].array).geometry)
                    and not (part.slow and r != NULL and (<BaseTape>r.tape).by_value and shape.size > WORTH_KEEPING
                             and tiles_reads(code, k, active_of(n, sources)))
                    and leaves + part.leaf_count + n <= MOST_LEAVES and steps + part.step_count <= MOST_STEPS
                    and not is_lent(r, part)):
                merged[k] = True
                slow |= part.slow
                leaves += part.leaf_count
                steps += part.step_count
                continue
            materialise(<BaseArray>sources[k].array)
        leaves += 1
    p = new_pending(leaves, steps)
    for k in range(n):
        if not merged[k]:
            if sources[k].array != NULL:
                leaf_of(r, <BaseArray>sources[k].array, &shape, &leaf, kept)
            else:
                scalar_leaf(r, sources + k, &leaf)
            place[k] = p.append(&leaf, shape.ndim)
            continue
        part = (<BaseArray>sources[k].array).pending
        for a in range(part.leaf_count):
            moved[a] = p.append(part.leaves + a, shape.ndim)
        for a in range(part.step_count):
            step = p.steps + p.step_count + a
            step.code = part.steps[a].code
            step.sources[0] = rebased(part.steps[a].sources[0], moved, p.step_count)
            step.sources[1] = rebased(part.steps[a].sources[1], moved, p.step_count)
            step.sources[2] = rebased(part.steps[a].sources[2], moved, p.step_count)
        p.step_count += part.step_count
        place[k] = -p.step_count
    step = p.steps + p.step_count
    step.code = code
    step.sources[0] = place[0]
    step.sources[1] = place[1] if n > 1 else 0
    step.sources[2] = place[2] if n > 2 else 0
    p.step_count += 1
    p.rules = rules
    p.waits = waits
    p.single = single
    p.slow = slow
    if shape.ndim > 1:
        order_as_operands(n, sources, &shape)
    return array_of(r, p, &shape)


cdef int active_of(int n, const Source* sources) noexcept:
    """One bit for each operand that may be active."""
    cdef BaseArray x
    cdef int k, active = 0
    for k in range(n):
        if sources[k].real != NULL:
            active |= 1 << k
        elif sources[k].array != NULL:
            x = <BaseArray>sources[k].array
            if x.pending.active if x.pending is not None else x.storage.block is not None or x.storage.identifiers != NULL:
                active |= 1 << k
    return active


cdef BaseArray array_of(Recorder* r, Pending p, View* shape):
    cdef BaseArray result
    if p.rules is None:
        p.rules = rules_in_force()
        p.waits = may_wait(p.rules)
    p.epoch = r.epoch if r != NULL else 0
    if r != NULL and r.journal != NULL:
        p.spot = (<Journal>r.journal).spots.here()
    result = new_array(None, shape)
    result.pending = p
    if not p.waits or r != NULL and r.eager and p.active:
        materialise(result)
    return result


cdef void order_as_operands(int n, const Source* sources, View* shape) noexcept:
    """Of the operands of this operation, as they are: leaves may be packed copies, or those of several operations."""
    cdef Py_ssize_t strides[3][MAX_DIMS]
    cdef View* view
    cdef int k, count = 0
    for k in range(n):
        if sources[k].array != NULL:
            view = &(<BaseArray>sources[k].array).geometry
            broadcast_strides(view, view.strides, shape, strides[count])
            count += 1
    keep_order(count, strides, shape)


cdef void keep_order(int count, Strides* operands, View* shape) noexcept:
    """Lay the result out as its operands lie where they agree, as NumPy does (order "K"); else in C order."""
    cdef Py_ssize_t* strides
    cdef Py_ssize_t stride = 1
    cdef int order[MAX_DIMS]         # the axes, the innermost first
    cdef int k, a, b, axis, other, place
    cdef bint reordered = False, compared, before
    if shape.ndim < 2:
        return
    for a in range(shape.ndim):
        order[a] = shape.ndim - 1 - a
    # The insertion sort of NumPy's iterator: axes that no operand can tell apart are passed over, C order wins.
    for a in range(1, shape.ndim):
        axis, place = order[a], a
        for b in range(a - 1, -1, -1):
            other, compared, before = order[b], False, False
            for k in range(count if shape.shape[axis] > 1 and shape.shape[other] > 1 else 0):
                strides = operands[k]
                if strides[axis] and strides[other]:
                    before = abs(strides[axis]) < abs(strides[other]) and (before or not compared)
                    compared = True
            if before:
                place, reordered = b, True
            elif compared:
                break
        for b in range(a, place, -1):
            order[b] = order[b - 1]
        order[place] = axis
    for a in range(shape.ndim if reordered else 0):
        shape.strides[order[a]] = stride
        stride *= shape.shape[order[a]]


cdef inline int32_t rebased(int32_t source, const int32_t* moved, int steps) noexcept:
    return moved[source] if source >= 0 else source - steps


cdef object scalars(int code, int n, PyObject** operands, list elements, int single):
    """The operation on 0-d arrays and numbers: a Real with NumPy's value."""
    cdef PyObject* numbers[3]
    cdef double values[3]
    cdef Source source
    cdef int k, used = 0
    for k in range(n):
        numbers[k] = operands[k]
        if is_array(<object>operands[k]):
            numbers[k] = <PyObject*>elements[used]
            used += 1
        take(numbers[k], &source, NULL)
        values[k] = source.number
    if single:
        return apply_with_ufunc(code, n, numbers, values, single_value(code, n, values))
    ufunc = ufuncs[code]
    if ufunc is None and TABLE[code].scipy and "scipy.special" in sys.modules:      # whose values are not those of math
        ufunc = getattr(sys.modules["scipy.special"], TABLE[code].scipy)
    if ufunc is None:
        if n == 3:
            return apply3(code, numbers[0], numbers[1], numbers[2])
        return apply1(code, numbers[0]) if n == 1 else apply2(code, numbers[0], numbers[1])
    given = [np.float64(values[k]) for k in range(n)]
    for k in TABLE[code].constant:       # of ldexp, which takes no float
        given[k] = int(given[k])
    return apply_with_ufunc(code, n, numbers, values, ufunc(*given))


cdef Pending pending_of(Recorder* r, PyObject* x, View* shape):
    """`shape` is what the expression must have."""
    cdef PyObject* kept = NULL
    try:
        return single(r, x, shape, &kept)
    finally:
        Py_XDECREF(kept)


cdef Pending single(Recorder* r, PyObject* x, View* shape, PyObject** kept):
    cdef Source source
    cdef Leaf leaf
    cdef Pending p
    if not take(x, &source, kept):
        return None
    if source.array != NULL:
        p = (<BaseArray>source.array).pending
        if p is not None:
            if (p.waits and codipy_is_temporary(x) and same_shape(shape, &(<BaseArray>source.array).geometry)
                    and may_wait(rules_in_force()) and not is_lent(r, p)):
                return p
            materialise(<BaseArray>source.array)
        leaf_of(r, <BaseArray>source.array, shape, &leaf, kept)
    else:
        scalar_leaf(r, &source, &leaf)
    p = new_pending(1, 1)
    p.append(&leaf, shape.ndim)
    p.steps[0].code, p.steps[0].sources[0], p.steps[0].sources[1], p.steps[0].sources[2] = OP_POSITIVE, 0, 0, 0
    p.step_count = 1
    return p
