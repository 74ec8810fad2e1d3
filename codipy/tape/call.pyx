# SPDX-License-Identifier: Apache-2.0
"""Primitives on the tape."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memset
from cpython.ref cimport Py_INCREF
cimport cython
cimport numpy as cnp

from codipy.data.buffer cimport Buffer
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.record cimport Record
from codipy.tape.replay cimport Replay

from codipy.errors import TapeError

cnp.import_array()

cdef enum:
    MOST_DIMS = 8


@cython.final
cdef class Call(Record):
    """Call()
    --

    One call of a primitive; arrays make it.
    """

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        cdef Py_ssize_t d, k
        cdef bint several = type(self.out) is tuple
        for d in range(adjoints.width):
            bars = [None if slots is None else adjoint_view(adjoints, slots, d) for slots in self.results]
            for bar in bars:
                if bar is not None and not is_zero(bar):
                    break
            else:
                continue
            with np.errstate(all="ignore"):
                back = self.primitive.vjp(tuple(bars) if several else bars[0], self.out, self.args, self.kwargs,
                                          self.argnums)
                for k in range(len(self.arguments)):
                    bar = back[k]
                    if bar is not None:
                        target = adjoint_view(adjoints, self.arguments[k], d)
                        if np.shape(bar) != target.shape:
                            raise TapeError(f"{self.primitive.name}: the vjp rule returned shape {np.shape(bar)} for "
                                            f"argument {self.argnums[k]} of shape {target.shape}")
                        add_to(target, bar)
            if not keep:
                for bar in bars:
                    if bar is not None:
                        clear(bar)
        return 0

    cdef int forward(self, AdjointVector adjoints) except -1:
        cdef Py_ssize_t d, k
        if self.primitive.jvp is None:
            raise TapeError(f"{self.primitive.name} has no jvp rule: a forward sweep needs one")
        for d in range(adjoints.width):
            dots = {self.argnums[k]: adjoint_view(adjoints, self.arguments[k], d) for k in range(len(self.arguments))}
            with np.errstate(all="ignore"):
                result = self.primitive.jvp(dots, self.out, self.args, self.kwargs)
            parts = result if type(self.out) is tuple else (result,)
            for slots, part in zip(self.results, parts):
                if slots is not None:
                    adjoint_view(adjoints, slots, d)[...] = part
        return 0

    cdef int primal(self, Replay replay) except -1:
        cdef list args = list(self.args), kept = list(self.args), parts
        cdef Py_ssize_t k, i
        cdef bint several = type(self.out) is tuple
        if self.single:
            raise TapeError(f"evaluate_primal() cannot recompute {self.primitive.name} of float32 values: record again")
        for k in range(len(self.arguments)):
            i = self.argnums[k]
            slots = self.arguments[k]
            if not isinstance(args[i], np.ndarray):
                args[i] = kept[i] = replay.values[<int32_t>slots[0]]
            elif type((<object>args[i]).base) is Buffer:
                args[i] = kept[i] = refreshed(replay, args[i], slots)
            else:       # the rules do not read it
                args[i] = view_of(replay.values, slots, 1, 0)
        out = self.primitive.forward(*args, **self.kwargs)
        parts = list(out) if isinstance(out, tuple) else [out]
        if len(parts) != len(self.results):
            raise TapeError(f"evaluate_primal(): {self.primitive.name} gave {len(self.results)} results when it was "
                            f"recorded, and {len(parts)} now: record again")
        olds = self.out if several else (self.out,)
        for k in range(len(parts)):
            slots, old = self.results[k], olds[k]
            if slots is None:
                continue
            if np.shape(parts[k]) != slots[1]:
                raise TapeError(f"evaluate_primal(): a result of {self.primitive.name} had the shape {slots[1]} when "
                                f"it was recorded, and has {np.shape(parts[k])} now: record again")
            view_of(replay.values, slots, 1, cnp.NPY_ARRAY_WRITEABLE)[...] = parts[k]
            if not isinstance(old, np.ndarray):
                parts[k] = type(old)(replay.values[<int32_t>slots[0]])
            elif type((<object>old).base) is Buffer:
                parts[k] = refreshed(replay, old, slots)
            else:
                parts[k] = old
        self.args, self.out = tuple(kept), tuple(parts) if several else parts[0]
        return 0

    @property
    def bytes_used(self):
        """Bytes of what the call itself holds; values are counted where they are kept."""
        return 64 * (1 + len(self.arguments) + len(self.results))

    @property
    def kept(self):
        """Values that the rules read."""
        return [x for x in (*self.args, *(self.out if type(self.out) is tuple else (self.out,)))
                if isinstance(x, np.ndarray)]

    @property
    def named(self):
        """(lowest, highest) identifiers: a list of pairs for the results, and one for the active arguments."""
        return [reach(slots) for slots in self.results if slots is not None], [reach(slots) for slots in self.arguments]

    def __repr__(self):
        return f"<{self.primitive.name}>"


cdef tuple reach(tuple slots):
    """The lowest and the highest identifier of an argument or result."""
    first, shape, strides = slots
    if 0 in shape:
        return first, first - 1
    steps = [stride * (n - 1) for n, stride in zip(shape, strides)]
    return first + sum([step for step in steps if step < 0]), first + sum([step for step in steps if step > 0])


cdef object adjoint_view(AdjointVector adjoints, tuple slots, Py_ssize_t d):
    """One direction of some identifiers' adjoints as an array."""
    return view_of(adjoints.origin() + d, slots, adjoints.width, cnp.NPY_ARRAY_WRITEABLE)


