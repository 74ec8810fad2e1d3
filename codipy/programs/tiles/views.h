/* SPDX-License-Identifier: Apache-2.0 */
/* How strided memory gets into a tile and back. */
#ifndef CODIPY_PROGRAMS_TILES_VIEWS_H
#define CODIPY_PROGRAMS_TILES_VIEWS_H
#include "codipy/programs/tiles/walk.h"

/* Copies the current tile from memory, and to it. */
void view_gather(const TileWalk *walk, const TileView *view, double *to);
void view_assign(const TileWalk *walk, const TileView *view, const double *from);

/* The sum in eight lanes: the order is the same for every instruction set. */
double lane_sum(const double *from, Py_ssize_t n);

/* Adds a tile to memory; elements that share a place add up. */
void view_deposit(TileWalk *walk, const TileView *view, const double *from);

/* Zeroes what the current tile sees. */
void view_clear(const TileWalk *walk, const TileView *view);

/* Whether all are zero, of either sign. */
static inline int all_zero(const double *from, Py_ssize_t n)
{
    if (from[0] != 0 || from[n - 1] != 0) return 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (from[i] != 0) return 0;
    return 1;
}
#endif
