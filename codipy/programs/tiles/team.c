/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take tiles of one call. */
#include "codipy/programs/tiles/team.h"
#include "codipy/programs/flags.h"
#include "codipy/programs/tiles/tile.h"
#include <stdlib.h>

#if TILE_HAS_THREADS
#include <pthread.h>
#endif

enum {
    TILE_STACK = 1 << 20, /* bytes: a part needs about 20 kB, and the C library may put thread-local data there */
    TILE_FEWEST = 8,      /* tiles taken at a time */
    TILE_MOST = 64,
    TILE_TEAM_LEAST = 8192 /* elements: shorter calls may hold the GIL, which loops of SciPy may ask for */
};

Py_ssize_t tile_share = 400000;
static int tile_threads = 1;

struct TileTeam {
    TilePart part; /* what each thread runs: it makes its plan, which is the same for all, and takes tiles */
    const TileCall *call;
    Py_ssize_t tiles, taken, chunk; /* of the call; those that somebody took; how many are taken at a time */
    Py_ssize_t sums;                /* adjoints of one element for the whole shape: */
    double *sum;                    /* what each tile adds to them, added in the order of the tiles at the end */
    double *sum_to[TILE_OPERANDS];
    int threads, started;
    int flags; /* the floating-point flags that the threads raised */
#if TILE_HAS_THREADS
    pthread_t thread[TILE_THREADS];
#endif
};

/* What one thread does; -1, and nothing is done, if there is no memory. */
static int part_run(TilePart part, const TileCall *call, TileTeam *team)
{
    TileRun *run = space_take();
    if (!run) return -1;
    part(run, call, team);
    space_give(run);
    return 0;
}

#if TILE_HAS_THREADS
int team_size(void)
{
    return __atomic_load_n(&tile_threads, __ATOMIC_RELAXED);
}

void team_set_size(int threads)
{
    __atomic_store_n(&tile_threads, threads, __ATOMIC_RELAXED);
}

static Py_ssize_t team_next(TileTeam *team)
{
    return __atomic_fetch_add(&team->taken, team->chunk, __ATOMIC_RELAXED);
}

static void *team_member(void *given)
{
    TileTeam *team = given;
    flags_clear();
    part_run(team->part, team->call, team); /* without memory the others take all tiles */
    __atomic_fetch_or(&team->flags, flags_raised(), __ATOMIC_RELAXED);
    return NULL;
}

/* Where the system gives fewer threads, fewer take the same tiles. */
static void team_start(TileTeam *team)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return;
    if (!pthread_attr_setstacksize(&attributes, TILE_STACK))
        while (team->started < team->threads - 1 &&
               !pthread_create(&team->thread[team->started], &attributes, team_member, team))
            team->started++;
    pthread_attr_destroy(&attributes);
}

static void team_join(TileTeam *team)
{
    for (int k = 0; k < team->started; k++) pthread_join(team->thread[k], NULL);
    flags_raise(team->flags);
}
#else
int team_size(void)
{
    return 1;
}

void team_set_size(int threads)
{
    (void)threads;
}

static Py_ssize_t team_next(TileTeam *team)
{
    team->taken += team->chunk;
    return team->taken - team->chunk;
}

static void team_start(TileTeam *team)
{
    (void)team;
}

static void team_join(TileTeam *team)
{
    (void)team;
}
#endif

int team_for(const TileSweep *sweep)
{
    const TileProgram *program = sweep->program;
    const int most = team_size();
    if (most == 1) return 1;
    double size = 1, work = 0;
    for (int d = 0; d < sweep->dims; d++) size *= (double)sweep->shape[d];
    if (size < TILE_TEAM_LEAST) return 1;
    for (int s = 0; s < program->steps; s++) work += tile_is_exact[program->step[s].code] ? 1 : 10;
    work *= size / (double)tile_share;
    return work < 2 ? 1 : work < most ? (int)work : most;
}

void find_loops(const TileProgram *program)
{
    for (int s = 0; s < program->steps; s++) {
        find_loop(program->step[s].code);
        for (int k = 0; k < 3; k++)
            if (tile_auxiliary[program->step[s].code][k] >= 0) find_loop(tile_auxiliary[program->step[s].code][k]);
    }
}

int team_run(TilePart part, const TileCall *call, int threads)
{
    TileTeam team;
    if (threads == 1) return part_run(part, call, NULL);
    find_loops(call->sweep->program);
    team.part = part;
    team.call = call;
    team.threads = threads < TILE_THREADS ? threads : TILE_THREADS;
    team.tiles = team.taken = team.started = team.flags = 0;
    team.sums = 0;
    team.sum = NULL;
    const int done = part_run(part, call, &team);
    team_join(&team);
    for (Py_ssize_t t = 0; team.sum && t < team.tiles; t++)
        for (Py_ssize_t k = 0; k < team.sums; k++) *team.sum_to[k] += team.sum[t * team.sums + k];
    free(team.sum);
    return done;
}

/* The caller of a team, whose plan is ready, starts the others; 0 if there is no memory for that. */
static int team_open(TileTeam *team, const TileRun *run)
{
    const TileWalk *walk = &run->walk;
    const Py_ssize_t tiles = walk_tiles(walk);
    for (int k = 0; k < run->bindings; k++) {
        const TileView *view = &walk->view[run->binding[k].view];
        if (run->binding[k].role == DEPOSIT && view->constant) team->sum_to[team->sums++] = (double *)view->base;
    }
    if (team->sums) {
        team->sum = malloc((size_t)tiles * team->sums * sizeof(double));
        if (!team->sum) return 0;
        /* a tile that is skipped leaves these, and adding -0.0 changes no bit of any number */
        for (Py_ssize_t k = 0; k < tiles * team->sums; k++) team->sum[k] = -0.0;
    }
    team->chunk = tiles / (8 * (Py_ssize_t)team->threads);
    team->chunk = team->chunk < TILE_FEWEST ? TILE_FEWEST : team->chunk > TILE_MOST ? TILE_MOST : team->chunk;
    team->tiles = tiles;
    team_start(team);
    return 1;
}

int team_enter(TileTeam *team, TileRun *run)
{
    TileWalk *walk = &run->walk;
    if (!team || (team->tiles == 0 && !team_open(team, run))) return 0;
    walk->taken = walk->tile_rows; /* what all tiles share is read at the largest, which is the first */
    walk->length = walk->tile_length;
    for (int k = 0; k < run->bindings; k++) {
        const TileBinding *binding = &run->binding[k];
        const TileView *view = &walk->view[binding->view];
        if (binding->role == LOAD && view->access == FIXED) run_gather(run, binding, view);
    }
    walk->team = team;
    walk->left = 0;
    return 1;
}

int team_take(TileWalk *walk)
{
    TileTeam *team = walk->team;
    if (walk->left == 0) {
        walk->tile = team_next(team);
        if (walk->tile >= team->tiles) return 0;
        walk->left = team->tiles - walk->tile < team->chunk ? team->tiles - walk->tile : team->chunk;
        walk_seek(walk, walk->tile);
    }
    walk->left--;
    walk->sum = team->sum ? team->sum + walk->tile * team->sums : NULL;
    walk->tile++;
    return 1;
}
