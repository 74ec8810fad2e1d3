/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the loops of one tile; reads its arrays before and writes them after. */
#include "codipy/programs/tiles/tile.h"
#include "codipy/programs/flags.h"
#include "codipy/programs/tiles/compiled.h"
#include "codipy/programs/tiles/slopes.h"

Py_ssize_t tile_patience = 64;
int tile_vectors = NO_VECTORS;

void run_loop(
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

void run_step(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n)
{
    if (run->single == TILE_SINGLE)
        run_single(run, code, registers, from, to, n);
    else
        run_value(run, code, registers, from, to, n);
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

void run_tile(const TileRun *run, Py_ssize_t n)
{
    run_actions(run, 0, run->actions, n);
}

void run_actions(const TileRun *run, int first, int last, Py_ssize_t n)
{
    for (const TileAction *a = run->action + first, *end = run->action + last; a < end; a++) {
        if (a->kind == COMPILED)
            run->compiled[a->code](run->at, n);
        else
            do_action(run, a, n);
    }
}

void run_cut(TileRun *run)
{
    const Py_ssize_t distance = walk_cut(&run->walk, run->slots, run->walk.lanes > 1 || run->planes ? LANE_ROOM : TILE_ROOM);
    double *room = (double *)(((uintptr_t)run->room + 63) & ~(uintptr_t)63);
    for (int k = 0; k < run->slotted; k++) run->at[run->reg_of[k]] = room + run->slot_of[k] * distance;
    run_compile(run);
}

static inline void load(TileRun *run, const TileBinding *binding, int is_first)
{
    const TileView *view = &run->walk.view[binding->view];
    if (view->access == IN_PLACE) {
        run->at[binding->reg] = (double *)view_start(&run->walk, view);
        if (run->walk.several && view->leads && !view->plane && run->walk.lanes == 1) view_prefetch(&run->walk, view);
    } else if (binding->role == LOAD && (is_first || view->access == GATHERED)) {
        run_gather(run, binding, view);
    }
}

void run_load(TileRun *run, int is_first)
{
    for (int k = 0; k < run->bindings; k++) load(run, &run->binding[k], is_first);
}

void run_load_values(TileRun *run, int is_first)
{
    for (int k = 0; k < run->bindings; k++)
        if (!run->walk.view[run->binding[k].view].plane) load(run, &run->binding[k], is_first);
}

void run_load_plane(TileRun *run)
{
    for (int k = 0; k < run->bindings; k++)
        if (run->walk.view[run->binding[k].view].plane) load(run, &run->binding[k], 1);
}

void run_store(TileRun *run)
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
