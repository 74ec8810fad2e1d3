/* SPDX-License-Identifier: Apache-2.0 */
/* Consecutive loops of a tile as straight-line code over one element: what is compiled into one loop.
 *
 * The same operations in the same order as one loop after the other, so the same bits. That holds since a plan adds in
 * place to arrays that are apart within a tile (`find_crowded`), and assigns to an array that no operand meets elsewhere. */
#ifndef CODIPY_PROGRAMS_TILE_LINES_H
#define CODIPY_PROGRAMS_TILE_LINES_H
#include "codipy/programs/tile_plan.h"

/* The first three are read when they are used; GATED is a * b where a is not zero, else 0. */
typedef enum { READ, READ_ONE, NUMBER, ADD, SUBTRACT, MULTIPLY, DIVIDE, ROOT, OPPOSITE, SIZE, GATED, WRITE } LineKind;

typedef enum { ZERO, ONE, TWO, HALF, SIGN_BIT, OTHER_BITS, NUMBERS } LineNumber;

static const uint64_t line_numbers[NUMBERS] = {
    0, 0x3FF0000000000000, 0x4000000000000000, 0x3FE0000000000000, 0x8000000000000000, 0x7FFFFFFFFFFFFFFF};

/* `reg`: the register that is read or written, or which number; `a` and `b`: the lines whose values are taken. */
typedef struct {
    uint8_t kind, reg;
    int16_t a, b;
} Line;

enum { MOST_LINES = 400, LEAST_ROOM = 16 }; /* an action takes fewer than that */

typedef struct {
    int count;
    uint32_t constant; /* as of a run */
    Line line[MOST_LINES + TILE_REGISTERS];
    int16_t value[TILE_REGISTERS], number[NUMBERS]; /* the line that gives it; -1: none yet */
} Lines;

static inline int line_add(Lines *lines, LineKind kind, int reg, int a, int b)
{
    lines->line[lines->count] = (Line){(uint8_t)kind, (uint8_t)reg, (int16_t)a, (int16_t)b};
    return lines->count++;
}

static inline int line_number(Lines *lines, LineNumber which)
{
    if (lines->number[which] < 0) lines->number[which] = (int16_t)line_add(lines, NUMBER, which, -1, -1);
    return lines->number[which];
}

static inline int line_value(Lines *lines, int reg)
{
    if (lines->value[reg] < 0) {
        const int one = reg < TILE_OPERANDS && lines->constant >> reg & 1;
        lines->value[reg] = (int16_t)line_add(lines, one ? READ_ONE : READ, reg, -1, -1);
    }
    return lines->value[reg];
}

static inline int line_gated(Lines *lines, int g, int partial)
{
    line_number(lines, ZERO);
    return line_add(lines, GATED, 0, g, partial);
}

static inline int line_opposite(Lines *lines, int a)
{
    return line_add(lines, OPPOSITE, 0, a, line_number(lines, SIGN_BIT));
}

static inline int line_size(Lines *lines, int a)
{
    return line_add(lines, SIZE, 0, a, line_number(lines, OTHER_BITS));
}

/* Whether a step's value is a line or two; of the others, what is not rounded correctly is NumPy's. */
static int has_value_lines(int code)
{
    switch (code) {
    case OP_ADD: case OP_SUBTRACT: case OP_MULTIPLY: case OP_DIVIDE: case OP_NEGATIVE: case OP_POSITIVE: case OP_IDENTITY:
    case OP_ABSOLUTE: case OP_FABS: case OP_SQUARE: case OP_RECIPROCAL: case OP_SQRT: return 1;
    }
    return 0;
}

static int lines_value(Lines *lines, int code, int x, int y)
{
    switch (code) {
    case OP_ADD: return line_add(lines, ADD, 0, x, y);
    case OP_SUBTRACT: return line_add(lines, SUBTRACT, 0, x, y);
    case OP_MULTIPLY: return line_add(lines, MULTIPLY, 0, x, y);
    case OP_DIVIDE: return line_add(lines, DIVIDE, 0, x, y);
    case OP_NEGATIVE: return line_opposite(lines, x);
    case OP_ABSOLUTE: case OP_FABS: return line_size(lines, x);
    case OP_SQUARE: return line_add(lines, MULTIPLY, 0, x, x);
    case OP_RECIPROCAL: return line_add(lines, DIVIDE, 0, line_number(lines, ONE), x);
    case OP_SQRT: return line_add(lines, ROOT, 0, x, -1);
    }
    return x;
}

