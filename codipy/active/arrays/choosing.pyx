# SPDX-License-Identifier: Apache-2.0
"""np.where and np.clip of active arrays: elements chosen place by place."""
import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset
from cpython.object cimport PyObject
cimport numpy as cnp

from codipy.active.arrays.compute cimport admit_block, materialise
from codipy.active.arrays.packing cimport readable
from codipy.active.arrays.plain cimport plain_of
from codipy.active.core.base_array cimport BaseArray, is_array, new_array
from codipy.active.scalar.expression cimport as_number, identify, readmit
from codipy.active.scalar.real cimport Real
from codipy.active.storage.block cimport append_block
from codipy.active.storage.storage cimport Storage, new_storage
from codipy.active.storage.view cimport (
    View, broadcast_shape, broadcast_strides, is_contiguous, set_contiguous)
from codipy.data.buffer cimport Buffer, new_buffer, wrap_array
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport current
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.choice cimport MOST_CHOICES, Choice, new_choice
from codipy.tape.records.loops cimport loop_clip

from codipy.active.doors import door

cnp.import_array()


cdef struct Source:
    const double* data
    double number                    # what `data` shows of a scalar
    int32_t first                    # identifier of the first element; 0: passive
    View view
    Py_ssize_t strides[MAX_DIMS]     # in the shape of the result


cdef class Sources:
    """What is chosen from, and what keeps its memory."""

    cdef Source items[MOST_CHOICES]
    cdef int count
    cdef list held
    cdef View shape                  # of the result, so far

    cdef bint add(self, Recorder* r, object x) except? True:
        """False where x is nothing that the short way takes."""
        cdef Source* source = self.items + self.count
        cdef BaseArray array
        source.first = 0
        source.view.ndim, source.view.size, source.view.offset = 0, 1, 0
        if is_array(x):
            materialise(<BaseArray>x)
            array = readable(r, <BaseArray>x)
            if array.storage.single or array.pending is not None or not is_contiguous(&array.geometry):
                return False
            source.view = array.geometry
            source.data = array.storage.buffer.data + array.geometry.offset
            if array.storage.block is not None and admit_block(r, array.storage):
                source.first = array.storage.block.base + <int32_t>array.geometry.offset
            self.held += (array, array.storage.buffer, array.storage.block)  # a later operand may give it another block
        elif type(x) is Real:
            if (<Real>x).epoch and readmit(r, <Real>x):
                if (<Real>x).count:
                    identify(r, <Real>x)
                source.first = (<Real>x).identifier
            source.number, source.data = (<Real>x).primal, &source.number
            self.held.append(x)
        elif type(x) is np.ndarray:
            if not self.is_simple(<cnp.ndarray>x, cnp.NPY_DOUBLE) or not shape_of(<cnp.ndarray>x, &source.view):
                return False
            source.data = <const double*>cnp.PyArray_DATA(<cnp.ndarray>x)
            self.held.append(x)
        elif type(x) in (float, int, np.float64) and as_number(<PyObject*>x, &source.number) == 1:
            source.data = &source.number
        else:
            return False
        self.count += 1
        return self.widen(&source.view)

    cdef bint is_simple(self, cnp.ndarray x, int kind) noexcept:
        return cnp.PyArray_TYPE(x) == kind and cnp.PyArray_ISCARRAY_RO(x)

    cdef bint widen(self, const View* view) noexcept:
        cdef View wider
        if not broadcast_shape(&self.shape, view, &wider):
            return False
        self.shape = wider
        return True

    cdef bint settle(self) noexcept:
        """Once all are known: whether the short way goes on."""
        cdef int k
        cdef bint active = False
        set_contiguous(&self.shape)
        for k in range(self.count):
            active |= self.items[k].first != 0
            if not broadcast_strides(&self.items[k].view, self.items[k].view.strides, &self.shape, self.items[k].strides):
                return False
        return active and self.shape.ndim > 0 and self.shape.size > 0


