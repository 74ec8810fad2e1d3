# SPDX-License-Identifier: Apache-2.0
"""Calls of primitives on active arrays."""
import numpy as np

from libc.stdint cimport int32_t
from cpython.object cimport PyObject
cimport numpy as cnp

from codipy.active.array_type cimport Array
from codipy.active.block cimport Block, new_block
from codipy.active.elementwise cimport admit_block, materialise, operate
from codipy.active.elements cimport element
from codipy.active.expression cimport identify, readmit
from codipy.active.packing cimport from_ndarray, packed_view
from codipy.active.precision cimport frozen_copy, is_frozen, is_refused
from codipy.active.real cimport OWNS, Real, new_identified
from codipy.active.views cimport doubles_of, ndarray_of, singles_of
from codipy.active.view cimport View, shape_tuple
from codipy.operations.kernels cimport OP_POSITIVE
from codipy.tape.activity cimport current, is_passive
from codipy.tape.base cimport BaseTape
from codipy.tape.call cimport new_call
from codipy.tape.recorder cimport JACOBIAN, PRIMAL, Recorder

from codipy.errors import ActiveError, TapeError

cnp.import_array()

cdef enum:
    NUMPY_DIMS = 64              # no array has more

cdef double zero = 0.0           # what `hollow` arrays show


cdef bint is_injective(const View* v) noexcept:
    """Whether no two elements of a view are the same; may say no where they are not."""
    cdef Py_ssize_t smaller = 0
    cdef int k, j
    cdef bint done[8]
    for k in range(v.ndim):
        done[k] = v.shape[k] <= 1
    while True:
        j = -1
        for k in range(v.ndim):
            if not done[k] and (j < 0 or abs(v.strides[k]) < abs(v.strides[j])):
                j = k
        if j < 0:
            return True
        if abs(v.strides[j]) <= smaller:
            return False
        smaller += abs(v.strides[j]) * (v.shape[j] - 1)
        done[j] = True


cdef Array contiguous_copy(Array x):
    cdef PyObject* operand = <PyObject*>x
    cdef Array result = operate(OP_POSITIVE, 1, &operand)
    materialise(result)
    return result


cdef object call_direct(object primitive, tuple inputs):
    cdef bint active = False
    for x in inputs:
        if type(x) is Array:
            active |= (<Array>x).is_active
        elif type(x) is not np.ndarray or cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.NPY_DOUBLE:
            return NotImplemented
    return call(primitive, inputs) if active and not is_passive() else NotImplemented


