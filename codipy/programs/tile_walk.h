/* SPDX-License-Identifier: Apache-2.0 */
/* How a shape is cut into tiles, and how strided memory gets into a tile and back.
 *
 * A tile is part of one row, or several whole rows where they are short. An array whose elements lie side by side
 * over the whole tile is used in place, any other one goes through a register of the tile. */
#ifndef CODIPY_PROGRAMS_TILE_WALK_H
#define CODIPY_PROGRAMS_TILE_WALK_H
#include "codipy/operations/tiles.h"
#include "codipy/programs/tile_program.h"
#include <string.h>

enum {
    TILE_LENGTH = 512,   /* elements; registers of a typical program then fit the first-level cache */
    TILE_SHORT_ROW = 64, /* rows below are always put together */
    TILE_VIEWS = 2 * TILE_OPERANDS + 1,
    TILE_NEAR = 16384,   /* bytes between views that see the same memory soon after each other */
    TILE_GAP = 8 /* doubles between registers, so that they do not all meet in the same cache sets */
};

typedef enum { IN_PLACE, FIXED, GATHERED } TileAccess;

typedef struct {
    char *base;
    char *row;                     /* first element of the tile's first row */
    Py_ssize_t strides[TILE_DIMS]; /* in bytes, dimensions merged */
    Py_ssize_t inner;              /* stride of the last dimension */
    TileAccess access;             /* FIXED: each tile sees the same elements */
    int constant;                  /* one element for the whole shape */
    int flat;                      /* by itself it has one stride for all elements */
    int leads;                     /* in place, and no other view meets its elements first */
} TileView;

typedef struct TileTeam TileTeam;

