# SPDX-License-Identifier: Apache-2.0
"""Arrays put together of pieces that lie in a row.

A piece is a run of identifiers: such a movement needs none for each element, neither to find them nor to keep them.
"""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport Py_TYPE, PyObject, PyTypeObject
cimport cython
cimport numpy as cnp

from codipy.active.arrays.compute cimport admit_block, materialise
from codipy.active.arrays.floating cimport may_wait, report, rules_in_force
from codipy.active.arrays.packing cimport readable
from codipy.active.arrays.statements cimport record, run_values
from codipy.active.core.base_array cimport BaseArray, is_array, new_array, new_view
from codipy.active.core.pending cimport Pending
from codipy.active.scalar.expression cimport identify, readmit
from codipy.active.scalar.real cimport Real
from codipy.active.storage.block cimport Block, new_block
from codipy.active.storage.storage cimport is_small, new_storage
from codipy.active.storage.view cimport View, is_contiguous, set_contiguous
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport current
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport begins as operation_begins
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.gather cimport Gather, gather_of_runs

cnp.import_array()

cdef object STACK = np.stack, APPEND = np.append, ROLL = np.roll, PAD = np.pad
cdef frozenset KNOWN = frozenset({np.concatenate, np.stack, np.append, np.roll, np.pad})


# A row of elements: their values, NULL for zeros, and the identifier of the first, 0 where passive. Or an expression, that
# of an Array which is not computed yet: it is computed where it comes to lie.
cdef struct Piece:
    const double* data
    int32_t first
    int flags                        # of floating point: what computing the expression raised
    Py_ssize_t size
    PyObject* array
    PyObject* waiting                # the Pending; NULL: a row


@cython.final
cdef class Pieces:
    """Pieces()
    --

    The pieces of one result, in order, and what they are pieces of.
    """
    cdef Recorder* recorder
    cdef Piece* items
    cdef Py_ssize_t count, room, size
    cdef bint active
    cdef list held

    def __dealloc__(self):
        PyMem_Free(self.items)

    cdef int add(self, const double* data, int32_t first, Py_ssize_t size) except -1:
        cdef Piece* larger
        if size == 0:
            return 0
        if self.count == self.room:
            larger = <Piece*>PyMem_Realloc(self.items, (2 * self.room + 8) * sizeof(Piece))
            if larger == NULL:
                raise MemoryError(f"no memory for {2 * self.room + 8} pieces of an array")
            self.items, self.room = larger, 2 * self.room + 8
        self.items[self.count].data, self.items[self.count].first, self.items[self.count].size = data, first, size
        self.items[self.count].waiting, self.items[self.count].flags = NULL, 0
        self.count += 1
        self.size += size
        return 0

    cdef Pending expression(self, object x, View* view):
        """What x waits for, if it may be computed into the result; else None."""
        cdef Pending p
        cdef PyObject* owner
        cdef int k
        if not is_array(x) or (<BaseArray>x).pending is None or (<BaseArray>x).storage is not None:
            return None
        p = (<BaseArray>x).pending
        if not p.active or not p.waits or p.single or p.epoch != self.recorder.epoch:
            return None
        if (<BaseArray>x).geometry.size == 0 or not is_contiguous(&(<BaseArray>x).geometry) or not may_wait(rules_in_force()):
            return None
        for k in range(p.leaf_count):
            owner = p.leaves[k].owner
            if owner != NULL and Py_TYPE(<object>owner) != <PyTypeObject*>Block and (
                    (<Real>owner).identifier != p.leaves[k].identifier):
                return None              # the Real was registered anew: an error, which materialise() tells
        view[0] = (<BaseArray>x).geometry
        return p

    cdef int add_expression(self, BaseArray x, Pending p) except -1:
        self.add(NULL, 0, x.geometry.size)
        self.items[self.count - 1].array, self.items[self.count - 1].waiting = <PyObject*>x, <PyObject*>p
        self.held += (x, p)
        self.active = True
        return 0

    cdef bint part(self, object x, View* view, const double** data, int32_t* first) except? True:
        """Where the elements of x are; False if they are no row of numbers."""
        cdef BaseArray array
        cdef int k
        first[0] = 0
        if is_array(x):
            materialise(<BaseArray>x)
            array = readable(self.recorder, <BaseArray>x)
            if array.storage.single or array.pending is not None or not is_contiguous(&array.geometry):
                return False
            view[0] = array.geometry
            data[0] = array.storage.buffer.data + array.geometry.offset
            if array.storage.block is not None and admit_block(self.recorder, array.storage):
                first[0] = array.storage.block.base + <int32_t>array.geometry.offset
                self.active |= array.geometry.size > 0
            self.held += (array, array.storage.buffer, array.storage.block)  # a later part may give it another block
            return True
        if type(x) is Real:
            if (<Real>x).epoch and readmit(self.recorder, <Real>x):
                if (<Real>x).count:
                    identify(self.recorder, <Real>x)
                first[0], self.active = (<Real>x).identifier, True
            view.ndim, view.size, data[0] = 0, 1, &(<Real>x).primal
            self.held.append(x)
            return True
        if type(x) is float or type(x) is int:
            x = np.array(x, np.float64)
        if type(x) is not np.ndarray or cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.NPY_DOUBLE:
            return False
        if not cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>x) or cnp.PyArray_NDIM(<cnp.ndarray>x) > MAX_DIMS:
            return False
        view.ndim, view.size = cnp.PyArray_NDIM(<cnp.ndarray>x), cnp.PyArray_SIZE(<cnp.ndarray>x)
        for k in range(view.ndim):
            view.shape[k] = cnp.PyArray_DIM(<cnp.ndarray>x, k)
        data[0] = <const double*>cnp.PyArray_DATA(<cnp.ndarray>x)
        self.held.append(x)
        return True


