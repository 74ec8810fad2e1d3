/* SPDX-License-Identifier: Apache-2.0 */
/* Consecutive loops of a tile as straight-line code over one element: what is compiled into one loop.
 *
 * The same operations in the same order as one loop after the other, so the same bits. That holds since a plan adds in
 * place to arrays that are apart within a tile (`gather_crowded`), and assigns to one that no operand meets elsewhere. */
#ifndef CODIPY_PROGRAMS_NATIVE_LINES_H
#define CODIPY_PROGRAMS_NATIVE_LINES_H
#include "codipy/operations/formulas.h"
#include "codipy/programs/tiles/plan.h"

/* What a line gives. The first four are read when they are used: READ an element of an array, READ_EACH, of a loop over rows,
   one number for all of an element's, READ_ONE what is the same for all elements, NUMBER a constant of a formula. SIZE is the
   bits of a & b: with all but the sign, the absolute value. GATED is a * b where a is not zero, else 0; SIFTED is b where a
   is not zero, else 0. */
typedef enum { READ, READ_EACH, READ_ONE, NUMBER, ADD, SUBTRACT, MULTIPLY, DIVIDE, ROOT, OPPOSITE, SIZE, GATED, SIFTED, WRITE } LineKind;

enum {
    ALL_BUT_SIGN = FORMULA_NUMBERS, /* a number more: the bits that fabs() keeps */
    LINE_NUMBERS,
    MOST_LINES = 480
};

/* `reg`: the register that is read or written, or which number; `a` and `b`: the lines whose values are taken. */
typedef struct {
    uint8_t kind, reg;
    int16_t a, b;
} Line;

typedef struct {
    int count, full;   /* full: a line more was wanted than there is room for */
    uint32_t constant; /* as of a run */
    int by_rows;       /* each element has several numbers, of which the registers behind ONES_REGISTER have one */
    Line line[MOST_LINES];
    int16_t value[TILE_REGISTERS], number[LINE_NUMBERS]; /* the line that gives it; -1: none yet */
} Lines;

/* What an action computes as a formula; an empty one if it has none. */
const char *formula_of(const TileAction *action);

/* `kept`: bits, the registers that somebody reads later; the others stay in the processor. They are written in the order of
   their last assignments, since a register may get the memory of one that was read before. 0: too many lines. */
int lines_of(
    Lines *lines, const TileAction *action, int actions, uint32_t constant, int by_rows, const uint32_t *kept);
#endif
