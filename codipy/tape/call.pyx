# SPDX-License-Identifier: Apache-2.0
"""Primitives on the tape."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.mem cimport PyMem_Free, PyMem_Malloc
cimport cython
cimport numpy as cnp

from codipy.data.buffer cimport Buffer
from codipy.data.plain cimport NUMPY_DIMS, plain_array
from codipy.data.strided cimport elements_of, in_order
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.products cimport (
    MOST_STACKED, Gemm, Matrix, Stack, add_blas_product, add_matrix_product, clear_matrix, gemm_at, is_for_blas, matrix_at,
    matrix_of, stack_of, turned)
from codipy.tape.record cimport Record
from codipy.tape.replay cimport Replay
from codipy.tape.silence cimport in_silence
from codipy.tape.slots cimport (
    Slots, add_array, adjoint_view, clear, clear_all, directions_of, is_nonzero, shape_of, view_of)

from codipy.errors import TapeError

cnp.import_array()

cdef enum:
    FEW = 512                    # elements: below, an array of their own takes less than the rule takes to be called
    FEW_PRODUCTS = 2048          # of single elements, in a product of matrices: likewise


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
        if adjoints.width > 1 and self.product and self.pull_product(adjoints.origin(), adjoints.width):
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
                continue
            if self.product and self.add_product(origin, adjoints.width):
                pass
            elif self.product and adjoints.width == 1 and self.add_products(origin, not keep):
                continue
            elif self.places is not None and self.add_at_places(origin, adjoints.width):
                pass
            elif type(self.out) is tuple:
                bars = tuple([adjoint_view(origin, results + k, adjoints.width) for k in range(self.results)])
                self.add_bars(origin, bars, adjoints.width)
            else:
                bars = adjoint_view(origin, results, adjoints.width)
                self.add_bars(origin, bars, adjoints.width)
            if not keep:
                for k in range(self.results):
                    clear(origin, results + k, adjoints.width)
        return 0

    cdef bint carries_rows(self) except? True:
        return self.product or getattr(self.primitive, "vjp_batch", None) is not None

    cdef bint reverse_at_once(self, AdjointVector adjoints, bint keep) except? True:
        """Let the rule for batches sweep all directions that flow; False where there is none, or it leaves them to us."""
        cdef Slots* results = self.slots + self.arguments
        cdef Py_ssize_t d, k, width = adjoints.width
        cdef double* origin = adjoints.origin()
        rule = getattr(self.primitive, "vjp_batch", None)
        if rule is None:
            return False
        # A direction without flow takes no part: an infinite partial would make NaN of its zeros.
        flowing = [d for d in range(width) if any([is_nonzero(origin + d, results + k, width) for k in range(self.results)])]
        if len(flowing) < 2:
            return False
        some = slice(None) if len(flowing) == width else flowing
        bars = [None if results[k].ndim < 0 else directions_of(origin, results + k, width)[some] for k in range(self.results)]
        several = type(self.out) is tuple
        back = in_silence(rule, (tuple(bars) if several else bars[0], self.out, self.args, self.kwargs, self.argnums))
        if back is None:
            return False
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
        found = in_silence(rule, (dots, self.out, self.args, self.kwargs))
        if found is None:
            return False
        parts = found if type(self.out) is tuple else (found,)
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

    cdef int add_bars(self, double* origin, object bars, Py_ssize_t width) except -1:
        cdef Py_ssize_t k, at = 0
        cdef tuple argnums = self.argnums
        if self.into is not None and type(self.out) is not tuple:
            argnums = tuple([argnums[k] for k in range(self.arguments) if not self.write_bar(origin, k, bars, width)])
            if not argnums:
                return 0
        back = in_silence(self.primitive.vjp, (bars, self.out, self.args, self.kwargs, argnums))
        for k in range(self.arguments):
            if at < len(argnums) and self.argnums[k] == argnums[at]:
                bar = back[at]
                at += 1
                if bar is not None:
                    self.add_to(origin, k, bar, width)
        return 0

    cdef bint write_bar(self, double* origin, Py_ssize_t k, object bars, Py_ssize_t width) except? True:
        """Let the rule write a large cotangent to where it would be added to zeros. No argument has an identifier twice."""
        cdef Slots* slots = self.slots + k
        if elements_of(slots.ndim, slots.shape) < FEW or width > 1 or is_nonzero(origin, slots, width):
            return False
        return in_silence(self.into, (bars, self.out, self.args, self.kwargs, self.argnums[k],
                                      adjoint_view(origin, slots, width)))

    cdef bint add_product(self, double* origin, Py_ssize_t width) noexcept:
        """Add the cotangents of two small matrices or vectors that were multiplied; False where they are something else.

        NumPy takes longer to be called than for these products.
        """
        cdef Slots* result = self.slots + self.arguments
        cdef Slots* slots
        cdef Matrix a, b, bar, into
        cdef Py_ssize_t k
        if self.kwargs or len(self.args) != 2 or not matrix_of(self.args[0], &a, False) or not matrix_of(
                self.args[1], &b, True):
            return False
        if a.columns != b.rows or a.rows * a.columns * b.columns > FEW_PRODUCTS:
            return False
        bar.data, bar.rows, bar.columns = origin + result.first * width, a.rows, b.columns
        # A vector in front gives no rows, one behind no columns: what is left of the result are the others.
        k = 0
        bar.down = bar.right = 0
        if cnp.PyArray_NDIM(<cnp.ndarray>self.args[0]) == 2:
            bar.down = result.strides[k] * width
            k += 1
        if cnp.PyArray_NDIM(<cnp.ndarray>self.args[1]) == 2:
            bar.right = result.strides[k] * width
            k += 1
        if result.ndim != k:
            return False
        for k in range(self.arguments):
            slots = self.slots + k
            into.data, into.down, into.right = origin + slots.first * width, 0, 0
            if self.argnums[k] == 0:
                into.rows, into.columns = a.rows, a.columns
                if slots.ndim == 2:
                    into.down = slots.strides[0] * width
                into.right = slots.strides[slots.ndim - 1] * width
                add_matrix_product(&into, &bar, 0, &b, 1)
            else:
                into.rows, into.columns = b.rows, b.columns
                into.down = slots.strides[0] * width
                if slots.ndim == 2:
                    into.right = slots.strides[1] * width
                add_matrix_product(&into, &a, 1, &bar, 0)
        return True

    cdef bint add_products(self, double* origin, bint clears) except? True:
        """Add the cotangents of large matrices or of stacks of matrices that were multiplied, one pair after the other.

        So what flows back into a pair is in the cache for both of its cotangents, and is cleared there. False where the
        operands are something else.
        """
        cdef Slots* result = self.slots + self.arguments
        cdef Slots* slots
        cdef Gemm gemm = NULL
        cdef Stack bar
        cdef Stack[2] given, into
        cdef Matrix g, x, y, to
        cdef Py_ssize_t i, k
        cdef int dims = result.ndim - 2
        cdef cnp.ndarray array
        cdef bint few
        cdef bint[2] is_first
        if self.kwargs or len(self.args) != 2 or not 0 <= dims <= MOST_STACKED:
            return False
        for k in range(2):
            if not cnp.PyArray_Check(self.args[k]):
                return False
            array = self.args[k]
            if cnp.PyArray_TYPE(array) != cnp.NPY_DOUBLE or not cnp.PyArray_ISBEHAVED_RO(array) or cnp.PyArray_NDIM(array) < 2:
                return False
            stack_of(&given[k], <double*>cnp.PyArray_DATA(array), dims, cnp.PyArray_NDIM(array),
                     <const Py_ssize_t*>cnp.PyArray_DIMS(array), <const Py_ssize_t*>cnp.PyArray_STRIDES(array), sizeof(double))
        if dims and self.primitive.name != "matmul":         # numpy.dot means something else by it
            return False
        stack_of(&bar, origin + result.first, dims, result.ndim, result.shape, result.strides, 1)
        g, x, y = bar.matrix, given[0].matrix, given[1].matrix
        few = x.rows * x.columns * y.columns <= FEW_PRODUCTS
        if not few:
            gemm = gemm_at(self.primitive.gemm)
            if gemm == NULL or not (is_for_blas(&g) and is_for_blas(&x) and is_for_blas(&y)):
                return False
        for k in range(self.arguments):
            slots = self.slots + k
            is_first[k] = self.argnums[k] == 0
            stack_of(&into[k], origin + slots.first, dims, slots.ndim, slots.shape, slots.strides, 1)
            if not few and not is_for_blas(&into[k].matrix):
                return False
        with nogil:
            for i in range(elements_of(dims, result.shape)):
                g = matrix_at(&bar, i, dims, result.shape)
                for k in range(self.arguments):
                    to = matrix_at(&into[k], i, dims, result.shape)
                    if is_first[k]:
                        x, y = g, matrix_at(&given[1], i, dims, result.shape)
                        y = turned(&y)
                    else:
                        x, y = matrix_at(&given[0], i, dims, result.shape), g
                        x = turned(&x)
                    if few:
                        add_matrix_product(&to, &x, 0, &y, 0)
                    else:
                        add_blas_product(gemm, &to, &x, &y)
                if clears:
                    clear_matrix(&g)
        return True

    cdef bint find_product(self, double* origin, Py_ssize_t width, Product* p) except? True:
        """The matrices of a product for a sweep in several directions; False where the operands are something else."""
        cdef Slots* result = self.slots + self.arguments
        cdef int[2] ndims
        cdef int k, n
        cdef cnp.ndarray array
        if self.kwargs or len(self.args) != 2:
            return False
        for k in range(2):
            if not cnp.PyArray_Check(self.args[k]):
                return False
            array = self.args[k]
            ndims[k] = cnp.PyArray_NDIM(array)
            if cnp.PyArray_TYPE(array) != cnp.NPY_DOUBLE or not cnp.PyArray_ISBEHAVED_RO(array) or ndims[k] < 1:
                return False
        p.dims = result.ndim - 2 if min(ndims[0], ndims[1]) > 1 else 0
        if not 0 <= p.dims <= MOST_STACKED or not p.dims and max(ndims[0], ndims[1]) > 2:
            return False
        if p.dims and self.primitive.name != "matmul":
            return False
        for k in range(2):
            array = self.args[k]
            if ndims[k] > 1:
                stack_of(&p.given[k], <double*>cnp.PyArray_DATA(array), p.dims, ndims[k],
                         <const Py_ssize_t*>cnp.PyArray_DIMS(array), <const Py_ssize_t*>cnp.PyArray_STRIDES(array), sizeof(double))
            elif not matrix_of(array, &p.given[k].matrix, k == 1):
                return False
        flow_of(&p.result, origin, result, p.dims, width, ndims[0] > 1, ndims[1] > 1)
        for k in range(self.arguments):
            n = self.argnums[k]
            p.is_first[k] = n == 0
            flow_of(&p.flow[k], origin, self.slots + k, p.dims, width, ndims[n] > 1 or n == 1, ndims[n] > 1 or n == 0)
        p.count, p.gemm = elements_of(p.dims, result.shape), NULL
        if p.result.matrix.rows * p.given[0].matrix.columns * p.result.matrix.columns * width > FEW_PRODUCTS:
            p.gemm = gemm_at(self.primitive.gemm)
            return p.gemm != NULL and is_for_blas(&p.given[0].matrix) and is_for_blas(&p.given[1].matrix)
        return True

    cdef bint pull_product(self, double* origin, Py_ssize_t width) except? True:
        """As add_products, in all directions at once. False where that is not what they do one after the other."""
        cdef Product p
        cdef Matrix g, to, plain
        cdef const Py_ssize_t* shape = self.slots[self.arguments].shape
        cdef Py_ssize_t i
        cdef int k
        if not self.find_product(origin, width, &p):
            return False
        if not all_flow(&p, shape, width) and not (is_finite(self.args[0]) and is_finite(self.args[1])):
            return False             # nothing flows from a direction of zeros, even through what is infinite
        with nogil:
            for i in range(p.count):
                g = matrix_at(&p.result, i, p.dims, shape)
                for k in range(self.arguments):
                    to = matrix_at(&p.flow[k], i, p.dims, shape)
                    plain = matrix_at(&p.given[p.is_first[k]], i, p.dims, shape)
                    if p.is_first[k]:
                        add_by_rows(p.gemm, &to, &plain, &g, width)
                    else:
                        plain = turned(&plain)
                        add_by_columns(p.gemm, &to, &plain, &g, width)
        return True

    cdef bint push_product(self, double* origin, Py_ssize_t width) except? True:
        """The tangents of a product in all directions; False where the operands are something else."""
        cdef Product p
        cdef Matrix dot, to, plain
        cdef Slots* result = self.slots + self.arguments
        cdef Py_ssize_t i
        cdef int k
        if not self.find_product(origin, width, &p):
            return False
        clear_all(origin, result, width)
        with nogil:
            for i in range(p.count):
                to = matrix_at(&p.result, i, p.dims, result.shape)
                for k in range(self.arguments):
                    dot = matrix_at(&p.flow[k], i, p.dims, result.shape)
                    plain = matrix_at(&p.given[p.is_first[k]], i, p.dims, result.shape)
                    if p.is_first[k]:
                        plain = turned(&plain)
                        add_by_rows(p.gemm, &to, &plain, &dot, width)
                    else:
                        add_by_columns(p.gemm, &to, &plain, &dot, width)
        return True

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
        np.add(target, bar, target)
        return 0

    cdef int forward(self, AdjointVector adjoints) except -1:
        cdef Py_ssize_t d, k
        cdef Slots* results = self.slots + self.arguments
        if self.primitive.jvp is None:
            raise TapeError(f"{self.primitive.name} has no jvp rule: a forward sweep needs one")
        if adjoints.width > 1 and (self.product and self.push_product(adjoints.origin(), adjoints.width)
                                   or self.forward_at_once(adjoints)):
            return 0
        for d in range(adjoints.width):
            dots = {self.argnums[k]: adjoint_view(adjoints.origin() + d, self.slots + k, adjoints.width)
                    for k in range(self.arguments)}
            result = in_silence(self.primitive.jvp, (dots, self.out, self.args, self.kwargs))
            parts = result if type(self.out) is tuple else (result,)
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


cdef void flow_of(Stack* s, double* origin, const Slots* slots, int dims, Py_ssize_t width, bint rows, bint columns) noexcept:
    """The matrices of adjoints in all directions, steps in numbers; `rows`, `columns`: which of the dimensions there are."""
    cdef int k = slots.ndim - 1, i, d
    s.matrix.data = origin + slots.first * width
    s.matrix.rows = s.matrix.columns = 1
    s.matrix.down = s.matrix.right = 0
    if columns:
        s.matrix.columns, s.matrix.right = slots.shape[k], slots.strides[k] * width
        k -= 1
    if rows:
        s.matrix.rows, s.matrix.down = slots.shape[k], slots.strides[k] * width
        k -= 1
    for d in range(dims):
        i = d - dims + k + 1
        s.steps[d] = slots.strides[i] * width if i >= 0 and slots.shape[i] != 1 else 0


cdef void add_by_rows(Gemm gemm, const Matrix* to, const Matrix* plain, const Matrix* g, Py_ssize_t width) noexcept nogil:
    """Row by row, add `plain` times a row of `g` to that of `to`, whose elements are rows of all directions."""
    cdef Matrix x, y
    cdef Py_ssize_t i
    for i in range(to.rows):
        x.data, x.rows, x.columns, x.down, x.right = to.data + i * to.down, to.columns, width, to.right, 1
        y.data, y.rows, y.columns, y.down, y.right = g.data + i * g.down, g.columns, width, g.right, 1
        if gemm != NULL and is_for_blas(&x) and is_for_blas(&y):
            add_blas_product(gemm, &x, plain, &y)
        else:
            add_matrix_product(&x, plain, 0, &y, 0)


cdef void add_by_columns(Gemm gemm, const Matrix* to, const Matrix* plain, const Matrix* g, Py_ssize_t width) noexcept nogil:
    """The same column by column; all at once where they lie side by side."""
    cdef Matrix x = to[0], y = g[0]
    if gemm != NULL and to.right == width and g.right == width:
        x.right = y.right = 1
        x.columns, y.columns = to.columns * width, g.columns * width
        if is_for_blas(&x) and is_for_blas(&y):
            add_blas_product(gemm, &x, plain, &y)
            return
    x, y = turned(to), turned(g)
    add_by_rows(gemm, &x, plain, &y, width)


cdef bint all_flow(const Product* p, const Py_ssize_t* shape, Py_ssize_t width) noexcept:
    """Whether each direction has an adjoint that is not zero."""
    cdef Matrix g
    cdef Py_ssize_t d, i
    cdef bint found
    for d in range(width):
        found = False
        for i in range(p.count):
            g = matrix_at(&p.result, i, p.dims, shape)
            g.data += d
            found = has_nonzero(&g)
            if found:
                break
        if not found:
            return False
    return True


cdef bint has_nonzero(const Matrix* m) noexcept:
    cdef Py_ssize_t i, k
    for i in range(m.rows):
        for k in range(m.columns):
            if m.data[i * m.down + k * m.right] != 0.0:
                return True
    return False


cdef bint is_finite(cnp.ndarray x) except? True:
    return bool(np.isfinite(x).all())


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
