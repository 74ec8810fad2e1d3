# SPDX-License-Identifier: Apache-2.0
# Fresh values and identifiers for a storage, of which some elements are overwritten next.
from codipy.active.storage.storage cimport Storage
from codipy.active.storage.view cimport View
from codipy.tape.recorder cimport Recorder

# A storage with identifiers and values that nobody else reads, `storage` itself where that is so already; what `hole`
# shows is overwritten next and is not moved. `in_place`: nobody else can reach the identifiers of the hole. The caller puts
# block and buffer into place when that is done.
cdef Storage renew(Recorder* r, Storage storage, const View* hole, bint in_place)
# Whether `renew` would move what lies around a hole, so that it sets no identifier that is set again: that array's shape and
# the corner of the hole in it.
cdef bint moves_slabs(const View* hole, Py_ssize_t size, Py_ssize_t* shape, Py_ssize_t* first) noexcept