cdef object join(object func, tuple args, dict kwargs):
    cdef Recorder* r = current()
    cdef Pieces pieces
    cdef View shape
    if func not in KNOWN or r == NULL:
        return NotImplemented
    operation_begins(r)
    pieces = Pieces.__new__(Pieces)
    pieces.recorder, pieces.held = r, []
    if func is PAD:
        fits = pad(pieces, &shape, args, kwargs)
    elif func is ROLL:
        fits = roll(pieces, &shape, args, kwargs)
    else:
        fits = concatenate(pieces, &shape, func, args, kwargs)
    if not fits or not pieces.active or 2 * pieces.count > pieces.size:
        return NotImplemented
    set_contiguous(&shape)
    result = joined(r, pieces, &shape)
    if func is ROLL and (args[2] if len(args) == 3 else kwargs.get("axis")) is None:    # NumPy shows a flat copy then
        return new_view(result, &shape)
    return result


cdef BaseArray joined(Recorder* r, Pieces pieces, const View* shape):
    cdef BaseTape tape = <BaseTape>r.tape
    cdef Buffer values = new_buffer(shape.size)
    cdef BaseArray result, x
    cdef Block block
    cdef Py_ssize_t k, at = 0, begin = 0, place = 0
    cdef int32_t before
    cdef Piece* piece
    for k in range(pieces.count):
        piece = pieces.items + k
        if piece.waiting != NULL:
            x = <BaseArray>piece.array
            piece.flags = run_values(<Pending>piece.waiting, &x.geometry, values.data + at, x.geometry.strides)
        elif piece.data == NULL:
            memset(values.data + at, 0, piece.size * sizeof(double))
        else:
            memcpy(values.data + at, piece.data, piece.size * sizeof(double))
        at += piece.size
    tape.demand_recording("an array operation")
    result = new_array(new_storage(values, None, False), shape)
    before = tape.largest()
    block = new_block(tape, shape.size)
    at = 0
    try:
        for k in range(pieces.count):
            piece = pieces.items + k
            at += piece.size
            if piece.waiting != NULL:
                x = <BaseArray>piece.array
                if begin < k:
                    tape.append(movement(r, pieces, begin, k, values.data + place, block.base + <int32_t>place), before)
                    before = tape.largest()
                record(r, <Pending>piece.waiting, &x.geometry, block.base + <int32_t>(at - piece.size), x.geometry.strides, before)
                before, begin, place = tape.largest(), k + 1, at
        if begin < pieces.count:
            tape.append(movement(r, pieces, begin, pieces.count, values.data + place, block.base + <int32_t>place), before)
    except BaseException:
        tape.withdraw_block(before)      # nothing, if a record has named some of it
        raise
    result.storage.block = block
    settle(pieces, values, block)
    return result


