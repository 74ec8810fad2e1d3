# SPDX-License-Identifier: Apache-2.0
"""Run elementwise array programs over tiles: the functions for the array layer."""

cimport numpy as cnp

from codipy.operations.kernels cimport (
    OP_COS, OP_DIGAMMA, OP_ERF, OP_ERFC, OP_EXPIT, OP_FMOD, OP_GAMMA, OP_HYPOT, OP_LGAMMA, OP_MOD, OP_SIN)

from libc.stdint cimport uint8_t, uint32_t

import importlib

import numpy

from codipy.operations.table import TABLE


cdef extern from "codipy/operations/array_loops.h" nogil:
    const unsigned char tile_is_exact[]
    const unsigned char tile_active[]
    const unsigned char (*tile_needs)[3]

cdef extern from "codipy/programs/tiles/ufuncs.h" nogil:
    ctypedef struct TileLoop:
        cnp.PyUFuncGenericFunction function
        void* data
    TileLoop tile_loops[]
    TileLoop tile_single_loops[]
    void (*tile_find_loop)(int) noexcept
    void loop_set_known(TileLoop*)
    double loop_number(int code, int single, const double* u)

cdef extern from "codipy/programs/tiles/compiled.h" nogil:
    Py_ssize_t tile_patience
    int tile_vectors
    enum:
        NO_VECTORS

cdef extern from "codipy/programs/tiles/team.h" nogil:
    int tile_numpy_weighs
    Py_ssize_t tile_share
    int space_is_short
    int team_size()
    int team_for(const Sweep*)
    void team_set_size(int)
    enum:
        TILE_THREADS
        TILE_HAS_THREADS

cdef extern from "codipy/programs/tiles/tiles.h" nogil:
    int tile_run_values(const TileProgram*, const Operand*, int, const Py_ssize_t*, double*, const Py_ssize_t*)
    int tile_run_reverse(const Sweep*, double*, const Py_ssize_t*, int)
    int tile_run_tangent(const Sweep*, double*, const Py_ssize_t*)
    int tile_run_directions(const Sweep*, double*, const Py_ssize_t*, int, int, Py_ssize_t)
    int tile_run_planes(const Sweep*, double*, const Py_ssize_t*, int, int, const Planes*)
    int tile_run_jacobians(const Sweep*, double* const*)
    uint32_t tile_run_needed(const TileProgram*, uint32_t)
    int team_for_reverse(const Sweep*, const double*, const Py_ssize_t*)
    int tile_short_values(const TileProgram*, const Operand*, int, const Py_ssize_t*, double*, const Py_ssize_t*)
    int tile_short_reverse(ShortPlan**, const TileProgram*, const Operand*, int, const Py_ssize_t*, double*,
                           const Py_ssize_t*, int)


cdef extern from "codipy/programs/tiles/together.h" nogil:
    void scalars_jacobians(const ScalarStep*, int, int, const unsigned char*, Py_ssize_t, double*, double*)

cdef extern from "codipy/programs/tiles/second.h" nogil:
    ctypedef enum SecondPart:
        SECOND_FORWARD, SECOND_BACK, SECOND_SMOOTH
    const SecondPlan* second_plan(SecondPlan**, const TileProgram*, uint32_t, SecondPart)
    int second_is_smooth(const TileProgram*)
    void second_free(SecondPlan*)
    int tile_run_second_forward(const SecondPlan*, const Sweep*, const Lanes*, double*, const Py_ssize_t*)
    int tile_run_second_back(const SecondPlan*, const Sweep*, const Lanes*, const double*, const double*, const Py_ssize_t*)

cdef enum:
    BRIEF = 2048                 # elements in all directions: below, giving the GIL back and forth costs more than they do
    MANY = 2048                  # elements: from here on one direction goes by loops that are compiled


if tuple(map(int, numpy.__version__.split(".")[:2])) < (2, 3):
    tile_numpy_weighs = 0

MOST_THREADS = TILE_THREADS
HAS_THREADS = bool(TILE_HAS_THREADS)

_used = {}  # the ufuncs by code: their loops live as long as they do


def ufunc_of(row):
    """The ufunc that a row's values come from, None if there is none."""
    if row.numpy:
        return next(getattr(numpy, name) for name in row.numpy if hasattr(numpy, name))
    if row.scipy:
        try:
            return getattr(importlib.import_module("scipy.special"), row.scipy)
        except ImportError:
            return None
    return None


cdef void _find_loop(int code) noexcept with gil:
    try:
        row = TABLE[code]
        ufunc = ufunc_of(row)
        if ufunc is not None:
            _used[code] = ufunc
            _fill(&tile_loops[code], ufunc, ufunc.types, "d" * row.arity + "->d")
            _fill(&tile_single_loops[code], ufunc, ufunc.types, "f" * row.arity + "->f")
    finally:
        loop_set_known(&tile_loops[code])
        loop_set_known(&tile_single_loops[code])


tile_find_loop = _find_loop


