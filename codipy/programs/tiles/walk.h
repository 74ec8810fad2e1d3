/* SPDX-License-Identifier: Apache-2.0 */
/* How a shape is cut into tiles.
 *
 * A tile is part of one row, or several whole rows where they are short. An array whose elements lie side by side
 * over the whole tile is used in place, any other one goes through a register of the tile. */
#ifndef CODIPY_PROGRAMS_TILES_WALK_H
#define CODIPY_PROGRAMS_TILES_WALK_H
#include "codipy/programs/tiles/program.h"

enum {
    TILE_LENGTH = 512,   /* elements; registers of a typical program then fit the first-level cache */
    TILE_SHORT_ROW = 64, /* rows below are always put together */
    TILE_FEW = 16,       /* elements of a tile with many directions */
    LANES_OF_ROWS = 16,  /* directions of a tile, at most ... */
    LANES_OF_ONE = 128,  /* ... and of one that is part of the only row there is */
    TILE_VIEWS = 2 * TILE_OPERANDS + 2,
    TILE_NEAR = 16384,   /* bytes between views that see the same memory soon after each other */
    TILE_GAP = 8 /* doubles between registers, so that they do not all meet in the same cache sets */
};

typedef enum { IN_PLACE, FIXED, GATHERED } TileAccess;

typedef struct {
    char *base;
    char *row;                     /* first element of the tile's first row */
    Py_ssize_t strides[TILE_DIMS]; /* in bytes, dimensions merged */
    Py_ssize_t inner;              /* stride of the last dimension */
    Py_ssize_t unit;               /* bytes of an element: of a flow in several directions a number for each */
    Py_ssize_t plane;              /* bytes to the next direction of a flow, where each has a plane; else 0 */
    TileAccess access;             /* FIXED: each tile sees the same elements */
    int constant;                  /* one element for the whole shape */
    int flat;                      /* by itself it has one stride for all elements */
    int leads;                     /* in place, and no other view meets its elements first */
} TileView;

typedef struct TileTeam TileTeam;

typedef struct {
    int dims, views;
    int lanes;                         /* directions of the flows, side by side in memory */
    int are_vectors;                   /* these are whole vectors of compiled loops */
    int meet;                          /* flows in place have elements in common, which no two see at once */
    int joined;                        /* a tile has several rows */
    int several;                       /* tiles */
    Py_ssize_t shape[TILE_DIMS];
    Py_ssize_t rows, inner;            /* of the whole shape; inner is the length of a row */
    Py_ssize_t tile_rows, tile_length; /* of the largest tile, which is the first */
    Py_ssize_t row, first;             /* where the current tile begins: a row, an element of it */
    Py_ssize_t taken, length;          /* how many rows and elements of each it has */
    TileTeam *team;                    /* NULL: this walk goes over all tiles */
    Py_ssize_t tile, left;             /* of a team: the next tile's number; how many are left of those it took */
    double *sum;                       /* of a team: where the current tile's sums go, instead of to memory */
    TileView view[TILE_VIEWS];
} TileWalk;

/* Whether a dimension is walked. Where there is no other, one of length 1 is, too: NumPy's loops see its stride, and some
   have other last bits where that is negative. */
static inline int walk_keeps(int dims, Py_ssize_t length)
{
    return length > 1 || dims == 1;
}

/* The shape without dimensions of length 1; 0 if it is empty. */
static inline int walk_begin(TileWalk *walk, int dims, const Py_ssize_t *shape)
{
    walk->dims = walk->views = 0;
    walk->lanes = 1;
    walk->are_vectors = walk->meet = 0;
    walk->team = NULL;
    walk->sum = NULL;
    for (int d = 0; d < dims; d++) {
        if (shape[d] == 0) return 0;
        if (walk_keeps(dims, shape[d])) walk->shape[walk->dims++] = shape[d];
    }
    return 1;
}

/* Adds an array, `size` bytes for each unit of its strides, which come for the shape as it was given. */
static inline uint8_t walk_add(
    TileWalk *walk, void *base, const Py_ssize_t *strides, Py_ssize_t size, int dims, const Py_ssize_t *shape)
{
    TileView *view = &walk->view[walk->views];
    view->base = view->row = (char *)base;
    view->unit = sizeof(double);
    view->plane = 0;
    for (int d = 0, kept = 0; d < dims; d++)
        if (walk_keeps(dims, shape[d])) view->strides[kept++] = strides[d] * size;
    return (uint8_t)walk->views++;
}

