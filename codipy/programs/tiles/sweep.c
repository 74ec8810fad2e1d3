/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives over tiles: reverse, tangents and per-element Jacobians. */
#include "codipy/programs/tiles/apart.h"
#include "codipy/programs/tiles/team.h"
#include "codipy/programs/tiles/tile.h"
#include "codipy/programs/tiles/tiles.h"
#include <string.h>

/* Where the arrays of a sweep are among the views. */
typedef struct {
    uint8_t value[TILE_OPERANDS], flow[TILE_OPERANDS], result, lhs;
} TileArrays;

/* Finds out what the sweep reads and adds the arrays it needs; 0 if there is nothing to do. */
static int sweep_begin(TileRun *run, const TileSweep *sweep, TileActivity *registers, TileArrays *arrays, double *lhs,
    const Py_ssize_t *lhs_strides)
{
    const TileProgram *program = sweep->program;
    const TileOperand *operand = sweep->operand;
    const int dims = sweep->dims, root = program->operands + program->steps - 1;
    const Py_ssize_t *shape = sweep->shape;
    TileWalk *walk = &run->walk;
    uint32_t active = 0;
    if (!walk_begin(walk, dims, shape)) return 0;
    run_begin(run, program);
    for (int r = 0; r < program->operands; r++) active |= (uint32_t)(operand[r].adjoint != NULL) << r;
    find_activity(program, active, sweep->result != NULL, registers);
    if (lhs) arrays->lhs = walk_add(walk, lhs, lhs_strides, sizeof(double), dims, shape);
    if (sweep->result && registers[root].needed)
        arrays->result = walk_add(walk, (void *)sweep->result, sweep->result_strides, 1, dims, shape);
    for (int r = 0; r < program->operands; r++) {
        if (registers[r].needed)
            arrays->value[r] = walk_add(walk, (void *)operand[r].data, operand[r].strides, 1, dims, shape);
        if (registers[r].pulls)
            arrays->flow[r] =
                walk_add(walk, operand[r].adjoint, operand[r].adjoint_strides, sizeof(double), dims, shape);
    }
    run_close(run);
    for (int r = 0; r < program->operands; r++)
        if (registers[r].needed) run_bind_operand(run, r, arrays->value[r]);
    for (int w = program->operands; w <= root; w++) {
        if (!registers[w].needed) continue;
        if (w == root && sweep->result)
            run_bind(run, root, arrays->result, LOAD);
        else
            run_slot(run, w, run->slots); /* its own: a sweep back reads it long after it is computed */
    }
    return 1;
}

/* Zeroes a tile of each operand's Jacobians, which are C-contiguous. */
static void clear_jacobians(const TileSweep *sweep, const TileWalk *walk, Py_ssize_t n)
{
    for (int r = 0; r < sweep->program->operands; r++)
        if (sweep->operand[r].adjoint)
            memset(sweep->operand[r].adjoint + walk->row * walk->inner + walk->first, 0, n * sizeof(double));
}

static void reverse_part(TileRun *run, const TileCall *call, TileTeam *team)
{
    TileActivity registers[VALUES];
    TileArrays arrays;
    const TileSweep *sweep = call->sweep;
    const TileProgram *program = sweep->program;
    const int root = program->operands + program->steps - 1, seed = VALUES + root, has_lhs = call->lhs != NULL;
    if (!sweep_begin(run, sweep, registers, &arrays, call->lhs, call->lhs_strides)) return;
    if (has_lhs)
        run_bind(run, seed, arrays.lhs, LOAD);
    else
        run_slot(run, seed, run->slots);
    for (int s = 0; s < program->steps; s++)
        if (is_computed(sweep, registers, s)) run_action(run, VALUE, program, s);
    gather_crowded(&run->walk, program->operands, registers, arrays.flow);
    if (registers[root].active) plan_reverse(run, program, registers, seed, arrays.flow);
    run_slot(run, AUXILIARY_REGISTER, run->slots);
    run_cut(run);
    for (Py_ssize_t i = run->walk.tile_rows * run->walk.tile_length - 1; i >= 0 && !has_lhs; i--) run->at[seed][i] = 1.0;
    int is_first = !team_enter(team, run);
    for (Py_ssize_t n; (n = run_next(run)) > 0; is_first = 0) {
        if (!has_lhs) clear_jacobians(sweep, &run->walk, n);
        run_load(run, is_first);
        if (has_lhs && all_zero(run->at[seed], n)) continue;
        run_tile(run, n);
        run_store(run);
        if (has_lhs && !call->keep) view_clear(&run->walk, &run->walk.view[arrays.lhs]);
    }
}

int team_for_reverse(const TileSweep *sweep, const double *lhs, const Py_ssize_t *lhs_strides)
{
    const int threads = team_for(sweep);
    return threads > 1 && tiles_are_apart(sweep, lhs, lhs_strides) ? threads : 1;
}

int tile_run_reverse(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int keep)
{
    const TileCall call = {sweep, lhs, lhs_strides, keep};
    return team_run(reverse_part, &call, team_for_reverse(sweep, lhs, lhs_strides));
}

static void tangent_part(TileRun *run, const TileCall *call, TileTeam *team)
{
    TileActivity registers[VALUES];
    TileArrays arrays;
    const TileSweep *sweep = call->sweep;
    const int root = sweep->program->operands + sweep->program->steps - 1;
    if (!sweep_begin(run, sweep, registers, &arrays, call->lhs, call->lhs_strides)) return;
    run_bind(run, VALUES + root, arrays.lhs, STORE);
    plan_tangent(run, sweep, registers, arrays.flow);
    run_slot(run, AUXILIARY_REGISTER, run->slots);
    run_cut(run);
    int is_first = !team_enter(team, run);
    for (Py_ssize_t n; (n = run_next(run)) > 0; is_first = 0) {
        if (!registers[root].active) {
            view_clear(&run->walk, &run->walk.view[arrays.lhs]);
            continue;
        }
        run_load(run, is_first);
        run_tile(run, n);
        run_store(run);
    }
}

int tile_run_tangent(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides)
{
    const TileCall call = {sweep, lhs, lhs_strides, 0};
    return team_run(tangent_part, &call, team_for(sweep));
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
    const TileCall call = {&unit, NULL, NULL, 1};
    return team_run(reverse_part, &call, team_for(&unit));
}

uint64_t tile_run_needed(const TileProgram *program, uint32_t active, int known)
{
    TileActivity registers[VALUES];
    uint64_t needed = 0;
    find_activity(program, active, known, registers);
    for (int r = 0; r < program->operands; r++) needed |= (uint64_t)registers[r].needed << r;
    if (known) needed |= (uint64_t)registers[program->operands + program->steps - 1].needed << TILE_OPERANDS;
    return needed;
}
