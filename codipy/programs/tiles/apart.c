/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a sweep back gives the same bits when its tiles run in any order, or at once.
 *
 * It does where no two tiles add to the same adjoint. Adjoints of one element for the whole shape are allowed: what the
 * tiles add to them is added at the end, in order. Rejected, for shifted slices of one array: parts first and the tiles
 * between them afterwards, since a sum then has another order than on one thread, unless one thread pays for it too. */
#include "codipy/programs/tiles/apart.h"

/* The elements of an array, all in doubles. */
typedef struct {
    intptr_t at, low, high; /* of the first element, the least and the greatest */
    Py_ssize_t unit;        /* divides all strides; 0 for one element */
    Py_ssize_t strides[TILE_DIMS];
} TileReach;

static Py_ssize_t common_divisor(Py_ssize_t a, Py_ssize_t b)
{
    while (b) {
        const Py_ssize_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Dimensions of length 1 have no stride here. 0 if one element stands for several, but not for all. */
static int reach_find(TileReach *reach, const double *base, const Py_ssize_t *strides, int dims, const Py_ssize_t *shape)
{
    Py_ssize_t size[TILE_DIMS], length[TILE_DIMS];
    int kept = 0, zeros = 0;
    reach->at = reach->low = reach->high = (intptr_t)base / (intptr_t)sizeof(double);
    reach->unit = 0;
    for (int d = 0; d < dims; d++) {
        const Py_ssize_t stride = reach->strides[d] = shape[d] == 1 ? 0 : strides[d];
        const Py_ssize_t last = stride * (shape[d] - 1), positive = stride < 0 ? -stride : stride;
        if (shape[d] == 1) continue;
        zeros += stride == 0;
        reach->low += last < 0 ? last : 0;
        reach->high += last > 0 ? last : 0;
        reach->unit = common_divisor(reach->unit, positive);
        int place = kept++;
        for (; place > 0 && size[place - 1] > positive; place--) {
            size[place] = size[place - 1];
            length[place] = length[place - 1];
        }
        size[place] = positive;
        length[place] = shape[d];
    }
    if (zeros) return zeros == kept;
    Py_ssize_t below = 0; /* how far the dimensions with less stride reach */
    for (int k = 0; k < kept; k++) {
        if (size[k] <= below) return 0;
        below += size[k] * (length[k] - 1);
    }
    return 1;
}

/* Two arrays without a common element, or with the same elements in the same tiles. */
static int reach_apart(const TileReach *a, const TileReach *b, int dims)
{
    const Py_ssize_t unit = common_divisor(a->unit, b->unit);
    if (a->high < b->low || b->high < a->low) return 1;
    if (unit && (a->at - b->at) % unit) return 1; /* columns of one matrix */
    if (a->at != b->at) return 0;
    for (int d = 0; d < dims; d++)
        if (a->strides[d] != b->strides[d]) return 0;
    return 1;
}

int tiles_are_apart(const TileSweep *sweep, const double *lhs, const Py_ssize_t *lhs_strides)
{
    TileReach reach[TILE_OPERANDS + 1];
    int count = 1;
    if (!reach_find(&reach[0], lhs, lhs_strides, sweep->dims, sweep->shape)) return 0;
    for (int r = 0; r < sweep->program->operands; r++) {
        const TileOperand *operand = &sweep->operand[r];
        if (!operand->adjoint) continue;
        if (!reach_find(&reach[count], operand->adjoint, operand->adjoint_strides, sweep->dims, sweep->shape)) return 0;
        for (int k = 0; k < count; k++)
            if (!reach_apart(&reach[k], &reach[count], sweep->dims)) return 0;
        count++;
    }
    return 1;
}
