# SPDX-License-Identifier: Apache-2.0
# From pending array expressions to values, and to statements on the tape.
from codipy.active.core.base_array cimport BaseArray
from codipy.active.core.pending cimport Pending
from codipy.active.storage.storage cimport Storage
from codipy.tape.recorder cimport Recorder

# Compute a pending array and, where it is active and a tape records, put it on the tape.
cdef int materialise(BaseArray a) except -1
# Inside passive(), before an active array is written to: on the tape that records around it.
cdef int materialise_in_passive(BaseArray a) except -1
# The same for who wants its values: where it cannot go on a tape (nothing records, it is stale) only they are computed.
cdef int settle(BaseArray a) except -1
# After a reset to a position between the making and the computing of an array's expression it is pending again.
cdef int revive(Recorder* r, BaseArray a) except -1
# 1: identifiers of a storage that is clean take part in the recording r (NULL: none); 0: as passive values; else an error.
cdef int admit_block(Recorder* r, Storage storage) except -1
# Identifiers of an expression that was made earlier must still be on the tape.
cdef int check_owners(Recorder* r, Pending p) except -1
# Whether an expression waits for an enclosing recording, on whose tape it goes before this one uses it.
cdef bint is_lent(Recorder* r, Pending p) except -1
