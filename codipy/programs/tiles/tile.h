/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the loops of one tile; reads its arrays before and writes them after. */
#ifndef CODIPY_PROGRAMS_TILES_TILE_H
#define CODIPY_PROGRAMS_TILES_TILE_H
#include "codipy/programs/tiles/plan.h"
#include "codipy/programs/tiles/single.h"
#include "codipy/programs/tiles/ufuncs.h"

/* The loop of a ufunc over registers. */
void run_loop(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n);

/* One operation: NumPy's loop where there is one, else the table's. */
static inline void run_value(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n)
{
    find_loop(code);
    if (!tile_is_exact[code] && tile_loops[code].function)
        run_loop(run, code, registers, from, to, n);
    else
        tile_value(code, n, from[0], from[1], from[2], to);
}

/* One operation as the program has it, rounded to float32 where all steps are. */
void run_step(
    const TileRun *run, int code, const int *registers, const double *const *from, double *to, Py_ssize_t n);

/* Reads what is not used in place; a number beside float32 arrays is rounded. */
static inline void run_gather(TileRun *run, const TileBinding *binding, const TileView *view)
{
    double *to = run->at[binding->reg];
    view_gather(&run->walk, view, to);
    if (run->single == TILE_SINGLE && view->access == FIXED && binding->reg < VALUES)
        tile_round(run->walk.taken * run->walk.length, to);
}

/* All loops, over the `n` elements of the current tile. */
void run_tile(const TileRun *run, Py_ssize_t n);

/* Some of them. */
void run_actions(const TileRun *run, int first, int last, Py_ssize_t n);

/* Gives the registers their memory; call when the list of actions is complete. */
void run_cut(TileRun *run);

/* Before a tile and after it. */
void run_load(TileRun *run, int is_first);
/* The same of what all directions read, and of what one of several has, each in a plane. */
void run_load_values(TileRun *run, int is_first);
void run_load_plane(TileRun *run);
void run_store(TileRun *run);
#endif
