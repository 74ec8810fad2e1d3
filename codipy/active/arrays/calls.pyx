# SPDX-License-Identifier: Apache-2.0
"""Calls of primitives on active arrays."""
import numpy as np

from libc.stdint cimport int32_t
from cpython.object cimport PyObject
cimport numpy as cnp

from codipy.active.arrays.compute cimport admit_block, materialise
from codipy.active.arrays.constants cimport frozen_copy, is_frozen
from codipy.active.arrays.elements cimport element
from codipy.active.arrays.elementwise cimport operate
from codipy.active.arrays.packing cimport from_ndarray, readable, with_gaps
from codipy.active.arrays.plain cimport doubles_of, is_view_of, ndarray_of, shown_as, singles_of
from codipy.active.arrays.precision cimport demand_precision, is_refused
from codipy.active.arrays.repeated cimport without_axis
from codipy.active.core.base_array cimport BaseArray, is_array, new_array
from codipy.active.core.base_real cimport OWNS
from codipy.active.recordings.over cimport is_over, no_recording
from codipy.active.scalar.expression cimport identify, readmit
from codipy.active.scalar.kinds cimport SINGLE, kind_of, plain_scalar
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.storage.block cimport Block, new_block
from codipy.active.storage.storage cimport Py_REFCNT, Storage
from codipy.active.storage.view cimport View, is_injective
from codipy.data.plain cimport NUMPY_DIMS, plain_array
from codipy.operations.kernels cimport OP_POSITIVE
from codipy.tape.activity cimport at_end, current, is_passive
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport begins
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.call cimport Call, new_call, set_slots

from codipy.errors import ActiveError

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(object items, Py_ssize_t i) noexcept
    PyObject* PyList_GET_ITEM(object items, Py_ssize_t i) noexcept
    PyObject* PyDict_GetItem(object items, object key) noexcept

cnp.import_array()

cdef enum:
    MOST_DEEP = 8                # lists in lists
    MOST_REPEATED = 16           # arrays that are kept though nobody may use them

# Whose loops ask whether two operands are one array.
cdef frozenset PRODUCTS = frozenset({"dot", "einsum", "inner", "linalg.multi_dot", "matmul", "tensordot", "vdot"})
cdef double zero = 0.0           # what `hollow` arrays show
# By the address of memory that others see as well: an array of the copy of what a primitive gave there last.
cdef dict repeated = {}
cdef object FLOATING = np.floating, FLOAT32 = np.float32, ndarray = np.ndarray      # looked up once


cdef BaseArray contiguous_copy(BaseArray x):
    cdef PyObject* operand = <PyObject*>x
    cdef BaseArray result = operate(OP_POSITIVE, 1, &operand)
    materialise(result)
    return result


cdef object call_direct(object primitive, tuple inputs, int spare):
    cdef bint active = False
    for x in inputs:
        if is_array(x):
            active |= (<BaseArray>x).is_active
        elif type(x) is not ndarray or cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.NPY_DOUBLE:
            return NotImplemented
    return record_call(primitive, inputs, None, spare) if active and not is_passive() else NotImplemented


cpdef object call(object primitive, object args, object kwargs=None):
    """Run a primitive on arrays and numbers, and record it if one of them is active.

    Parameters
    ----------
    primitive : Primitive
        Its value and its rules.
    args : sequence
        Positional arguments; Arrays and Reals among them may be active.
    kwargs : dict, optional
        Keyword arguments, passive ones.

    Returns
    -------
    Array, Real, or a tuple of them
        What ``forward`` returns, active where a derivative exists; plain if no argument is active.
    """
    return record_call(primitive, args, kwargs, 0)


