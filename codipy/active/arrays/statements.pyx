# SPDX-License-Identifier: Apache-2.0
"""From expressions to values and to statements on the tape."""
from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memcpy
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from codipy.active.core.pending cimport Leaf, Pending
from codipy.active.storage.view cimport View, set_contiguous
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.operations.kernels cimport OP_ADD, OP_MULTIPLY
from codipy.programs.interned cimport intern_tiles
from codipy.programs.tiles cimport (
    MAX_DIMS, MAX_OPERANDS, ROUND_NONE, Operand, TileProgram, tiles_jacobians, tiles_values)
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.statement cimport Argument, Statement, new_statement


cdef extern from "codipy/programs/flags.h" nogil:
    int flags_raised()
    void flags_clear()


cdef int run_values(Pending p, const View* shape, double* out, const Py_ssize_t* strides) except -1:
    cdef Loaded loaded
    p.load(&loaded.program, loaded.operands, shape.ndim)
    return run_loaded(&loaded, shape, out, strides)


cdef int run_loaded(const Loaded* loaded, const View* shape, double* out, const Py_ssize_t* strides) except -1:
    cdef Py_ssize_t out_strides[MAX_DIMS]
    cdef int k
    for k in range(shape.ndim):
        out_strides[k] = strides[k] * sizeof(double)
    flags_clear()
    if shape.size < 4096:
        tiles_values(&loaded.program, loaded.operands, shape.ndim, shape.shape, out, out_strides)
    else:
        with nogil:
            tiles_values(&loaded.program, loaded.operands, shape.ndim, shape.shape, out, out_strides)
    return flags_raised()


cdef int record(Recorder* r, Pending p, const View* shape, int32_t identifier, const Py_ssize_t* strides,
                int32_t before) except -1:
    cdef Loaded loaded
    cdef Statement statement
    cdef BaseTape tape = <BaseTape>r.tape
    p.load(&loaded.program, loaded.operands, shape.ndim)
    try:
        statement = statement_of(r, p, &loaded, shape, strides)
    except BaseException:
        tape.withdraw_block(before)
        raise
    statement.identifier = identifier
    if r.journal != NULL:
        (<Journal>r.journal).next = p.spot
    return tape.append(statement, before)


cdef int run_recorded(Recorder* r, Pending p, const View* shape, double* out, const Py_ssize_t* strides,
                      int32_t before) except -1:
    cdef BaseTape tape = <BaseTape>r.tape
    try:
        return run_values(p, shape, out, strides)
    except BaseException:
        tape.withdraw_record(before)
        raise


cdef Statement statement_of(Recorder* r, Pending p, const Loaded* loaded, const View* shape, const Py_ssize_t* strides):
    cdef Statement statement
    if (<BaseTape>r.tape).by_value or not p.active:
        statement = value_statement(p, &loaded.program, shape, r.keeps_values)
    else:
        statement = jacobian_statement(p, &loaded.program, loaded.operands, shape)
    memcpy(statement.shape, shape.shape, shape.ndim * sizeof(Py_ssize_t))
    memcpy(statement.shape + shape.ndim, strides, shape.ndim * sizeof(Py_ssize_t))
    return statement


cdef Statement value_statement(Pending p, const TileProgram* program, const View* shape, bint replays):
    """Keeps the values that the reverse sweep reads; where the tape can be replayed those of passive arguments too."""
    cdef Statement statement = new_statement(intern_tiles(program), shape.ndim, p.leaf_count)
    cdef Argument* argument
    cdef Leaf* leaf
    cdef uint32_t active = 0, needed
    cdef int k
    for k in range(p.leaf_count):
        if p.leaves[k].identifier:
            active |= <uint32_t>1 << k
    needed = statement.program.needed(active)
    for k in range(p.leaf_count):
        argument, leaf = statement.arguments + k, p.leaves + k
        argument.owner, argument.data, argument.number = NULL, NULL, leaf.number
        argument.identifier = leaf.identifier
        if leaf.buffer != NULL and (needed >> k & 1 or replays and not leaf.identifier):
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
    cdef int k, i, count = 0
    set_contiguous(&contiguous)
    for k in range(p.leaf_count):
        jacobians[k] = NULL
        if p.leaves[k].identifier:
            buffer = new_buffer(shape.size)
            buffers.append(buffer)
            jacobians[k] = buffer.data
    with nogil:
        tiles_jacobians(program, operands, shape.ndim, shape.shape, jacobians)
    count = <int>len(buffers)
    linear.operands, linear.steps, linear.single = 2 * count, 2 * count - 1, ROUND_NONE
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
