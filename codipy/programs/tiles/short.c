/* SPDX-License-Identifier: Apache-2.0 */
/* Few elements, side by side: one tile without a walk, and a list of loops that is made once for a program.
 *
 * For ten elements the walk and the search for what a sweep needs take ten times as long as the loops themselves. What
 * does not fit here (float32, strided, broadcast along some dimensions, long) returns 0 and takes the general way. */
#include "codipy/programs/tiles/space.h"
#include "codipy/programs/tiles/team.h"
#include "codipy/programs/tiles/tile.h"
#include "codipy/programs/tiles/tiles.h"
#include <stdlib.h>
#include <string.h>

typedef enum { SCATTERED, DENSE, CONSTANT } ShortLayout;

/* The loops of the sweep back, and what they were made for. Views: operands' values, operands' flows, the result's. */
struct TileShortPlan {
    uint32_t active, constant_values, constant_flows; /* bits: operands */
    int actions, bindings, slotted, slots;
    TileAction action[TILE_ACTIONS];
    TileBinding binding[TILE_VIEWS];
    uint8_t reg_of[TILE_REGISTERS], slot_of[TILE_REGISTERS];
};

enum {
    SHORT_LENGTH = 256, /* elements: beyond, a walk costs little */
    LHS_VIEW = 2 * TILE_OPERANDS
};

static inline Py_ssize_t short_size(int dims, const Py_ssize_t *shape)
{
    Py_ssize_t n = 1;
    for (int d = 0; d < dims; d++) n *= shape[d];
    return n;
}

static inline ShortLayout short_layout(int dims, const Py_ssize_t *shape, const Py_ssize_t *strides, Py_ssize_t unit)
{
    int dense = 1, constant = 1;
    for (int d = dims - 1; d >= 0; d--) {
        if (shape[d] == 1 && (dims > 1 || strides[d] >= 0)) continue; /* see walk_keeps */
        dense = dense && strides[d] == unit;
        constant = constant && strides[d] == 0;
        unit *= shape[d];
    }
    return dense ? DENSE : constant ? CONSTANT : SCATTERED;
}

static inline double *short_room(TileRun *run)
{
    return (double *)(((uintptr_t)run->room + 63) & ~(uintptr_t)63);
}

static inline void fill(double *to, double value, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) to[i] = value;
}

static int short_values(TileRun *run, const TileProgram *program, const TileOperand *operand, int dims,
    const Py_ssize_t *shape, Py_ssize_t n, Py_ssize_t distance, double *out)
{
    const int operands = program->operands, last = program->steps - 1;
    double *room = short_room(run);
    run->raw = 0;
    run->constant = n == 1 ? ~(uint32_t)0 : 0;
    for (int r = 0; r < operands; r++) {
        const ShortLayout layout = short_layout(dims, shape, operand[r].strides, sizeof(double));
        run->at[r] = (double *)operand[r].data;
        if (layout == SCATTERED) return 0;
        if (layout == DENSE) continue;
        fill(room, *run->at[r], n);
        run->constant |= 1u << r;
        run->at[r] = room;
        room += distance;
    }
    for (int s = 0; s <= last; s++) {
        const TileStep *step = &program->step[s];
        const int arity = tile_arity[step->code];
        const int registers[3] = {step->sources[0], step->sources[arity > 1], step->sources[arity > 2 ? 2 : 0]};
        const double *const from[3] = {run->at[registers[0]], run->at[registers[1]], run->at[registers[2]]};
        run->at[operands + s] = s == last ? out : room;
        run_value(run, step->code, registers, from, run->at[operands + s], n);
        room += distance;
    }
    return 1;
}

int tile_short_values(const TileProgram *program, const TileOperand *operand, int dims, const Py_ssize_t *shape,
    double *out, const Py_ssize_t *out_strides)
{
    const Py_ssize_t n = short_size(dims, shape), distance = ((n + 7) & ~(Py_ssize_t)7) + TILE_GAP;
    if (program->single || n == 0 || n > SHORT_LENGTH) return 0;
    if ((program->operands + program->steps - 1) * distance > TILE_ROOM) return 0;
    if (short_layout(dims, shape, out_strides, sizeof(double)) != DENSE) return 0;
    TileRun *run = space_take();
    if (!run) return -1;
    const int done = short_values(run, program, operand, dims, shape, n, distance, out);
    space_give(run);
    return done;
}

static inline void short_view(TileRun *run, int view, int constant)
{
    run->walk.view[view].access = constant ? FIXED : IN_PLACE;
    run->walk.view[view].constant = constant;
    run->walk.view[view].flat = 1;
    run->walk.view[view].inner = constant ? 0 : (Py_ssize_t)sizeof(double);
}

