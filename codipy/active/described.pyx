# SPDX-License-Identifier: Apache-2.0
"""The registered variables of a tape as plain data, and made again from that."""
from codipy.active.core.base_array cimport BaseArray, new_array
from codipy.active.core.base_real cimport IS_INPUT, OF_ARRAY, OF_INPUT
from codipy.active.registered cimport Registered
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.storage.block cimport Block, is_of_input
from codipy.active.storage.storage cimport Storage, new_storage
from codipy.active.storage.view cimport View, shape_tuple
from codipy.active.tape cimport Tape

from codipy.active.variables import RegisteredArray, RegisteredReal
from codipy.tape.contents.assemble import give_numbers


cdef object real_of(Real x):
    return RegisteredReal(x.identifier, x.epoch, x.primal, x.kind, bool(x.flags & IS_INPUT), bool(x.flags & OF_INPUT),
                          bool(x.flags & OF_ARRAY))


cdef object array_of(BaseArray a):
    cdef View* view = &a.geometry
    cdef Block block = a.storage.block
    cdef tuple strides = tuple([view.strides[k] for k in range(view.ndim)])
    if block is None:
        return RegisteredArray(0, 0, 0, a.storage.buffer, view.offset, shape_tuple(view), strides, bool(a.storage.single),
                               False, False, False)
    return RegisteredArray(block.base, block.size, block.epoch, a.storage.buffer, view.offset, shape_tuple(view), strides,
                           bool(a.storage.single), a.storage.input is not None, is_of_input(block),
                           bool(block.scattered))


def described(Tape tape not None):
    """The registered variables of a tape.

    Parameters
    ----------
    tape : Tape
        That keeps its recording.

    Returns
    -------
    tuple of list
        Its inputs and its outputs, each a RegisteredReal or a RegisteredArray.
    """
    return tuple([[real_of(x) if type(x) is Real else array_of(x) for x in those] for those in (tape.inputs, tape.outputs)])


def register_again(Tape tape not None, list inputs not None, list outputs not None):
    """Let variables be registered that are on a tape already, and let nothing more be recorded there.

    Parameters
    ----------
    tape : Tape
        With no registered variables.
    inputs, outputs : list of RegisteredReal or RegisteredArray
        Whose identifiers were handed out, and whose views stay inside of their values; nobody looks again. Epochs are
        those of the tape.
    """
    cdef Registered registered
    for registered, those in ((tape.registered_inputs, inputs), (tape.registered_outputs, outputs)):
        registered.grow(len(those))
        for each in those:
            registered.note_epoch(each.epoch)
            if type(each) is RegisteredReal:
                registered.add_real(tape, real_again(each))
            else:
                registered.add_array(tape, array_again(each))
    give_numbers(tape, [(each.identifier, each.value) for each in inputs if type(each) is RegisteredReal])
    tape.sealed = True


cdef Real real_again(each):
    cdef int flags = ((IS_INPUT if each.is_input else 0) | (OF_INPUT if each.of_input else 0)
                      | (OF_ARRAY if each.of_array else 0))
    return new_identified(each.value, each.epoch, each.identifier, flags, each.kind)


cdef BaseArray array_again(each):
    cdef View view
    cdef Block block = None
    cdef Storage storage
    cdef Py_ssize_t k
    if each.size:
        block = Block.__new__(Block)
        block.base, block.size, block.epoch = each.first, each.size, each.epoch
        block.is_input, block.lent, block.scattered = each.of_input, True, each.of_elements
        block.parent = Block.__new__(Block)      # so it gives nothing back: all identifiers of the tape are in use
    storage = new_storage(each.values, block, each.single)
    storage.input = block if each.is_input else None
    storage.output = None if each.is_input else block
    view.ndim, view.offset, view.size = <int>len(each.shape), each.offset, 1
    for k in range(view.ndim):
        view.shape[k], view.strides[k] = each.shape[k], each.strides[k]
        view.size *= view.shape[k]
    return new_array(storage, &view)