def call(primitive, args, kwargs=None):
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
    cdef Recorder* r = current()
    cdef list held = []          # packed copies: their identifiers are taken until the record is on the tape
    cdef list values = [], known = [], argnums = [], arguments = [], results = [], shown = [], elements = []
    cdef Array array
    cdef View* v
    cdef BaseTape tape
    cdef Block block
    cdef int32_t before
    cdef Py_ssize_t k
    cdef bint single = False
    cdef dict spans = {}
    cdef tuple operands = tuple(args)
    kwargs = {name: np.array(x) if isinstance(x, np.ndarray) else x for name, x in kwargs.items()} if kwargs else {}
    for k in range(len(operands)):
        x = operands[k]
        if type(x) is Array:
            array = x
            materialise(array)
            if array.storage.identifiers != NULL:
                array = packed_view(r, array)
            if array.pending is not None:
                admit_pending()
            if array.storage.block is not None and admit_block(r, array.storage.block):
                if not is_injective(&array.geometry):
                    array = contiguous_copy(array)
                v = &array.geometry
                argnums.append(k)
                arguments.append((array.storage.block.base + v.offset, shape_tuple(v),
                                  tuple([v.strides[i] for i in range(v.ndim)])))
            held.append(array)
            single |= array.storage.single
            # As they lie, also where those that are kept are packed.
            values.append(singles_of(x, spans) if (<Array>x).storage.single else ndarray_of(x))
            known.append(values[k] if array is x and not array.storage.single else doubles_of(array))
        elif type(x) is Real:
            if (<Real>x).epoch and readmit(r, <Real>x):
                if (<Real>x).count:
                    identify(r, <Real>x)
                argnums.append(k)
                arguments.append(((<Real>x).identifier, (), ()))
            values.append((<Real>x).primal)
            known.append((<Real>x).primal)
        else:
            if is_refused(x):
                raise TypeError(f"{primitive.name}: {type(x).__name__} beside an Array is not supported: use a plain array")
            # What the caller may change before the sweep is copied: a reference, or a flag set by us that forbids
            # writing, would give a wrong derivative in silence or break the caller's code.
            if isinstance(x, np.ndarray) and not is_frozen(x):
                x = frozen_copy(x)
            elif type(x) is list:
                x = in_lists(x)
            single |= is_float32(x)
            values.append(x)
            known.append(in_double(x))
    out = primitive.forward(*values, **kwargs) if kwargs else primitive.forward(*values)
    if not argnums:
        return out
    # Rules see doubles and compute in double, whatever the dtype of the values.
    options = kwargs if kwargs.get("dtype") is None else {**kwargs, "dtype": np.float64}
    tape = <BaseTape>r.tape
    tape.demand_recording("an array operation")
    parts = out if isinstance(out, tuple) else (out,)
    kept = []
    for part in parts:      # Reals first: they are scalar statements
        single |= is_float32(part)
        if isinstance(part, np.ndarray) and cnp.PyArray_TYPE(<cnp.ndarray>part) in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT):
            array = from_ndarray(part)
            shown.append(array)
            kept.append(doubles_of(array))
        elif isinstance(part, (float, np.floating)) and r.kind == PRIMAL and r.reuse:
            shown.append(from_ndarray(np.array(part, dtype=np.float64)))      # as in reductions.pyx
            elements.append(len(kept))
            kept.append(in_double(part))
        elif isinstance(part, (float, np.floating)):
            shown.append(new_identified(part, r.epoch, tape.new_copy(0, part), OWNS if r.reuse else 0))
            kept.append(in_double(part))
        elif np.asarray(part).dtype.kind in ("cfO" if isinstance(part, np.ndarray) else "cf"):
            raise ActiveError(f"{primitive.name}: results of dtype {np.asarray(part).dtype} cannot be differentiated yet: "
                              "use float64 or float32, or take x.value where the derivative is not wanted")
        else:
            shown.append(part)
            kept.append(part)
    before = tape.largest()
    try:
        for k in range(len(shown)):
            part = shown[k]
            if type(part) is Array:
                array = part
                block = new_block(tape, array.geometry.size)
                array.storage.block = block
                results.append((block.base, shape_tuple(&array.geometry),
                                tuple([array.geometry.strides[i] for i in range(array.geometry.ndim)])))
            elif type(part) is Real:
                results.append(((<Real>part).identifier, (), ()))
            else:
                results.append(None)
        several = isinstance(out, tuple)
        known = args_kept(primitive, known, argnums, r.kind != JACOBIAN)
        tape.push_record(new_call(primitive, tuple(known), options, results_kept(primitive, kept, several),
                                  tuple(argnums), arguments, results, single), before)
    except BaseException:
        tape.withdraw_block(before)
        raise
    for k in elements:
        shown[k] = element(<Array>shown[k], 0)
    if not several:
        return shown[0]
    return type(out)(*shown) if hasattr(out, "_fields") else tuple(shown)


cdef int admit_pending() except -1:
    if current() == NULL and not is_passive():
        raise TapeError("an active Array is used while no tape is recording, which would lose its derivative: take "
                        "x.value, work inside `with tape:`, or say `with codipy.passive():`")
    return 0


cdef list args_kept(primitive, list values, list argnums, bint replays):
    """What the rules read; passive ones whole where the tape can be replayed."""
    if primitive.keep_args:
        return values
    return [x if replays and k not in argnums else hollow(x) for k, x in enumerate(values)]


cdef object results_kept(primitive, list kept, bint several):
    if not primitive.keep_out:
        kept = [hollow(part) for part in kept]
    return tuple(kept) if several else kept[0]


cdef object in_lists(x):
    from copy import deepcopy       # seldom, and not with `import codipy`
    return deepcopy(x)


cdef bint is_float32(x):
    return cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_FLOAT if isinstance(x, np.ndarray) else isinstance(x, np.float32)


cdef object in_double(x):
    """What rules see of a plain argument or result: float32 as float64."""
    return np.asarray(x, np.float64)[()] if is_float32(x) else x


def hollow(x):
    """Zeros of the shape of an array that take no memory; anything else unchanged."""
    cdef cnp.npy_intp strides[NUMPY_DIMS]
    cdef int k
    if not isinstance(x, np.ndarray) or cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.NPY_DOUBLE:
        return x
    for k in range(cnp.PyArray_NDIM(<cnp.ndarray>x)):
        strides[k] = 0
    return cnp.PyArray_New(np.ndarray, cnp.PyArray_NDIM(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>x),
                           cnp.NPY_DOUBLE, strides, &zero, 0, 0, <object>NULL)
