/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are compiled at run time, where programs/native/ is there and has code for the processor. */
#ifndef CODIPY_PROGRAMS_TILES_COMPILED_H
#define CODIPY_PROGRAMS_TILES_COMPILED_H
#include "codipy/programs/tiles/plan.h"

/* Tiles that are run loop by loop before their loops are compiled, which takes 20 to 200 us. */
extern Py_ssize_t tile_patience;

typedef enum { NO_VECTORS = -1, VECTORS_OF_4, VECTORS_OF_8 } TileVectors;

extern int tile_vectors; /* of the loops to be compiled: what the processor has */

/* Puts compiled loops in the place of loops that follow each other, where there are some. */
#if defined(CODIPY_NATIVE)
void run_compile(TileRun *run);
#else
static inline void run_compile(TileRun *run)
{
    (void)run;
}
#endif
#endif