cdef bint shape_of(cnp.ndarray x, View* view) noexcept:
    cdef int k
    if cnp.PyArray_NDIM(x) > MAX_DIMS:
        return False
    view.ndim = cnp.PyArray_NDIM(x)
    for k in range(view.ndim):
        view.shape[k] = cnp.PyArray_DIM(x, k)
    set_contiguous(view)
    return True


cdef Sources new_sources():
    cdef Sources sources = Sources.__new__(Sources)
    sources.held = []
    sources.shape.ndim, sources.shape.size, sources.shape.offset = 0, 1, 0
    return sources


cdef Recorder* recorder_of_choices() noexcept:
    cdef Recorder* r = current()
    return r if r != NULL and not r.keeps_values else NULL


cdef object choose_where(tuple args):
    cdef Recorder* r = recorder_of_choices()
    cdef Sources sources = new_sources()
    cdef Choice choice
    cdef Buffer values
    cdef View condition
    cdef Py_ssize_t steps[3][MAX_DIMS]
    cdef const uint8_t* holds
    if r == NULL or len(args) != 3 or type(args[0]) is not np.ndarray:
        return NotImplemented
    if not sources.is_simple(<cnp.ndarray>args[0], cnp.NPY_BOOL) or not shape_of(<cnp.ndarray>args[0], &condition):
        return NotImplemented
    sources.widen(&condition)
    if not sources.add(r, args[1]) or not sources.add(r, args[2]) or not sources.settle():
        return NotImplemented
    if not broadcast_strides(&condition, condition.strides, &sources.shape, steps[0]):
        return NotImplemented
    holds = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>args[0])
    choice = new_choice(sources.shape.ndim, sources.shape.shape, sources.shape.size, 2)
    values = new_buffer(sources.shape.size)
    memcpy(steps[1], sources.items[0].strides, sizeof(steps[1]))
    memcpy(steps[2], sources.items[1].strides, sizeof(steps[2]))
    with nogil:
        where(&sources.shape, 0, holds, sources.items[0].data, sources.items[1].data, steps[0], steps[1], steps[2],
              values.data, choice.chosen)
    return recorded(r, sources, choice, values)


cdef object choose_clip(tuple args):
    cdef Recorder* r = recorder_of_choices()
    cdef Sources sources = new_sources()
    cdef Choice choice
    cdef Buffer values
    cdef int low = 0, high = 0
    if r == NULL or len(args) != 3 or not is_array(args[0]):
        return NotImplemented
    if not sources.add(r, args[0]):
        return NotImplemented
    if args[1] is not None:
        low = sources.count
        if not sources.add(r, args[1]):
            return NotImplemented
    if args[2] is not None:
        high = sources.count
        if not sources.add(r, args[2]):
            return NotImplemented
    if not sources.settle():
        return NotImplemented
    if low and high and lies_between_numbers(sources.items, low, high):
        choice = new_choice(sources.shape.ndim, sources.shape.shape, sources.shape.size, sources.count)
        values = new_buffer(sources.shape.size)
        with nogil:
            loop_clip(sources.items[0].data, sources.items[low].data[0], sources.items[high].data[0], sources.shape.size,
                      values.data, choice.chosen)
        return kept_clip(r, args, recorded(r, sources, choice, values))
    found = np.clip(*[plain_of(x) for x in args])
    if type(found) is not np.ndarray or not sources.is_simple(<cnp.ndarray>found, cnp.NPY_DOUBLE):
        return NotImplemented
    choice = new_choice(sources.shape.ndim, sources.shape.shape, sources.shape.size, sources.count)
    with nogil:
        memset(choice.chosen, 0, sources.shape.size)
        clip(&sources.shape, 0, sources.items, 0, 0, 0, low, high, choice.chosen)
    return kept_clip(r, args, recorded(r, sources, choice, wrap_array(
        found, <double*>cnp.PyArray_DATA(<cnp.ndarray>found), sources.shape.size)))


cdef object kept_clip(Recorder* r, tuple args, object found):
    """The result; a tape that can be run at other inputs learns what was chosen."""
    if r.keeps_values:
        door("clipped")(*args)
    return found