typedef struct {
    int dims, views;
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

/* The shape without dimensions of length 1; 0 if it is empty. */
static int walk_begin(TileWalk *walk, int dims, const Py_ssize_t *shape)
{
    walk->dims = walk->views = 0;
    walk->team = NULL;
    walk->sum = NULL;
    for (int d = 0; d < dims; d++) {
        if (shape[d] == 0) return 0;
        if (shape[d] > 1) walk->shape[walk->dims++] = shape[d];
    }
    return 1;
}

/* Adds an array, `size` bytes for each unit of its strides, which come for the shape as it was given. */
static uint8_t walk_add(
    TileWalk *walk, void *base, const Py_ssize_t *strides, Py_ssize_t size, int dims, const Py_ssize_t *shape)
{
    TileView *view = &walk->view[walk->views];
    view->base = view->row = (char *)base;
    for (int d = 0, kept = 0; d < dims; d++)
        if (shape[d] > 1) view->strides[kept++] = strides[d] * size;
    return (uint8_t)walk->views++;
}

/* Whether dimension `outer` should be inside of dimension `inner`: 1 yes, 0 no, -1 if no array tells. Where arrays differ
   the order of C wins, so that Jacobians, which lie in it, always have it. */
static int walk_inside(const TileWalk *walk, int outer, int inner)
{
    int inside = -1;
    for (int v = 0; v < walk->views; v++) {
        const Py_ssize_t a = walk->view[v].strides[outer], b = walk->view[v].strides[inner];
        if (a == 0 || b == 0) continue;
        if ((b < 0 ? -b : b) <= (a < 0 ? -a : a)) return 0;
        inside = 1;
    }
    return inside;
}

/* Puts the dimensions into the order in which the arrays lie in memory, by NumPy's rule for its iterators. */
static void walk_order(TileWalk *walk)
{
    for (int d = walk->dims - 2; d >= 0; d--) {
        int place = d;
        for (int e = d + 1, inside; e < walk->dims && (inside = walk_inside(walk, d, e)) != 0; e++)
            if (inside == 1) place = e;
        for (int e = d; e < place; e++) {
            const Py_ssize_t length = walk->shape[e];
            walk->shape[e] = walk->shape[e + 1];
            walk->shape[e + 1] = length;
            for (int v = 0; v < walk->views; v++) {
                Py_ssize_t *strides = walk->view[v].strides, stride = strides[e];
                strides[e] = strides[e + 1];
                strides[e + 1] = stride;
            }
        }
    }
}

static void walk_find_flat(TileWalk *walk)
{
    for (int v = 0; v < walk->views; v++) {
        TileView *view = &walk->view[v];
        view->flat = 1;
        for (int d = 1; d < walk->dims; d++)
            if (view->strides[d - 1] != view->strides[d] * walk->shape[d]) view->flat = 0;
    }
}

/* Merges each dimension into the one before it wherever every array allows that. */
static void walk_merge(TileWalk *walk)
{
    int kept = 0;
    for (int d = 1; d < walk->dims; d++) {
        int merges = 1;
        for (int v = 0; v < walk->views && merges; v++) {
            const Py_ssize_t *strides = walk->view[v].strides;
            merges = strides[kept] == strides[d] * walk->shape[d];
        }
        if (merges)
            walk->shape[kept] *= walk->shape[d];
        else
            walk->shape[++kept] = walk->shape[d];
        for (int v = 0; v < walk->views; v++) walk->view[v].strides[kept] = walk->view[v].strides[d];
    }
    walk->dims = kept + 1;
}

static TileAccess view_access(const TileWalk *walk, TileView *view, int by_rows)
{
    Py_ssize_t size = view->inner * walk->inner;
    int fixed = 1, flat = view->inner == sizeof(double);
    for (int d = walk->dims - 2; d >= 0; d--) {
        fixed = fixed && view->strides[d] == 0;
        flat = flat && view->strides[d] == size;
        size *= walk->shape[d];
    }
    view->constant = fixed && view->inner == 0;
    if (!by_rows) return flat ? IN_PLACE : fixed ? FIXED : GATHERED;
    return view->inner == sizeof(double) ? IN_PLACE : view->constant ? FIXED : GATHERED;
}

/* Whether several rows make a tile: short ones always, others if two fit into one and no array is used in place row by row
   that would have to be copied then: a + b with b one row. */
static int walk_joins_rows(TileWalk *walk, Py_ssize_t most)
{
    if (walk->rows == 1 || walk->inner < TILE_SHORT_ROW) return walk->rows > 1;
    for (int v = 0; v < walk->views && 2 * walk->inner <= most; v++)
        if (view_access(walk, &walk->view[v], 1) == IN_PLACE && view_access(walk, &walk->view[v], 0) == GATHERED) return 0;
    return 2 * walk->inner <= most;
}

/* Elements of a tile if it has so many registers in its room. */
static Py_ssize_t longest_tile(Py_ssize_t registers, Py_ssize_t room)
{
    const Py_ssize_t most = registers ? room / registers - TILE_GAP : TILE_LENGTH;
    return most < TILE_LENGTH ? most & ~(Py_ssize_t)7 : TILE_LENGTH;
}

static void walk_access(TileWalk *walk)
{
    for (int v = 0; v < walk->views; v++) {
        TileView *view = &walk->view[v];
        view->access = view_access(walk, view, !walk->joined);
        if (walk->dims == 0) view->constant = 1;
    }
}

/* Call when all arrays are there. No tile will have more than `most` elements, unless they are fewer than a short row. */
static void walk_close(TileWalk *walk, Py_ssize_t most)
{
    if (walk->dims > 1) walk_order(walk);
    walk_find_flat(walk);
    if (walk->dims > 1) walk_merge(walk);
    int outer = walk->dims - 1;
    walk->inner = walk->dims ? walk->shape[outer] : 1;
    walk->rows = 1;
    for (int d = 0; d < outer; d++) walk->rows *= walk->shape[d];
    for (int v = 0; v < walk->views; v++)
        walk->view[v].inner = walk->dims ? walk->view[v].strides[outer] : (Py_ssize_t)sizeof(double);
    walk->joined = walk_joins_rows(walk, most);
    walk_access(walk);
}

/* Whether two arrays in place may have elements in common within a tile. Where their distance differs from tile to tile,
   all that they reach counts. */
static int views_meet(const TileWalk *walk, const TileView *a, const TileView *b)
{
    const Py_ssize_t longest = walk->joined || walk->inner > TILE_LENGTH ? TILE_LENGTH : walk->inner;
    const intptr_t ahead = a->base - b->base;
    intptr_t over_a = 0, over_b = 0, under_a = 0, under_b = 0;
    int apart = 0;
    for (int d = 0; d < walk->dims - 1; d++) {
        const intptr_t of_a = a->strides[d] * (walk->shape[d] - 1), of_b = b->strides[d] * (walk->shape[d] - 1);
        apart += of_a != of_b;
        over_a += of_a > 0 ? of_a : 0;
        over_b += of_b > 0 ? of_b : 0;
        under_a += of_a < 0 ? of_a : 0;
        under_b += of_b < 0 ? of_b : 0;
    }
    if (apart == 0) over_a = over_b = under_a = under_b = 0;
    const intptr_t bytes = longest * (intptr_t)sizeof(double);
    return ahead + under_a < over_b + bytes && under_b - ahead < over_a + bytes;
}

/* Which views reach new memory first: others behind them, such as u[:-2] behind u[2:], find it in the cache. */
static void find_leading(TileWalk *walk)
{
    for (int v = 0; v < walk->views; v++) {
        TileView *view = &walk->view[v];
        view->leads = view->access == IN_PLACE;
        for (int w = 0; w < walk->views && view->leads; w++) {
            const Py_ssize_t ahead = walk->view[w].base - view->base;
            if (walk->view[w].access == IN_PLACE && (ahead > 0 || (ahead == 0 && w < v)) && ahead < TILE_NEAR)
                view->leads = 0;
        }
    }
}

/* Chooses the tile so that `registers` of them fit into `room` doubles; returns the distance between registers. */
static Py_ssize_t walk_cut(TileWalk *walk, int registers, Py_ssize_t room)
{
    const Py_ssize_t most = longest_tile(registers, room);
    walk->tile_rows = 1;
    walk->tile_length = walk->inner;
    if (walk->joined) {
        walk->tile_rows = most / walk->inner < walk->rows ? most / walk->inner : walk->rows;
    } else if (walk->inner > most) { /* tiles of about equal length */
        Py_ssize_t tiles = (walk->inner + most - 1) / most;
        walk->tile_length = ((walk->inner + tiles - 1) / tiles + 7) & ~(Py_ssize_t)7;
    }
    walk->row = walk->first = walk->taken = walk->length = 0;
    walk->several = walk->rows * walk->inner > walk->tile_rows * walk->tile_length;
    if (walk->several) find_leading(walk);
    return ((walk->tile_rows * walk->tile_length + 7) & ~(Py_ssize_t)7) + TILE_GAP;
}

static void walk_place_rows(TileWalk *walk)
{
    Py_ssize_t index[TILE_DIMS], rest = walk->row;
    int outer = walk->dims - 1;
    for (int d = outer - 1; d > 0; d--) {
        index[d] = rest % walk->shape[d];
        rest /= walk->shape[d];
    }
    index[0] = rest;
    for (int v = 0; v < walk->views; v++) {
        TileView *view = &walk->view[v];
        view->row = view->base;
        for (int d = 0; d < outer; d++) view->row += index[d] * view->strides[d];
    }
}

/* How many tiles there are; each is a contiguous part of the shape in C order. */
static Py_ssize_t walk_tiles(const TileWalk *walk)
{
    const Py_ssize_t bands = (walk->rows + walk->tile_rows - 1) / walk->tile_rows;
    return bands * ((walk->inner + walk->tile_length - 1) / walk->tile_length);
}

/* Makes a tile, by its number, the next one. */
static void walk_seek(TileWalk *walk, Py_ssize_t tile)
{
    const Py_ssize_t across = (walk->inner + walk->tile_length - 1) / walk->tile_length;
    walk->row = tile / across * walk->tile_rows;
    walk->first = tile % across * walk->tile_length;
    walk->taken = walk->rows - walk->row < walk->tile_rows ? walk->rows - walk->row : walk->tile_rows;
    walk->length = 0;
    walk_place_rows(walk);
}

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
    const Py_ssize_t bytes = walk->taken * walk->length * (Py_ssize_t)sizeof(double);
    const char *next = view_start(walk, view) + bytes;
    if (walk->first + walk->length >= walk->inner && !walk->joined) {
        if (walk->dims < 2) return;
        next = view->row + view->strides[walk->dims - 2];
    }
    for (Py_ssize_t i = 0; i < bytes; i += 64) __builtin_prefetch(next + i);
#endif
}

