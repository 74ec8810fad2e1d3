# SPDX-License-Identifier: Apache-2.0
# A stream of typed items in chunks, nested in others: reserve, push, position, reset. README.md has the picture.

cimport cython

from codipy.data.chunk cimport Chunk
from codipy.data.counted cimport Counted
from codipy.data.position cimport Place, Position

cdef enum:
    MAX_FIELDS = 4

# The hot part of a stream. A push of one item to two fields, after a reserve, is this and nothing else:
#     (<double*>cursor.fields[0])[cursor.used] = jacobian
#     (<int32_t*>cursor.fields[1])[cursor.used] = identifier
#     cursor.used += 1
# It cannot be a function here: the streams do not know the C types. How many items were pushed since
# a reserve: note `used` after the reserve (not before: it may open a chunk) and subtract.
cdef struct Cursor:
    char* fields[MAX_FIELDS]   # base of each parallel array in the current chunk
    Py_ssize_t used            # items in the current chunk
    Py_ssize_t limit           # items it may take; 0 while the nest is locked

# The cold part that region walks read without the GIL. The address of a stream's Table is stable, its
# arrays are not (open_chunk may move them), so a walk goes through the Table every time.
cdef struct Table:
    Chunk* chunks              # room entries; those after `count` are zeros
    Place* starts              # room * depth: the joint place of all streams when chunk c was opened
    Py_ssize_t room            # entries both arrays have
    Py_ssize_t count           # chunks ever installed since the last reset_hard: the current and the kept
    Py_ssize_t current         # index of the chunk that the cursor is in

@cython.final
cdef class Stream:
    cdef Cursor cursor
    cdef Table table
    cdef readonly str name
    cdef readonly tuple dtypes          # NumPy dtype of each field
    cdef readonly Stream nested         # the stream inside this one, or None
    cdef void* outer                    # the Stream around this one, borrowed (it owns this one); NULL for the root
    cdef Py_ssize_t sizes[MAX_FIELDS]   # bytes of one item in each field
    cdef int field_count
    cdef readonly Py_ssize_t item_bytes # bytes of one item in all fields
    cdef Py_ssize_t fixed               # items per chunk; 0: chunks grow
    cdef readonly Py_ssize_t level      # streams around this one: 0 for the root
    cdef readonly Py_ssize_t depth      # streams in the whole nest
    cdef readonly long long serial      # names this object for ever
    cdef Py_ssize_t locks               # root only: sweeps that read the nest
    cdef long long generation           # root only: rollbacks so far
    cdef long long emptied              # root only: the generation that the last full reset began
    cdef list rollbacks                 # root only: (generation, position) of the partial ones since, see reset_to
    cdef Counted counted                # None: items are kept
    cdef Py_ssize_t mark                # Python's reservation: items before it ...
    cdef Py_ssize_t reserved            # ... and its size

    # Room for n contiguous items in the current chunk; then n pushes cannot fail. Written so that no n overflows.
    cdef inline int reserve(self, Py_ssize_t n) except -1:
        if n > self.cursor.limit - self.cursor.used:
            return self.open_chunk(n)
        return 0

    cdef int open_chunk(self, Py_ssize_t n) except -1   # reserve's slow path
    cdef Stream root(self)

    # On the root, about the whole nest; a call on a nested stream goes to its root.
    cpdef Position position(self)
    cpdef int reset(self) except -1                     # drops the recording, keeps the chunks
    cpdef int reset_to(self, Position position) except -1
    cpdef int reset_hard(self) except -1                # gives the chunks to the pool
    cpdef int lock(self) except -1                      # counted: several sweeps may read at once
    cpdef int unlock(self) except -1
    cpdef int check_position(self, Position position) except -1

    # Internal
    cdef Place place(self) noexcept                     # of this stream, in the stored form
    cdef int count_on(self, Py_ssize_t n) except -1
    cdef int demand_kept(self) except -1
    cdef int make_room(self, Py_ssize_t chunk) except -1
    cdef void enter(self, Py_ssize_t chunk, Py_ssize_t used) noexcept
    cdef void give_back(self) noexcept
    cdef void roll_back(self, Place place) noexcept
    cdef void forget(self) noexcept
