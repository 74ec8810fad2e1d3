# SPDX-License-Identifier: Apache-2.0
# Where the user's program is: the instruction that runs, and the calls that led to it, as one number.
#
# A spot is an instruction of a node; a node is a function called from a spot. So a spot knows its line and its whole
# call path, and what belongs to it is one number. What code of codipy's, of libraries and of the standard library does
# belongs to the user's instruction that called it. Spot 0 is none of the user's.
#
# The frames that run are compared with those of the last operation, each with the instruction that it runs: where all
# are the same, the node is. Rejected: events of calls or lines, which slow every instruction of the interpreter down:
# docs/studies.md has the figures.
from libc.stdint cimport int32_t, int64_t, uint64_t
cimport cython

# From numbers to numbers: open addressing.
cdef struct Map:
    uint64_t* keys               # 0: free
    int32_t* values
    Py_ssize_t count
    Py_ssize_t room              # a power of 2, or 0

# A frame that runs.
cdef struct Level:
    void* frame
    void* code
    char* instruction            # at the last operation; of the innermost it does not count
    char* before                 # the place before the first instruction
    int32_t* spots               # those of its node, by instruction
    size_t places                # how many these are
    int32_t node                 # of the user's function ...
    int32_t caller               # ... or, of code that is not the user's, the spot that called it; else -1

cdef struct Spot:
    int32_t node
    int32_t offset               # of the instruction, in bytes
    int32_t line
    int32_t row                  # which spots of one line of one node share
    int64_t hits                 # operations that began here

cdef struct Node:
    int32_t code
    int32_t caller               # spot
    char* before                 # the place before the code's first instruction
    int32_t* spots               # by instruction, from that place on; 0: not known yet
    size_t places

@cython.final
cdef class Spots:
    cdef Map codes               # by address
    cdef Map children            # by caller and code
    cdef Map rows                # by node and line
    cdef Level* levels           # the outermost first
    cdef Level* innermost        # one that no frame has, where none is known
    cdef Level nowhere
    cdef Py_ssize_t depth, levels_room
    cdef void** frames           # those that run, the innermost first
    cdef Py_ssize_t frames_room
    cdef Spot* spots
    cdef Py_ssize_t spot_count, spots_room
    cdef Node* nodes
    cdef Py_ssize_t node_count, nodes_room
    cdef int64_t* elapsed        # ticks by row
    cdef Py_ssize_t row_count, rows_room
    cdef list kept               # code objects, so that their addresses stay theirs
    cdef list users              # by code: whether it is the user's
    cdef object is_users         # says so of code
    cdef void* base              # frame in which it began, and its code: what is around it is left out
    cdef void* base_code
    cdef int64_t since           # when ticks were read
    cdef int64_t begun, begun_ticks      # nanoseconds and ticks of the beginning
    cdef int32_t row             # to which the time from then on belongs

    # The spot of an operation that begins, which takes the clock with it: see running.pxd.
    cdef int32_t here(self) except -1
    # The same of one that began before.
    cdef int32_t running_on(self) except -1
    cdef int32_t locate(self) except -1
    cdef void reach(self, Py_ssize_t depth) noexcept
    cdef int walk(self, void* frame) except -1
    cdef int step(self, void* frame) except -1
    cdef int enter(self, Level* level, void* frame, int32_t caller) except -1
    cdef int32_t spot_of(self, Level* level, char* instruction) except -1
    cdef int32_t code_at(self, void* code) except -1
    cdef int32_t child(self, int32_t caller, int32_t code) except -1
    cdef int32_t spot_at(self, int32_t number, char* instruction) except -1
    cdef void switch(self, int32_t row) noexcept
