# SPDX-License-Identifier: Apache-2.0
# Variables of an enclosing recording inside of one that a driver began: lent to it as inputs, and given back at its end.
from libc.stdint cimport int64_t

from codipy.active.core.base_real cimport BaseReal
from codipy.active.storage.storage cimport Storage
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder

# The tape of an epoch, borrowed, if its recording encloses that of `r` and `r` may borrow from it; else NULL.
cdef BaseTape lender(Recorder* r, int64_t epoch)
# From now on, until the recording of `r` ends, these are inputs of it. What waits was pushed before. `lend_block` is for
# storages that are clean.
cdef int lend_real(Recorder* r, BaseReal x) except -1
cdef int lend_block(Recorder* r, Storage storage) except -1
cdef int lend_mixed(Recorder* r, Storage storage) except -1