cdef object view_of(double* origin, tuple slots, Py_ssize_t width, int flags):
    """What a vector holds for some identifiers, `width` numbers for each, as an array of every first number."""
    cdef cnp.npy_intp shape[MOST_DIMS]
    cdef cnp.npy_intp strides[MOST_DIMS]
    cdef int32_t first = slots[0]
    cdef int k, ndim = <int>len(slots[1])
    for k in range(ndim):
        shape[k] = slots[1][k]
        strides[k] = <Py_ssize_t>slots[2][k] * width * <Py_ssize_t>sizeof(double)
    return cnp.PyArray_New(np.ndarray, ndim, shape, cnp.NPY_DOUBLE, strides, origin + first * width, 0, flags,
                           <object>NULL)


cdef bint is_contiguous(object x):
    """Whether a loop over doubles in their order in memory, which is that of C, may do what NumPy would."""
    return (cnp.PyArray_Check(x) and cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>x))


# A call of NumPy takes longer than these loops for what has up to a thousand elements.
cdef bint is_zero(cnp.ndarray bar) except -1:
    cdef Py_ssize_t i
    cdef const double* data
    if not is_contiguous(bar):
        return not bar.any()
    data = <const double*>cnp.PyArray_DATA(bar)
    for i in range(cnp.PyArray_SIZE(bar)):
        if data[i] != 0.0:
            return False
    return True


cdef int add_to(cnp.ndarray target, object bar) except -1:
    """Add a cotangent of the same shape."""
    cdef Py_ssize_t i
    cdef double* to
    cdef const double* data
    if is_contiguous(target) and is_contiguous(bar):
        to, data = <double*>cnp.PyArray_DATA(target), <const double*>cnp.PyArray_DATA(<cnp.ndarray>bar)
        for i in range(cnp.PyArray_SIZE(target)):
            to[i] += data[i]
    else:
        np.add(target, bar, target)
    return 0


cdef int clear(cnp.ndarray bar) except -1:
    if is_contiguous(bar):
        memset(cnp.PyArray_DATA(bar), 0, cnp.PyArray_SIZE(bar) * sizeof(double))
    else:
        bar[...] = 0.0
    return 0


cdef object refreshed(Replay replay, cnp.ndarray plain, tuple slots):
    """The array that a record keeps, laid out as before on a Buffer with the values of now."""
    cdef Buffer old = (<object>plain).base, new
    cdef Py_ssize_t shape[MOST_DIMS]
    cdef Py_ssize_t strides[MOST_DIMS]
    cdef Py_ssize_t offset
    cdef int32_t first = slots[0]
    cdef int k, ndim = cnp.PyArray_NDIM(plain)
    if cnp.PyArray_SIZE(plain) == 0:
        return plain
    offset = <double*>cnp.PyArray_DATA(plain) - old.data
    for k in range(ndim):
        shape[k], strides[k] = slots[1][k], slots[2][k]
    new = replay.refreshed(old, offset, first, ndim, shape, strides)
    result = cnp.PyArray_New(np.ndarray, ndim, cnp.PyArray_DIMS(plain), cnp.NPY_DOUBLE, cnp.PyArray_STRIDES(plain),
                             new.data + offset, 0, 0, <object>NULL)
    Py_INCREF(new)
    cnp.PyArray_SetBaseObject(result, new)
    return result


cdef Call new_call(object primitive, tuple args, dict kwargs, out, tuple argnums, list arguments, list results,
                   bint single):
    cdef Call new = Call.__new__(Call)
    new.primitive, new.args, new.kwargs, new.out = primitive, args, kwargs, out
    new.argnums, new.arguments, new.results, new.single = argnums, arguments, results, single
    return new