static int has_pull_lines(int code, int argument)
{
    if (tile_unit[code] >> argument & 1) return 1;
    switch (code) {
    case OP_MULTIPLY: case OP_DIVIDE: case OP_SQUARE: case OP_RECIPROCAL: case OP_SQRT: case OP_EXP: case OP_LOG: return 1;
    }
    return 0;
}

/* The partial of a step: the formulas of the operations table. */
static int lines_partial(Lines *lines, const TileAction *action)
{
    int w, y;
    switch (action->code) {
    case OP_MULTIPLY: return line_value(lines, action->argument ? action->x : action->y);
    case OP_DIVIDE:
        y = line_value(lines, action->y);
        if (action->argument == 0) return line_add(lines, DIVIDE, 0, line_number(lines, ONE), y);
        return line_add(lines, DIVIDE, 0, line_opposite(lines, line_value(lines, action->w)), y);
    case OP_SQUARE: return line_add(lines, MULTIPLY, 0, line_number(lines, TWO), line_value(lines, action->x));
    case OP_RECIPROCAL:
        w = line_value(lines, action->w);
        return line_add(lines, MULTIPLY, 0, line_opposite(lines, w), w);
    case OP_SQRT: return line_add(lines, DIVIDE, 0, line_number(lines, HALF), line_size(lines, line_value(lines, action->w)));
    case OP_LOG: return line_add(lines, DIVIDE, 0, line_number(lines, ONE), line_value(lines, action->x));
    }
    return line_value(lines, action->w);
}

static void lines_pull(Lines *lines, const TileAction *action)
{
    const int g = line_value(lines, action->in), code = action->code, argument = action->argument;
    int p = g, minus = action->mode >> 1 & 1;
    if (tile_unit[code] >> argument & 1)
        minus ^= tile_minus[code] >> argument & 1;
    else
        p = line_gated(lines, g, lines_partial(lines, action));
    if (action->mode & 1)
        p = line_add(lines, minus ? SUBTRACT : ADD, 0, line_value(lines, action->out), p);
    else if (minus)
        p = line_opposite(lines, p);
    lines->value[action->out] = (int16_t)p;
}

/* Whether an action is lines; a function that runs before it is not. */
static int has_lines(const TileAction *action)
{
    if (action->kind == PAIR) return 1;
    if (action->kind == VALUE) return has_value_lines(action->code);
    return tile_auxiliary[action->code][action->argument] < 0 && has_pull_lines(action->code, action->argument);
}

static void lines_action(Lines *lines, const TileAction *action)
{
    if (action->kind == PULL) {
        lines_pull(lines, action);
        return;
    }
    const int x = line_value(lines, action->x), y = line_value(lines, action->y);
    int value = lines_value(lines, action->code, x, y);
    if (action->kind == PAIR) {
        const int z = line_value(lines, action->z);
        value = lines_value(lines, action->outer, action->mode ? z : value, action->mode ? value : z);
    }
    lines->value[action->w] = (int16_t)value;
}

static inline int target_of(const TileAction *action)
{
    return action->kind == PULL ? action->out : action->w;
}

/* `kept`: the registers that somebody reads later; the others stay in the processor. They are written in the order of
   their last assignments, since a register may get the memory of one that was read before. 0: too many lines. */
static int lines_of(Lines *lines, const TileAction *action, int actions, uint32_t constant, const uint8_t *kept)
{
    uint8_t last[TILE_REGISTERS];
    lines->count = 0;
    lines->constant = constant;
    for (int k = 0; k < NUMBERS; k++) lines->number[k] = -1;
    for (int reg = 0; reg < TILE_REGISTERS; reg++) lines->value[reg] = -1;
    for (int k = 0; k < actions; k++) {
        if (lines->count > MOST_LINES - LEAST_ROOM) return 0;
        lines_action(lines, &action[k]);
        last[target_of(&action[k])] = (uint8_t)k;
    }
    for (int k = 0; k < actions; k++) {
        const int reg = target_of(&action[k]);
        if (last[reg] == k && kept[reg]) line_add(lines, WRITE, reg, lines->value[reg], -1);
    }
    return 1;
}
#endif
