/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives over tiles: reverse, tangents and per-element Jacobians. */
#include "codipy/programs/tiles/apart.h"
#include "codipy/programs/tiles/compiled.h"
#include "codipy/programs/tiles/lanes.h"
#include "codipy/programs/tiles/team.h"
#include "codipy/programs/tiles/tile.h"
#include "codipy/programs/tiles/tiles.h"
#include <string.h>

/* Where the arrays of a sweep are among the views. */
typedef struct {
    uint8_t value[TILE_OPERANDS], flow[TILE_OPERANDS], lhs;
} TileArrays;

/* Finds out what the sweep reads and adds the arrays it needs; 0 if there is nothing to do. */
static int sweep_begin(TileRun *run, const TileCall *call, TileActivity *registers, TileArrays *arrays)
{
    const TileSweep *sweep = call->sweep;
    const TileProgram *program = sweep->program;
    const TileOperand *operand = sweep->operand;
    const int dims = sweep->dims;
    const Py_ssize_t *shape = sweep->shape;
    TileWalk *walk = &run->walk;
    uint32_t active = 0;
    if (!walk_begin(walk, dims, shape)) return 0;
    if (call->lanes) walk->lanes = call->lanes;
    walk->are_vectors = tile_vectors != NO_VECTORS && (walk->lanes == 8 || walk->lanes == 16);
    run_begin(run, program);
    run->planes = call->planes != NULL;
    for (int r = 0; r < program->operands; r++) active |= (uint32_t)(operand[r].adjoint != NULL) << r;
    find_activity(program, active, registers);
    if (call->lhs) arrays->lhs = walk_add_flow(walk, call->lhs, call->lhs_strides, dims, shape);
    for (int r = 0; r < program->operands; r++) {
        if (registers[r].needed)
            arrays->value[r] = walk_add(walk, (void *)operand[r].data, operand[r].strides, 1, dims, shape);
        if (registers[r].pulls)
            arrays->flow[r] = walk_add_flow(walk, operand[r].adjoint, operand[r].adjoint_strides, dims, shape);
    }
    if (call->planes) {
        for (int r = 0; r < program->operands; r++)
            if (registers[r].pulls) walk->view[arrays->flow[r]].plane = call->planes->operands * (Py_ssize_t)sizeof(double);
        walk->view[arrays->lhs].plane = call->planes->result * (Py_ssize_t)sizeof(double);
    }
    run_close(run);
    plan_registers(run, program, registers, arrays->value);
    return 1;
}

/* Zeroes a tile of each operand's Jacobians, which are C-contiguous. */
static void clear_jacobians(const TileSweep *sweep, const TileWalk *walk, Py_ssize_t n)
{
    for (int r = 0; r < sweep->program->operands; r++)
        if (sweep->operand[r].adjoint)
            memset(sweep->operand[r].adjoint + walk->row * walk->inner + walk->first, 0, n * sizeof(double));
}

static inline int run_cut_any(TileRun *run)
{
    const int several = run->walk.lanes > 1 || run->planes;
    if (run->walk.lanes > 1 && !lanes_separate(run)) return 0;
    if (run->planes && !planes_separate(run)) return 0;
    run_cut(run);
    for (Py_ssize_t i = run->walk.tile_rows * run->walk.tile_length - 1; i >= 0 && several; i--)
        run->at[ONES_REGISTER][i] = 1.0;
    return 1;
}

/* Where the list of actions goes over to what is done for each direction. */
static int find_split(const TileRun *run)
{
    int split = 0;
    while (run->action[split].kind != LANES) split++;
    return split;
}

/* Lets the flows' views see another direction, so many planes ahead. */
static void see_plane(TileWalk *walk, Py_ssize_t ahead)
{
    for (int v = 0; v < walk->views; v++) {
        walk->view[v].base += ahead * walk->view[v].plane;
        walk->view[v].row += ahead * walk->view[v].plane;
    }
}

enum { FORWARD = -1, NOTHING = -2 };

/* The tile that the walk has come to, in all directions; `seed`: the adjoints of the result, or FORWARD, or that NOTHING
   flows there. What no direction asks for is not computed, so that 1 comes back if the values are not there yet. */
static int planes_run(TileRun *run, const TileCall *call, int split, int seed, int lhs, Py_ssize_t n, int is_first)
{
    TileWalk *walk = &run->walk;
    int computed = 0;
    for (Py_ssize_t k = 0; k < call->planes->count; k++, see_plane(walk, 1)) {
        if (seed == NOTHING) {
            view_clear(walk, &walk->view[lhs]);
            continue;
        }
        run_load_plane(run);
        if (seed >= 0 && all_zero(run->at[seed], n)) continue;
        if (!computed) {
            run_load_values(run, is_first);
            run_actions(run, 0, split, n);
            computed = 1;
        }
        run_actions(run, split + 1, run->actions, n);
        run_store(run);
        if (seed >= 0 && !call->keep) view_clear(walk, &walk->view[lhs]);
    }
    see_plane(walk, -call->planes->count);
    return is_first && !computed;
}

