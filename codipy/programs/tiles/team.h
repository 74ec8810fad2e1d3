/* SPDX-License-Identifier: Apache-2.0 */
/* One call on several threads: the tiles stay what they are, and each thread takes some of them.
 *
 * So no bit depends on how many threads there are. Threads are started for one call and end with it: nothing is there
 * that a fork or the end of the interpreter could find in a wrong state. Rejected: one part of the shape for each
 * thread, whose tiles would be others; and threads that wait for work, which would save 10 to 30 us of a call. */
#ifndef CODIPY_PROGRAMS_TILES_TEAM_H
#define CODIPY_PROGRAMS_TILES_TEAM_H
#include "codipy/programs/tiles/space.h"

#if !defined(_WIN32) && defined(__GNUC__)
#define TILE_HAS_THREADS 1
#else
#define TILE_HAS_THREADS 0 /* calls then stay on the thread they come from */
#endif

enum { TILE_THREADS = 256 };

/* Elementary operations on an element that a thread must get, about 100 us of work. Starting and ending a thread takes
   19 us on two idle cores, 40 to 80 us on busy ones. */
extern Py_ssize_t tile_share;

/* What one call is about: values, which have no result yet, or a sweep. `lhs` is assigned or consumed. */
typedef struct {
    const TileSweep *sweep;
    double *lhs;
    const Py_ssize_t *lhs_strides; /* bytes for values, else doubles */
    int keep, lanes; /* directions side by side: 0 is one */
    const TilePlanes *planes; /* NULL, or directions of which each has a plane */
} TileCall;

typedef void (*TilePart)(TileRun *run, const TileCall *call, TileTeam *team);

/* How many threads run one call at most. */
int team_size(void);
void team_set_size(int threads);

/* How many threads are worth it: 1 for most calls. */
int team_for(const TileSweep *sweep);

/* Before the threads start: one that looks a loop up takes the GIL, and the caller waits for it. */
void find_loops(const TileProgram *program);

/* Runs a call by that many threads, and returns when all is done; -1, and nothing is done, if there is no memory. */
int team_run(TilePart part, const TileCall *call, int threads);

/* Makes a thread's walk take tiles of the team; 0 if it goes over all of them alone. */
int team_enter(TileTeam *team, TileRun *run);

/* Goes to the next tile that this thread has; 0 if all are taken. */
int team_take(TileWalk *walk);

/* The number of elements in the next tile; 0 after the last. */
static inline Py_ssize_t run_next(TileRun *run)
{
    return run->walk.team && !team_take(&run->walk) ? 0 : walk_next(&run->walk);
}
#endif
