/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs over tiles: values, reverse, tangents, Jacobians; -1, and nothing is done, if there is no memory. */
#ifndef CODIPY_PROGRAMS_TILE_RUN_H
#define CODIPY_PROGRAMS_TILE_RUN_H
#include "codipy/operations/slopes.h"
#include "codipy/programs/tile_code.h"
#include "codipy/programs/tile_team.h"

static void run_loop(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n)
{
    const TileLoop *loop = &tile_loops[code];
    const int arity = tile_arity[code];
    char *args[4];
    Py_ssize_t steps[4];
    for (int k = 0; k < arity; k++) {
        const int reg = registers[k], is_operand = reg < TILE_OPERANDS;
        args[k] = (char *)from[k];
        steps[k] = is_operand && (run->constant >> reg & 1) ? 0 : sizeof(double);
        if (is_operand && (run->raw >> reg & 1)) {
            const TileView *view = &run->walk.view[run->raw_view[reg]];
            args[k] = view_start(&run->walk, view);
            steps[k] = view->inner;
        }
    }
    args[arity] = (char *)to;
    steps[arity] = sizeof(double);
    /* Some loops clear the flags when they are done. */
    const int raised = flags_raised();
    loop->function(args, &n, steps, loop->data);
    flags_raise(raised);
}

static inline void run_value(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n)
{
    find_loop(code);
    if (!tile_is_exact[code] && tile_loops[code].function)
        run_loop(run, code, registers, from, to, n);
    else
        tile_value(code, n, from[0], from[1], from[2], to);
}

/* NumPy's float32 loop over a tile of doubles that hold float32 values. */
static void run_single_loop(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n)
{
    const TileLoop *loop = &tile_single_loops[code];
    const int arity = tile_arity[code];
    float room[4][TILE_LENGTH];
    char *args[4];
    Py_ssize_t steps[4];
    for (int k = 0; k < arity; k++) {
        const int reg = registers[k], is_operand = reg < TILE_OPERANDS;
        const int fixed = is_operand && (run->constant >> reg & 1);
        /* Of strides only the sign changes bits. */
        const int back = is_operand && (run->raw >> reg & 1) && run->walk.view[run->raw_view[reg]].inner < 0;
        tile_narrow(fixed ? 1 : n, from[k], room[k], back);
        args[k] = (char *)(back ? room[k] + n - 1 : room[k]);
        steps[k] = fixed ? 0 : back ? -(Py_ssize_t)sizeof(float) : (Py_ssize_t)sizeof(float);
    }
    args[arity] = (char *)room[arity];
    steps[arity] = sizeof(float);
    const int raised = flags_raised();
    loop->function(args, &n, steps, loop->data);
    flags_raise(raised);
    tile_widen(n, room[arity], to);
}

/* What is rounded correctly in double is so in float32 after a second rounding: 53 bits are more than 2 * 24 + 2. */
static inline void run_single(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n)
{
    find_loop(code);
    if (!tile_is_exact[code] && tile_single_loops[code].function) {
        run_single_loop(run, code, registers, from, to, n);
        return;
    }
    tile_value(code, n, from[0], from[1], from[2], to);
    tile_round(n, to);
}

static inline void do_action(const TileRun *run, const TileAction *a, Py_ssize_t n)
{
    const double *const from[3] = {run->at[a->x], run->at[a->y], run->at[a->z]};
    const int registers[3] = {a->x, a->y, a->z};
    double *to = run->at[a->w];
    switch (a->kind) {
    case VALUE:
        if (run->single == TILE_SINGLE) {
            run_single(run, a->code, registers, from, to, n);
            return;
        }
        run_value(run, a->code, registers, from, to, n);
        break;
    case PAIR: tile_pair(a->code, a->outer, a->mode, n, from[0], from[1], from[2], to); break;
    case ARGUMENT: tile_argument(a->code, n, from[0], from[1], from[2], to); return;
    case FUNCTION:
        if (a->code == OP_SIN || a->code == OP_COS)
            tile_slopes(a->code == OP_COS, n, from[0], to);
        else
            run_value(run, a->code, registers, from, to, n);
        return;
    case PULL:
        tile_pull(a->code, a->argument, a->mode, n, from[0], from[1], from[2], to, run->at[AUXILIARY_REGISTER],
            run->at[a->in], run->at[a->out]);
        return;
    }
    if (run->single && a->w == run->root) tile_round(n, to);
}

static inline void run_tile(const TileRun *run, Py_ssize_t n)
{
    for (const TileAction *a = run->action, *end = a + run->actions; a < end; a++) {
        if (a->kind == COMPILED)
            run->compiled[a->code](run->at, n);
        else
            do_action(run, a, n);
    }
}

/* Gives the registers their memory; call when the list of actions is complete. */
static void run_cut(TileRun *run)
{
    const Py_ssize_t distance = walk_cut(&run->walk, run->slots, TILE_ROOM);
    double *room = (double *)(((uintptr_t)run->room + 63) & ~(uintptr_t)63);
    for (int k = 0; k < run->slotted; k++) run->at[run->reg_of[k]] = room + run->slot_of[k] * distance;
    run_compile(run);
}

static inline void run_load(TileRun *run, int is_first)
{
    for (int k = 0; k < run->bindings; k++) {
        const TileBinding *binding = &run->binding[k];
        const TileView *view = &run->walk.view[binding->view];
        if (view->access == IN_PLACE) {
            run->at[binding->reg] = (double *)view_start(&run->walk, view);
            if (run->walk.several && view->leads) view_prefetch(&run->walk, view);
        } else if (binding->role == LOAD && (is_first || view->access == GATHERED)) {
            run_gather(run, binding, view);
        }
    }
}

