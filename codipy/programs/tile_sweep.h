/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives over tiles: reverse, tangents and per-element Jacobians. */
#ifndef CODIPY_PROGRAMS_TILE_SWEEP_H
#define CODIPY_PROGRAMS_TILE_SWEEP_H
#include "codipy/programs/tile_apart.h"
#include "codipy/programs/tile_run.h"

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

/* Whether a sweep computes the value of a step. */
static inline int is_computed(const TileSweep *sweep, const TileActivity *registers, int step)
{
    if (!registers[sweep->program->operands + step].needed) return 0;
    return !(sweep->result && step == sweep->program->steps - 1);
}

/* Where the flow of a register is; `minus`: what is there is its negative. */
typedef struct {
    uint8_t reg, minus;
} TileFlow;

/* Whether nothing flows through a partial that is zero: what was not selected gets nothing, and what is multiplied by a
   passive zero does not depend on anything, so that an infinite adjoint is no reason for a NaN. */
static inline int is_sifted(const TileStep *step, const TileActivity *registers, int argument)
{
    if (tile_sifts[step->code] != 1) return tile_sifts[step->code] != 0;
    return !registers[step->sources[!argument]].active;
}

static inline void run_pull(TileRun *run, const TileProgram *program, const TileActivity *registers, int step,
    int argument, TileFlow in, int out, int add)
{
    const int code = program->step[step].code, function = tile_auxiliary[code][argument];
    if (function >= 0) {
        if (tile_is_prepared[code]) run_action(run, ARGUMENT, program, step)->w = AUXILIARY_REGISTER;
        TileAction *before = run_action(run, FUNCTION, program, step);
        before->code = (int16_t)function;
        before->w = AUXILIARY_REGISTER;
        if (tile_is_prepared[code]) before->x = AUXILIARY_REGISTER;
    }
    TileAction *action = run_action(run, PULL, program, step);
    action->argument = (uint8_t)argument;
    action->in = in.reg;
    action->out = (uint8_t)out;
    action->mode = (uint8_t)(add + 2 * in.minus + 4 * is_sifted(&program->step[step], registers, argument));
}

static inline int is_unit(const TileStep *step, int argument)
{
    return tile_unit[step->code] >> argument & 1;
}

/* The flow through a partial that is 1 or -1: the same memory, perhaps the other sign. */
static inline TileFlow same_flow(const TileStep *step, int argument, TileFlow from)
{
    return (TileFlow){from.reg, from.minus ^ (tile_minus[step->code] >> argument & 1)};
}

/* Adjoints that meet others within a tile, such as those of u[:-2] and u[2:], are summed in the tile and added at its
   end: a compiled loop adds to each array once for all of its steps, and vectors that overlap wait for each other. */
static void gather_crowded(TileWalk *walk, int operands, const TileActivity *registers, const uint8_t *flow)
{
    for (int r = 1; r < operands; r++) {
        if (!registers[r].pulls) continue;
        TileView *view = &walk->view[flow[r]];
        for (int q = 0; q < r && view->access == IN_PLACE; q++)
            if (registers[q].pulls && walk->view[flow[q]].access == IN_PLACE && views_meet(walk, view, &walk->view[flow[q]]))
                view->access = GATHERED;
    }
}

/* The loops of the sweep back. What is pulled into once, by a partial that is 1 or -1, is not copied: it shares the
   memory it would be a copy of. Adjoints in place are always added to. */
