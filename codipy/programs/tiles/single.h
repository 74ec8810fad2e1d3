/* SPDX-License-Identifier: Apache-2.0 */
/* Values of float32 in tiles of doubles: rounded to it, and as floats. */
#ifndef CODIPY_PROGRAMS_TILES_SINGLE_H
#define CODIPY_PROGRAMS_TILES_SINGLE_H
#include <stddef.h>

void tile_round(ptrdiff_t n, double *ws);
/* As floats, forwards or backwards. */
void tile_narrow(ptrdiff_t n, const double *__restrict from, float *__restrict to, int back);
void tile_widen(ptrdiff_t n, const float *__restrict from, double *__restrict to);
#endif
