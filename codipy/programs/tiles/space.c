/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a run, 100 kB or, where it carries several directions, up to 800 kB that lie on no stack: threads may have
 * stacks of 128 kB, as musl gives them.
 *
 * The run that was given back last serves the next call of any thread; calls at the same time, and calls inside of
 * calls, get others. Rejected: one for each thread, which somebody has to free at the thread's end. */
#include "codipy/programs/tiles/space.h"
#include <stdlib.h>

#if defined(__GNUC__)
#define SPACE_EXCHANGE(run) __atomic_exchange_n(&space_spare, run, __ATOMIC_ACQ_REL)
static TileRun *space_spare;
#else
#include <intrin.h>
#define SPACE_EXCHANGE(run) (TileRun *)_InterlockedExchangePointer(&space_spare, run)
static void *volatile space_spare;
#endif

int space_is_short = 0;

TileRun *space_take(void)
{
    TileRun *run = SPACE_EXCHANGE(NULL);
    if (run && !space_is_short) return run;
    free(run);
    return space_is_short ? NULL : (TileRun *)malloc(sizeof(TileRun));
}

void space_give(TileRun *run)
{
    TileRun *other = SPACE_EXCHANGE(run);
    if (other) free(other);
}
