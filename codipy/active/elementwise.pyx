# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations on arrays: pending expressions, and the statements they become."""
import numpy as np

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_INCREF, Py_XDECREF
cimport cython

from codipy.active.array_type cimport Array, new_array
from codipy.active.block cimport Block, new_block
from codipy.active.expression cimport as_number, codipy_is_temporary, identify, readmit
from codipy.active.pending cimport MOST_LEAVES, MOST_STEPS, Leaf, Pending, new_pending
from codipy.active.real cimport Real, apply1, apply2
from codipy.active.storage cimport Storage, new_storage
from codipy.active.view cimport (
    MAX_NDIM, View, broadcast_shape, broadcast_strides, same_shape, set_contiguous, shape_tuple)
from codipy.active.elements cimport element
from codipy.active.packing cimport packed_view
from codipy.data.buffer cimport Buffer, new_buffer, wrap_array
from codipy.operations.kernels cimport OP_ADD, OP_MULTIPLY, OP_POSITIVE
from codipy.programs.interned cimport ArrayProgram, intern_tiles
from codipy.programs.tiles cimport (
    MAX_OPERANDS, Operand, Step, TileProgram, tiles_jacobians, tiles_needed, tiles_values)
from codipy.tape.activity cimport current, is_passive
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder
from codipy.tape.statement cimport Argument, Statement, new_statement

from codipy.errors import TapeError


# What an operand is, before its leaf is made.
cdef struct Source:
    PyObject* array              # an Array, or NULL
    PyObject* real               # an active Real, or NULL
    double number


cdef int admit_block(Recorder* r, Block block) except -1:
    if r != NULL and block is not None and block.epoch == r.epoch:
        return 1
    if r == NULL:
        if is_passive():
            return 0
        raise TapeError("an active Array is used in an operation while no tape is recording, which would lose its "
                        "derivative: take x.value, work inside `with tape:`, or say `with codipy.passive():`")
    if (<BaseTape>r.tape).is_valid(block.epoch):
        return 1
    if block.epoch >> 32 == (<BaseTape>r.tape).serial:
        raise TapeError("an Array is from before a reset of its tape: compute it again, or register it again with "
                        "tape.register_input()")
    raise TapeError("an Array belongs to another tape or to a finished recording: take x.value, or register it with "
                    "the recording tape's register_input()")


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
    source.array, source.real = NULL, NULL
    if Py_TYPE(<object>o) == <PyTypeObject*>Array:
        if (<Array>o).geometry.ndim:
            source.array = o
            return 1
        x = element(<Array>o, 0)
        keep(kept, x)
        o = <PyObject*>x
    if PyFloat_CheckExact(<object>o):
        source.number = PyFloat_AS_DOUBLE(<object>o)
        return 1
    if Py_TYPE(<object>o) == <PyTypeObject*>Real:
        source.number = (<Real>o).primal
        if (<Real>o).epoch:
            source.real = o
        return 1
    if as_number(o, &source.number) == 1:
        return 1
    if isinstance(<object>o, np.ndarray) and (<object>o).dtype.kind in "fiub":
        x = snapshot(<object>o)
        keep(kept, x)
        source.array = <PyObject*>x
        return 1
    return 0


cdef Array snapshot(values):
    """A passive Array of what a plain array holds now: it may change before the expression is computed."""
    if values.dtype.char in "gF":
        raise TypeError("long double arrays beside an Array are not supported: use astype(float)")
    copied = np.array(values, dtype=np.float64, order="C")
    return wrap_ndarray(copied)


cdef Array wrap_ndarray(values):
    """A passive Array on a C-contiguous float64 array that nobody else writes to."""
    cdef View view
    cdef const double[::1] flat
    cdef int k
    if values.ndim > MAX_NDIM:
        raise ValueError(f"an Array has at most {MAX_NDIM} dimensions, got {values.ndim}")
    view.ndim = values.ndim
    for k in range(view.ndim):
        view.shape[k] = values.shape[k]
    set_contiguous(&view)
    flat = values.reshape(-1)
    return new_array(new_storage(wrap_array(values, <double*>&flat[0] if view.size else NULL, view.size), None), &view)