cdef bint lies_between_numbers(const Source* items, int low, int high) noexcept:
    """Whether an array is clipped to two numbers that tell the result's bits: not to a zero, which has two signs."""
    cdef double l = items[low].data[0], h = items[high].data[0]
    return items[low].view.ndim == 0 and items[high].view.ndim == 0 and l <= h and l != 0.0 and h != 0.0


cdef object recorded(Recorder* r, Sources sources, Choice choice, Buffer values):
    """The Array of what was chosen; passive where nothing active was."""
    cdef BaseTape tape = <BaseTape>r.tape
    cdef Storage storage = new_storage(values, None, False)
    cdef int k, j
    if not any_active(sources, choice):
        return new_array(storage, &sources.shape)
    tape.demand_recording("an array operation")
    for k in range(sources.count):
        choice.operands[k].first = sources.items[k].first
        for j in range(sources.shape.ndim):
            choice.operands[k].strides[j] = sources.items[k].strides[j]
    storage.block = append_block(tape, choice, choice.size)
    return new_array(storage, &sources.shape)


cdef bint any_active(Sources sources, Choice choice) noexcept:
    cdef Py_ssize_t i
    for i in range(choice.size):
        if sources.items[choice.chosen[i]].first:
            return True
    return False


# Both go down the dimensions, and along the last one in a loop.
cdef void where(const View* shape, int d, const uint8_t* holds, const double* x, const double* y, const Py_ssize_t* hs,
                const Py_ssize_t* xs, const Py_ssize_t* ys, double* out, uint8_t* chosen) noexcept nogil:
    cdef Py_ssize_t i, n = shape.shape[d]
    cdef double a, b             # both are read in any case, so that there is no branch
    if d < shape.ndim - 1:
        for i in range(n):
            where(shape, d + 1, holds + i * hs[d], x + i * xs[d], y + i * ys[d], hs, xs, ys,
                  out + i * shape.strides[d], chosen + i * shape.strides[d])
    elif hs[d] == 1 and xs[d] == 1 and ys[d] == 1:
        for i in range(n):
            a, b = x[i], y[i]
            out[i] = a if holds[i] else b
            chosen[i] = holds[i] == 0
    elif hs[d] == 1 and xs[d] == 1 and ys[d] == 0:
        for i in range(n):
            a, b = x[i], y[0]
            out[i] = a if holds[i] else b
            chosen[i] = holds[i] == 0
    else:
        for i in range(n):
            a, b = x[i * xs[d]], y[i * ys[d]]
            out[i] = a if holds[i * hs[d]] else b
            chosen[i] = holds[i * hs[d]] == 0


cdef void clip(const View* shape, int d, const Source* items, Py_ssize_t at, Py_ssize_t below, Py_ssize_t above, int low,
               int high, uint8_t* chosen) noexcept nogil:
    """Which of the element (0) and its bounds `np.clip` took: on a bound the element; a NaN bound, but not of NaN."""
    cdef Py_ssize_t i, n = shape.shape[d], xs = items[0].strides[d]
    cdef Py_ssize_t ls = items[low].strides[d] if low else 0, hs = items[high].strides[d] if high else 0
    cdef const double* x = items[0].data + at
    cdef const double* l = items[low].data + below if low else NULL
    cdef const double* h = items[high].data + above if high else NULL
    cdef double value, bound
    cdef uint8_t k
    if d < shape.ndim - 1:
        for i in range(n):
            clip(shape, d + 1, items, at + i * xs, below + i * ls, above + i * hs, low, high, chosen + i * shape.strides[d])
        return
    for i in range(n):
        value, k = x[i * xs], 0
        if low:
            bound = l[i * ls]
            if value < bound or bound != bound and value == value:
                value, k = bound, <uint8_t>low
        if high:
            bound = h[i * hs]
            if value > bound or bound != bound and value == value:
                value, k = bound, <uint8_t>high
        chosen[i] = k