cdef int _fill(TileLoop* loop, cnp.ufunc ufunc, list known, str types) except -1:
    cdef int place
    if types in known:
        place = known.index(types)
        loop.data, loop.function = ufunc.data[place], ufunc.functions[place]
    return 0


cdef int no_memory() except -1 with gil:
    raise MemoryError("no memory for the registers of an array statement")


cdef int tiles_values(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                       double* out, const Py_ssize_t* out_strides) except -1 nogil:
    cdef int done = tile_short_values(program, operands, ndim, shape, out, out_strides)
    if done == 0:
        done = tile_run_values(program, operands, ndim, shape, out, out_strides)
    return 0 if done >= 0 else no_memory()


cdef inline Sweep _sweep(
        const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape) noexcept nogil:
    cdef Sweep sweep
    sweep.program, sweep.operand, sweep.dims, sweep.shape = program, operands, ndim, shape
    return sweep


cdef int tiles_reverse(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                        double* lhs_adjoint, const Py_ssize_t* lhs_strides, bint keep) except -1 nogil:
    cdef Sweep sweep = _sweep(program, operands, ndim, shape)
    return 0 if tile_run_reverse(&sweep, lhs_adjoint, lhs_strides, keep) == 0 else no_memory()


cdef int tiles_reverse_kept(ShortPlan** plan, const TileProgram* program, const Operand* operands, int ndim,
                             const Py_ssize_t* shape, double* lhs_adjoint, const Py_ssize_t* lhs_strides,
                             bint keep) except -1:
    cdef int done = tile_short_reverse(plan, program, operands, ndim, shape, lhs_adjoint, lhs_strides, keep)
    if done == 0:
        return tiles_reverse(program, operands, ndim, shape, lhs_adjoint, lhs_strides, keep)
    return 0 if done > 0 else no_memory()


cdef int tiles_tangent(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                        double* lhs_tangent, const Py_ssize_t* lhs_strides) except -1 nogil:
    cdef Sweep sweep = _sweep(program, operands, ndim, shape)
    return 0 if tile_run_tangent(&sweep, lhs_tangent, lhs_strides) == 0 else no_memory()


cdef int tiles_directions(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape, double* lhs,
                          const Py_ssize_t* lhs_strides, bint reverse, bint keep, Py_ssize_t width) except -1 nogil:
    cdef Sweep sweep = _sweep(program, operands, ndim, shape)
    return 0 if tile_run_directions(&sweep, lhs, lhs_strides, reverse, keep, width) == 0 else no_memory()


cdef int tiles_planes(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape, double* lhs,
                      const Py_ssize_t* lhs_strides, bint reverse, bint keep, const Planes* planes) except -1 nogil:
    cdef Sweep sweep = _sweep(program, operands, ndim, shape)
    return 0 if tile_run_planes(&sweep, lhs, lhs_strides, reverse, keep, planes) == 0 else no_memory()


def has_vectors_of(int width):
    """Whether so many directions, side by side, are whole vectors that compiled loops take element by element."""
    return tile_vectors != NO_VECTORS and (width == 8 or width == 16)


cdef int tiles_jacobians(const TileProgram* program, const Operand* operands, int ndim, const Py_ssize_t* shape,
                          double* const* jacobians) except -1 nogil:
    cdef Sweep sweep = _sweep(program, operands, ndim, shape)
    return 0 if tile_run_jacobians(&sweep, jacobians) == 0 else no_memory()


cdef const SecondPlan* plan_of(SecondPlan** plans, const TileProgram* program, const Operand* operands, SecondPart part) except NULL:
    cdef uint32_t active = 0
    cdef const SecondPlan* plan
    cdef int k
    for k in range(program.operands):
        if operands[k].adjoint != NULL:
            active |= <uint32_t>1 << k
    plan = second_plan(plans, program, active, part)
    if plan == NULL:
        no_memory()
    return plan


cdef Py_ssize_t size_of(int ndim, const Py_ssize_t* shape) noexcept nogil:
    cdef Py_ssize_t size = 1
    cdef int k
    for k in range(ndim):
        size *= shape[k]
    return size


cdef bint is_light(const TileProgram* program) noexcept nogil:
    """Whether no function is worth computing once for all directions."""
    cdef int k
    for k in range(program.steps):
        if not tile_is_exact[program.step[k].code]:
            return False
    return True


cdef void show_lane(const TileProgram* program, const Operand* operands, Operand* shown, Py_ssize_t offset) noexcept nogil:
    """The operands in one direction."""
    cdef int k
    for k in range(program.operands):
        shown[k] = operands[k]
        if shown[k].adjoint != NULL:
            shown[k].adjoint += offset