static inline void run_any_tile(TileRun *run, Py_ssize_t n)
{
    if (run->walk.lanes > 1)
        lanes_run(run, n);
    else
        run_tile(run, n);
}

/* 0 if it cannot carry so many directions, and nothing is done. */
static int reverse_tiles(TileRun *run, const TileCall *call, TileTeam *team)
{
    TileActivity registers[VALUES];
    TileArrays arrays;
    const TileSweep *sweep = call->sweep;
    const TileProgram *program = sweep->program;
    const int root = program->operands + program->steps - 1, seed = VALUES + root, has_lhs = call->lhs != NULL;
    if (!sweep_begin(run, call, registers, &arrays)) return 1;
    if (has_lhs)
        run_bind(run, seed, arrays.lhs, LOAD);
    else
        run_slot(run, seed, run->slots);
    gather_crowded(&run->walk, program->operands, registers, arrays.flow);
    plan_reverse(run, sweep->program, registers, seed, arrays.flow);
    if (!run_cut_any(run)) return 0;
    for (Py_ssize_t i = run->walk.tile_rows * run->walk.tile_length - 1; i >= 0 && !has_lhs; i--) run->at[seed][i] = 1.0;
    int is_first = !team_enter(team, run);
    for (Py_ssize_t n, split = run->planes ? find_split(run) : 0; run->planes && (n = run_next(run)) > 0;)
        is_first = planes_run(run, call, (int)split, seed, arrays.lhs, n, is_first);
    if (run->planes) return 1;
    for (Py_ssize_t n; (n = run_next(run)) > 0; is_first = 0) {
        if (!has_lhs) clear_jacobians(sweep, &run->walk, n);
        run_load(run, is_first);
        const int zero = has_lhs ? all_zero(run->at[seed], n * run->walk.lanes) : 0;
        if (zero) {
            if (zero == NEGATIVE_ZERO && !call->keep) view_clear(&run->walk, &run->walk.view[arrays.lhs]);
            continue;
        }
        run_any_tile(run, n);
        run_store(run);
        if (has_lhs && !call->keep) view_clear(&run->walk, &run->walk.view[arrays.lhs]);
    }
    return 1;
}

static void reverse_part(TileRun *run, const TileCall *call, TileTeam *team)
{
    reverse_tiles(run, call, team);
}

int team_for_reverse(const TileSweep *sweep, const double *lhs, const Py_ssize_t *lhs_strides)
{
    const int threads = team_for(sweep);
    return threads > 1 && tiles_are_apart(sweep, lhs, lhs_strides) ? threads : 1;
}

int tile_run_reverse(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int keep)
{
    const TileCall call = {sweep, lhs, lhs_strides, keep, 0, NULL};
    return team_run(reverse_part, &call, team_for_reverse(sweep, lhs, lhs_strides));
}

static int tangent_tiles(TileRun *run, const TileCall *call, TileTeam *team)
{
    TileActivity registers[VALUES];
    TileArrays arrays;
    const TileSweep *sweep = call->sweep;
    const int root = sweep->program->operands + sweep->program->steps - 1;
    if (!sweep_begin(run, call, registers, &arrays)) return 1;
    run_bind(run, VALUES + root, arrays.lhs, STORE);
    plan_tangent(run, sweep->program, registers, arrays.flow);
    if (!run_cut_any(run)) return 0;
    int is_first = !team_enter(team, run);
    for (Py_ssize_t n, split = run->planes ? find_split(run) : 0; run->planes && (n = run_next(run)) > 0;)
        is_first = planes_run(run, call, (int)split, registers[root].active ? FORWARD : NOTHING, arrays.lhs, n, is_first);
    if (run->planes) return 1;
    for (Py_ssize_t n; (n = run_next(run)) > 0; is_first = 0) {
        if (!registers[root].active) {
            view_clear(&run->walk, &run->walk.view[arrays.lhs]);
            continue;
        }
        run_load(run, is_first);
        run_any_tile(run, n);
        run_store(run);
    }
    return 1;
}

static void tangent_part(TileRun *run, const TileCall *call, TileTeam *team)
{
    tangent_tiles(run, call, team);
}