static inline void run_store(TileRun *run)
{
    for (int k = 0; k < run->bindings; k++) {
        const TileBinding *binding = &run->binding[k];
        const TileView *view = &run->walk.view[binding->view];
        if (view->access == IN_PLACE || binding->role == LOAD) continue;
        if (binding->role == STORE)
            view_assign(&run->walk, view, run->at[binding->reg]);
        else
            view_deposit(&run->walk, view, run->at[binding->reg]);
    }
}

/* Which steps are the inner one of a pair: read by the next step alone, once. */
static void find_pairs(const TileProgram *program, uint8_t *is_inner)
{
    uint8_t readers[VALUES];
    for (int s = 0; s < program->steps; s++) is_inner[s] = readers[program->operands + s] = 0;
    if (program->single == TILE_SINGLE) return; /* the inner step is rounded too */
    for (int s = 0; s < program->steps; s++)
        for (int k = 0; k < tile_arity[program->step[s].code]; k++) {
            const int source = program->step[s].sources[k];
            if (source >= program->operands) readers[source]++;
        }
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s], *next = step + 1;
        const int w = program->operands + s;
        is_inner[s] = s + 1 < program->steps && readers[w] == 1 && tile_is_paired[step->code] &&
            tile_is_paired[next->code] && (next->sources[0] == w || next->sources[1] == w);
        if (s > 0 && is_inner[s - 1]) is_inner[s] = 0;
    }
}

static void run_pair(TileRun *run, const TileProgram *program, int inner)
{
    const TileStep *next = &program->step[inner + 1];
    const int side = next->sources[1] == program->operands + inner;
    TileAction *action = run_action(run, PAIR, program, inner);
    action->outer = (uint8_t)next->code;
    action->mode = (uint8_t)side;
    action->z = (uint8_t)next->sources[1 - side];
    action->w++;
}

/* The registers that the loop that gives step `s` reads, which is one for both steps of a pair. */
static inline int sources_of(const TileProgram *program, const uint8_t *is_inner, int s, int *sources)
{
    int count = 0;
    if (s == 0 || !is_inner[s - 1]) {
        for (; count < tile_arity[program->step[s].code]; count++) sources[count] = program->step[s].sources[count];
        return count;
    }
    for (int step = s - 1; step <= s; step++)
        for (int k = 0; k < 2; k++) {
            const int source = program->step[step].sources[k];
            if (source != program->operands + s - 1) sources[count++] = source;
        }
    return count;
}

/* Memory of the tile for the values of all loops but the last; a register's memory is free after its last reader. */
static void run_share_slots(TileRun *run, const TileProgram *program, const uint8_t *is_inner)
{
    uint8_t last[VALUES], slot[VALUES], is_free[TILE_STEPS];
    int frees = 0, sources[6];
    for (int s = 0; s < program->steps; s++)
        for (int k = sources_of(program, is_inner, s, sources) - 1; k >= 0 && !is_inner[s]; k--)
            last[sources[k]] = (uint8_t)s;
    for (int s = 0; s < program->steps; s++) {
        const int w = program->operands + s;
        if (is_inner[s]) continue;
        if (s < program->steps - 1) {
            slot[w] = frees ? is_free[--frees] : (uint8_t)run->slots;
            run_slot(run, w, slot[w]);
        }
        for (int k = sources_of(program, is_inner, s, sources) - 1; k >= 0; k--) {
            const int source = sources[k];
            if (source >= program->operands && last[source] == s) {
                is_free[frees++] = slot[source];
                last[source] = 255; /* a loop may read a register twice */
            }
        }
    }
}

static void plan_values(TileRun *run, const TileProgram *program)
{
    uint8_t is_inner[TILE_STEPS];
    find_pairs(program, is_inner);
    run_share_slots(run, program, is_inner);
    for (int s = 0; s < program->steps; s++) {
        if (is_inner[s])
            run_pair(run, program, s++);
        else
            run_action(run, VALUE, program, s);
    }
}

/* For few elements, which neither fill the cache nor pay the search for pairs. */
static void plan_short(TileRun *run, const TileProgram *program)
{
    for (int s = 0; s < program->steps; s++) {
        if (s < program->steps - 1) run_slot(run, program->operands + s, run->slots);
        run_action(run, VALUE, program, s);
    }
}

static void values_part(TileRun *run, const TileCall *call, TileTeam *team)
{
    const TileSweep *of = call->sweep;
    const int operands = of->program->operands, root = operands + of->program->steps - 1, dims = of->dims;
    if (!walk_begin(&run->walk, dims, of->shape)) return;
    run_begin(run, of->program);
    for (int r = 0; r < operands; r++)
        walk_add(&run->walk, (void *)of->operand[r].data, of->operand[r].strides, 1, dims, of->shape);
    walk_add(&run->walk, call->lhs, call->lhs_strides, 1, dims, of->shape);
    run_close(run);
    find_rows_seen(run, of->program);
    for (int r = 0; r < operands; r++) run_bind_operand(run, r, r);
    run_bind(run, root, operands, STORE);
    if (run->walk.rows * run->walk.inner < TILE_SHORT_ROW)
        plan_short(run, of->program);
    else
        plan_values(run, of->program);
    run_cut(run);
    int is_first = !team_enter(team, run);
    for (Py_ssize_t n; (n = run_next(run)) > 0; is_first = 0) {
        run_load(run, is_first);
        run_tile(run, n);
        run_store(run);
    }
}

static int tile_run_values(const TileProgram *program, const TileOperand *operand, int dims, const Py_ssize_t *shape,
    double *out, const Py_ssize_t *out_strides)
{
    const TileSweep values = {program, operand, dims, shape, NULL, NULL};
    const TileCall call = {&values, out, out_strides, 0};
    return team_run(values_part, &call, team_for(&values));
}
#endif
