/* SPDX-License-Identifier: Apache-2.0 */
/* What second order runs for one tile: a list of loops, those that serve all directions first. */
#ifndef CODIPY_PROGRAMS_TILES_SECOND_PLAN_H
#define CODIPY_PROGRAMS_TILES_SECOND_PLAN_H
#include "codipy/programs/tiles/second.h"
#include "codipy/programs/tiles/tile.h"

/* What one loop does. Those from COPY on are the same for adjoints, tangents and tangents of adjoints:
   PUSH  out = a * b, 0 where a is 0              SIFT   likewise, 0 where b is 0 too
   PULL  out = a * b, 0 where a is 0, and where the adjoint c is 0 and b is not finite; PULL_SIFT
   CURVE out = a * b, 0 where a is 0 or the adjoint c is 0
   CURVED out = PULL of a, b, c and CURVE of d, e, c
   Each but SUM and DIFFERENCE has a twin that adds. */
typedef enum {
    SECOND_VALUE, SECOND_PARTIAL, SECOND_CURVATURE,
    COPY, COPY_ADD, NEGATE, NEGATE_ADD, SUM, DIFFERENCE,
    PUSH, PUSH_ADD, SIFT, SIFT_ADD, PULL_, PULL_ADD, PULL_SIFT, PULL_SIFT_ADD, CURVE, CURVE_ADD, CURVED, CURVED_ADD
} SecondKind;

/* VALUE: x, y, z, w. PARTIAL: x, y, z, w, out. CURVATURE: x, y, z, w, p, q, a, out. Others: out is the last of six. */
typedef struct {
    int16_t code;
    uint8_t kind, place;
    int16_t reg[8];
} SecondAction;

enum {
    MOST_SECOND = 4 * VALUES + 10 * TILE_STEPS, /* registers */
    OUT = 5
};

struct TileSecondPlan {
    struct TileSecondPlan *next;
    uint32_t active;
    int flows; /* whether there is anything to do */
    int part, registers, once, actions; /* actions: the first `once` for all directions, the others for each */
    int16_t ones, auxiliary, bar, lhs;          /* registers */
    int16_t tangent[TILE_OPERANDS];             /* of the operands, 0 where it is not read */
    int16_t deposit[TILE_OPERANDS];             /* D of the operands, 0 where there is none */
    uint8_t needed[VALUES];
    SecondAction action[];
};
#endif
