# SPDX-License-Identifier: Apache-2.0
"""Primitives on the tape."""
import numpy as np

from libc.stdint cimport int32_t
cimport cython
cimport numpy as cnp

from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.record cimport Record

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
            if not any([bar is not None and bar.any() for bar in bars]):
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
                        np.add(target, bar, out=target)
            if not keep:
                for bar in bars:
                    if bar is not None:
                        bar[...] = 0.0
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
    cdef cnp.npy_intp shape[MOST_DIMS]
    cdef cnp.npy_intp strides[MOST_DIMS]
    cdef int32_t first = slots[0]
    cdef int k, ndim = <int>len(slots[1])
    for k in range(ndim):
        shape[k] = slots[1][k]
        strides[k] = <Py_ssize_t>slots[2][k] * adjoints.width * <Py_ssize_t>sizeof(double)
    return cnp.PyArray_New(np.ndarray, ndim, shape, cnp.NPY_DOUBLE, strides,
                           adjoints.origin() + first * adjoints.width + d, 0, cnp.NPY_ARRAY_WRITEABLE, <object>NULL)


cdef Call new_call(object primitive, tuple args, dict kwargs, out, tuple argnums, list arguments, list results):
    cdef Call new = Call.__new__(Call)
    new.primitive, new.args, new.kwargs, new.out = primitive, args, kwargs, out
    new.argnums, new.arguments, new.results = argnums, arguments, results
    return new