/* Visits the rows of a tile in bands, rows that follow each other along the last dimension but one: `start` is the first
   element of each band in turn. Rows may be as short as two elements, and what is done for each must be little. */
typedef struct {
    Py_ssize_t index[TILE_DIMS], left;
    Py_ssize_t band;   /* rows */
    Py_ssize_t across; /* bytes from a row to the next */
    int run;           /* the band is one long row, one stride for all elements */
    char *start;
} BandVisit;

static inline void bands_begin(BandVisit *visit, const TileWalk *walk, const TileView *view)
{
    Py_ssize_t rest = walk->row;
    visit->left = walk->taken;
    visit->start = view_start(walk, view);
    visit->band = visit->run = 1;
    visit->across = 0;
    if (visit->left == 1) return;
    for (int d = walk->dims - 2; d >= 0; d--) {
        visit->index[d] = rest % walk->shape[d];
        rest /= walk->shape[d];
    }
    const Py_ssize_t ahead = walk->shape[walk->dims - 2] - visit->index[walk->dims - 2];
    visit->across = view->strides[walk->dims - 2];
    visit->run = visit->across == view->inner * walk->length;
    visit->band = ahead < visit->left ? ahead : visit->left;
}

static inline int bands_next(BandVisit *visit, const TileWalk *walk, const TileView *view)
{
    visit->left -= visit->band;
    if (visit->left <= 0) return 0;
    int d = walk->dims - 2;
    visit->start -= visit->index[d] * view->strides[d];
    visit->index[d] = 0;
    for (d--; d >= 0; d--) {
        visit->start += view->strides[d];
        if (++visit->index[d] < walk->shape[d]) break;
        visit->start -= view->strides[d] * walk->shape[d];
        visit->index[d] = 0;
    }
    visit->band = walk->shape[walk->dims - 2] < visit->left ? walk->shape[walk->dims - 2] : visit->left;
    return 1;
}

