/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps in several directions: what reads no flow runs once for a tile, the rest over the numbers of all directions.
 *
 * The directions of an element lie side by side. So values and partials are computed as in one direction, partials are
 * repeated, and flows are multiplied by them in loops over a tile that is so many times as long: all whole vectors, and the
 * bits of one direction. Rejected: direction after direction, which gathers single numbers from all memory each time; to
 * repeat values instead, which divides for each direction; loops of their own that multiply by one partial after the other,
 * which are not compiled together with what comes before and after. Long arrays have a plane for each direction instead, and
 * eight directions are vectors of compiled loops: docs/design/compiled_loops.md. */
#ifndef CODIPY_PROGRAMS_TILES_LANES_H
#define CODIPY_PROGRAMS_TILES_LANES_H
#include "codipy/programs/tiles/tile.h"

/* How many directions a tile carries, so that a short row of them fits into every register. Where there is one row, whose
   tiles may be short, they are more: what is part of all directions has to be gathered, and planned for each part. */
int lanes_for(const TileSweep *sweep);

/* Call when the list of actions is complete and before it is cut: puts first what reads no flow. 0 if there are not so many
   registers. */
int lanes_separate(TileRun *run);

/* The same where each direction has a plane: puts a LANES action between what reads no flow and the rest. What is multiplied
   by a value stays as it is. */
int planes_separate(TileRun *run);

/* All loops, over the `n` elements of the current tile. */
void lanes_run(TileRun *run, Py_ssize_t n);
#endif