cdef object record_call(object primitive, object args, object kwargs, int spare):
    cdef Recorder* r = current()
    cdef list held = None        # packed copies: their identifiers are taken until the record is on the tape
    cdef list values = [], known = None, noted = None, argnums
    cdef list elements = None
    cdef list lent               # the results that others see as well
    cdef BaseArray array
    cdef View* v
    cdef Call record
    cdef BaseTape tape
    cdef Block block
    cdef tuple operand
    cdef int32_t before
    cdef Py_ssize_t k, i, dims = 0
    cdef bint single = False, several
    cdef dict spans = None
    cdef tuple operands = args if type(args) is tuple else tuple(args)
    begins(r)
    kwargs = {name: np.array(x) if isinstance(x, ndarray) else x for name, x in kwargs.items()} if kwargs else {}
    for k in range(len(operands)):
        x = kept = operands[k]
        if is_array(x):
            array = x
            repeated = without_axis(r, array, array.geometry.ndim - 2 + <int>k) if (
                spare >> k & 1 and array.pending is not None and are_matrices(primitive, operands)) else None
            if repeated is not None:
                operands = operands[:k] + repeated[:1] + operands[k + 1:]
                x, array = repeated
                noted = note(noted, k, array, array.storage.block)
                array = x
            materialise(array)
            array = readable(r, array)
            if array.pending is not None:
                admit_pending(array)
            if array.storage.block is not None and admit_block(r, array.storage):
                if not is_injective(&array.geometry):
                    array = contiguous_copy(array)
                # Now: the next operand may be a view of the same storage, and make its identifiers explicit.
                noted = note(noted, k, array, array.storage.block)
            if array is not operands[k]:
                held = held or []
                held.append(array)
            # As they lie, also where those that are kept are packed.
            if (<BaseArray>x).storage.single:
                spans = {} if spans is None else spans
                x = singles_of(<BaseArray>x, spans)
            else:
                x = ndarray_of(<BaseArray>x)
            if is_apart(operands, k) and primitive.name in PRODUCTS:
                x = np.array(x)
            kept = x
            if array.storage.single or array is not operands[k]:
                kept = doubles_of(array)
            single |= array.storage.single
        elif type(x) is Real:
            if (<Real>x).epoch and readmit(r, <Real>x):
                if (<Real>x).count:
                    identify(r, <Real>x)
                noted = note(noted, k, x, None)
            single |= (<Real>x).kind == SINGLE
            kept = plain_scalar(<Real>x)
            if (<Real>x).kind == SINGLE:
                kept = (<Real>x).primal
                x = plain_scalar(<Real>x)
            else:
                x = kept
        elif type(x) is not int:
            if is_refused(x):
                raise TypeError(f"{primitive.name}: {type(x).__name__} beside an Array is not supported: use a plain array")
            # What the caller may change before the sweep is copied: a reference, or a flag set by us that forbids
            # writing, would give a wrong derivative in silence or break the caller's code.
            # The value is computed from the array itself: where its strides lie decides which loop NumPy runs.
            single |= is_float32(x)
            if cnp.PyArray_Check(x) and not is_frozen(x):
                kept = in_double(frozen_copy(r, x))
            else:
                if type(x) is list:
                    x = in_lists(x)
                kept = in_double(x)
        if known is None and kept is not x:
            known = list(values)
        values.append(x)
        if known is not None:
            known.append(kept)
    out = primitive.forward(*values, **kwargs) if kwargs else primitive.forward(*values)
    lent = lent_parts(out)
    parts = out if isinstance(out, tuple) else (out,)
    if any([type(x) is Real or is_array(x) for x in parts]):
        parts = tuple([plain_result(primitive, x) for x in parts])
        out = parts if isinstance(out, tuple) else parts[0]
    seen = views_of(operands, values, parts)
    if seen is not None and all([x is not None for x in seen]):
        return packed_like(out, seen)
    if noted is None:
        return out if seen is None else packed_like(out, [x if y is None else y for x, y in zip(parts, seen)])
    # Rules see doubles and compute in double, whatever the dtype of the values; of complex numbers in complex ones.
    options = kwargs
    if kwargs and kwargs.get("dtype") is not None:
        options = {**kwargs, "dtype": np.complex128 if np.dtype(kwargs["dtype"]).kind == "c" else np.float64}
    tape = <BaseTape>r.tape
    tape.demand_recording("an array operation")
    several = isinstance(out, tuple)
    argnums = []
    for operand in noted:
        argnums.append(operand[0])
        dims += (<BaseArray>operand[1]).geometry.ndim if operand[2] is not None else 0
    shown, results = [], []
    for i in range(len(parts)):      # Reals first: they are scalar statements
        part = kept = parts[i]
        single |= is_float32(part)
        if seen is not None and seen[i] is not None:
            part = seen[i]       # no result of the call: elements of its argument
            kept = doubles_of(part)
        elif cnp.PyArray_Check(part) and cnp.PyArray_TYPE(<cnp.ndarray>part) in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT):
            array = with_gaps(part if lent is None or not lent[i] else np.array(part, order="K"))
            if lent is not None and lent[i]:
                demand_unused(primitive, part, array)
            dims += array.geometry.ndim
            kept = doubles_of(array)
            part = array
        elif isinstance(part, float) or isinstance(part, FLOATING):
            demand_precision(part)
            kept = in_double(part)
            if r.values_move:     # as in reductions.pyx
                elements = elements or []
                elements.append(len(shown))
                part = from_ndarray(np.array(part))
            else:
                part = new_identified(part, r.epoch, tape.new_copy(0, part), OWNS if r.reuse else 0, kind_of(part))
        elif np.asarray(part).dtype.kind in ("cfO" if isinstance(part, ndarray) else "cf"):
            raise ActiveError(f"{primitive.name}: results of dtype {np.asarray(part).dtype} cannot be differentiated yet: "
                              "use float64 or float32, or say codipy.value(x) where the derivative is not wanted")
        elif cnp.PyArray_Check(part):      # whoever gets it may write to it before the sweep
            kept = np.array(part)
        shown.append(part)
        results.append(kept)
    if getattr(primitive, "located", False):
        primitive = primitive.at_caller()
    record = new_call(primitive, tuple(argnums), len(argnums), len(shown), dims)
    for k in range(len(noted)):
        operand = noted[k]
        x = operand[1]
        if operand[2] is not None:
            v = &(<BaseArray>x).geometry
            set_slots(record, k, (<Block>operand[2]).base + <int32_t>v.offset, v.ndim, v.shape, v.strides)
        else:
            set_slots(record, k, (<Real>x).identifier, 0, NULL, NULL)
    known = values if known is None else known
    record.args = tuple(args_kept(primitive, known, argnums, r.keeps_values))
    record.kwargs, record.out, record.single = options, results_kept(primitive, results, several), single
    before = tape.largest()
    try:
        for i in range(len(shown)):
            k = record.arguments + i
            if seen is not None and seen[i] is not None:
                continue
            if is_array(shown[i]):
                array = shown[i]
                v = &array.geometry
                block = new_block(tape, array.storage.buffer.size)
                array.storage.block = block
                set_slots(record, k, block.base + <int32_t>v.offset, v.ndim, v.shape, v.strides)
            elif type(shown[i]) is Real:
                set_slots(record, k, (<Real>shown[i]).identifier, 0, NULL, NULL)
        tape.append(record, before)
    except BaseException:
        tape.withdraw_block(before)
        raise
    if elements is not None:
        for k in elements:
            shown[k] = element(<BaseArray>shown[k], 0)
    return packed_like(out, shown)


