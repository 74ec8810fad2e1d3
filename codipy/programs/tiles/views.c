/* SPDX-License-Identifier: Apache-2.0 */
/* How strided memory gets into a tile and back: band by band, row by row. */
#include "codipy/programs/tiles/views.h"
#include "codipy/operations/array_loops.h"
#include <string.h>

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

/* Elements of several directions: read one row after the other, written, added to, or set to zero. */
typedef enum { READ, WRITE, ADD, CLEAR } LanesWay;

static inline void lanes_row(char *at, Py_ssize_t stride, Py_ssize_t n, Py_ssize_t lanes, double *room, LanesWay way)
{
    if (stride == lanes * (Py_ssize_t)sizeof(double)) {
        lanes *= n;
        n = 1;
    }
    for (Py_ssize_t i = 0; i < n; i++, at += stride, room += way == CLEAR ? 0 : lanes) {
        double *element = (double *)at;
        switch (way) {
        case READ: memcpy(room, element, lanes * sizeof(double)); break;
        case WRITE: memcpy(element, room, lanes * sizeof(double)); break;
        case CLEAR: memset(element, 0, lanes * sizeof(double)); break;
        case ADD:
            for (Py_ssize_t k = 0; k < lanes; k++) element[k] += room[k];
        }
    }
}

static void lanes_visit(const TileWalk *walk, const TileView *view, double *room, LanesWay way)
{
    BandVisit visit;
    bands_begin(&visit, walk, view);
    do {
        const Py_ssize_t rows = visit.run ? 1 : visit.band, length = visit.run ? visit.band * walk->length : walk->length;
        for (Py_ssize_t r = 0; r < rows; r++, room += way == CLEAR ? 0 : length * walk->lanes)
            lanes_row(visit.start + r * visit.across, view->inner, length, walk->lanes, room, way);
    } while (bands_next(&visit, walk, view));
}

static inline int has_lanes(const TileView *view)
{
    return view->unit != sizeof(double);
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

void view_gather(const TileWalk *walk, const TileView *view, double *to)
{
    BandVisit visit;
    const Py_ssize_t length = walk->length;
    if (has_lanes(view)) {
        lanes_visit(walk, view, to, READ);
        return;
    }
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

void view_assign(const TileWalk *walk, const TileView *view, const double *from)
{
    BandVisit visit;
    if (has_lanes(view)) {
        lanes_visit(walk, view, (double *)from, WRITE);
        return;
    }
    bands_begin(&visit, walk, view);
    do {
        const Py_ssize_t rows = visit.run ? 1 : visit.band, length = visit.run ? visit.band * walk->length : walk->length;
        for (Py_ssize_t r = 0; r < rows; r++, from += length)
            for (Py_ssize_t i = 0; i < length; i++)
                *(double *)(visit.start + r * visit.across + i * view->inner) = from[i];
    } while (bands_next(&visit, walk, view));
}

double lane_sum(const double *from, Py_ssize_t n)
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

void view_deposit(TileWalk *walk, const TileView *view, const double *from)
{
    BandVisit visit;
    double sum[TILE_LENGTH / 2];
    const Py_ssize_t length = walk->length;
    if (has_lanes(view)) {
        lanes_visit(walk, view, (double *)from, ADD);
        return;
    }
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

void view_clear(const TileWalk *walk, const TileView *view)
{
    BandVisit visit;
    if (view->access == IN_PLACE) {
        memset(view_start(walk, view), 0, walk->taken * walk->length * view->unit);
        return;
    }
    if (has_lanes(view)) {
        lanes_visit(walk, view, NULL, CLEAR);
        return;
    }
    bands_begin(&visit, walk, view);
    do {
        const Py_ssize_t rows = visit.run ? 1 : visit.band, length = visit.run ? visit.band * walk->length : walk->length;
        for (Py_ssize_t r = 0; r < rows; r++)
            for (Py_ssize_t i = 0; i < length; i++) *(double *)(visit.start + r * visit.across + i * view->inner) = 0;
    } while (bands_next(&visit, walk, view));
}
