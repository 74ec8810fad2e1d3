/* SPDX-License-Identifier: Apache-2.0 */
/* What runs programs over tiles: values, reverse, tangents, Jacobians; -1, and nothing is done, if there is no memory. */
#ifndef CODIPY_PROGRAMS_TILES_TILES_H
#define CODIPY_PROGRAMS_TILES_TILES_H
#include "codipy/programs/tiles/program.h"

/* Assigns the values to `out`. */
int tile_run_values(const TileProgram *program, const TileOperand *operand, int dims, const Py_ssize_t *shape,
    double *out, const Py_ssize_t *out_strides);

/* Adds to the operands' adjoints what flows from the result's. */
int tile_run_reverse(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int keep);

/* Assigns the tangent of the result. */
int tile_run_tangent(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides);

/* Both, in several directions: the numbers of each element lie side by side, and strides count numbers. */
int tile_run_directions(
    const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int reverse, int keep, Py_ssize_t width);

/* Both, in directions of which each has a plane: adjoints and `lhs` point into the first. */
int tile_run_planes(const TileSweep *sweep, double *lhs, const Py_ssize_t *lhs_strides, int reverse, int keep,
    const TilePlanes *planes);

/* The derivative of each element of the result in the same element of each operand, zero where there is none. */
int tile_run_jacobians(const TileSweep *sweep, double *const *jacobians);

/* Which operands' values a sweep reads if those of `active` are differentiated: a bit for each. */
uint32_t tile_run_needed(const TileProgram *program, uint32_t active);

/* How many threads a sweep back gets. */
int team_for_reverse(const TileSweep *sweep, const double *lhs, const Py_ssize_t *lhs_strides);

/* Assigns the values to `out`; 0 if the arrays do not lie as they must, -1 if there is no memory. */
int tile_short_values(const TileProgram *program, const TileOperand *operand, int dims, const Py_ssize_t *shape,
    double *out, const Py_ssize_t *out_strides);

/* The sweep back; 0 if the arrays do not lie as they must, -1 if there is no memory. */
int tile_short_reverse(TileShortPlan **kept, const TileProgram *program, const TileOperand *operand, int dims,
    const Py_ssize_t *shape, double *lhs, const Py_ssize_t *lhs_strides, int keep);
#endif