cdef inline list note(list noted, Py_ssize_t k, object x, Block block):
    """Add an active operand, where it stands, and the block of an Array, None of a Real; the list is made when needed."""
    if noted is None:
        noted = []
    noted.append((k, x, block))
    return noted


cdef bint are_matrices(primitive, tuple operands):
    """Whether they are multiplied as two matrices or stacks of them."""
    if primitive.name != "matmul" or len(operands) != 2:
        return False
    for x in operands:
        if not (is_array(x) and (<BaseArray>x).geometry.ndim > 1 or cnp.PyArray_Check(x) and cnp.PyArray_NDIM(<cnp.ndarray>x) > 1):
            return False
    return True


cdef list lent_parts(out):
    """For each result whether others see its memory, who may write there before the sweep; None where none does."""
    cdef list lent
    cdef Py_ssize_t i
    if not isinstance(out, tuple):
        return [True] if cnp.PyArray_Check(out) and not has_alone(<PyObject*>out) else None
    # A reference to an item is the tuple's.
    lent = [cnp.PyArray_Check(<object>PyTuple_GET_ITEM(out, i)) and (
        Py_REFCNT(<PyObject*>out) != 1 or not has_alone(PyTuple_GET_ITEM(out, i))) for i in range(len(<tuple>out))]
    return lent if any(lent) else None


