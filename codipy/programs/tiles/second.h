/* SPDX-License-Identifier: Apache-2.0 */
/* Second order over tiles: tangents forward, and the tangents of adjoints back, several directions at once.
 *
 * With A the adjoint of a step's value w, D its tangent, T the tangents of values, p and h first and second partials:
 * D of an argument k gets D * p_k + A * (sum over j of h_kj * T_j). Nothing flows from a D, a T or an A that is zero,
 * also through a partial that is infinite. What is the same in all directions (values, p, A * h) is computed once. */
#ifndef CODIPY_PROGRAMS_TILES_SECOND_H
#define CODIPY_PROGRAMS_TILES_SECOND_H
#include "codipy/programs/tiles/program.h"

/* SECOND_SMOOTH: back, by loops that are compiled where there is one direction. They do not know that a zero adjoint passes
   nothing through a partial that is infinite, also where its tangent is none: only for programs that are smooth, whose
   partials are finite where the values are. */
typedef enum { SECOND_FORWARD, SECOND_BACK, SECOND_SMOOTH } SecondPart;
int second_is_smooth(const TileProgram *program);

/* The plan of a program for the active operands of a sweep; NULL if there is no memory. With the GIL. */
const TileSecondPlan *second_plan(TileSecondPlan **list, const TileProgram *program, uint32_t active, SecondPart part);
void second_free(TileSecondPlan *list);

/* Forward: assigns the tangents of the result, `lhs` in the first plane. -1 if there is no memory. */
int tile_run_second_forward(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, double *lhs,
    const Py_ssize_t *lhs_strides);

/* Back, by a plan of SECOND_BACK or SECOND_SMOOTH: adds to the operands' D. `bar` are the adjoints of the result, `lhs` its
   D in the first plane. */
int tile_run_second_back(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, const double *bar,
    const double *lhs, const Py_ssize_t *lhs_strides);
#endif
