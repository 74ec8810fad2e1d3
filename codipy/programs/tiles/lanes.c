/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps in several directions: what reads no flow runs once for a tile, the rest over the numbers of all directions. */
#include "codipy/programs/tiles/lanes.h"
#include "codipy/operations/clones.h"
#include <string.h>

int lanes_for(const TileSweep *sweep)
{
    int dims = 0;
    for (int d = 0; d < sweep->dims; d++) dims += sweep->shape[d] > 1;
    const int few = dims > 1 ? TILE_SHORT_ROW : TILE_FEW, most = dims > 1 ? LANES_OF_ROWS : LANES_OF_ONE;
    const int registers = lane_registers(sweep->program->operands + sweep->program->steps);
    const int lanes = (LANE_ROOM / registers - 2 * TILE_GAP) / few;
    return lanes < 1 ? 1 : lanes > most ? most : lanes;
}

/* Makes two lists of one, with a LANES action for each register that `repeats`, or one between them. */
static int separate(TileRun *run, int repeats)
{
    TileAction flow[TILE_ACTIONS], whole[TILE_ACTIONS];
    int wholes = 0, flows = 0, next = ONES_REGISTER + 1;
    run_slot(run, ONES_REGISTER, run->slots);
    for (const TileAction *a = run->action, *end = a + run->actions; a < end; a++) {
        if (a->kind != PULL) {
            whole[wholes++] = *a;
        } else if (tile_unit[a->code] >> a->argument & 1 || (a->code == OP_MULTIPLY && !repeats)) {
            flow[flows++] = *a;
        } else {
            if (next == TILE_REGISTERS) return 0;
            TileAction *partial = &whole[wholes++];
            *partial = *a; /* what flows from 1 */
            partial->in = ONES_REGISTER;
            partial->out = (uint8_t)next;
            partial->mode = a->mode & 4;
            flow[flows] = (TileAction){.kind = PULL, .code = OP_MULTIPLY, .mode = a->mode, .in = a->in, .out = a->out};
            flow[flows].x = flow[flows].y = flow[flows].z = flow[flows].w = (uint8_t)next; /* of which y is read */
            flows++;
            run_slot(run, next++, run->slots);
        }
    }
    if (wholes + (next - ONES_REGISTER) + flows > TILE_ACTIONS) return 0;
    whole[wholes++] = (TileAction){.kind = LANES, .w = ONES_REGISTER};
    for (int reg = ONES_REGISTER + 1; reg < next && repeats; reg++)
        whole[wholes++] = (TileAction){.kind = LANES, .w = (uint8_t)reg};
    memcpy(run->action, whole, wholes * sizeof(TileAction));
    memcpy(run->action + wholes, flow, flows * sizeof(TileAction));
    run->actions = wholes + flows;
    return 1;
}

int lanes_separate(TileRun *run)
{
    return separate(run, 1);
}

int planes_separate(TileRun *run)
{
    return separate(run, 0);
}

#if defined(__GNUC__)
/* A vector by name: left alone, the compiler takes one direction of many elements for one. */
typedef double LaneVector __attribute__((vector_size(64)));
#define LANES_INLINE inline __attribute__((always_inline))
#else
typedef struct {
    double number[8];
} LaneVector;
#define LANES_INLINE inline
#endif

/* What is written behind an element is written again with the next one; behind the last one is the gap. */
static LANES_INLINE void repeat_by(const double *from, double *to, Py_ssize_t n, int lanes)
{
    for (Py_ssize_t i = 0; i < n; i++, to += lanes) {
        LaneVector numbers;
#if defined(__GNUC__)
        numbers = from[i] - (LaneVector){0};
#else
        for (int k = 0; k < 8; k++) numbers.number[k] = from[i];
#endif
        for (int k = 0; k < lanes; k += 8) memcpy(to + k, &numbers, sizeof(numbers));
    }
}

_Static_assert(TILE_GAP >= 7, "a vector of eight may begin at the last number");

/* Repeats each number in its place, as often as there are directions. */
TILE_CLONES
static void repeat(double *at, Py_ssize_t n, int lanes)
{
    double from[TILE_LENGTH];
    memcpy(from, at, n * sizeof(double));
    if (lanes == 8)
        repeat_by(from, at, n, 8);
    else if (lanes == 16)
        repeat_by(from, at, n, 16);
    else
        repeat_by(from, at, n, lanes);
}

/* Element by element, as the loop of all actions does: sums of what meets have the bits of one direction. */
static void run_elements(TileRun *run, int first, Py_ssize_t n)
{
    double *at[TILE_REGISTERS];
    const int lanes = run->walk.lanes;
    memcpy(at, run->at, sizeof(at));
    for (Py_ssize_t i = 0; i < n; i++) {
        for (const TileAction *a = run->action + first, *end = run->action + run->actions; a < end; a++) {
            const uint8_t used[] = {a->x, a->y, a->z, a->w, a->in, a->out};
            for (int k = 0; k < 6; k++) run->at[used[k]] = at[used[k]] + i * lanes;
        }
        run_actions(run, first, run->actions, lanes);
    }
    memcpy(run->at, at, sizeof(at));
}

void lanes_run(TileRun *run, Py_ssize_t n)
{
    int first = 0, k = 0;
    while (run->action[k].kind != LANES) k++;
    run_actions(run, 0, k, n);
    if (run->compiled_rows) {
        run->compiled[run->action[run->actions - 1].code](run->at, n);
        return;
    }
    for (first = k + 1; first < run->actions && run->action[first].kind == LANES; first++)
        repeat(run->at[run->action[first].w], n, run->walk.lanes);
    if (run->walk.meet)
        run_elements(run, first, n);
    else
        run_actions(run, first, run->actions, n * run->walk.lanes);
}