def saved_apart(tuple pair, /):
    """The second of a pair; arrays that others see, who may write there, are copied, also in lists, tuples and dicts.

    Parameters
    ----------
    pair : tuple
        Of which the caller has the only reference.

    Returns
    -------
    object
        What stands there, or a copy.
    """
    return apart(PyTuple_GET_ITEM(pair, 1), True, MOST_DEEP)


cdef object apart(PyObject* o, bint alone, int deep):
    cdef Py_ssize_t i
    cdef list items
    kind = type(<object>o)
    if cnp.PyArray_Check(<object>o):
        return <object>o if alone and has_alone(o) else np.array(<object>o, order="K", subok=True)
    if not deep or kind is not tuple and kind is not list and kind is not dict:
        return <object>o
    alone = alone and Py_REFCNT(o) == 1
    if kind is tuple:
        items = [apart(PyTuple_GET_ITEM(<object>o, i), alone, deep - 1) for i in range(len(<tuple>o))]
        return tuple(items)
    if kind is list:
        return [apart(PyList_GET_ITEM(<object>o, i), alone, deep - 1) for i in range(len(<list>o))]
    return {key: apart(PyDict_GetItem(<object>o, key), alone, deep - 1) for key in list(<object>o)}


cdef bint has_alone(PyObject* o) noexcept:
    """Whether the only reference to an array is one of ours, and its memory is its own or that of a base likewise."""
    cdef PyObject* base
    if Py_REFCNT(o) != 1:
        return False
    base = cnp.PyArray_BASE(<cnp.ndarray>o)
    if base == NULL:
        return cnp.PyArray_CHKFLAGS(<cnp.ndarray>o, cnp.NPY_ARRAY_OWNDATA)
    return cnp.PyArray_CheckExact(<object>base) and has_alone(base)


cdef int demand_unused(primitive, cnp.ndarray part, BaseArray copied) except -1:
    """That a primitive did not overwrite, in memory of its own, a result that is in use: the plain run sees that.

    What it returned is kept with the copy: memory that were given back could be where a new result happens to be.
    """
    cdef size_t address = <size_t>cnp.PyArray_DATA(part)
    cdef BaseArray last = repeated[address][0] if address in repeated else None
    if last is not None and Py_REFCNT(<PyObject*>last.storage) > 1:
        before = singles_of(last, {}) if last.storage.single else ndarray_of(last)
        if before.shape != (<object>part).shape or not np.array_equal(before, part, equal_nan=True):
            raise ActiveError(f"{primitive.name} overwrote the array that it returned before, which is still in use: let "
                              "it return a new one each time, or a copy")
    if len(repeated) >= MOST_REPEATED:
        forget_unused()
    repeated[address] = new_array(copied.storage, &copied.geometry), part
    at_end(repeated.clear)
    return 0


