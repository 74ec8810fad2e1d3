/* SPDX-License-Identifier: Apache-2.0 */
/* Sine and cosine of a tile for partials. */
#ifndef CODIPY_PROGRAMS_TILES_SLOPES_H
#define CODIPY_PROGRAMS_TILES_SLOPES_H
#include <stddef.h>

/* es = sin(xs + quadrants * pi / 2). */
void tile_slopes(int quadrants, ptrdiff_t n, const double *__restrict xs, double *__restrict es);
#endif
