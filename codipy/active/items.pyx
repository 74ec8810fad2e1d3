# SPDX-License-Identifier: Apache-2.0
"""What `a[index]` and `a[index] = value` do."""
import opcode
import sys

import numpy as np

from cpython.long cimport PyLong_AsSsize_t, PyLong_CheckExact

from codipy.active.arrays.assign cimport assign, demand_writable
from codipy.active.arrays.compute cimport materialise, materialise_in_passive
from codipy.active.arrays.elements cimport element, set_element
from codipy.active.arrays.views cimport scatter, take
from codipy.active.core.base_array cimport BaseArray, is_array, new_array, new_view
from codipy.active.recordings.over cimport is_over, no_recording
from codipy.active.scalar.real cimport Real
from codipy.active.storage.indexing cimport select
from codipy.active.storage.storage cimport new_storage, owns_block
from codipy.active.storage.view cimport View
from codipy.tape.activity cimport is_passive

from codipy.active.doors import door
from codipy.errors import ActiveError


cdef object get_item(BaseArray a, object index):
    cdef View view
    cdef bint single = False
    cdef Py_ssize_t i
    if PyLong_CheckExact(index) and a.geometry.ndim == 1:
        i = PyLong_AsSsize_t(index)
        if i < 0:
            i += a.geometry.shape[0]
        if not 0 <= i < a.geometry.shape[0]:
            raise IndexError(f"index {index} is out of bounds for axis 0 with size {a.geometry.shape[0]}")
        return element(a, i * a.geometry.strides[0])
    if a.pending is not None or a.kept is not None:
        materialise(a)
    if select(&a.geometry, index, &view, &single):
        if single:
            return element(a, view.offset - a.geometry.offset)
        if a.pending is not None:
            if is_passive() or is_over(a.pending.epoch):
                return new_array(new_storage(a.storage.buffer, None, a.storage.single), &view)
            raise no_recording(a.pending.epoch, "an active Array is used")
        return new_view(a, &view)
    return take(a, index)


cdef int set_item(BaseArray a, object index, object value) except -1:
    cdef View view
    cdef BaseArray target
    cdef bint single = False
    if a.pending is not None or a.kept is not None:
        if is_passive():
            materialise_in_passive(a)
        else:
            materialise(a)
    if a.pending is not None:
        raise no_recording(a.pending.epoch, "an active Array is written to", "copy codipy.value(x)")
    if type(value) is np.ndarray and value.dtype == object:
        return set_item(a, index, door("of objects")(value))     # `value` is never assigned to, see `assign`
    if not select(&a.geometry, index, &view, &single):
        return scatter(a, index, value)
    target = new_view(a, &view)
    demand_writable(target)
    if is_array(value) and (<BaseArray>value).storage is a.storage and PyLong_CheckExact(index):
        demand_statement()
    if single and not is_scalar(value):
        demand_number(value)
    elif single and goes_alone(a):
        return set_element(target, 0, value)
    return assign(target, value)


cdef int demand_number(object value) except -1:
    """Raise or warn as NumPy does of an array with axes, or of a list, that is written into one element."""
    if isinstance(value, (list, tuple)):
        np.zeros(1)[0] = []
    elif value.ndim:
        np.zeros(1)[0] = np.zeros(value.shape)
    return 0


cdef int demand_statement() except -1:
    """Refuse to write one row into another for C: NumPy's generators would swap rows so, and lose some.

    They copy the rows of an ndarray, but swap those of everything else by ``x[i], x[j] = x[j], x[i]``, as if `x[i]` were
    no view. Whether C or a Python statement writes is seen from the instruction that the interpreter is at.
    """
    frame = sys._getframe(0)
    if "CALL" in opcode.opname[frame.f_code.co_code[frame.f_lasti]]:
        raise ActiveError("a compiled function, such as rng.shuffle(x), writes rows of an Array into others, and would "
                          "lose some: for rng.shuffle(x) write x[:] = x[rng.permutation(len(x))]")
    return 0


cdef bint is_scalar(object value):
    # By type first: `isinstance` asks a Real for its `__class__`, which in rebound code is not answered at once.
    return type(value) is Real or (not is_array(value) and not isinstance(value, (np.ndarray, list, tuple)))


cdef bint goes_alone(BaseArray a) noexcept:
    """Whether one element is written by identifier: of a clean storage that makes every element's explicit."""
    return (a.storage.identifiers != NULL or a.storage.block is None or a.storage.buffer.size <= 32
            or not owns_block(a.storage))


cdef object item_at(BaseArray a, tuple args):
    """ndarray.item: the element at a flat index or a tuple of them."""
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    if not args:
        if a.geometry.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return get_item(a, (0,) * a.geometry.ndim)
    if len(args) == 1 and a.geometry.ndim != 1:
        place = args[0] + a.size if -a.size <= args[0] < 0 else args[0]
        args = np.unravel_index(place, a.shape)
    return get_item(a, tuple([int(i) for i in args]))