static inline void copy_row(const char *from, Py_ssize_t stride, Py_ssize_t n, double *to)
{
    const double value = *(const double *)from;
    if (stride == sizeof(double))
        memcpy(to, from, n * sizeof(double));
    else if (stride == 0)
        for (Py_ssize_t i = 0; i < n; i++) to[i] = value;
    else
        for (Py_ssize_t i = 0; i < n; i++) to[i] = *(const double *)(from + i * stride);
}

/* Writes a row as often as there are rows in a band. */
static inline void repeat_row(double *row, Py_ssize_t length, Py_ssize_t rows)
{
    for (Py_ssize_t done = 1; done < rows; done *= 2) {
        const Py_ssize_t more = rows - done < done ? rows - done : done;
        memcpy(row + done * length, row, more * length * sizeof(double));
    }
}

static void view_gather(const TileWalk *walk, const TileView *view, double *to)
{
    BandVisit visit;
    const Py_ssize_t length = walk->length;
    bands_begin(&visit, walk, view);
    do {
        if (visit.run) {
            copy_row(visit.start, view->inner, visit.band * length, to);
        } else if (visit.across == 0) {
            copy_row(visit.start, view->inner, length, to);
            repeat_row(to, length, visit.band);
        } else {
            for (Py_ssize_t r = 0; r < visit.band; r++)
                copy_row(visit.start + r * visit.across, view->inner, length, to + r * length);
        }
        to += visit.band * length;
    } while (bands_next(&visit, walk, view));
}

