/* SPDX-License-Identifier: Apache-2.0 */
/* Second order over tiles: the loops of a plan, run for the tiles of a statement and for each direction. */
#include "codipy/operations/clones.h"
#include "codipy/programs/tiles/compiled.h"
#include "codipy/programs/tiles/second_plan.h"
#include "codipy/programs/tiles/slopes.h"
#include "codipy/programs/tiles/team.h"
#include "codipy/programs/tiles/tile.h"
#include <stdlib.h>
#include <string.h>

/* ---- The loops ------------------------------------------------------------------------------------------------------*/
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-trapping-math")
#endif
#define EACH for (Py_ssize_t i = 0; i < n; i++)
#define PUSHED(a, b) ((a) != 0 ? (a) * (b) : 0.0)
#define SIFTED(a, b) (((a) != 0) & ((b) != 0) ? (a) * (b) : 0.0)
#define FINITE(b) ((b) - (b) == 0)
#define PULLED(a, b, c) (((a) != 0) & (((c) != 0) | FINITE(b)) ? (a) * (b) : 0.0)
#define PULLED_SIFTED(a, b, c) (((a) != 0) & ((b) != 0) & (((c) != 0) | FINITE(b)) ? (a) * (b) : 0.0)
#define CURVES(a, b, c) (((a) != 0) & ((c) != 0) ? (a) * (b) : 0.0)
TILE_CLONES
static void second_loop(int kind, Py_ssize_t n, const double *__restrict a, const double *__restrict b,
    const double *__restrict c, const double *__restrict d, const double *__restrict e, double *__restrict out)
{
    switch (kind) {
    case COPY: EACH out[i] = a[i]; return;
    case COPY_ADD: EACH out[i] += a[i]; return;
    case NEGATE: EACH out[i] = -a[i]; return;
    case NEGATE_ADD: EACH out[i] -= a[i]; return;
    case SUM: EACH out[i] = a[i] + b[i]; return;
    case DIFFERENCE: EACH out[i] = a[i] - b[i]; return;
    case PUSH: EACH out[i] = PUSHED(a[i], b[i]); return;
    case PUSH_ADD: EACH out[i] += PUSHED(a[i], b[i]); return;
    case SIFT: EACH out[i] = SIFTED(a[i], b[i]); return;
    case SIFT_ADD: EACH out[i] += SIFTED(a[i], b[i]); return;
    case PULL_: EACH out[i] = PULLED(a[i], b[i], c[i]); return;
    case PULL_ADD: EACH out[i] += PULLED(a[i], b[i], c[i]); return;
    case PULL_SIFT: EACH out[i] = PULLED_SIFTED(a[i], b[i], c[i]); return;
    case PULL_SIFT_ADD: EACH out[i] += PULLED_SIFTED(a[i], b[i], c[i]); return;
    case CURVE: EACH out[i] = CURVES(a[i], b[i], c[i]); return;
    case CURVE_ADD: EACH out[i] += CURVES(a[i], b[i], c[i]); return;
    case CURVED: EACH out[i] = PULLED(a[i], b[i], c[i]) + CURVES(d[i], e[i], c[i]); return;
    case CURVED_ADD: EACH out[i] += PULLED(a[i], b[i], c[i]) + CURVES(d[i], e[i], c[i]); return;
    }
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

static void second_partial(const TileRun *run, const SecondAction *action, double *const *at, int ones, int auxiliary, Py_ssize_t n)
{
    const double *const from[3] = {at[action->reg[0]], at[action->reg[1]], at[action->reg[2]]};
    const int function = tile_auxiliary[action->code][action->place];
    double *aux = at[auxiliary];
    if (function >= 0) {
        const double *of = from[0];
        if (tile_is_prepared[action->code]) {
            tile_argument(action->code, n, from[0], from[1], from[2], aux);
            of = aux;
        }
        const double *const arguments[3] = {of, of, of};
        const int registers[3] = {VALUES, VALUES, VALUES};
        if (function == OP_SIN || function == OP_COS)
            tile_slopes(function == OP_COS, n, of, aux);
        else
            run_value(run, function, registers, arguments, aux, n);
    }
    tile_pull(action->code, action->place, tile_sifts[action->code] == 2 ? 4 : 0, n, from[0], from[1], from[2], at[action->reg[3]], aux, at[ones], at[action->reg[4]]);
}

static void second_actions(const TileRun *run, const TileSecondPlan *plan, int first, int last, double *const *at, Py_ssize_t n)
{
    for (const SecondAction *action = plan->action + first; action < plan->action + last; action++) {
        const int16_t *reg = action->reg;
        if (action->kind == SECOND_VALUE) {
            const double *const from[3] = {at[reg[0]], at[reg[1]], at[reg[2]]};
            const int registers[3] = {VALUES, VALUES, VALUES};
            if (!run->single && (action->code == OP_SIN || action->code == OP_COS))
                tile_slopes(action->code == OP_COS, n, from[0], at[reg[3]]);
            else
                run_step(run, action->code, registers, from, at[reg[3]], n);
            if (run->single && reg[3] == run->root) tile_round(n, at[reg[3]]);
        } else if (action->kind == SECOND_PARTIAL) {
            second_partial(run, action, at, plan->ones, plan->auxiliary, n);
        } else if (action->kind == SECOND_CURVATURE) {
            tile_second(action->code, action->place, n, at[reg[0]], at[reg[1]], at[reg[2]], at[reg[3]], at[reg[4]], at[reg[5]],
                at[reg[6]], at[reg[7]]);
        } else {
            second_loop(action->kind, n, at[reg[0]], at[reg[1]], at[reg[2]], at[reg[3]], at[reg[4]], at[reg[OUT]]);
        }
    }
}

/* ---- Compiled loops -------------------------------------------------------------------------------------------------*/
/* A loop as the action of a first-order sweep that does the same; 0 if there is none. */
static int as_action(const TileSecondPlan *plan, const SecondAction *action, TileAction *tile)
{
    const int16_t *reg = action->reg;
    const int add = (action->kind - COPY) & 1;
    memset(tile, 0, sizeof(*tile)); /* a compiled loop is found by all bytes */
    switch (action->kind) {
    case SECOND_VALUE:
        tile->kind = VALUE;
        if (!tile_is_exact[action->code]) return 0;
        break;
    case SECOND_PARTIAL:
        tile->kind = PULL;
        tile->argument = action->place;
        tile->mode = tile_sifts[action->code] == 2 ? 4 : 0;
        if (tile_auxiliary[action->code][action->place] >= 0) return 0;
        break;
    case SUM:
    case DIFFERENCE:
        *tile = (TileAction){.kind = VALUE, .code = action->kind == SUM ? OP_ADD : OP_SUBTRACT};
        tile->x = tile->z = (uint8_t)reg[0];
        tile->y = (uint8_t)reg[1];
        tile->w = (uint8_t)reg[OUT];
        return 1;
    case COPY: case COPY_ADD: case NEGATE: case NEGATE_ADD:
        *tile = (TileAction){.kind = PULL, .code = OP_POSITIVE, .mode = (uint8_t)(action->kind - COPY)};
        tile->x = tile->y = tile->z = tile->w = tile->in = (uint8_t)reg[0];
        tile->out = (uint8_t)reg[OUT];
        return 1;
    case CURVE: case CURVE_ADD:
        if (reg[1] != reg[2]) return 0; /* else gated on both sides */
        /* fall through */
    case PUSH: case PUSH_ADD: case SIFT: case SIFT_ADD:
        *tile = (TileAction){.kind = PULL, .code = OP_MULTIPLY, .mode = (uint8_t)add};
        tile->mode |= action->kind == PUSH || action->kind == PUSH_ADD ? 0 : 4;
        tile->in = (uint8_t)reg[0];
        tile->x = tile->y = tile->z = tile->w = (uint8_t)reg[1];
        tile->out = (uint8_t)reg[OUT];
        return 1;
    default: return 0;
    }
    tile->code = action->code;
    tile->x = (uint8_t)reg[0];
    tile->y = (uint8_t)reg[1];
    tile->z = (uint8_t)reg[2];
    tile->w = (uint8_t)reg[3];
    tile->in = (uint8_t)plan->ones;
    tile->out = (uint8_t)reg[4];
    return 1;
}

/* Lets run->action do what the plan does, compiled where that is known; 0 where the plan is too large. What has no such
   action stays one of the plan, by its number; two actions then name all registers that it reads. */
static int second_compile(TileRun *run, const TileSecondPlan *plan, int operands)
{
    if (run->single || plan->registers > TILE_REGISTERS || 2 * plan->actions > TILE_ACTIONS) return 0;
    for (int k = 0; k < plan->actions; k++) {
        const SecondAction *action = &plan->action[k];
        if (as_action(plan, action, &run->action[run->actions++])) continue;
        const uint8_t reg[8] = {(uint8_t)action->reg[0], (uint8_t)action->reg[1], (uint8_t)action->reg[2], (uint8_t)action->reg[3],
            (uint8_t)action->reg[4], (uint8_t)action->reg[5], (uint8_t)action->reg[6], (uint8_t)action->reg[7]};
        run->action[run->actions - 1] = (TileAction){.kind = LANES, .code = (int16_t)k, .x = reg[0], .y = reg[1], .z = reg[2],
            .w = reg[3], .in = reg[4], .out = reg[5]};
        run->action[run->actions++] = (TileAction){.kind = LANES, .code = -1, .x = reg[6], .y = reg[7], .in = (uint8_t)plan->ones};
    }
    for (int r = 0; r < operands; r++)
        if (plan->deposit[r]) run->binding[run->bindings++] = (TileBinding){(uint8_t)plan->deposit[r], 0, DEPOSIT};
    run_compile(run);
    return 1;
}

static void compiled_actions(const TileRun *run, const TileSecondPlan *plan, Py_ssize_t n)
{
    for (int k = 0; k < run->actions; k++) {
        const TileAction *action = &run->action[k];
        if (action->kind != LANES)
            run_actions(run, k, k + 1, n);
        else if (action->code >= 0)
            second_actions(run, plan, action->code, action->code + 1, run->at, n);
    }
}

/* ---- The tiles ------------------------------------------------------------------------------------------------------*/
static inline void view_shift(TileView *view, Py_ssize_t bytes)
{
    view->base += bytes;
    view->row += bytes;
}

/* Where a direction of a view is for this tile: in place, else copied to `room`. */
static double *lane_read(const TileWalk *walk, TileView *view, Py_ssize_t bytes, double *room)
{
    double *found = room;
    view_shift(view, bytes);
    if (view->access == IN_PLACE)
        found = (double *)view_start(walk, view);
    else
        view_gather(walk, view, room);
    view_shift(view, -bytes);
    return found;
}

static int second_run(TileRun *run, const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes,
    const double *bar, double *lhs, const Py_ssize_t *lhs_strides)
{
    const TileProgram *program = sweep->program;
    const TileOperand *operand = sweep->operand;
    const int operands = program->operands, dims = sweep->dims, back = bar != NULL, dotted = back;
    const Py_ssize_t *shape = sweep->shape;
    const Py_ssize_t unit = sizeof(double), least = (Py_ssize_t)plan->registers * (TILE_SHORT_ROW + TILE_GAP);
    TileWalk *walk = &run->walk;
    double *many[MOST_SECOND], *own[MOST_SECOND], *room = run->room, *larger = NULL;
    double **at = plan->registers <= TILE_REGISTERS ? run->at : many;
    Py_ssize_t space = TILE_ROOM, n;
    uint8_t value_view[TILE_OPERANDS], flow_view[TILE_OPERANDS], bar_view = 0, lhs_view;
    if (!walk_begin(walk, dims, shape)) return 0;
    run_begin(run, program);
    if (least > space) {
        room = larger = malloc((least + 8) * unit);
        if (!larger) return -1;
        space = least;
    }
    lhs_view = walk_add(walk, lhs, lhs_strides, unit, dims, shape);
    if (back) bar_view = walk_add(walk, (void *)bar, lhs_strides, unit, dims, shape);
    for (int r = 0; r < operands; r++) {
        if (plan->needed[r]) value_view[r] = walk_add(walk, (void *)operand[r].data, operand[r].strides, 1, dims, shape);
        if (plan->tangent[r] || plan->deposit[r])
            flow_view[r] = walk_add(walk, operand[r].adjoint, operand[r].adjoint_strides, unit, dims, shape);
    }
    walk_close(walk, plan->registers, space);
    const Py_ssize_t distance = walk_cut(walk, plan->registers, space);
    room = (double *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
    for (int k = 0; k < plan->registers; k++) at[k] = own[k] = room + k * distance;
    for (Py_ssize_t i = 0; i < distance; i++) at[plan->ones][i] = 1.0;
    const int compiled = plan->part == SECOND_SMOOTH && lanes->lanes == 1 && second_compile(run, plan, operands);
    int is_first = 1;
    while ((n = walk_next(walk)) > 0) {
        if (back) at[plan->bar] = lane_read(walk, &walk->view[bar_view], 0, own[plan->bar]);
        const int no_bar = !back || all_zero(at[plan->bar], n);
        int idle = back && no_bar;
        for (Py_ssize_t lane = 0; idle && dotted && lane < lanes->lanes; lane++)
            idle = all_zero(lane_read(walk, &walk->view[lhs_view], lane * lanes->plane * unit, own[plan->lhs]), n);
        if (idle) continue;
        for (int r = 0; r < operands; r++) {
            if (!plan->needed[r]) continue;
            TileView *view = &walk->view[value_view[r]];
            const int fixed = view->access == FIXED, rounds = run->single == TILE_SINGLE && view->constant;
            if (rounds) view->access = FIXED; /* a number beside float32 arrays, never in place */
            if (view->access == IN_PLACE)
                at[r] = (double *)view_start(walk, view);
            else if (is_first || !(fixed || rounds)) {
                view_gather(walk, view, at[r] = own[r]);
                if (rounds) tile_round(n, at[r]);
            }
        }
        is_first = 0;
        if (!compiled) second_actions(run, plan, 0, plan->once, at, n);
        for (Py_ssize_t lane = 0; lane < lanes->lanes; lane++) {
            const Py_ssize_t off = lane * lanes->plane * unit;
            TileView *result = &walk->view[lhs_view];
            if (!plan->flows) { /* the tangent of what depends on nothing */
                view_shift(result, off);
                view_clear(walk, result);
                view_shift(result, -off);
                continue;
            }
            if (dotted) {
                at[plan->lhs] = lane_read(walk, result, off, own[plan->lhs]);
            } else if (!back) {
                view_shift(result, off);
                at[plan->lhs] = result->access == IN_PLACE ? (double *)view_start(walk, result) : own[plan->lhs];
                view_shift(result, -off);
            }
            for (int r = 0; r < operands; r++)
                if (plan->tangent[r])
                    at[plan->tangent[r]] = lane_read(walk, &walk->view[flow_view[r]], off, own[plan->tangent[r]]);
            if (compiled)
                compiled_actions(run, plan, n);
            else
                second_actions(run, plan, plan->once, plan->actions, at, n);
            if (!back && result->access != IN_PLACE) {
                view_shift(result, off);
                view_assign(walk, result, at[plan->lhs]);
                view_shift(result, -off);
            }
            for (int r = 0; back && r < operands; r++) {
                if (!plan->deposit[r]) continue;
                TileView *view = &walk->view[flow_view[r]];
                view_shift(view, off + lanes->bars * unit);
                view_deposit(walk, view, at[plan->deposit[r]]);
                view_shift(view, -off - lanes->bars * unit);
            }
        }
    }
    free(larger);
    return 0;
}

static int second_in_space(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, const double *bar,
    double *lhs, const Py_ssize_t *lhs_strides)
{
    find_loops(sweep->program);
    TileRun *run = space_take();
    if (!run) return -1;
    const int done = second_run(run, plan, sweep, lanes, bar, lhs, lhs_strides);
    space_give(run);
    return done;
}

int tile_run_second_forward(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, double *lhs,
    const Py_ssize_t *lhs_strides)
{
    return second_in_space(plan, sweep, lanes, NULL, lhs, lhs_strides);
}

int tile_run_second_back(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, const double *bar,
    const double *lhs, const Py_ssize_t *lhs_strides)
{
    return plan->flows ? second_in_space(plan, sweep, lanes, bar, (double *)lhs, lhs_strides) : 0;
}
