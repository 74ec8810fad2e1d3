/* SPDX-License-Identifier: Apache-2.0 */
/* From a program to the list of loops that one tile runs, and the registers they use.
 *
 * A call makes its list anew: that takes as long as a few loops over ten elements, and it depends on which operands are
 * active and which arrays can be used in place. */
#ifndef CODIPY_PROGRAMS_TILES_PLAN_H
#define CODIPY_PROGRAMS_TILES_PLAN_H
#include "codipy/operations/array_loops.h"
#include "codipy/programs/tiles/views.h"

/* A value register and a flow register (adjoint or tangent) for each operand and step. */
enum {
    VALUES = TILE_OPERANDS + TILE_STEPS,
    AUXILIARY_REGISTER = 2 * VALUES,
    ONES_REGISTER, /* of sweeps in several directions, as all behind it, see lanes.h */
    TILE_REGISTERS = 255,
    TILE_ACTIONS = 7 * TILE_STEPS, /* a value, two pulls with functions */
    TILE_COMPILED = 16,
    NUMPY_BUFFER = 8192, /* elements: NumPy copies arrays of several dimensions into these, unless rows are longer */
    TILE_ROOM = ONES_REGISTER * (TILE_SHORT_ROW + TILE_GAP), /* doubles: room for a short row in every register */
    LANE_ROOM = 8 * TILE_ROOM                                /* the same, of several directions */
};

/* Whether NumPy weighs what copying costs, as since 2.3. Before, it copies rows that are shorter than the buffer, but
   not what is left in the last row for the last buffer: there last bits may be others than NumPy's. */
extern int tile_numpy_weighs;

/* LANES: see lanes.h. ARGUMENT and FUNCTION go before a PULL whose partial needs a function: of x, or of what ARGUMENT computes. */
typedef enum { VALUE, PAIR, ARGUMENT, FUNCTION, PULL, COMPILED, LANES } TileKind;

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
    uint8_t planes;    /* several directions, each in a plane */
    uint8_t compiled_rows; /* several directions side by side: one loop has the flows, and no partial need be repeated */
    uint8_t raw_view[TILE_OPERANDS];
    TileCompiled compiled[TILE_COMPILED];
    double *at[TILE_REGISTERS];
    double room[LANE_ROOM + 8];
} TileRun;

static inline void run_begin(TileRun *run, const TileProgram *program)
{
    run->single = program->single;
    run->root = (uint8_t)(program->operands + program->steps - 1);
    run->actions = run->bindings = run->slots = run->slotted = 0;
    run->constant = run->raw = run->by_rows = 0;
    run->planes = run->compiled_rows = 0;
}

/* How many registers of a sweep in several directions have memory, at most: beside values and flows each partial. */
static inline int lane_registers(int values)
{
    const int some = 3 * values, all = TILE_REGISTERS - ONES_REGISTER;
    return 2 * values + 3 + (some < all ? some : all);
}

/* Call when all arrays are there. Rows are put together only if they fit even where the value and the flow of every
   register, and the auxiliary one, have memory of the tile. */
static inline void run_close(TileRun *run)
{
    if (run->walk.lanes > 1 || run->planes)
        walk_close(&run->walk, lane_registers(run->root + 1), LANE_ROOM);
    else
        walk_close(&run->walk, 2 * (run->root + 1) + 2, TILE_ROOM);
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

/* Where the flow of a register is; `minus`: what is there is its negative. */
typedef struct {
    uint8_t reg, minus;
} TileFlow;

/* Finds the operands whose rows NumPy's loops see; if they go back or stand still, no tile may span rows. */
void find_rows_seen(TileRun *run, const TileProgram *program);

/* Which registers a sweep reads and pulls on if the operands of `active` are differentiated. */
void find_activity(const TileProgram *program, uint32_t active, TileActivity *registers);

/* The loops of the values, two steps in one where that saves memory traffic. */
void plan_values(TileRun *run, const TileProgram *program);

/* For few elements, which neither fill the cache nor pay the search for pairs. */
void plan_short(TileRun *run, const TileProgram *program);

/* Whether a partial is 1 or -1. */
static inline int is_unit(const TileStep *step, int argument)
{
    return tile_unit[step->code] >> argument & 1;
}

/* Adjoints that meet others within a tile, such as those of u[:-2] and u[2:], are summed in the tile and added at its
   end: a compiled loop adds to each array once for all of its steps, and vectors that overlap wait for each other. Where a
   vector is the directions of one element there are none that overlap, only such that are the same. */
void gather_crowded(TileWalk *walk, int operands, const TileActivity *registers, const uint8_t *flow);

/* Binds the values of operands that a sweep reads, and gives those that it computes their memory. `value`: which views they
   are. */
void plan_registers(TileRun *run, const TileProgram *program, const TileActivity *registers, const uint8_t *value);

/* The loops of the sweep back, of the values that it computes first. What is pulled into once, by a partial that is 1 or
   -1, is not copied: it shares the memory it would be a copy of. Adjoints in place are always added to. */
void plan_reverse(TileRun *run, const TileProgram *program, TileActivity *registers, int seed, const uint8_t *flow);

/* The tangent of each step from those of its arguments, in the order of the values. */
void plan_tangent(TileRun *run, const TileProgram *program, const TileActivity *registers, const uint8_t *flow);
#endif
