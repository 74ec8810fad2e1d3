/* SPDX-License-Identifier: Apache-2.0 */
/* From a program to the list of loops that one tile runs, and the registers they use.
 *
 * A call makes its list anew: that takes as long as a few loops over ten elements, and it depends on which operands are
 * active and which arrays can be used in place. */
#ifndef CODIPY_PROGRAMS_TILE_PLAN_H
#define CODIPY_PROGRAMS_TILE_PLAN_H
#include "codipy/programs/tile_loops.h"
#include "codipy/programs/tile_single.h"
#include "codipy/programs/tile_walk.h"

/* A value register and a flow register (adjoint or tangent) for each operand and step. */
enum {
    VALUES = TILE_OPERANDS + TILE_STEPS,
    AUXILIARY_REGISTER = 2 * VALUES,
    TILE_REGISTERS,
    TILE_ACTIONS = 7 * TILE_STEPS, /* a value, two pulls with functions */
    TILE_COMPILED = 16,
    NUMPY_BUFFER = 8192, /* elements: NumPy copies arrays of several dimensions into these, unless rows are longer */
    TILE_ROOM = TILE_REGISTERS * (TILE_SHORT_ROW + TILE_GAP) /* doubles: room for a short row in every register */
};

/* Whether NumPy weighs what copying costs, as since 2.3. Before, it copies rows that are shorter than the buffer, but
   not what is left in the last row for the last buffer: there last bits may be others than NumPy's. */
static int tile_numpy_weighs = 1;

/* ARGUMENT and FUNCTION go before a PULL whose partial needs a function: of x, or of what ARGUMENT computes. */
typedef enum { VALUE, PAIR, ARGUMENT, FUNCTION, PULL, COMPILED } TileKind;

/* Several actions in one loop of machine code: over the registers' memory, so many elements. */
typedef void (*TileCompiled)(double *const *at, Py_ssize_t n);

typedef struct {
    int16_t code;       /* of a compiled one: which */
    uint8_t kind, argument;
    uint8_t mode;       /* of a pull: 1 adds, 2 takes the negative, 4 sifts; of a pair: the side of the inner step */
    uint8_t outer;      /* of a pair: the second step's code */
    uint8_t x, y, z, w; /* registers of values */
    uint8_t in, out;    /* registers of flows */
} TileAction;

typedef enum { LOAD, STORE, DEPOSIT } TileRole;

/* A register that is an array, or is read from one before a tile or written to one after it. */
typedef struct {
    uint8_t reg, view, role;
} TileBinding;

/* What one call does, in the order of each tile. */
typedef struct {
    TileWalk walk;
    int actions, bindings, slots;
    TileAction action[TILE_ACTIONS];
    TileBinding binding[TILE_VIEWS];
    int slotted;
    uint8_t reg_of[TILE_REGISTERS], slot_of[TILE_REGISTERS]; /* the registers that have memory of the tile */
    uint32_t constant; /* bits: operands that are one element for a whole row, which NumPy's loops are told */
    uint32_t raw;      /* bits: operands that NumPy's loops must see with their strides */
    uint32_t by_rows;  /* bits: operands whose rows NumPy does not copy */
    int32_t single;    /* of the program */
    uint8_t root;      /* the register of the result */
    uint8_t raw_view[TILE_OPERANDS];
    TileCompiled compiled[TILE_COMPILED];
    double *at[TILE_REGISTERS];
    double room[TILE_ROOM + 8];
} TileRun;

static inline void run_begin(TileRun *run, const TileProgram *program)
{
    run->single = program->single;
    run->root = (uint8_t)(program->operands + program->steps - 1);
    run->actions = run->bindings = run->slots = run->slotted = 0;
    run->constant = run->raw = run->by_rows = 0;
}

/* Call when all arrays are there. Rows are put together only if they fit even where the value and the flow of every
   register, and the auxiliary one, have memory of the tile. */
static inline void run_close(TileRun *run)
{
    walk_close(&run->walk, longest_tile(2 * (run->root + 1) + 2, TILE_ROOM));
}

/* Gives a register memory of the tile, its own or one that is free again. */
static inline void run_slot(TileRun *run, int reg, int slot)
{
    run->reg_of[run->slotted] = (uint8_t)reg;
    run->slot_of[run->slotted++] = (uint8_t)slot;
    if (slot >= run->slots) run->slots = slot + 1;
}

static inline void run_bind(TileRun *run, int reg, int view, TileRole role)
{
    TileBinding *binding = &run->binding[run->bindings++];
    binding->reg = (uint8_t)reg;
    binding->view = (uint8_t)view;
    binding->role = (uint8_t)role;
    if (run->walk.view[view].access != IN_PLACE) run_slot(run, reg, run->slots);
}

/* Says that a register, which may share its memory with others, is added to an array after a tile. */
static inline void run_bind_deposit(TileRun *run, int reg, int view)
{
    TileBinding *binding = &run->binding[run->bindings++];
    binding->reg = (uint8_t)reg;
    binding->view = (uint8_t)view;
    binding->role = (uint8_t)DEPOSIT;
}

/* Binds an operand's values. NumPy's loops get the stride that they get from NumPy. */
static inline void run_bind_operand(TileRun *run, int reg, int view)
{
    TileView *array = &run->walk.view[view];
    const int rows = !run->walk.joined && (run->walk.inner >= NUMPY_BUFFER || run->by_rows >> reg & 1);
    if (array->constant || (rows && array->inner == 0)) run->constant |= 1u << reg;
    if (array->access == GATHERED && (array->flat || (rows && array->inner < 0))) run->raw |= 1u << reg;
    run->raw_view[reg] = (uint8_t)view;
    /* A number beside float32 arrays is rounded first, as by NumPy: never in place. */
    if (run->single == TILE_SINGLE && array->constant) array->access = FIXED;
    run_bind(run, reg, view, LOAD);
}

