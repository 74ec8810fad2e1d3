# SPDX-License-Identifier: Apache-2.0
"""Primitives on the tape."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
cimport cython
cimport numpy as cnp

from codipy.data.buffer cimport Buffer
from codipy.data.plain cimport NUMPY_DIMS, plain_array
from codipy.data.strided cimport elements_of, in_order
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.products cimport Factors, add_product, add_products, pull_product, push_product, repeats
from codipy.tape.records.record cimport Record
from codipy.tape.records.replay cimport Replay
from codipy.tape.records.silence cimport in_silence
from codipy.tape.records.slots cimport (
    Slots, add_array, adjoint_view, are_all_between, clear, clear_all, directions_of, is_nonzero, shape_of, view_of)

from codipy.errors import TapeError

cnp.import_array()

cdef enum:
    FEW = 512                    # elements: below, an array of their own takes less than the rule takes to be called


@cython.final
cdef class Call(Record):
    """Call()
    --

    One call of a primitive; arrays make it.
    """

    def __dealloc__(self):
        PyMem_Free(self.slots)

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        cdef Py_ssize_t d, k
        cdef double* origin
        cdef Slots* results = self.slots + self.arguments
        cdef bint any
        cdef Factors factors
        cdef bint multiplies = self.multiplies(&factors)
        if adjoints.width > 1 and multiplies and pull_product(&factors, adjoints.origin(), adjoints.width):
            return 0 if keep else clear_all(adjoints.origin(), results, adjoints.width)
        if adjoints.width > 1 and self.reverse_at_once(adjoints, keep):
            return 0
        for d in range(adjoints.width):
            origin = adjoints.origin() + d
            any = False
            for k in range(self.results):
                if is_nonzero(origin, results + k, adjoints.width):
                    any = True
                    break
            if not any:
                if not keep and adjoints.width == 1 and self.clears():       # zeros of either sign
                    clear(origin, results, 1)
                continue
            if multiplies and add_product(&factors, origin, adjoints.width):
                pass
            elif multiplies and adjoints.width == 1 and add_products(&factors, origin, not keep):
                continue
            elif self.places is not None and self.add_at_places(origin, adjoints.width):
                pass
            elif type(self.out) is tuple:
                bars = tuple([flow_of(origin, results + k, adjoints.width, not keep) for k in range(self.results)])
                self.add_bars(origin, bars, adjoints.width)
            else:
                self.add_bars(origin, flow_of(origin, results, adjoints.width, not keep), adjoints.width)
            if not keep:
                for k in range(self.results):
                    clear(origin, results + k, adjoints.width)
        return 0

    cdef bint clears(self) noexcept:
        return self.results == 1 and are_all_between(self.slots + self.arguments, self.before, self.after)

    cdef bint multiplies(self, Factors* factors) noexcept:
        """Whether it is a product of two operands, and which."""
        if not self.product or self.kwargs:
            return False
        factors.primitive, factors.args, factors.argnums = <PyObject*>self.primitive, <PyObject*>self.args, <PyObject*>self.argnums
        factors.slots, factors.arguments = self.slots, self.arguments
        return True

    cdef bint carries_rows(self) except? True:
        return self.product or getattr(self.primitive, "vjp_batch", None) is not None

    cdef bint reverse_at_once(self, AdjointVector adjoints, bint keep) except? True:
        """Let the rule for batches sweep all directions that flow; False where there is none, or it leaves them to us."""
        cdef Slots* results = self.slots + self.arguments
        cdef Py_ssize_t d, k, width = adjoints.width
        cdef double* origin = adjoints.origin()
        rule = getattr(self.primitive, "vjp_batch", None)
        if rule is None or any([repeats(self.slots + k) for k in range(self.arguments)]):
            return False
        # A direction without flow takes no part: an infinite partial would make NaN of its zeros.
        flowing = [d for d in range(width) if any([is_nonzero(origin + d, results + k, width) for k in range(self.results)])]
        if len(flowing) < 2:
            return False
        some = slice(None) if len(flowing) == width else flowing
        bars = [None if results[k].ndim < 0 else directions_of(origin, results + k, width)[some] for k in range(self.results)]
        for bar in bars:
            if bar is not None and keep:
                bar.flags.writeable = False
        several = type(self.out) is tuple
        back = in_silence(rule, (tuple(bars) if several else bars[0], self.out, self.args, self.kwargs, self.argnums))
        if back is None:
            return False
        self.demand_each(back, self.argnums)
        for k in range(self.arguments):
            if back[k] is not None:
                target = directions_of(origin, self.slots + k, width)
                self.demand_shape("vjp", np.shape(back[k]), (len(flowing),) + target.shape[1:])
                if len(flowing) == width:
                    np.add(target, back[k], target)
                else:
                    target[some] += back[k]
        if not keep:
            for k in range(self.results):
                if results[k].ndim >= 0:
                    directions_of(origin, results + k, width)[...] = 0.0
        return True

    cdef bint forward_at_once(self, AdjointVector adjoints) except? True:
        """The same for tangents."""
        cdef Slots* results = self.slots + self.arguments
        cdef Py_ssize_t k, width = adjoints.width
        cdef double* origin = adjoints.origin()
        rule = getattr(self.primitive, "jvp_batch", None)
        if rule is None:
            return False
        dots = {self.argnums[k]: directions_of(origin, self.slots + k, width) for k in range(self.arguments)}
        for dot in dots.values():
            dot.flags.writeable = False
        found = in_silence(rule, (dots, self.out, self.args, self.kwargs))
        if found is None:
            return False
        parts = found if type(self.out) is tuple else (found,)
        demand_tangents(self, parts)
        for k in range(min(self.results, <Py_ssize_t>len(parts))):
            if results[k].ndim >= 0:
                target = directions_of(origin, results + k, width)
                self.demand_shape("jvp", np.shape(parts[k]), target.shape)
                target[...] = parts[k]
        return True

    cdef int demand_shape(self, str kind, tuple found, tuple expected) except -1:
        if found != expected:
            raise TapeError(f"{self.primitive.name}: the {kind} rule for batches returned shape {found} instead of {expected}: "
                            "the first axis is that of the directions")
        return 0

    cdef int demand_each(self, object back, tuple argnums) except -1:
        if len(back) != len(argnums):
            raise TapeError(f"{self.primitive.name}: the vjp rule returned {len(back)} cotangents for {len(argnums)} active "
                            f"arguments, at the places {', '.join(map(str, argnums))}")
        return 0

    cdef int add_bars(self, double* origin, object bars, Py_ssize_t width) except -1:
        cdef Py_ssize_t k, at = 0
        cdef tuple argnums = self.argnums
        if self.into is not None and type(self.out) is not tuple:
            argnums = tuple([argnums[k] for k in range(self.arguments) if not self.write_bar(origin, k, bars, width)])
            if not argnums:
                return 0
        back = in_silence(self.primitive.vjp, (bars, self.out, self.args, self.kwargs, argnums))
        self.demand_each(back, argnums)
        for k in range(self.arguments):
            if at < len(argnums) and self.argnums[k] == argnums[at]:
                bar = back[at]
                at += 1
                if bar is not None:
                    self.add_to(origin, k, bar, width)
        return 0

    cdef bint write_bar(self, double* origin, Py_ssize_t k, object bars, Py_ssize_t width) except? True:
        """Let the rule write a large cotangent to where it would be added to zeros."""
        cdef Slots* slots = self.slots + k
        if elements_of(slots.ndim, slots.shape) < FEW or width > 1 or repeats(slots) or is_nonzero(origin, slots, width):
            return False
        return in_silence(self.into, (bars, self.out, self.args, self.kwargs, self.argnums[k],
                                      adjoint_view(origin, slots, width)))

    cdef bint add_at_places(self, double* origin, Py_ssize_t width) except? True:
        """Add where the primitive says; False where it does not."""
        cdef Slots* slots = self.slots
        cdef cnp.ndarray places, bar
        cdef const Py_ssize_t* at
        cdef const double* numbers
        cdef double* target = origin + slots.first * width
        cdef Py_ssize_t i, n, size, rest, offset, share
        cdef int d
        cdef bint one, simple
        found = in_silence(self.places, (self.out, *self.args), self.kwargs or None)
        if found is None:
            return False
        places = cnp.PyArray_FROMANY(found, cnp.NPY_INTP, 0, 0, cnp.NPY_ARRAY_CARRAY_RO)
        bar = cnp.PyArray_FROMANY(adjoint_view(origin, slots + 1, width), cnp.NPY_DOUBLE, 0, 0, cnp.NPY_ARRAY_CARRAY_RO)
        n, at = cnp.PyArray_SIZE(places), <const Py_ssize_t*>cnp.PyArray_DATA(places)
        numbers = <const double*>cnp.PyArray_DATA(bar)
        one = cnp.PyArray_SIZE(bar) == 1
        share = n if one else 1
        size = elements_of(slots.ndim, slots.shape)
        simple = in_order(slots.ndim, slots.shape, slots.strides, 1)
        if not one and n != cnp.PyArray_SIZE(bar):
            raise TapeError(f"{self.primitive.name}: {n} places for a result of {cnp.PyArray_SIZE(bar)} elements")
        for i in range(n):
            offset = rest = at[i]
            if not 0 <= rest < size:
                raise TapeError(f"{self.primitive.name}: the place {rest} is not in an argument of {size} elements")
            if not simple:
                offset = 0
                for d in range(slots.ndim - 1, -1, -1):
                    offset += rest % slots.shape[d] * slots.strides[d]
                    rest //= slots.shape[d]
            target[offset * width] += numbers[0] / share if one else numbers[i]
        return True

    cdef int add_to(self, double* origin, Py_ssize_t k, object bar, Py_ssize_t width) except -1:
        """Add a cotangent to the adjoints of an argument."""
        cdef Slots* slots = self.slots + k
        if slots.ndim == 0 and isinstance(bar, float):
            origin[slots.first * width] += <double>bar
            return 0
        if add_array(origin, slots, width, bar):
            return 0
        target = adjoint_view(origin, slots, width)
        if np.shape(bar) != target.shape:
            raise TapeError(f"{self.primitive.name}: the vjp rule returned shape {np.shape(bar)} for argument "
                            f"{self.argnums[k]} of shape {target.shape}")
        if repeats(slots):           # NumPy would add the last element alone
            axes = tuple([i for i in range(slots.ndim) if slots.strides[i] == 0])
            bar = np.add.reduce(bar, axes, None, None, True)
            target = target[tuple([slice(1) if i in axes else slice(None) for i in range(slots.ndim)])]
        np.add(target, bar, target)
        return 0

    cdef int forward(self, AdjointVector adjoints) except -1:
        cdef Py_ssize_t d, k
        cdef Slots* results = self.slots + self.arguments
        if self.primitive.jvp is None:
            raise TapeError(f"{self.primitive.name} has no jvp rule: a forward sweep needs one")
        cdef Factors factors
        if adjoints.width > 1 and (self.multiplies(&factors) and push_product(&factors, adjoints.origin(), adjoints.width)
                                   or self.forward_at_once(adjoints)):
            return 0
        for d in range(adjoints.width):
            dots = {self.argnums[k]: flow_of(adjoints.origin() + d, self.slots + k, adjoints.width, False)
                    for k in range(self.arguments)}
            result = in_silence(self.primitive.jvp, (dots, self.out, self.args, self.kwargs))
            parts = result if type(self.out) is tuple else (result,)
            demand_tangents(self, parts)
            for k in range(min(self.results, <Py_ssize_t>len(parts))):
                if results[k].ndim >= 0:
                    adjoint_view(adjoints.origin() + d, results + k, adjoints.width)[...] = parts[k]
        return 0

    cdef int primal(self, Replay replay) except -1:
        cdef list args = list(self.args), kept = list(self.args), parts
        cdef Py_ssize_t k, i
        cdef Slots* slots
        cdef bint several = type(self.out) is tuple
        if self.single:
            raise TapeError(f"evaluate_primal() cannot recompute {self.primitive.name} of float32 values: record again")
        for k in range(self.arguments):
            i = self.argnums[k]
            slots = self.slots + k
            if not isinstance(args[i], np.ndarray):
                args[i] = kept[i] = replay.values[slots.first]
            elif type((<object>args[i]).base) is Buffer:
                args[i] = kept[i] = refreshed(replay, args[i], slots)
            else:       # the rules do not read it
                args[i] = view_of(replay.values, slots, 1, False)
        out = self.primitive.forward(*args, **self.kwargs)
        parts = list(out) if isinstance(out, tuple) else [out]
        if len(parts) != self.results:
            raise TapeError(f"evaluate_primal(): {self.primitive.name} gave {self.results} results when it was "
                            f"recorded, and {len(parts)} now: record again")
        olds = self.out if several else (self.out,)
        for k in range(len(parts)):
            slots, old = self.slots + self.arguments + k, olds[k]
            if slots.ndim < 0:
                if not is_same(old, parts[k]):
                    line = f" ({self.kwargs['line']})" if self.kwargs and self.kwargs.get("line") else ""
                    raise TapeError(f"evaluate_primal(): a result without derivative of {self.primitive.name} is not what it "
                                    f"was when it was recorded{line}, as an order, a step or a choice, and what follows may "
                                    "depend on it: record again")
                continue
            if np.shape(parts[k]) != shape_of(slots):
                raise TapeError(f"evaluate_primal(): a result of {self.primitive.name} had the shape {shape_of(slots)} "
                                f"when it was recorded, and has {np.shape(parts[k])} now: record again")
            if np.iscomplexobj(parts[k]):
                raise TapeError(f"evaluate_primal(): a result of {self.primitive.name} was real when it was recorded, and "
                                "is complex now: record again")
            view_of(replay.values, slots, 1, True)[...] = parts[k]
            if not isinstance(old, np.ndarray):
                parts[k] = type(old)(replay.values[slots.first])
            elif type((<object>old).base) is Buffer:
                parts[k] = refreshed(replay, old, slots)
            else:
                parts[k] = old
        self.args, self.out = tuple(kept), tuple(parts) if several else parts[0]
        return 0

    def __sizeof__(self):
        return object.__sizeof__(self) + self.bytes_of_slots()

    cdef bint show(self, bint result, Py_ssize_t k, Slots* slots, Py_ssize_t* room) noexcept:
        if k >= (self.results if result else self.arguments):
            return False
        slots[0] = self.slots[self.arguments + k if result else k]
        return True

    cdef Py_ssize_t bytes_of_slots(self) noexcept:
        cdef Py_ssize_t k, bytes = (self.arguments + self.results) * sizeof(Slots)
        for k in range(self.arguments + self.results):    # as they were asked for in new_call
            bytes += 2 * max(self.slots[k].ndim, 0) * sizeof(Py_ssize_t)
        return bytes

    def __repr__(self):
        return f"<{self.primitive.name}>"


cdef int demand_tangents(Call call, object parts) except -1:
    """That each result with a derivative gets one: else it would keep what stood there."""
    cdef Py_ssize_t k
    for k in range(<Py_ssize_t>len(parts), call.results):
        if (call.slots + call.arguments + k).ndim >= 0:
            raise TapeError(f"{call.primitive.name}: the jvp rule returned {len(parts)} tangents for {call.results} results")
    return 0


cdef object flow_of(double* origin, const Slots* slots, Py_ssize_t width, bint writable):
    """The adjoints or tangents that a rule is given: it may not write to what is read again."""
    return None if slots.ndim < 0 else view_of(origin, slots, width, writable)


cdef bint is_same(object old, object new) except? True:
    """Whether a result without derivative is what it was, to the bit."""
    if isinstance(old, np.ndarray) or isinstance(old, np.generic):
        return np.shape(old) == np.shape(new) and np.asarray(old).tobytes() == np.asarray(new).tobytes()
    return bool(old == new)


cdef object refreshed(Replay replay, cnp.ndarray plain, const Slots* slots):
    """The array that a record keeps, laid out as before on a Buffer with the values of now."""
    cdef Buffer old = (<object>plain).base, new
    cdef Py_ssize_t offset
    cdef Py_ssize_t strides[NUMPY_DIMS]
    cdef int k
    if cnp.PyArray_SIZE(plain) == 0:
        return plain
    offset = <double*>cnp.PyArray_DATA(plain) - old.data
    new = replay.refreshed(old, offset, slots.first, slots.ndim, slots.shape, slots.strides)
    for k in range(slots.ndim):
        strides[k] = cnp.PyArray_STRIDE(plain, k) // <Py_ssize_t>sizeof(double)
    return plain_array(new.data + offset, slots.ndim, slots.shape, strides, 1, False, new)


cdef Call new_call(object primitive, tuple argnums, Py_ssize_t arguments, Py_ssize_t results, Py_ssize_t dims):
    cdef Call new = Call.__new__(Call)
    cdef Py_ssize_t k, count = arguments + results
    new.slots = <Slots*>PyMem_Malloc(count * sizeof(Slots) + 2 * dims * sizeof(Py_ssize_t) + 1)
    if new.slots == NULL:
        raise MemoryError(f"no memory for the shapes of a call of {primitive.name}")
    for k in range(count):
        new.slots[k].first, new.slots[k].ndim, new.slots[k].shape, new.slots[k].strides = 0, -1, NULL, NULL
    new.primitive, new.argnums, new.arguments, new.results = primitive, argnums, arguments, results
    new.places = None
    new.into = getattr(primitive, "into", None)
    new.product = arguments and results == 1 and getattr(primitive, "product", False)
    if results == 1 and len(argnums) == 1 and argnums[0] == 0:
        new.places = getattr(primitive, "places", None)
    return new


cdef int set_slots(Call call, Py_ssize_t k, int32_t first, int ndim, const Py_ssize_t* shape,
                   const Py_ssize_t* strides) except -1:
    cdef Py_ssize_t* free = <Py_ssize_t*>(call.slots + call.arguments + call.results)
    cdef Py_ssize_t i
    for i in range(k):
        free += 2 * max(call.slots[i].ndim, 0)
    call.slots[k].first, call.slots[k].ndim = first, ndim
    call.slots[k].shape, call.slots[k].strides = free, free + ndim
    if ndim:                     # else there may be nothing to copy from
        memcpy(free, shape, ndim * sizeof(Py_ssize_t))
        memcpy(free + ndim, strides, ndim * sizeof(Py_ssize_t))
    return 0