cdef int leaf_of(Recorder* r, Array x, const View* shape, Leaf* leaf, PyObject** kept) except -1:
    """A leaf that reads a stored array, as part of an expression of the given shape; it borrows."""
    cdef Storage storage = x.storage
    cdef View* view = &x.geometry
    if storage.identifiers != NULL:
        x = packed_view(r, x)
        keep(kept, x)
        storage, view = x.storage, &x.geometry
    leaf.buffer = <PyObject*>storage.buffer
    leaf.data = storage.buffer.data + view.offset
    leaf.number = 0.0
    leaf.owner, leaf.identifier = NULL, 0
    if storage.block is not None and admit_block(r, storage.block):
        leaf.owner = <PyObject*>storage.block
        leaf.identifier = storage.block.base + <int32_t>view.offset
    if not broadcast_strides(view, view.strides, shape, leaf.strides):
        raise ValueError(f"could not broadcast an Array of shape {shape_tuple(view)} to shape {shape_tuple(shape)}")
    return 0


cdef int scalar_leaf(Recorder* r, Source* source, Leaf* leaf) except -1:
    cdef int k
    leaf.buffer, leaf.owner, leaf.data, leaf.identifier = NULL, NULL, NULL, 0
    leaf.number = source.number
    for k in range(MAX_NDIM):
        leaf.strides[k] = 0
    if source.real != NULL and readmit(r, <Real>source.real):
        if (<Real>source.real).count:
            identify(r, <Real>source.real)
        leaf.owner, leaf.identifier = source.real, (<Real>source.real).identifier
    return 0


cdef object operate(int code, int n, PyObject** operands):
    cdef PyObject* kept = NULL
    try:
        return combine(code, n, operands, &kept)
    finally:
        Py_XDECREF(kept)


cdef object combine(int code, int n, PyObject** operands, PyObject** kept):
    cdef Source sources[3]
    cdef Leaf leaf
    cdef View shape, wider
    cdef Recorder* r = current()
    cdef int k, a, leaves = 0, steps = 1
    cdef int place[3]
    cdef int32_t moved[MOST_LEAVES]
    cdef bint merged[3]
    cdef bint any_array = False
    cdef Pending p, part
    cdef Step* step
    cdef Array result
    shape.ndim = 0
    set_contiguous(&shape)
    for k in range(n):
        if not take(operands[k], sources + k, kept):
            return NotImplemented
        if sources[k].array != NULL:
            any_array = True
            if not broadcast_shape(&shape, &(<Array>sources[k].array).geometry, &wider):
                raise ValueError("operands could not be broadcast together with shapes " + " ".join(
                    [str(shape_tuple(&(<Array>sources[a].array).geometry)) if sources[a].array != NULL else "()"
                     for a in range(n)]))
            shape = wider
    if not any_array:
        return scalars(code, n, operands, <list>kept[0])
    for k in range(n):
        merged[k] = False
        if sources[k].array != NULL and (<Array>sources[k].array).pending is not None:
            part = (<Array>sources[k].array).pending
            if (codipy_is_temporary(sources[k].array) and same_shape(&shape, &(<Array>sources[k].array).geometry)
                    and leaves + part.leaf_count + n <= MOST_LEAVES and steps + part.step_count <= MOST_STEPS):
                merged[k] = True
                leaves += part.leaf_count
                steps += part.step_count
                continue
            materialise(<Array>sources[k].array)
        leaves += 1
    p = new_pending(leaves, steps)
    for k in range(n):
        if not merged[k]:
            if sources[k].array != NULL:
                leaf_of(r, <Array>sources[k].array, &shape, &leaf, kept)
            else:
                scalar_leaf(r, sources + k, &leaf)
            place[k] = p.append(&leaf, shape.ndim)
            continue
        part = (<Array>sources[k].array).pending
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
    result = new_array(None, &shape)
    result.pending = p
    if r != NULL and r.eager and p.active:
        materialise(result)
    return result


cdef inline int32_t rebased(int32_t source, const int32_t* moved, int steps) noexcept:
    return moved[source] if source >= 0 else source - steps