cdef int forget_unused() except -1:
    cdef BaseArray last
    for address, (x, _) in list(repeated.items()):
        last = x
        if Py_REFCNT(<PyObject*>last.storage) == 1:
            del repeated[address]
    return 0


cdef object plain_result(primitive, x):
    """A result that is no variable; what a primitive computes inside is not recorded for it."""
    if type(x) is not Real and not is_array(x):
        return x
    if x.is_active:
        raise ActiveError(f"{primitive.name} gave a variable, whose derivative by what was no argument would be lost: pass "
                          "all that it depends on, or take codipy.value(...) inside")
    return np.array(x.value) if is_array(x) else x.value


cdef bint is_apart(tuple operands, Py_ssize_t k):
    """Whether an operand is in the plain run other memory than one before it with which it shares its values here.

    A matrix product of `a` and `a.T` adds in another order than one of `a` and `b.T`.
    """
    cdef Storage storage = (<BaseArray>operands[k]).storage
    cdef Py_ssize_t i
    for i in range(k):
        if is_array(operands[i]) and (<BaseArray>operands[i]).storage is not storage and (
                (<BaseArray>operands[i]).storage.buffer is storage.buffer):
            return True
    return False


cdef object packed_like(out, list parts):
    """The results, one or several, as the primitive gives them."""
    if not isinstance(out, tuple):
        return parts[0]
    return type(out)(*parts) if hasattr(out, "_fields") else tuple(parts)


cdef list views_of(tuple operands, list values, parts):
    """For each result the view of an operand that it is, or None; None where there is none."""
    cdef list seen = None
    cdef Py_ssize_t i, k
    for i in range(len(parts)):
        part = parts[i]
        if not cnp.PyArray_Check(part) or cnp.PyArray_BASE(<cnp.ndarray>part) == NULL:
            continue
        for k in range(len(operands)):
            if is_array(operands[k]) and is_view_of(part, values[k]):
                seen = [None] * len(parts) if seen is None else seen
                seen[i] = shown_as(operands[k], values[k], part)
                if seen[i] is not operands[k]:
                    (<BaseArray>seen[i]).readonly = (<BaseArray>operands[k]).readonly
                break
    return seen


cdef int admit_pending(BaseArray a) except -1:
    if current() == NULL and not is_passive() and not is_over(a.pending.epoch):
        raise no_recording(a.pending.epoch, "an active Array is used")
    return 0


cdef list args_kept(primitive, list values, list argnums, bint replays):
    """What the rules read; passive ones whole where the tape can be replayed."""
    if primitive.keep_args:
        return values
    return [x if replays and k not in argnums else hollow(x) for k, x in enumerate(values)]


cdef object results_kept(primitive, list kept, bint several):
    cdef Py_ssize_t k
    if not primitive.keep_out:
        for k in range(len(kept)):
            kept[k] = hollow(kept[k])
    return tuple(kept) if several else kept[0]


cdef object in_lists(x):
    from copy import deepcopy       # seldom, and not with `import codipy`
    return deepcopy(x)


cdef bint is_float32(x):
    if cnp.PyArray_Check(x):
        return cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_FLOAT
    return not isinstance(x, float) and isinstance(x, FLOAT32)


cdef object in_double(x):
    """What rules see of a plain argument or result: float32 as float64."""
    return np.asarray(x, np.float64)[()] if is_float32(x) else x


def hollow(x):
    """Zeros of the shape of an array that take no memory; anything else unchanged."""
    cdef Py_ssize_t strides[NUMPY_DIMS]
    cdef int k
    if not cnp.PyArray_Check(x) or cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.NPY_DOUBLE:
        return x
    for k in range(cnp.PyArray_NDIM(<cnp.ndarray>x)):
        strides[k] = 0
    return plain_array(&zero, cnp.PyArray_NDIM(<cnp.ndarray>x), <Py_ssize_t*>cnp.PyArray_DIMS(<cnp.ndarray>x), strides, 1,
                       False, None)