static void plan_reverse(
    TileRun *run, const TileProgram *program, TileActivity *registers, int seed, const uint8_t *flow)
{
    TileFlow at[VALUES];
    const int operands = program->operands, root = operands + program->steps - 1;
    at[root] = (TileFlow){(uint8_t)seed, 0};
    registers[root].reached = 1;
    for (int s = program->steps - 1; s >= 0; s--) {
        const TileStep *step = &program->step[s];
        const int w = operands + s;
        for (int k = 0; k < tile_arity[step->code] && registers[w].reached; k++) {
            const int source = step->sources[k], own = VALUES + source, is_operand = source < operands;
            TileActivity *to = &registers[source];
            if (!is_pulled(step, registers, k)) continue;
            const int in_place = is_operand && run->walk.view[flow[source]].access == IN_PLACE;
            const TileFlow same = same_flow(step, k, at[w]);
            if (!to->reached && in_place) run_bind(run, own, flow[source], DEPOSIT);
            if (!to->reached && !in_place && to->pulls == 1 && is_unit(step, k) && !(is_operand && same.minus)) {
                at[source] = same;
            } else {
                if (!to->reached && !in_place) run_slot(run, own, run->slots);
                at[source] = (TileFlow){(uint8_t)own, 0};
                run_pull(run, program, registers, s, k, at[w], own, to->reached || in_place);
            }
            to->reached = 1;
        }
    }
    for (int r = 0; r < operands; r++)
        if (registers[r].reached && run->walk.view[flow[r]].access != IN_PLACE)
            run_bind_deposit(run, at[r].reg, flow[r]);
}

/* Whether all are zero, of either sign. */
static int all_zero(const double *from, Py_ssize_t n)
{
    if (from[0] != 0 || from[n - 1] != 0) return 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (from[i] != 0) return 0;
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

static int team_for_reverse(const TileSweep *sweep, const double *lhs, const Py_ssize_t *lhs_strides)
{
    const int threads = team_for(sweep);
    return threads > 1 && tiles_are_apart(sweep, lhs, lhs_strides) ? threads : 1;
}

/* Adds to the operands' adjoints what flows from the result's. */
static int tile_run_reverse(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int keep)
{
    const TileCall call = {sweep, lhs, lhs_strides, keep};
    return team_run(reverse_part, &call, team_for_reverse(sweep, lhs, lhs_strides));
}

/* The tangent of each step from those of its arguments, in the order of the values. */
static void plan_tangent(TileRun *run, const TileSweep *sweep, const TileActivity *registers, const uint8_t *flow)
{
    const TileProgram *program = sweep->program;
    TileFlow at[VALUES];
    const int operands = program->operands, root = operands + program->steps - 1;
    for (int r = 0; r < operands; r++) {
        if (registers[r].pulls) run_bind(run, VALUES + r, flow[r], LOAD);
        at[r] = (TileFlow){(uint8_t)(VALUES + r), 0};
    }
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s];
        const int w = operands + s;
        int pulled = 0, last = 0;
        if (is_computed(sweep, registers, s)) run_action(run, VALUE, program, s);
        for (int k = 0; k < tile_arity[step->code]; k++)
            if (is_pulled(step, registers, k)) pulled++, last = k;
        at[w] = (TileFlow){(uint8_t)(VALUES + w), 0};
        if (pulled == 1 && is_unit(step, last) && w != root) {
            at[w] = same_flow(step, last, at[step->sources[last]]);
            continue;
        }
        if (pulled && w != root) run_slot(run, at[w].reg, run->slots);
        for (int k = 0, add = 0; k < tile_arity[step->code]; k++)
            if (is_pulled(step, registers, k)) {
                run_pull(run, program, registers, s, k, at[step->sources[k]], at[w].reg, add);
                add = 1;
            }
    }
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

/* Assigns the tangent of the result. */
static int tile_run_tangent(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides)
{
    const TileCall call = {sweep, lhs, lhs_strides, 0};
    return team_run(tangent_part, &call, team_for(sweep));
}

/* The derivative of each element of the result in the same element of each operand, zero where there is none. */
static int tile_run_jacobians(const TileSweep *sweep, double *const *jacobians)
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

/* What a sweep reads if the operands of `active` are differentiated: a bit for each operand, and one for the result. */
static uint64_t tile_run_needed(const TileProgram *program, uint32_t active, int known)
{
    TileActivity registers[VALUES];
    uint64_t needed = 0;
    find_activity(program, active, known, registers);
    for (int r = 0; r < program->operands; r++) needed |= (uint64_t)registers[r].needed << r;
    if (known) needed |= (uint64_t)registers[program->operands + program->steps - 1].needed << TILE_OPERANDS;
    return needed;
}
#endif