cdef object scalars(int code, int n, PyObject** operands, list elements):
    """The operation on 0-d arrays and numbers: a Real."""
    cdef PyObject* numbers[2]
    cdef int k, used = 0
    if n > 2:
        return NotImplemented
    for k in range(n):
        numbers[k] = operands[k]
        if Py_TYPE(<object>operands[k]) == <PyTypeObject*>Array:
            numbers[k] = <PyObject*>elements[used]
            used += 1
    return apply1(code, numbers[0]) if n == 1 else apply2(code, numbers[0], numbers[1])


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
        p = (<Array>source.array).pending
        if p is not None:
            if codipy_is_temporary(x) and same_shape(shape, &(<Array>source.array).geometry):
                return p
            materialise(<Array>source.array)
        leaf_of(r, <Array>source.array, shape, &leaf, kept)
    else:
        scalar_leaf(r, &source, &leaf)
    p = new_pending(1, 1)
    p.append(&leaf, shape.ndim)
    p.steps[0].code, p.steps[0].sources[0], p.steps[0].sources[1], p.steps[0].sources[2] = OP_POSITIVE, 0, 0, 0
    p.step_count = 1
    return p


# ---- From expression to statement ----

cdef int run_values(Pending p, const View* shape, double* out, const Py_ssize_t* strides) except -1:
    cdef TileProgram program
    cdef Operand operands[MAX_OPERANDS]
    cdef Py_ssize_t out_strides[MAX_NDIM]
    cdef int k, failed
    p.load(&program, operands, shape.ndim)
    for k in range(shape.ndim):
        out_strides[k] = strides[k] * sizeof(double)
    if shape.size < 4096:
        failed = tiles_values(&program, operands, shape.ndim, shape.shape, out, out_strides)
    else:
        with nogil:
            failed = tiles_values(&program, operands, shape.ndim, shape.shape, out, out_strides)
    if failed:
        raise MemoryError("no memory for the temporaries of an array statement")
    return 0


cdef int check_owners(Recorder* r, Pending p) except -1:
    """Identifiers of an expression that was made earlier must still be on the tape."""
    cdef int k
    cdef PyObject* owner
    for k in range(p.leaf_count):
        owner = p.leaves[k].owner
        if owner == NULL:
            continue
        if Py_TYPE(<object>owner) == <PyTypeObject*>Block:
            admit_block(r, <Block>owner)
        elif (<Real>owner).identifier != p.leaves[k].identifier or not readmit(r, <Real>owner):
            raise TapeError("a Real in an array expression was registered anew before the expression was computed: "
                            "compute the expression again")
    return 0


cdef int materialise(Array a) except -1:
    cdef Pending p = a.pending
    cdef Recorder* r
    cdef Buffer buffer
    cdef Block block
    cdef BaseTape tape
    cdef int32_t before
    if p is None:
        return 0
    r = current()
    if not p.active or r == NULL:
        if a.storage is None:
            buffer = new_buffer(a.geometry.size)
            run_values(p, &a.geometry, buffer.data, a.geometry.strides)
            a.storage = new_storage(buffer, None)
        if not p.active:
            a.pending = None
        return 0
    check_owners(r, p)
    tape = <BaseTape>r.tape
    tape.demand_idle("an array operation")
    if a.storage is None:
        buffer = new_buffer(a.geometry.size)
        run_values(p, &a.geometry, buffer.data, a.geometry.strides)
    else:
        buffer = a.storage.buffer
    before = tape.largest()
    block = new_block(tape, a.geometry.size)
    record(r, p, &a.geometry, block.base, a.geometry.strides, before)
    if a.storage is None:
        a.storage = new_storage(buffer, block)
    else:
        a.storage.block = block
    a.pending = None
    return 0


