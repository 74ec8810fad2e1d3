# SPDX-License-Identifier: Apache-2.0
"""What becomes an Array, and what an Array becomes: copies, other dtypes, lists, plain arrays."""
import opcode

import numpy as np

from cpython.object cimport PyObject

from codipy.active.arrays.compute cimport materialise
from codipy.active.arrays.elementwise cimport array_of, keep_order, pending_of
from codipy.active.arrays.packing cimport from_ndarray, from_nested
from codipy.active.arrays.views cimport moved
from codipy.active.core.base_array cimport BaseArray, epoch_of_array, is_array, is_single, new_array
from codipy.active.core.pending cimport Pending
from codipy.active.recordings.over cimport may_leave
from codipy.active.scalar.kinds cimport PYTHON
from codipy.active.scalar.real cimport Real
from codipy.active.storage.storage cimport Storage, new_storage
from codipy.active.storage.view cimport View, is_contiguous, set_contiguous
from codipy.programs.tiles cimport ROUND_RESULT
from codipy.tape.activity cimport current
from codipy.tape.recorder cimport Recorder

from codipy.active.doors import door
from codipy.active.messages.callers import refusal
from codipy.active.recordings.recognised import note_taken
from codipy.errors import ActiveError


cdef BaseArray converted(object value):
    """Array(value): a copy of what is array_like; Reals and Arrays in nested lists stay active."""
    if is_array(value):
        return copied(<BaseArray>value, "K")
    if isinstance(value, (list, tuple)):
        value = from_nested(value)
        if is_array(value):
            return value
    if not isinstance(value, np.ndarray):
        value = np.asarray(value)
    if value.dtype.kind not in "fiub" or value.dtype.char in "eg" and value.dtype != np.float64:
        raise TypeError(f"an Array holds float64 or float32 numbers, got dtype {value.dtype}: use astype(np.float64)")
    return from_ndarray(np.array(value, dtype=np.float32 if value.dtype == np.float32 else np.float64))


cdef BaseArray copied(BaseArray a, str order):
    """Values and identifiers are shared until one of the two is written to."""
    cdef Storage storage
    materialise(a)
    storage = a.storage
    if storage.identifiers == NULL and a.pending is None and is_contiguous(&a.geometry) and (
            a.geometry.size == storage.buffer.size and order in "CAK"):
        return new_array(new_storage(storage.buffer, storage.block, storage.single), &a.geometry)
    return moved(a, order)


cdef object as_type(BaseArray a, object dtype, str order, str casting, bint subok, bint copy):
    dtype = np.dtype(dtype)
    cdef BaseArray result
    if dtype == np.float64 or dtype == np.float32:
        if is_single(a) == (dtype == np.float32):
            return copied(a, order) if copy or not is_laid_out(a, order) else a
        if not np.can_cast(a.dtype, dtype, casting):
            raise TypeError(f"Cannot cast array data from {a.dtype!r} to {dtype!r} according to the rule '{casting}'")
        if dtype == np.float32:
            return rounded(a if order == "K" and not repeats(a) else copied(a, order))
        result = copied(a, order)      # a storage of its own: float32 values are float64 values
        result.storage.single = False
        return result
    if dtype == object and a.is_active and not may_leave(epoch_of_array(a)):
        return door("boxed")(a, order)
    if dtype == np.complex128 or dtype == np.complex64:
        if order == "A":
            order = "F" if a.flags.fnc else "C"        # of this array, not of the complex one
        return door("complexes")().as_complex(a).astype(dtype, order, casting)
    if dtype.kind not in "iub":
        demand_passive(a, f"astype({dtype}) of an active Array",
                       "Arrays are float64 or float32; take codipy.value(x).astype(...)")
    else:
        note_taken()
    return a.value.astype(dtype, order, casting, subok, copy)


cpdef bint is_laid_out(a, str order):
    """Whether an array is in an order already, so that ``astype(copy=False)`` gives it as it is."""
    flags = a.flags
    return order == "K" or order != "F" and flags.c_contiguous or order != "C" and flags.f_contiguous


cdef bint repeats(BaseArray a):
    """Whether it shows an element more than once along an axis: copies put such an axis elsewhere than ufuncs do."""
    cdef int k
    for k in range(a.geometry.ndim):
        if a.geometry.strides[k] == 0 and a.geometry.shape[k] > 1:
            return True
    return False


cdef BaseArray rounded(BaseArray a):
    """The same elements in float32, as an expression in the order of these."""
    cdef Recorder* r = current()
    cdef View shape = a.geometry
    set_contiguous(&shape)
    cdef Pending p = pending_of(r, <PyObject*>a, &shape)
    p.single = ROUND_RESULT
    keep_order(1, &a.geometry.strides, &shape)
    return array_of(r, p, &shape)


cdef object nested_lists(BaseArray a):
    """Nested lists of Reals that stand for floats of Python, of floats where nothing is active."""
    if not a.is_active or may_leave(epoch_of_array(a)):
        return a.value.tolist()
    if a.geometry.ndim == 0:
        return of_python(a[()])
    return [nested_lists(x) if is_array(x) else of_python(x) for x in a]


cdef object of_python(element):
    """The same Real, which nobody else has, for a float of Python."""
    (<Real?>element).kind = PYTHON
    return element


cdef int demand_passive(BaseArray a, str what, str instead) except -1:
    """Refuse what would lose the derivative of an active array: `what` it is, and what to do instead."""
    if a.is_active and not may_leave(epoch_of_array(a)):
        raise ActiveError(refusal(what, instead))
    return 0


cdef bint asks_for_product(caller):
    return of_sparse(caller) and caller.f_code.co_name in ("_matmul_dispatch", "_mul_dispatch")


cdef bint of_sparse(caller):
    return caller.f_globals.get("__name__", "").startswith("scipy.sparse")


# What to write instead, by the module that asked for an ndarray.
_INSTEAD = {
    "numpy.ma": "a masked array cannot be active: keep mask and values apart and use `np.where(mask, ..., x)`",
    "numpy.matrixlib": "a matrix cannot be active: use an array of two axes, and `@`",
    "numpy.rec": "a structured array cannot be active: keep one array for each field",
}


cdef str instead_of_asarray(caller, dtype):
    cdef str module = caller.f_globals.get("__name__", "")
    if of_sparse(caller):
        return "write `matrix @ x` or `matrix.toarray() * x`, or take codipy.value(x)"
    for name, instead in _INSTEAD.items():
        if module == name or module.startswith(name + "."):
            return instead
    if "STORE" in opcode.opname[caller.f_code.co_code[caller.f_lasti]]:
        return ("what is written to is no Array: make it one (np.array(a), codipy.Array(a)); of a structured array keep "
                "one array for each field")
    if dtype is not None and np.dtype(dtype) not in (np.float64, np.float32):
        return f"Arrays are float64 or float32, of plain values take codipy.value(x).astype({np.dtype(dtype)})"
    if dtype is not None:      # np.float32(x), np.asarray(x, float)
        return (f"write x.astype({np.dtype(dtype)}), or take NumPy's functions where compiled code asks, as "
                "scipy.linalg.blas does")
    return "use NumPy's functions on the Array itself (np.stack for a list of them), or take codipy.value(x)"
