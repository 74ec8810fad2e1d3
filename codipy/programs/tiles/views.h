/* SPDX-License-Identifier: Apache-2.0 */
/* How strided memory gets into a tile and back. */
#ifndef CODIPY_PROGRAMS_TILES_VIEWS_H
#define CODIPY_PROGRAMS_TILES_VIEWS_H
#include "codipy/programs/tiles/walk.h"
#include <string.h>

/* Copies the current tile from memory, and to it. */
void view_gather(const TileWalk *walk, const TileView *view, double *to);
void view_assign(const TileWalk *walk, const TileView *view, const double *from);

/* The sum in eight lanes: the order is the same for every instruction set. */
double lane_sum(const double *from, Py_ssize_t n);

/* Adds a tile to memory; elements that share a place add up. */
void view_deposit(TileWalk *walk, const TileView *view, const double *from);

/* Zeroes what the current tile sees. */
void view_clear(const TileWalk *walk, const TileView *view);

/* Whether all are zero: 1 if all bits are, 2 if a zero is negative. */
enum { NEGATIVE_ZERO = 2 };
static inline int all_zero(const double *from, Py_ssize_t n)
{
    enum { BLOCK = 32 }; /* looked at together, by vectors: a sweep may pass many adjoints that nothing flows into */
    Py_ssize_t i = 0;
    uint64_t signs = 0;
    if (from[0] != 0 || from[n - 1] != 0) return 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        uint64_t number[BLOCK], any = 0;
        memcpy(number, from + i, sizeof(number));
        for (int k = 0; k < BLOCK; k++) any |= number[k];
        if (any << 1) return 0; /* a bit beside the sign */
        signs |= any;
    }
    for (; i < n; i++) {
        uint64_t number;
        if (from[i] != 0) return 0;
        memcpy(&number, from + i, sizeof(number));
        signs |= number;
    }
    return signs ? NEGATIVE_ZERO : 1;
}
#endif