cdef int record(Recorder* r, Pending p, const View* shape, int32_t identifier, const Py_ssize_t* strides,
                int32_t before) except -1:
    cdef TileProgram program
    cdef Operand operands[MAX_OPERANDS]
    cdef Statement statement
    cdef BaseTape tape = <BaseTape>r.tape
    try:
        p.load(&program, operands, shape.ndim)
        if tape.by_value or not p.active:
            statement = value_statement(p, &program, shape)
        else:
            statement = jacobian_statement(p, &program, operands, shape)
        statement.identifier = identifier
        memcpy(statement.shape, shape.shape, shape.ndim * sizeof(Py_ssize_t))
        memcpy(statement.shape + shape.ndim, strides, shape.ndim * sizeof(Py_ssize_t))
        tape.push_record(statement, before)
    except BaseException:
        tape.withdraw_block(before)
        raise
    return 0


cdef Statement value_statement(Pending p, const TileProgram* program, const View* shape):
    """Keeps the arguments' values where the reverse sweep reads them."""
    cdef Statement statement = new_statement(intern_tiles(program), shape.ndim, p.leaf_count)
    cdef Argument* argument
    cdef Leaf* leaf
    cdef uint64_t active = 0, needed
    cdef int k
    for k in range(p.leaf_count):
        if p.leaves[k].identifier:
            active |= <uint64_t>1 << k
    needed = tiles_needed(program, active)
    for k in range(p.leaf_count):
        argument, leaf = statement.arguments + k, p.leaves + k
        argument.owner, argument.data, argument.number = NULL, NULL, leaf.number
        argument.identifier = leaf.identifier
        if leaf.buffer != NULL and needed >> k & 1:
            argument.owner, argument.data = leaf.buffer, leaf.data
            Py_INCREF(<object>argument.owner)
        memcpy(statement.shape + (2 + k) * shape.ndim, leaf.strides, shape.ndim * sizeof(Py_ssize_t))
        statement.count = k + 1
    return statement


cdef Statement jacobian_statement(Pending p, const TileProgram* program, const Operand* operands, const View* shape):
    """Keeps the partial of every element of the result by every active argument: result = sum of J[k] * u[k]."""
    cdef TileProgram linear
    cdef double* jacobians[MAX_OPERANDS]
    cdef list buffers = []
    cdef Buffer buffer
    cdef Statement statement
    cdef Argument* argument
    cdef View contiguous = shape[0]
    cdef int k, i, count = 0, failed
    set_contiguous(&contiguous)
    for k in range(p.leaf_count):
        jacobians[k] = NULL
        if p.leaves[k].identifier:
            buffer = new_buffer(shape.size)
            buffers.append(buffer)
            jacobians[k] = buffer.data
    with nogil:
        failed = tiles_jacobians(program, operands, shape.ndim, shape.shape, jacobians)
    if failed:
        raise MemoryError("no memory for the temporaries of an array statement")
    count = <int>len(buffers)
    linear.operands, linear.steps = 2 * count, 2 * count - 1
    for k in range(count):
        linear.step[k].code = OP_MULTIPLY
        linear.step[k].sources[0], linear.step[k].sources[1], linear.step[k].sources[2] = k, count + k, 0
    for k in range(count - 1):
        linear.step[count + k].code = OP_ADD
        linear.step[count + k].sources[0] = 2 * count if k == 0 else 2 * count + count + k - 1
        linear.step[count + k].sources[1] = 2 * count + k + 1
        linear.step[count + k].sources[2] = 0
    statement = new_statement(intern_tiles(&linear), shape.ndim, 2 * count)
    for k in range(count):
        buffer = buffers[k]
        argument = statement.arguments + k
        argument.owner, argument.data, argument.number, argument.identifier = NULL, buffer.data, 0.0, 0
        argument.owner = <PyObject*>buffer
        Py_INCREF(buffer)
        memcpy(statement.shape + (2 + k) * shape.ndim, contiguous.strides, shape.ndim * sizeof(Py_ssize_t))
        statement.count = k + 1
    i = count
    for k in range(p.leaf_count):
        if p.leaves[k].identifier:
            argument = statement.arguments + i
            argument.owner, argument.data, argument.number = NULL, NULL, 0.0
            argument.identifier = p.leaves[k].identifier
            memcpy(statement.shape + (2 + i) * shape.ndim, p.leaves[k].strides, shape.ndim * sizeof(Py_ssize_t))
            i += 1
            statement.count = i
    return statement