/* Makes the list of loops for the operands that are active and constant; `run` is only worked in. */
static void short_plan(TileShortPlan *plan, const TileProgram *program, TileRun *run)
{
    TileActivity registers[VALUES];
    uint8_t value[TILE_OPERANDS], flow[TILE_OPERANDS];
    const int operands = program->operands, root = operands + program->steps - 1, seed = VALUES + root;
    run_begin(run, program);
    run->walk.joined = 0;
    run->walk.inner = 1;
    find_activity(program, plan->active, registers);
    for (int r = 0; r < operands; r++) {
        value[r] = (uint8_t)r;
        flow[r] = (uint8_t)(TILE_OPERANDS + r);
        short_view(run, r, plan->constant_values >> r & 1);
        short_view(run, flow[r], plan->constant_flows >> r & 1);
    }
    plan_registers(run, program, registers, value);
    short_view(run, LHS_VIEW, 0);
    run_bind(run, seed, LHS_VIEW, LOAD);
    plan_reverse(run, program, registers, seed, flow);
    plan->actions = run->actions;
    plan->bindings = run->bindings;
    plan->slotted = run->slotted;
    plan->slots = run->slots;
    memcpy(plan->action, run->action, run->actions * sizeof(TileAction));
    memcpy(plan->binding, run->binding, run->bindings * sizeof(TileBinding));
    memcpy(plan->reg_of, run->reg_of, run->slotted);
    memcpy(plan->slot_of, run->slot_of, run->slotted);
}

/* The plan for these operands in `*kept`, the program's own; NULL where memory ran out. Not for two threads at once. */
static const TileShortPlan *short_plan_for(
    TileShortPlan **kept, const TileProgram *program, uint32_t active, uint32_t values, uint32_t flows)
{
    TileShortPlan *plan = *kept;
    if (plan && plan->active == active && plan->constant_values == values && plan->constant_flows == flows) return plan;
    find_loops(program); /* that may run Python, and other threads in between; from here to the end of a sweep none */
    plan = *kept;
    TileRun *run = space_take(); /* before there is a plan: one that nobody wrote must not be found */
    if (run && !plan) plan = *kept = (TileShortPlan *)calloc(1, sizeof(TileShortPlan));
    if (!plan || !run) {
        if (run) space_give(run);
        return NULL;
    }
    plan->active = active;
    plan->constant_values = values;
    plan->constant_flows = flows;
    short_plan(plan, program, run);
    space_give(run);
    return plan;
}

int tile_short_reverse(TileShortPlan **kept, const TileProgram *program, const TileOperand *operand, int dims,
    const Py_ssize_t *shape, double *lhs, const Py_ssize_t *lhs_strides, int keep)
{
    const Py_ssize_t n = short_size(dims, shape), distance = ((n + 7) & ~(Py_ssize_t)7) + TILE_GAP;
    uint32_t active = 0, values = 0, flows = 0;
    if (program->single || n == 0 || n > SHORT_LENGTH) return 0;
    const ShortLayout seed = short_layout(dims, shape, lhs_strides, 1); /* constant: of a sum, which the caller clears */
    if (seed == SCATTERED || (seed == CONSTANT && !keep)) return 0;
    for (int r = 0; r < program->operands; r++) {
        const ShortLayout layout = short_layout(dims, shape, operand[r].strides, sizeof(double));
        if (layout == SCATTERED) return 0;
        values |= (uint32_t)(layout == CONSTANT) << r;
        if (!operand[r].adjoint) continue;
        const ShortLayout flow = short_layout(dims, shape, operand[r].adjoint_strides, 1);
        if (flow == SCATTERED) return 0;
        active |= 1u << r;
        flows |= (uint32_t)(flow == CONSTANT) << r;
    }
    if (all_zero(lhs, seed == CONSTANT ? 1 : n)) return 1;
    const TileShortPlan *plan = short_plan_for(kept, program, active, values, flows);
    if (!plan || (plan->slots + (seed == CONSTANT)) * distance > TILE_ROOM) return 0;
    TileRun *run = space_take();
    if (!run) return -1;
    double *room = short_room(run);
    run_begin(run, program);
    run->constant = n == 1 ? ~(uint32_t)0 : values;
    run->actions = plan->actions;
    memcpy(run->action, plan->action, plan->actions * sizeof(TileAction));
    for (int k = 0; k < plan->slotted; k++) run->at[plan->reg_of[k]] = room + plan->slot_of[k] * distance;
    for (int k = 0; k < plan->bindings; k++) {
        const TileBinding *binding = &plan->binding[k];
        const int r = binding->view % TILE_OPERANDS;
        if (binding->view == LHS_VIEW && seed == CONSTANT)
            fill(run->at[binding->reg] = room + plan->slots * distance, *lhs, n);
        else if (binding->view == LHS_VIEW)
            run->at[binding->reg] = lhs;
        else if (binding->view < TILE_OPERANDS && !(values >> r & 1))
            run->at[binding->reg] = (double *)operand[r].data;
        else if (binding->view < TILE_OPERANDS)
            fill(run->at[binding->reg], *(const double *)operand[r].data, n);
        else if (!(flows >> r & 1))
            run->at[binding->reg] = operand[r].adjoint;
    }
    run_tile(run, n);
    for (int k = 0; k < plan->bindings; k++) {
        const TileBinding *binding = &plan->binding[k];
        const int r = binding->view - TILE_OPERANDS;
        if (r >= 0 && binding->view != LHS_VIEW && flows >> r & 1)
            *operand[r].adjoint += lane_sum(run->at[binding->reg], n);
    }
    space_give(run);
    if (!keep) memset(lhs, 0, n * sizeof(double));
    return 1;
}
