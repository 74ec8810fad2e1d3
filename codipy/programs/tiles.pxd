# SPDX-License-Identifier: Apache-2.0
# Elementwise array programs, run over tiles of a few hundred elements: values, reverse, tangents, Jacobians.
#
# The temporaries of a tile stay in the first-level cache and are computed again in the sweep back, so a statement
# leaves nothing behind but its result. Values are NumPy's to the last bit: what is rounded correctly has loops of its
# own, all else runs the inner loop of NumPy's or SciPy's ufunc.
# Rejected: one loop per element over the whole program (nothing vectorises), and temporaries as long as the array.
#
# Nothing is shared: calls may run on several threads at once, each on memory of its own, and a large call starts
# threads itself (tiles/team.h). They use less than 20 kB of stack. An error, MemoryError, leaves everything as it was.
# Data is aligned. The result overlaps no operand;
# adjoints of operands may overlap each other.
from libc.stdint cimport int32_t, uint8_t, uint32_t

cdef extern from "codipy/programs/tiles/together.h" nogil:
    enum:
        TOGETHER                        # statements in a row of numbers
        TOGETHER_ROWS

    ctypedef struct ScalarStep:         # Instruction of programs/program.pxd
        pass

cdef extern from "codipy/programs/tiles/program.h" nogil:
    enum:
        MAX_OPERANDS "TILE_OPERANDS"
        MAX_STEPS "TILE_STEPS"
        MAX_DIMS "TILE_DIMS"
        # Which values are rounded to float32: none, those of all steps (as NumPy computes in float32), the result's.
        ROUND_NONE "TILE_DOUBLE"
        ROUND_STEPS "TILE_SINGLE"
        ROUND_RESULT "TILE_SINGLE_RESULT"

    ctypedef struct Step "TileStep":
        int32_t code                    # OP_* of the operations table
        int32_t sources[3]              # registers: first the operands, then one for each step

    ctypedef struct TileProgram:
        int32_t operands
        int32_t steps                   # at least one; the last gives the result
        int32_t single                  # ROUND_*
        Step step[48]

    ctypedef struct Operand "TileOperand":
        const char* data                # first value; a scalar constant has strides 0
        Py_ssize_t strides[8]           # in bytes, one per dimension of the result, 0 where broadcast
        double* adjoint                 # adjoint or tangent of the first element; NULL: passive
        Py_ssize_t adjoint_strides[8]   # in doubles

    ctypedef struct Sweep "TileSweep":
        const TileProgram* program
        const Operand* operand
        int dims
        const Py_ssize_t* shape

    ctypedef struct Planes "TilePlanes":
        Py_ssize_t count                # directions
        Py_ssize_t operands             # doubles from one to the next, of the operands' flows
        Py_ssize_t result               # and of the result's

    ctypedef struct ShortPlan "TileShortPlan":
        pass

    ctypedef struct SecondPlan "TileSecondPlan":
        pass

    ctypedef struct Lanes "TileLanes":
        Py_ssize_t lanes                # directions
        Py_ssize_t plane                # doubles from one to the next
        Py_ssize_t bars                 # doubles from a tangent to the tangent of the same identifier's adjoint

# Values: `out` is assigned.
cdef int tiles_values(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                       double* out, const Py_ssize_t* out_strides) except -1 nogil
# Adds to the operands' adjoints what flows from the adjoint of the result, and zeroes that unless `keep`.
# A zero adjoint propagates nothing, even through a partial that is inf or nan.
cdef int tiles_reverse(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                        double* lhs_adjoint, const Py_ssize_t* lhs_strides, bint keep) except -1 nogil
# The same, for few elements with a list of loops that is kept in `plan` (NULL at first, freed with free()); with the GIL.
cdef int tiles_reverse_kept(ShortPlan** plan, const TileProgram* program, const Operand* operands, int ndim,
                             const Py_ssize_t* shape, double* lhs_adjoint, const Py_ssize_t* lhs_strides,
                             bint keep) except -1
# Assigns the tangent of the result.
cdef int tiles_tangent(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                        double* lhs_tangent, const Py_ssize_t* lhs_strides) except -1 nogil
# Both in several directions, whose numbers lie side by side: all strides of flows count numbers.
cdef int tiles_directions(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape, double* lhs,
                          const Py_ssize_t* lhs_strides, bint reverse, bint keep, Py_ssize_t width) except -1 nogil
# Both in several directions, each of which has a plane: adjoints and `lhs` point into the first.
cdef int tiles_planes(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape, double* lhs,
                      const Py_ssize_t* lhs_strides, bint reverse, bint keep, const Planes* planes) except -1 nogil
# Assigns one C-contiguous array of the result's shape for each operand, NULL to skip it; the operands' adjoints are not
# looked at.
cdef int tiles_jacobians(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                          double* const* jacobians) except -1 nogil
# Whether an operation is rounded correctly, so that one loop is as good as another.
cdef bint tiles_exact(int code) noexcept nogil
# One operation on numbers as NumPy's scalars have it, in float32 if asked.
cdef double tiles_number(int code, bint single, const double* u) noexcept nogil
# Whether computing an operation again costs more than keeping what it gave: its loop goes element by element.
cdef bint tiles_slow(int code) noexcept nogil
# Whether an operation's partials by those of its arguments that are bits of `active` read the value of one of them, or that of
# the result, for which it is computed again.
cdef bint tiles_reads(int code, int argument, int active) noexcept nogil
# Partials of many scalar statements of one program, side by side: programs/tiles/together.h.
cdef void scalars_together(const ScalarStep* steps, int count, int leaves, const uint8_t* is_active, Py_ssize_t n,
                           double* registers, double* bars) noexcept nogil
# The operands whose values reverse, tangent and Jacobians read when those of `active` are differentiated; the others'
# `data` may be anything then.
cdef uint32_t tiles_needed(const TileProgram* program, uint32_t active) noexcept nogil

# Second order in several directions, of which operands' adjoints and `lhs` are the first: programs/tiles/second.h. The
# plans in the list `plans` (NULL at first) live until second_forget().
# Assigns the tangents of the result.
cdef int second_tangents(SecondPlan** plans, const TileProgram* program, const Operand* operands, int ndim,
                         const Py_ssize_t* shape, const Lanes* lanes, double* lhs, const Py_ssize_t* lhs_strides) except -1
# Adds to the tangents of the operands' adjoints what flows from `lhs`, those of the result's, which are `bar`.
cdef int second_bars(SecondPlan** plans, const TileProgram* program, const Operand* operands, int ndim,
                     const Py_ssize_t* shape, const Lanes* lanes, const double* bar, const double* lhs,
                     const Py_ssize_t* lhs_strides) except -1
cdef void second_forget(SecondPlan* plans) noexcept
