/* SPDX-License-Identifier: Apache-2.0 */
/* Values of float32 in tiles of doubles: rounded to it, and as floats. */
#include "codipy/programs/tiles/single.h"
#include "codipy/operations/clones.h"

TILE_CLONES
void tile_round(ptrdiff_t n, double *ws)
{
    for (ptrdiff_t i = 0; i < n; i++) ws[i] = (float)ws[i];
}

/* As floats, forwards or backwards. */
TILE_CLONES
void tile_narrow(ptrdiff_t n, const double *__restrict from, float *__restrict to, int back)
{
    if (back)
        for (ptrdiff_t i = 0; i < n; i++) to[n - 1 - i] = (float)from[i];
    else
        for (ptrdiff_t i = 0; i < n; i++) to[i] = (float)from[i];
}

TILE_CLONES
void tile_widen(ptrdiff_t n, const float *__restrict from, double *__restrict to)
{
    for (ptrdiff_t i = 0; i < n; i++) to[i] = from[i];
}