static void view_assign(const TileWalk *walk, const TileView *view, const double *from)
{
    BandVisit visit;
    bands_begin(&visit, walk, view);
    do {
        const Py_ssize_t rows = visit.run ? 1 : visit.band, length = visit.run ? visit.band * walk->length : walk->length;
        for (Py_ssize_t r = 0; r < rows; r++, from += length)
            for (Py_ssize_t i = 0; i < length; i++)
                *(double *)(visit.start + r * visit.across + i * view->inner) = from[i];
    } while (bands_next(&visit, walk, view));
}

/* The sum in eight lanes: the order is the same for every instruction set. */
static double lane_sum(const double *from, Py_ssize_t n)
{
    double lane[8] = {0}, rest = 0;
    Py_ssize_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) lane[k] += from[i + k];
    for (; i < n; i++) rest += from[i];
    if (n < 8) return rest;
    return (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]))) + rest;
}

static inline void add_row(const double *from, Py_ssize_t stride, Py_ssize_t n, char *to)
{
    if (stride == 0)
        *(double *)to += lane_sum(from, n);
    else if (stride == sizeof(double))
        tile_pull(OP_IDENTITY, 0, 1, n, from, from, from, from, from, from, (double *)to);
    else
        for (Py_ssize_t i = 0; i < n; i++) *(double *)(to + i * stride) += from[i];
}

/* The sum of several rows, half of them to the other half and again: loops over short rows would take longer than sums. */
static void fold_rows(const double *from, Py_ssize_t length, Py_ssize_t rows, double *sum)
{
    const double *last = NULL;
    Py_ssize_t half = rows / 2;
    if (rows % 2) last = from + (rows - 1) * length;
    memcpy(sum, from, half * length * sizeof(double));
    add_row(from + half * length, sizeof(double), half * length, (char *)sum);
    if (last) add_row(last, sizeof(double), length, (char *)sum);
    for (rows = half; rows > 1; rows = half) {
        half = rows / 2;
        if (rows % 2) add_row(sum + (rows - 1) * length, sizeof(double), length, (char *)sum);
        add_row(sum + half * length, sizeof(double), half * length, (char *)sum);
    }
}

/* Adds a tile to memory; elements that share a place add up. */
static void view_deposit(TileWalk *walk, const TileView *view, const double *from)
{
    BandVisit visit;
    double sum[TILE_LENGTH / 2];
    const Py_ssize_t length = walk->length;
    if (view->constant) {
        const double sum = lane_sum(from, walk->taken * walk->length);
        if (walk->sum)
            *walk->sum++ = sum;
        else
            *(double *)view->base += sum;
        return;
    }
    bands_begin(&visit, walk, view);
    do {
        if (visit.run) {
            add_row(from, view->inner, visit.band * length, visit.start);
        } else if (visit.across == 0 && visit.band > 1) { /* half of the rows fit */
            fold_rows(from, length, visit.band, sum);
            add_row(sum, view->inner, length, visit.start);
        } else {
            for (Py_ssize_t r = 0; r < visit.band; r++)
                add_row(from + r * length, view->inner, length, visit.start + r * visit.across);
        }
        from += visit.band * length;
    } while (bands_next(&visit, walk, view));
}

static void view_clear(const TileWalk *walk, const TileView *view)
{
    BandVisit visit;
    if (view->access == IN_PLACE) {
        memset(view_start(walk, view), 0, walk->taken * walk->length * sizeof(double));
        return;
    }
    bands_begin(&visit, walk, view);
    do {
        const Py_ssize_t rows = visit.run ? 1 : visit.band, length = visit.run ? visit.band * walk->length : walk->length;
        for (Py_ssize_t r = 0; r < rows; r++)
            for (Py_ssize_t i = 0; i < length; i++) *(double *)(visit.start + r * visit.across + i * view->inner) = 0;
    } while (bands_next(&visit, walk, view));
}
#endif
