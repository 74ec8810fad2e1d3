/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a run. */
#ifndef CODIPY_PROGRAMS_TILES_SPACE_H
#define CODIPY_PROGRAMS_TILES_SPACE_H
#include "codipy/programs/tiles/plan.h"

extern int space_is_short; /* for tests: no memory */

/* NULL if there is no memory. */
TileRun *space_take(void);
void space_give(TileRun *run);
#endif
