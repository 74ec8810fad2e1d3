# SPDX-License-Identifier: Apache-2.0
"""Variables of an enclosing recording, lent to the recording of a driver inside of it.

An inner recording knows plain numbers and identifiers of its own. A variable of an enclosing recording that it meets
becomes an input of it, under its own name: its identifiers are exchanged, and exchanged back when the inner recording
ends. So no operation needs to know of two tapes, and nothing can confuse their derivatives. What the inner recording
computed from it is computed again, on the enclosing one, from the variables that were lent: codipy/nested.
Rejected: to exchange operands where operations meet them, which is a rule that every door would have to remember.
"""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
cimport cython

from codipy.active.core.base_real cimport IS_INPUT, OF_INPUT, BaseReal
from codipy.active.storage.block cimport Block, append_block, moved_block
from codipy.active.storage.storage cimport Storage, new_storage
from codipy.active.storage.view cimport View, same_view, set_contiguous
from codipy.data.buffer cimport Buffer
from codipy.tape.activity cimport tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.loan cimport Loan
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.mark cimport new_mark


cdef BaseTape lender(Recorder* r, int64_t epoch):
    cdef PyObject* found
    cdef BaseTape own, tape
    if r == NULL:
        return None
    own = <BaseTape>r.tape
    found = tape_of_epoch(epoch) if own.loans is not None else NULL
    if found == NULL:
        return None
    tape = <BaseTape>found
    if tape is own or not tape.recordings or tape.thread != own.thread or not tape.is_valid(epoch):
        return None
    return tape


@cython.final
@cython.no_gc
cdef class RealLoan(Loan):
    cdef int64_t epoch, made
    cdef int32_t identifier
    cdef int kept, flags

    cdef int end(self) noexcept:
        cdef BaseReal x = self.origin
        x.epoch, x.made, x.identifier = self.epoch, self.made, self.identifier
        x.kept, x.flags, x.count = self.kept, self.flags, 0
        return 0


cdef int lend_real(Recorder* r, BaseReal x) except -1:
    cdef RealLoan loan = RealLoan.__new__(RealLoan)
    cdef BaseTape tape = <BaseTape>r.tape
    loan.origin, loan.size = x, 1
    loan.epoch, loan.made, loan.identifier, loan.kept, loan.flags = x.epoch, x.made, x.identifier, x.kept, x.flags
    loan.first = tape.new_input(x.primal)
    (<list>tape.loans).append(loan)
    x.epoch, x.made, x.identifier, x.kept, x.flags = r.epoch, 0, loan.first, 0, IS_INPUT | OF_INPUT
    return 0


@cython.final
@cython.no_gc
cdef class BlockLoan(Loan):
    cdef Block block, parent
    cdef int64_t epoch
    cdef int32_t base
    cdef bint is_input, lent, scattered

    cdef int end(self) noexcept:
        cdef Block block = self.block
        block.base, block.epoch, block.parent = self.base, self.epoch, self.parent
        block.is_input, block.scattered = self.is_input, self.scattered
        block.lent = block.lent or self.lent
        return 0


cdef Block take(Loan loan, Recorder* r, Buffer values):
    """The identifiers of the inner recording's input that stands for what is lent."""
    cdef BaseTape tape = <BaseTape>r.tape
    cdef Block inner = append_block(tape, new_mark(values if r.keeps_values else None), values.size, True)
    loan.first = inner.base
    (<list>tape.loans).append(loan)
    return inner


cdef int lend_block(Recorder* r, Storage storage) except -1:
    cdef Block block = storage.block
    cdef BlockLoan loan = BlockLoan.__new__(BlockLoan)
    cdef Block inner
    # What the enclosing recording will compute with: it has the Block, whose identifiers are its own again by then.
    loan.origin = new_storage(storage.buffer, block, storage.single)
    loan.block, loan.parent, loan.size = block, block.parent, block.size
    loan.base, loan.epoch = block.base, block.epoch
    loan.is_input, loan.lent, loan.scattered = block.is_input, block.lent, block.scattered
    inner = take(loan, r, storage.buffer)
    block.base, block.epoch, block.parent, block.is_input, block.scattered = inner.base, inner.epoch, None, True, False
    return 0


@cython.final
@cython.no_gc
cdef class MixedLoan(Loan):
    cdef Storage storage
    cdef int32_t* own                # the identifiers that the storage had
    cdef int64_t epoch

    def __dealloc__(self):
        PyMem_Free(self.own)

    cdef int end(self) noexcept:
        cdef Storage storage = self.storage
        cdef int32_t* given = storage.identifiers
        if storage.buffer is not (<Storage>self.origin).buffer:
            # Written to inside, in other memory since `origin` has this: what stands there is of a recording that is over.
            self.release()
            return 0
        storage.identifiers, storage.block, storage.part, storage.epoch = self.own, None, self.origin, self.epoch
        storage.part_view = whole_view(self.size)
        self.own = given
        return 0

    cdef void release(self) noexcept:
        """The enclosing recording no longer counts the identifiers that stood here."""
        cdef PyObject* tape = tape_of_epoch(self.epoch)
        cdef Py_ssize_t i
        if tape != NULL and (<BaseTape>tape).recorder.reuse and (<BaseTape>tape).owns(self.epoch):
            for i in range(self.size):
                if self.own[i]:
                    (<BaseTape>tape).release_identifier(self.own[i])


cdef View whole_view(Py_ssize_t size) noexcept:
    cdef View view
    memset(&view, 0, sizeof(View))
    view.ndim, view.shape[0] = 1, size
    set_contiguous(&view)
    return view


cdef bint has_moved(Storage storage, Recorder* r):
    """Whether all elements were lent before and none was written to since, so that their Block serves again."""
    cdef Storage part = storage.part
    cdef View whole = whole_view(storage.buffer.size)
    if part is None or part.block is None or part.buffer is not storage.buffer:
        return False
    if not same_view(&storage.part_view, &whole):
        return False
    return lender(r, part.block.epoch) is not None


cdef int lend_mixed(Recorder* r, Storage storage) except -1:
    cdef BaseTape outer = <BaseTape>tape_of_epoch(storage.epoch)
    cdef MixedLoan loan = MixedLoan.__new__(MixedLoan)
    cdef Py_ssize_t i, size = storage.buffer.size
    cdef Block block, inner
    loan.storage, loan.size, loan.epoch = storage, size, storage.epoch
    loan.own = <int32_t*>PyMem_Malloc((size + 1) * sizeof(int32_t))
    if loan.own == NULL:
        raise MemoryError(f"no memory for {size} identifiers")
    memcpy(loan.own, storage.identifiers, size * sizeof(int32_t))
    # A movement on the enclosing recording gives the elements a Block, which stays what it is whatever is written.
    # It serves again until the storage is written to, so that each of many drivers borrows the same variable.
    if has_moved(storage, r):
        loan.origin = storage.part
    else:
        block = moved_block(outer, storage.identifiers, storage.buffer.data, size)
        loan.origin = new_storage(storage.buffer, block, storage.single)
    inner = take(loan, r, storage.buffer)
    for i in range(size):
        storage.identifiers[i] = inner.base + <int32_t>i if loan.own[i] else 0
    storage.epoch, storage.part = r.epoch, None
    return 0
