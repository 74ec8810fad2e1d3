/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a sweep back gives the same bits when its tiles run in any order, or at once. */
#ifndef CODIPY_PROGRAMS_TILES_APART_H
#define CODIPY_PROGRAMS_TILES_APART_H
#include "codipy/programs/tiles/program.h"

int tiles_are_apart(const TileSweep *sweep, const double *lhs, const Py_ssize_t *lhs_strides);
#endif
