/* SPDX-License-Identifier: Apache-2.0 */
/* The order of dimensions, what is merged, and how long a tile is. */
#include "codipy/programs/tiles/walk.h"

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
    int fixed = 1, flat = view->inner == view->unit;
    for (int d = walk->dims - 2; d >= 0; d--) {
        fixed = fixed && view->strides[d] == 0;
        flat = flat && view->strides[d] == size;
        size *= walk->shape[d];
    }
    view->constant = fixed && view->inner == 0;
    if (!by_rows) return flat ? IN_PLACE : fixed ? FIXED : GATHERED;
    return view->inner == view->unit ? IN_PLACE : view->constant ? FIXED : GATHERED;
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

void walk_access(TileWalk *walk)
{
    for (int v = 0; v < walk->views; v++) {
        TileView *view = &walk->view[v];
        view->access = view_access(walk, view, !walk->joined);
        if (walk->dims == 0) view->constant = 1;
    }
}

void walk_close(TileWalk *walk, Py_ssize_t registers, Py_ssize_t room)
{
    if (walk->dims > 1) walk_order(walk);
    walk_find_flat(walk);
    if (walk->dims > 1) walk_merge(walk);
    int outer = walk->dims - 1;
    walk->inner = walk->dims ? walk->shape[outer] : 1;
    walk->rows = 1;
    for (int d = 0; d < outer; d++) walk->rows *= walk->shape[d];
    for (int v = 0; v < walk->views; v++)
        walk->view[v].inner = walk->dims ? walk->view[v].strides[outer] : walk->view[v].unit;
    walk->joined = walk_joins_rows(walk, walk_most(walk, registers, room));
    walk_access(walk);
}

int views_meet(const TileWalk *walk, const TileView *a, const TileView *b)
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
    const intptr_t bytes = longest * (intptr_t)(a->unit > b->unit ? a->unit : b->unit);
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

Py_ssize_t walk_cut(TileWalk *walk, int registers, Py_ssize_t room)
{
    const Py_ssize_t most = walk_most(walk, registers, room);
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
    return ((walk->tile_rows * walk->tile_length * walk->lanes + 7) & ~(Py_ssize_t)7) + TILE_GAP;
}

void walk_place_rows(TileWalk *walk)
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

Py_ssize_t walk_tiles(const TileWalk *walk)
{
    const Py_ssize_t bands = (walk->rows + walk->tile_rows - 1) / walk->tile_rows;
    return bands * ((walk->inner + walk->tile_length - 1) / walk->tile_length);
}

void walk_seek(TileWalk *walk, Py_ssize_t tile)
{
    const Py_ssize_t across = (walk->inner + walk->tile_length - 1) / walk->tile_length;
    walk->row = tile / across * walk->tile_rows;
    walk->first = tile % across * walk->tile_length;
    walk->taken = walk->rows - walk->row < walk->tile_rows ? walk->rows - walk->row : walk->tile_rows;
    walk->length = 0;
    walk_place_rows(walk);
}