cdef int second_tangents(SecondPlan** plans, const TileProgram* program, const Operand* operands, int ndim,
                         const Py_ssize_t* shape, const Lanes* lanes, double* lhs, const Py_ssize_t* lhs_strides) except -1:
    cdef Operand[MAX_OPERANDS] shown
    cdef const SecondPlan* plan
    cdef Sweep sweep = _sweep(program, operands, ndim, shape)
    cdef int done = 0
    cdef Py_ssize_t size = size_of(ndim, shape), d
    if size >= MANY and (lanes.lanes == 1 or is_light(program)):
        sweep.operand = shown
        with nogil:
            for d in range(lanes.lanes):
                show_lane(program, operands, shown, d * lanes.plane)
                if done == 0:
                    done = tile_run_tangent(&sweep, lhs + d * lanes.plane, lhs_strides)
        return 0 if done == 0 else no_memory()
    plan = plan_of(plans, program, operands, SECOND_FORWARD)
    if size * lanes.lanes < BRIEF:
        done = tile_run_second_forward(plan, &sweep, lanes, lhs, lhs_strides)
    else:
        with nogil:
            done = tile_run_second_forward(plan, &sweep, lanes, lhs, lhs_strides)
    return 0 if done == 0 else no_memory()


cdef int second_bars(SecondPlan** plans, const TileProgram* program, const Operand* operands, int ndim,
                     const Py_ssize_t* shape, const Lanes* lanes, const double* bar, const double* lhs,
                     const Py_ssize_t* lhs_strides) except -1:
    cdef Operand[MAX_OPERANDS] shown
    cdef Sweep sweep = _sweep(program, operands, ndim, shape)
    cdef Py_ssize_t size = size_of(ndim, shape), d
    cdef bint singly = size >= MANY and (lanes.lanes == 1 or is_light(program)) and second_is_smooth(program)
    cdef const SecondPlan* plan = plan_of(plans, program, operands, SECOND_SMOOTH if singly else SECOND_BACK)
    cdef Lanes lane
    cdef int done = 0
    if size * lanes.lanes < BRIEF:
        done = tile_run_second_back(plan, &sweep, lanes, bar, lhs, lhs_strides)
        return 0 if done == 0 else no_memory()
    with nogil:
        if singly:       # by loops that are compiled
            sweep.operand = shown
            lane.lanes, lane.plane, lane.bars = 1, lanes.plane, lanes.bars
            for d in range(lanes.lanes):
                show_lane(program, operands, shown, d * lanes.plane)
                if done == 0:
                    done = tile_run_second_back(plan, &sweep, &lane, bar, lhs + d * lanes.plane, lhs_strides)
        else:
            done = tile_run_second_back(plan, &sweep, lanes, bar, lhs, lhs_strides)
    return 0 if done == 0 else no_memory()


cdef void second_forget(SecondPlan* plans) noexcept:
    second_free(plans)


cdef bint tiles_exact(int code) noexcept nogil:
    return tile_is_exact[code]


cdef double tiles_number(int code, bint single, const double* u) noexcept nogil:
    return loop_number(code, single, u)


cdef bint tiles_slow(int code) noexcept nogil:
    return code in (OP_SIN, OP_COS, OP_ERF, OP_ERFC, OP_EXPIT, OP_GAMMA, OP_LGAMMA, OP_DIGAMMA, OP_HYPOT, OP_FMOD, OP_MOD)


cdef bint tiles_reads(int code, int argument, int active) noexcept nogil:
    cdef int k
    for k in range(3):
        if active & tile_active[code] & 1 << k and tile_needs[code][k] & (1 << argument | 8):
            return True
    return False


cdef void scalars_together(const ScalarStep* steps, int count, int leaves, const uint8_t* is_active, Py_ssize_t n,
                           double* registers, double* bars) noexcept nogil:
    scalars_jacobians(steps, count, leaves, is_active, n, registers, bars)


cdef uint32_t tiles_needed(const TileProgram* program, uint32_t active) noexcept nogil:
    return tile_run_needed(program, active)


def threads():
    """How many threads one call may use."""
    return team_size()


def set_threads(int count):
    """Let one call use as many as `count` threads, at least 1; for all Python threads."""
    team_set_size(count)


def _share_from(Py_ssize_t operations):
    """For tests: let a thread get as few elementary operations as that; returns what was the least number."""
    global tile_share
    before = tile_share
    tile_share = operations
    return before


def _compile_from(Py_ssize_t tiles, int vectors):
    """For tests: compile loops when that many tiles wanted them; for AVX2 0, for AVX-512 1, never -1.

    Returns both as they were: the second is what the processor has.
    """
    global tile_patience, tile_vectors
    before = tile_patience, tile_vectors
    tile_patience, tile_vectors = tiles, vectors
    return before


def _threads_for(size_t sweep, size_t lhs=0, size_t lhs_strides=0):
    """For tests: how many threads values take, or with `lhs` a sweep back; by the addresses of what C sees."""
    if lhs == 0:
        return team_for(<const Sweep*>sweep)
    return team_for_reverse(<const Sweep*>sweep, <const double*>lhs, <const Py_ssize_t*>lhs_strides)


def _without_space(bint short):
    """For tests: let there be no memory for the registers of array statements."""
    global space_is_short
    space_is_short = short