/* Which arguments of a step NumPy's iterator leaves as they lie: bits. Operand r must be view r. It copies those that
   have not one stride over as many dimensions as it takes together, and takes another dimension together while that
   makes the inner loops longer by more than copying costs. What is no operand lies side by side. */
static int seen_by_rows(const TileWalk *walk, const TileProgram *program, const TileStep *step)
{
    const int arity = tile_arity[step->code], last = walk->dims - 1;
    int together[3] = {1, 1, 1}, cost = 1, best_cost = 1, best = 0, seen = 0;
    double size = (double)walk->shape[last], best_size = size;
    for (int d = last - 1; d >= 0 && (cost == 1 || size < NUMPY_BUFFER); d--) {
        const int outside = last - d;
        for (int k = 0; k < arity; k++) {
            if (step->sources[k] >= program->operands) continue;
            const Py_ssize_t *strides = walk->view[step->sources[k]].strides;
            if (together[k] < outside) continue;
            if (strides[d] == strides[d + 1] * walk->shape[d + 1])
                together[k]++;
            else
                cost++;
        }
        size *= (double)walk->shape[d];
        if (cost * best_size <= best_cost * (cost > 1 && size > NUMPY_BUFFER ? NUMPY_BUFFER : size)) {
            best_cost = cost;
            best_size = size;
            best = outside;
        }
    }
    for (int k = 0; k < arity; k++) seen |= (together[k] > best) << k;
    return seen;
}

/* Finds the operands whose rows NumPy's loops see; if they go back or stand still, no tile may span rows. */
static void find_rows_seen(TileRun *run, const TileProgram *program)
{
    TileWalk *walk = &run->walk;
    const int joined = walk->joined;
    for (int s = 0; s < program->steps && walk->dims > 1 && tile_numpy_weighs; s++) {
        const TileStep *step = &program->step[s];
        const int seen = tile_is_exact[step->code] ? 0 : seen_by_rows(walk, program, step);
        for (int k = 0; k < tile_arity[step->code]; k++) {
            const int r = step->sources[k];
            if (!(seen >> k & 1) || r >= program->operands) continue;
            run->by_rows |= 1u << r;
            if (walk->view[r].inner <= 0 && !walk->view[r].flat) walk->joined = 0;
        }
    }
    if (walk->joined != joined) walk_access(walk);
}

/* Reads what is not used in place; a number beside float32 arrays is rounded. */
static inline void run_gather(TileRun *run, const TileBinding *binding, const TileView *view)
{
    double *to = run->at[binding->reg];
    view_gather(&run->walk, view, to);
    if (run->single == TILE_SINGLE && view->access == FIXED && binding->reg < VALUES)
        tile_round(run->walk.taken * run->walk.length, to);
}

static inline TileAction *run_action(TileRun *run, TileKind kind, const TileProgram *program, int step)
{
    const TileStep *s = &program->step[step];
    const int arity = tile_arity[s->code];
    TileAction *action = &run->action[run->actions++];
    action->kind = (uint8_t)kind;
    action->code = (int16_t)s->code;
    action->argument = action->mode = action->outer = 0; /* a compiled loop is found by all bytes */
    action->x = (uint8_t)s->sources[0];
    action->y = arity > 1 ? (uint8_t)s->sources[1] : action->x;
    action->z = arity > 2 ? (uint8_t)s->sources[2] : action->x;
    action->w = (uint8_t)(program->operands + step);
    action->in = action->out = 0;
    return action;
}

/* One register in a sweep. */
typedef struct {
    uint8_t active;  /* carries a derivative */
    uint8_t needed;  /* its value is read */
    uint8_t pulls;   /* how often a step pulls on it */
    uint8_t reached; /* it has an adjoint already */
} TileActivity;

static inline int is_pulled(const TileStep *step, const TileActivity *registers, int argument)
{
    return (tile_active[step->code] >> argument & 1) && registers[step->sources[argument]].active;
}

/* `known`: whether the value of the result can be read, so that nothing need be read to compute it again. */
static void find_activity(const TileProgram *program, uint32_t active, int known, TileActivity *registers)
{
    const int operands = program->operands;
    for (int r = 0; r < operands; r++) registers[r] = (TileActivity){active >> r & 1, 0, 0, 0};
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s];
        TileActivity *w = &registers[operands + s];
        *w = (TileActivity){0, 0, 0, 0};
        for (int k = 0; k < tile_arity[step->code]; k++) {
            if (!is_pulled(step, registers, k)) continue;
            const int needs = tile_needs[step->code][k];
            w->active = 1;
            registers[step->sources[k]].pulls++;
            if (needs & 1) registers[step->sources[0]].needed = 1;
            if (needs & 2) registers[step->sources[1]].needed = 1;
            if (needs & 4) registers[step->sources[2]].needed = 1;
            if (needs & 8) w->needed = 1;
        }
    }
    for (int s = program->steps - 1 - (known != 0); s >= 0; s--) {
        const TileStep *step = &program->step[s];
        if (registers[operands + s].needed)
            for (int k = 0; k < tile_arity[step->code]; k++) registers[step->sources[k]].needed = 1;
    }
}
#endif