/* The same for a flow; strides in doubles. */
static inline uint8_t walk_add_flow(
    TileWalk *walk, double *base, const Py_ssize_t *strides, int dims, const Py_ssize_t *shape)
{
    const uint8_t view = walk_add(walk, base, strides, sizeof(double), dims, shape);
    walk->view[view].unit = walk->lanes * (Py_ssize_t)sizeof(double);
    return view;
}

/* Elements of a tile if it has so many registers in its room. */
static inline Py_ssize_t longest_tile(Py_ssize_t registers, Py_ssize_t room)
{
    const Py_ssize_t most = registers ? room / registers - TILE_GAP : TILE_LENGTH;
    return most < TILE_LENGTH ? most & ~(Py_ssize_t)7 : TILE_LENGTH;
}

/* The same where registers have a number for each direction; at least so many elements have room, see lanes.h. Where
   directions are vectors of compiled loops, only values and partials fill their registers: tiles are as long as in one
   direction, since each costs what it costs whatever its length. */
static inline Py_ssize_t walk_most(const TileWalk *walk, Py_ssize_t registers, Py_ssize_t room)
{
    const Py_ssize_t least = walk->lanes > LANES_OF_ROWS ? TILE_FEW : TILE_SHORT_ROW;
    const Py_ssize_t most = walk->are_vectors ? longest_tile(registers * walk->lanes, room)
                                              : longest_tile(registers, room) / walk->lanes & ~(Py_ssize_t)7;
    return walk->lanes > 1 && most < least ? least : most;
}

/* How each array is reached; again where `joined` was changed. */
void walk_access(TileWalk *walk);

/* Call when all arrays are there. No tile will be longer than so many registers fit into the room, unless it is a short row. */
void walk_close(TileWalk *walk, Py_ssize_t registers, Py_ssize_t room);

/* Whether two arrays in place may have elements in common within a tile. Where their distance differs from tile to tile,
   all that they reach counts. */
int views_meet(const TileWalk *walk, const TileView *a, const TileView *b);

/* Chooses the tile so that `registers` of them fit into `room` doubles; returns the distance between registers. */
Py_ssize_t walk_cut(TileWalk *walk, int registers, Py_ssize_t room);

/* Sets where each array's part of row `row` begins. */
void walk_place_rows(TileWalk *walk);

/* How many tiles there are; each is a contiguous part of the shape in C order. */
Py_ssize_t walk_tiles(const TileWalk *walk);

/* Makes a tile, by its number, the next one. */
void walk_seek(TileWalk *walk, Py_ssize_t tile);

/* The number of elements in the next tile; 0 after the last. */
static inline Py_ssize_t walk_next(TileWalk *walk)
{
    walk->first += walk->length;
    if (walk->first >= walk->inner || walk->taken == 0) {
        walk->first = 0;
        walk->row += walk->taken;
        if (walk->row >= walk->rows) return 0;
        walk->taken = walk->rows - walk->row < walk->tile_rows ? walk->rows - walk->row : walk->tile_rows;
        if (walk->row) walk_place_rows(walk);
    }
    walk->length = walk->inner - walk->first < walk->tile_length ? walk->inner - walk->first : walk->tile_length;
    return walk->taken * walk->length;
}

static inline char *view_start(const TileWalk *walk, const TileView *view)
{
    return view->row + walk->first * view->inner;
}

/* Asks for the elements of the next tile. A sweep reads what was written long ago, and the processor's own prefetch, which
   begins anew with each tile, is too late: Burgers' equation takes a quarter less with this, and the stencil. */
static inline void view_prefetch(const TileWalk *walk, const TileView *view)
{
#if defined(__GNUC__)
    const Py_ssize_t bytes = walk->taken * walk->length * view->unit;
    const char *next = view_start(walk, view) + bytes;
    if (walk->first + walk->length >= walk->inner && !walk->joined) {
        if (walk->dims < 2) return;
        next = view->row + view->strides[walk->dims - 2];
    }
    for (Py_ssize_t i = 0; i < bytes; i += 64) __builtin_prefetch(next + i);
#endif
}
#endif