cdef Gather movement(Recorder* r, Pieces pieces, Py_ssize_t begin, Py_ssize_t end, const double* values, int32_t base):
    """The record of some of the pieces, `base` their first identifier in the result."""
    cdef Py_ssize_t k, size = 0
    cdef Gather gathered
    cdef int32_t* runs = <int32_t*>PyMem_Malloc(2 * (end - begin) * sizeof(int32_t))
    if runs == NULL:
        raise MemoryError(f"no memory for {end - begin} pieces of an array")
    for k in range(begin, end):
        runs[2 * (k - begin)], runs[2 * (k - begin) + 1] = pieces.items[k].first, <int32_t>pieces.items[k].size
        size += pieces.items[k].size
    try:
        gathered = gather_of_runs(runs, end - begin, values if r.keeps_values else NULL, size)
        gathered.name_result(base)
        return gathered
    finally:
        PyMem_Free(runs)


cdef int settle(Pieces pieces, Buffer values, Block block) except -1:
    """What was computed into the result shares its memory and identifiers, as a copy would: who writes has its own."""
    cdef Py_ssize_t k, at = 0
    cdef BaseArray x
    cdef View shape
    cdef Piece* piece
    for k in range(pieces.count):
        piece = pieces.items + k
        if piece.waiting != NULL:
            x = <BaseArray>piece.array
            if <PyObject*>x.pending == piece.waiting:       # it may stand there twice
                x.storage, x.pending = new_storage(values, block, False), None
                x.geometry.offset = at
        at += piece.size
    for k in range(pieces.count):
        piece = pieces.items + k
        if piece.flags:
            shape = (<BaseArray>piece.array).geometry
            report(<Pending>piece.waiting, &shape, piece.flags)
    return 0


cdef bint concatenate(Pieces pieces, View* shape, object func, tuple args, dict kwargs) except? True:
    """np.concatenate, np.stack and np.append: pieces of each array in turn for each place before the axis."""
    cdef View view
    cdef Py_ssize_t k, i, outer = 1, inner, total = 0, count
    cdef const double* data
    cdef int32_t first
    cdef int d, axis = 0, given = 2 if func is APPEND else 1
    cdef bint flat = func is APPEND, stacks = func is STACK
    if len(args) > given + 1 or len(kwargs) > (len(args) == given) or kwargs and "axis" not in kwargs or len(args) < given:
        return False
    chosen = args[given] if len(args) > given else kwargs.get("axis", None if flat else 0)
    flat = chosen is None
    if not flat:
        if type(chosen) is not int:
            return False
        axis = chosen
    if stacks and flat:
        return False
    parts = args[:2] if func is APPEND else args[0]
    if type(parts) is not tuple and type(parts) is not list:
        return False
    count = len(parts)
    begins, sizes, waiting = [], [], []
    for k in range(count):
        waiting.append(pieces.expression(parts[k], &view))
        data, first = NULL, 0
        if waiting[k] is None and not pieces.part(parts[k], &view, &data, &first):
            return False
        if flat:
            view.shape[0], view.ndim = view.size, 1
        if k == 0:
            shape[0] = view
            axis += (view.ndim + stacks) if axis < 0 else 0
            if not 0 <= axis < view.ndim + stacks or view.ndim + stacks > MAX_DIMS:
                return False
            for d in range(axis):
                outer *= view.shape[d]
        if view.ndim != shape.ndim:
            return False
        for d in range(view.ndim):
            if view.shape[d] != shape.shape[d] and (stacks or d != axis):
                return False
        total += 1 if stacks else view.shape[axis]
        inner = view.size // outer if outer else 0
        begins.append(<Py_ssize_t>data)
        sizes.append((inner, first))
    if count == 0:
        return False
    if stacks:
        for d in range(shape.ndim, axis, -1):
            shape.shape[d] = shape.shape[d - 1]
        shape.ndim += 1
    shape.shape[axis] = total
    set_contiguous(shape)
    for k in range(count):
        inner, first = sizes[k]
        if waiting[k] is None:
            continue
        if outer > 1 or is_small(inner, shape.size):
            if not pieces.part(parts[k], &view, &data, &first):
                return False
            begins[k], sizes[k], waiting[k] = <Py_ssize_t>data, (inner, first), None
    for i in range(outer):
        for k in range(count):
            inner, first = sizes[k]
            if waiting[k] is not None:
                pieces.add_expression(parts[k], waiting[k])
                continue
            pieces.add((<const double*><Py_ssize_t>begins[k]) + i * inner, first + <int32_t>(i * inner) if first else 0, inner)
    return True


