/* SPDX-License-Identifier: Apache-2.0 */
/* Lines from actions, and from the formulas of the table. */
#include "codipy/programs/native/lines.h"
#include <string.h>

static inline int line_add(Lines *lines, LineKind kind, int reg, int a, int b)
{
    if (lines->count == MOST_LINES) {
        lines->full = 1;
        return 0;
    }
    lines->line[lines->count] = (Line){(uint8_t)kind, (uint8_t)reg, (int16_t)a, (int16_t)b};
    return lines->count++;
}

static inline int line_number(Lines *lines, int which)
{
    if (lines->number[which] < 0) lines->number[which] = (int16_t)line_add(lines, NUMBER, which, -1, -1);
    return lines->number[which];
}

static inline int line_value(Lines *lines, int reg)
{
    if (lines->value[reg] < 0) {
        const int one = reg < TILE_OPERANDS && lines->constant >> reg & 1;
        const int each = lines->by_rows && reg > ONES_REGISTER;
        lines->value[reg] = (int16_t)line_add(lines, one ? READ_ONE : each ? READ_EACH : READ, reg, -1, -1);
    }
    return lines->value[reg];
}

static inline int line_opposite(Lines *lines, int a)
{
    return line_add(lines, OPPOSITE, 0, a, line_number(lines, FORMULA_SIGN_BIT));
}

/* The line that gives a formula's value, whose arguments x, y, z, w, e are these lines. */
static int lines_formula(Lines *lines, const char *formula, const int *arguments)
{
    static const char letters[] = "xyzwe";
    int stack[8], top = -1;
    for (; *formula; formula++) {
        if (*formula >= 'A' && *formula <= 'Z') {
            stack[++top] = line_number(lines, *formula - 'A');
            continue;
        }
        const char *letter = strchr(letters, *formula);
        if (letter) {
            stack[++top] = arguments[letter - letters];
            continue;
        }
        const int a = stack[top], b = top ? stack[top - 1] : 0;
        switch (*formula) {
        case '~': stack[top] = line_opposite(lines, a); break;
        case '|': stack[top] = line_add(lines, SIZE, 0, a, line_number(lines, ALL_BUT_SIGN)); break;
        case 'v': stack[top] = line_add(lines, ROOT, 0, a, -1); break;
        case '+': stack[--top] = line_add(lines, ADD, 0, b, a); break;
        case '-': stack[--top] = line_add(lines, SUBTRACT, 0, b, a); break;
        case '*': stack[--top] = line_add(lines, MULTIPLY, 0, b, a); break;
        case '/': stack[--top] = line_add(lines, DIVIDE, 0, b, a); break;
        }
    }
    return stack[0];
}

const char *formula_of(const TileAction *action)
{
    switch (action->kind) {
    case PAIR:
    case VALUE: return formula_value[action->code];
    case ARGUMENT: return formula_argument[action->code];
    case PULL: return formula_partial[action->code][action->argument];
    }
    return "";
}

static inline int target_of(const TileAction *action)
{
    return action->kind == PULL ? action->out : action->w;
}

static int lines_pull(Lines *lines, const TileAction *action, const int *arguments)
{
    const int g = line_value(lines, action->in), code = action->code, argument = action->argument;
    int p = g, minus = action->mode >> 1 & 1;
    if (tile_unit[code] >> argument & 1) {
        minus ^= tile_minus[code] >> argument & 1;
    } else {
        const int partial = lines_formula(lines, formula_of(action), arguments);
        line_number(lines, FORMULA_ZERO);
        p = line_add(lines, GATED, 0, g, partial);
        if (action->mode & 4) p = line_add(lines, SIFTED, 0, partial, p);
    }
    if (action->mode & 1) return line_add(lines, minus ? SUBTRACT : ADD, 0, line_value(lines, action->out), p);
    return minus ? line_opposite(lines, p) : p;
}

static void lines_action(Lines *lines, const TileAction *action)
{
    const char *formula = formula_of(action);
    int arguments[5] = {-1, -1, -1, -1, -1}, value;
    const uint8_t registers[5] = {action->x, action->y, action->z, action->w, AUXILIARY_REGISTER};
    for (int k = 0; k < 5; k++)
        if (strchr(formula, "xyzwe"[k])) arguments[k] = line_value(lines, registers[k]);
    if (action->kind == PULL) {
        value = lines_pull(lines, action, arguments);
    } else {
        value = lines_formula(lines, formula, arguments);
        if (action->kind == PAIR) {
            const int z = line_value(lines, action->z);
            const int both[2] = {action->mode ? z : value, action->mode ? value : z};
            value = lines_formula(lines, formula_value[action->outer], both);
        }
        /* The identity's value is a copy: what is read may lose its memory to a register that is written earlier. */
        if (lines->line[value].kind <= READ_ONE) value = line_add(lines, SIZE, 0, value, value);
    }
    lines->value[target_of(action)] = (int16_t)value;
}

int lines_of(
    Lines *lines, const TileAction *action, int actions, uint32_t constant, int by_rows, const uint32_t *kept)
{
    int16_t last[TILE_REGISTERS];
    lines->count = lines->full = 0;
    lines->constant = constant;
    lines->by_rows = by_rows;
    for (int k = 0; k < LINE_NUMBERS; k++) lines->number[k] = -1;
    for (int reg = 0; reg < TILE_REGISTERS; reg++) lines->value[reg] = -1;
    for (int k = 0; k < actions; k++) {
        lines_action(lines, &action[k]);
        last[target_of(&action[k])] = (int16_t)k;
    }
    for (int k = 0; k < actions; k++) {
        const int reg = target_of(&action[k]);
        if (last[reg] == k && kept[reg >> 5] >> (reg & 31) & 1) line_add(lines, WRITE, reg, lines->value[reg], -1);
    }
    return !lines->full;
}
