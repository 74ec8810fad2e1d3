# SPDX-License-Identifier: Apache-2.0
"""Single elements of arrays: Reals on the same adjoint slot."""
import numpy as np

from libc.stdint cimport int32_t
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject

from codipy.active.arrays.compute cimport admit_block, materialise
from codipy.active.core.base_array cimport BaseArray
from codipy.active.core.base_real cimport OF_ARRAY, OF_INPUT, OWNS, codipy_new_reference, new_real
from codipy.active.recordings.lending cimport lend_mixed, lender
from codipy.active.recordings.over cimport is_over, is_past, no_recording
from codipy.active.scalar.carried cimport carried_element
from codipy.active.scalar.expression cimport as_number, identify, readmit
from codipy.active.scalar.kinds cimport DOUBLE, SINGLE
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.storage.block cimport is_of_input
from codipy.active.storage.storage cimport Storage
from codipy.tape.activity cimport current, is_passive, tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder, grow_primals

cdef extern from "Python.h":
    bint PyType_HasFeature(type t, unsigned long feature) noexcept
    const unsigned long Py_TPFLAGS_HEAPTYPE

from codipy.active.doors import door
from codipy.active.recordings.earlier import from_earlier, of_enclosing
from codipy.errors import TapeError


cdef int admit_mixed(Recorder* r, Storage storage) except -1:
    if r != NULL and (storage.epoch == r.epoch or (<BaseTape>r.tape).is_valid(storage.epoch)):
        return 1
    if r == NULL and (is_passive() or is_over(storage.epoch)):
        return 0
    if r != NULL and lender(r, storage.epoch) is not None:
        lend_mixed(r, storage)
        return 1
    cdef Py_ssize_t i
    for i in range(storage.buffer.size):
        if storage.identifiers[i]:
            break
    else:
        return 0
    if r == NULL:
        raise no_recording(storage.epoch, "an active Array is used")
    what = ("an Array belongs to another tape or to a finished recording: compute it again, take codipy.value(x), or "
            "register it with the recording tape's register_input()")
    raise TapeError(from_earlier(what) if is_past(storage.epoch) else of_enclosing("an Array"))


cdef int32_t copy_slot(Recorder* r, int32_t identifier, double value) except -1:
    """The identifier of a scalar statement that copies an array's slot."""
    return (<BaseTape>r.tape).new_element(identifier, value)


cdef object element(BaseArray a, Py_ssize_t offset):
    cdef Recorder* r = current()
    cdef Storage storage
    cdef BaseTape tape
    cdef double value
    cdef int32_t identifier = 0
    cdef int kind, flags = OF_ARRAY
    if a.pending is not None or a.kept is not None:
        materialise(a)
    storage = a.storage
    kind = SINGLE if storage.single else DOUBLE
    offset += a.geometry.offset
    value = storage.buffer.data[offset]
    if storage.identifiers != NULL:
        if storage.identifiers[offset] and admit_mixed(r, storage):
            identifier = storage.identifiers[offset]
            if storage.input is not None and 0 <= identifier - storage.input.base < storage.input.size:
                flags |= OF_INPUT
    elif storage.block is not None and admit_block(r, storage):
        identifier = storage.block.base + <int32_t>offset
        if is_of_input(storage.block):
            flags |= OF_INPUT
    elif a.pending is not None and not is_passive() and not is_over(a.pending.epoch):
        raise no_recording(a.pending.epoch, "an element of an active Array is taken",
                           "take codipy.value(x)[i], or work inside `with tape:`")
    if identifier == 0:
        return codipy_new_reference(new_real(value, 0, kind))
    tape = <BaseTape>r.tape
    if r.carries:
        return codipy_new_reference(carried_element(r, value, kind, identifier))
    if r.values_move:
        # The slot's stored value may be needed for what it was before: the element gets a slot of its own.
        return new_identified(value, r.epoch, copy_slot(r, identifier, value), OWNS, kind)
    if r.values_by_identifier:
        if identifier >= r.primals_size:
            tape.demand_idle("taking an element of an Array")
            grow_primals(r, identifier)
        # After an evaluate_primal() the next one writes it, if the last one has not.
        if not tape.replay.begun and not r.counts:
            r.primals[identifier] = value
    storage.hand_out(tape, offset)
    return new_identified(value, r.epoch, identifier, flags | OWNS if r.reuse else flags, kind)


cdef int go_mixed_in_passive(Storage storage) except -1:
    """Written inside passive(): what is overwritten loses its identifiers, the other elements keep theirs."""
    cdef PyObject* tape = tape_of_epoch(storage.block.epoch)
    if tape != NULL and (<BaseTape>tape).is_valid(storage.block.epoch):
        storage.make_mixed(<BaseTape>tape)
    else:
        storage.block = None         # of a recording that is gone
    return 0


cdef int set_element(BaseArray a, Py_ssize_t offset, object value) except -1:
    """Write one element of a stored array; the identifier moves, nothing is recorded."""
    cdef Recorder* r = current()
    cdef Storage storage = a.storage
    cdef double number
    cdef int32_t identifier = 0
    offset += a.geometry.offset
    if PyType_HasFeature(type(value), Py_TPFLAGS_HEAPTYPE):
        value = door("number")(value)        # of a class of the user's, perhaps
    if type(value) is Real:
        number = (<Real>value).primal
        if (<Real>value).epoch and readmit(r, <Real>value):
            if (<Real>value).count:
                identify(r, <Real>value)
            identifier = (<Real>value).identifier
    elif PyFloat_CheckExact(value):
        number = PyFloat_AS_DOUBLE(value)
    elif as_number(<PyObject*>value, &number) != 1:
        cell = np.zeros(())
        cell[()] = value         # a text, a Decimal, None: NumPy's number or NumPy's error
        number = cell
    if storage.identifiers == NULL and (identifier or storage.block is not None):
        if storage.block is None or admit_block(r, storage):
            storage.make_mixed(<BaseTape>r.tape)
        else:
            go_mixed_in_passive(storage)
    elif storage.identifiers != NULL and storage.epoch != (r.epoch if r != NULL else 0):
        admit_mixed(r, storage)
    storage.begin_write()
    storage.own_values(1)
    storage.buffer.data[offset] = <float>number if storage.single else number
    if storage.identifiers != NULL:
        if r == NULL:
            storage.make_passive(offset)
        else:
            if identifier and r.reuse:
                (<BaseTape>r.tape).store.reusing.retain(identifier)
            storage.put(<BaseTape>r.tape, offset, identifier)
    return 0
