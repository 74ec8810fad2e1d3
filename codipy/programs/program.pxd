# SPDX-License-Identifier: Apache-2.0
# Interned statement programs: which operations a statement applies to its leaves, and in what order.
#
# A program is a tree of operations over leaves. Leaves are numbered from left to right; a leaf is an active
# argument or a passive constant. Equal trees share one handle, so a statement stores four bytes of shape however
# large its expression is, and merging two pending expressions is one table look-up, not a copy of codes.
# Rejected: hashing a copied list of codes at push time; it made the cost of a statement grow with its expression.
#
# Programs are immutable once interned and their storage never moves, so a sweep reads them without the GIL while
# another thread interns new ones.
from libc.stdint cimport int32_t, uint8_t

cdef enum:
    BLOCK = 512              # programs per block of their storage
    MAX_LEAVES = 16          # entries that a pending expression holds before it is pushed
    MAX_LENGTH = 48          # operations in one program
    INPUT = 0                # handle: a statement of no argument whose value comes from outside
    ARGUMENT = 1             # handle: one active leaf
    CONSTANT = 2             # handle: one passive leaf

# Added to an operation code: the value is that of NumPy's own loop, whose last bit may not be C's; for float32.
cdef enum:
    OF_SINGLE = 1 << 29
    OF_NUMPY = 1 << 30
    BARE = OF_SINGLE - 1     # what is left of a code without them

cdef struct Instruction:
    int32_t code             # operation code
    int32_t flags            # OF_NUMPY and OF_SINGLE
    int32_t sources[3]       # registers; leaves come first, then one register per instruction

cdef struct Program:
    int32_t code             # operation at the root of the tree
    int32_t flags            # of that operation
    int32_t parts[3]         # handles of its operands
    int32_t leaves           # active and passive leaves together
    int32_t active           # active leaves: identifiers that a statement stores
    int32_t passive          # passive leaves: constants that a statement stores
    int32_t length           # instructions
    uint8_t is_active[MAX_LEAVES]
    Instruction* instructions

# The handle of `code` applied to the programs a, b, c (0 where the operation has fewer operands).
# -1 with MemoryError; 0 when the result would exceed MAX_LEAVES or MAX_LENGTH, or the process has interned as many
# programs as it may (they live for ever): push the operands first.
cdef int32_t intern_program(int32_t code, int32_t a, int32_t b, int32_t c) except -1
# Where the programs are, for program_at: a call into another module for every statement was a tenth of a sweep.
cdef Program** program_blocks() noexcept nogil

cdef inline const Program* program_at(Program** blocks, int32_t handle) noexcept nogil:
    return blocks[<unsigned int>handle // BLOCK] + <unsigned int>handle % BLOCK

# The value of an operation whose code has flags; `exactly` by NumPy's loop, else by C, which is near enough for partials.
cdef double value_of_numpy(int32_t flagged, double x, double y, double z, bint exactly) noexcept nogil
cdef double program_value(const Program* program, double* registers, bint exactly) noexcept nogil
cdef void program_jacobian(const Program* program, double* registers, double* jacobian) noexcept nogil