int tile_run_tangent(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides)
{
    const TileCall call = {sweep, lhs, lhs_strides, 0, 0, NULL};
    return team_run(tangent_part, &call, team_for(sweep));
}

/* Some of the directions: at once, or one after the other. */
static int run_lanes(const TileCall *call, int reverse)
{
    TileOperand operand[TILE_OPERANDS];
    TileSweep one = *call->sweep;
    const int operands = one.program->operands;
    if (call->lanes > 1) {
        TileRun *run = space_take();
        if (!run) return -1;
        const int done = reverse ? reverse_tiles(run, call, NULL) : tangent_tiles(run, call, NULL);
        space_give(run);
        if (done) return 0;
    }
    memcpy(operand, one.operand, operands * sizeof(TileOperand));
    one.operand = operand;
    for (int k = 0; k < call->lanes; k++) {
        const int failed = reverse ? tile_run_reverse(&one, call->lhs + k, call->lhs_strides, call->keep)
                                   : tile_run_tangent(&one, call->lhs + k, call->lhs_strides);
        if (failed) return -1;
        for (int r = 0; r < operands; r++)
            if (operand[r].adjoint) operand[r].adjoint++;
    }
    return 0;
}

int tile_run_directions(
    const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int reverse, int keep, Py_ssize_t width)
{
    TileOperand operand[TILE_OPERANDS];
    TileSweep block = *sweep;
    const int threads = reverse ? team_for_reverse(sweep, lhs, lhs_strides) : team_for(sweep);
    const Py_ssize_t most = threads > 1 ? 1 : lanes_for(sweep), blocks = (width + most - 1) / most;
    memcpy(operand, sweep->operand, sweep->program->operands * sizeof(TileOperand));
    block.operand = operand;
    for (Py_ssize_t done = 0, k = 0; done < width; k++) {
        const int lanes = (int)((width - done + blocks - k - 1) / (blocks - k));
        const TileCall call = {&block, lhs + done, lhs_strides, keep, lanes, NULL};
        if (run_lanes(&call, reverse)) return -1;
        for (int r = 0; r < sweep->program->operands; r++)
            if (operand[r].adjoint) operand[r].adjoint += lanes;
        done += lanes;
    }
    return 0;
}

int tile_run_planes(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int reverse, int keep,
    const TilePlanes *planes)
{
    TileOperand operand[TILE_OPERANDS];
    TileSweep one = *sweep;
    const TileCall call = {sweep, lhs, lhs_strides, keep, 0, planes};
    const int operands = sweep->program->operands;
    if ((reverse ? team_for_reverse(sweep, lhs, lhs_strides) : team_for(sweep)) == 1) {
        TileRun *run = space_take();
        if (!run) return -1;
        const int done = reverse ? reverse_tiles(run, &call, NULL) : tangent_tiles(run, &call, NULL);
        space_give(run);
        if (done) return 0;
    }
    memcpy(operand, sweep->operand, operands * sizeof(TileOperand));
    one.operand = operand;
    for (Py_ssize_t k = 0; k < planes->count; k++, lhs += planes->result) {
        if (reverse ? tile_run_reverse(&one, lhs, lhs_strides, keep) : tile_run_tangent(&one, lhs, lhs_strides)) return -1;
        for (int r = 0; r < operands; r++)
            if (operand[r].adjoint) operand[r].adjoint += planes->operands;
    }
    return 0;
}

int tile_run_jacobians(const TileSweep *sweep, double *const *jacobians)
{
    TileOperand wanted[TILE_OPERANDS];
    TileSweep unit = *sweep;
    Py_ssize_t size = 1, strides[TILE_DIMS];
    for (int d = sweep->dims - 1; d >= 0; d--) {
        strides[d] = size;
        size *= sweep->shape[d];
    }
    for (int r = 0; r < sweep->program->operands; r++) {
        wanted[r].data = sweep->operand[r].data;
        wanted[r].adjoint = jacobians[r];
        memcpy(wanted[r].strides, sweep->operand[r].strides, sweep->dims * sizeof(Py_ssize_t));
        memcpy(wanted[r].adjoint_strides, strides, sweep->dims * sizeof(Py_ssize_t));
    }
    unit.operand = wanted;
    const TileCall call = {&unit, NULL, NULL, 1, 0, NULL};
    return team_run(reverse_part, &call, team_for(&unit));
}

uint32_t tile_run_needed(const TileProgram *program, uint32_t active)
{
    TileActivity registers[VALUES];
    uint32_t needed = 0;
    find_activity(program, active, registers);
    for (int r = 0; r < program->operands; r++) needed |= (uint32_t)registers[r].needed << r;
    return needed;
}