cdef bint roll(Pieces pieces, View* shape, tuple args, dict kwargs) except? True:
    cdef Py_ssize_t i, outer = 1, inner, shift, n
    cdef const double* data
    cdef int32_t first
    cdef int d, axis
    if not 2 <= len(args) <= 3 or len(kwargs) > (len(args) == 2) or kwargs and "axis" not in kwargs:
        return False
    chosen = args[2] if len(args) == 3 else kwargs.get("axis")
    if not is_array(args[0]) or type(args[1]) is not int or not pieces.part(args[0], shape, &data, &first):
        return False
    if shape.size == 0:
        return False
    inner, n = shape.size, shape.size
    if chosen is not None:
        if type(chosen) is not int:
            return False
        axis = chosen
        axis += shape.ndim if axis < 0 else 0
        if not 0 <= axis < shape.ndim:
            return False
        for d in range(axis):
            outer *= shape.shape[d]
        inner, n = shape.size // outer, shape.shape[axis]
    shift = inner - args[1] % n * (inner // n)
    for i in range(outer):
        pieces.add(data + i * inner + shift, first + <int32_t>(i * inner + shift) if first else 0, inner - shift)
        pieces.add(data + i * inner, first + <int32_t>(i * inner) if first else 0, shift)
    return True


cdef bint pad(Pieces pieces, View* shape, tuple args, dict kwargs) except? True:
    """Zeros around an array of one or two dimensions."""
    cdef Pending waiting = None
    cdef Py_ssize_t i, rows, columns, before, behind, above = 0, below = 0
    cdef const double* data
    cdef int32_t first
    if kwargs or not 2 <= len(args) <= 3 or len(args) == 3 and args[2] != "constant" or not is_array(args[0]):
        return False
    widths = widths_of(args[1], (<BaseArray>args[0]).geometry.ndim)
    if widths is None:
        return False
    if len(widths) == 1 and not is_small((<BaseArray>args[0]).geometry.size, (<BaseArray>args[0]).geometry.size + sum(widths[0])):
        waiting = pieces.expression(args[0], shape)
    if waiting is None and not pieces.part(args[0], shape, &data, &first):
        return False
    rows, columns = shape.shape[0] if shape.ndim == 2 else 1, shape.shape[shape.ndim - 1]
    before, behind = widths[len(widths) - 1]
    if shape.ndim == 2:
        above, below = widths[0]
        shape.shape[0] += above + below
    shape.shape[shape.ndim - 1] += before + behind
    pieces.add(NULL, 0, above * (columns + before + behind))
    for i in range(rows):
        pieces.add(NULL, 0, before)
        if waiting is not None:
            pieces.add_expression(args[0], waiting)
        else:
            pieces.add(data + i * columns, first + <int32_t>(i * columns) if first else 0, columns)
        pieces.add(NULL, 0, behind)
    pieces.add(NULL, 0, below * (columns + before + behind))
    return True


cdef object widths_of(object x, int ndim):
    """(before, behind) for each dimension, as np.pad understands it; None if that is not simple."""
    if not 1 <= ndim <= 2:
        return None
    if type(x) is int:
        pairs = [(x, x)] * ndim
    elif type(x) is not tuple:
        return None
    elif len(x) == 2 and type(x[0]) is int and type(x[1]) is int:
        pairs = [x] * ndim
    elif len(x) == ndim:
        pairs = list(x)
    else:
        return None
    for pair in pairs:
        if type(pair) is not tuple or len(pair) != 2 or type(pair[0]) is not int or type(pair[1]) is not int:
            return None
        if pair[0] < 0 or pair[1] < 0:
            return None
    return pairs
