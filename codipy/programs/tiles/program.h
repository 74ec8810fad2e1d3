/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise array programs: the structures that the array layer fills and the tiles run. */
#ifndef CODIPY_PROGRAMS_TILES_PROGRAM_H
#define CODIPY_PROGRAMS_TILES_PROGRAM_H
#include <Python.h>
#include <stdint.h>

enum { TILE_OPERANDS = 32, TILE_STEPS = 48, TILE_DIMS = 8 };

/* Registers are numbered: first the operands, then one for each step. */
typedef struct {
    int32_t code;
    int32_t sources[3];
} TileStep;

/* What is rounded to float32, in memory that is double throughout: nothing, the value of every step, the result. */
enum { TILE_DOUBLE, TILE_SINGLE, TILE_SINGLE_RESULT };

/* The last step gives the result; there is at least one. */
typedef struct {
    int32_t operands, steps, single;
    TileStep step[TILE_STEPS];
} TileProgram;

typedef struct {
    const char *data;                        /* first value; any strides, 0 broadcasts */
    Py_ssize_t strides[TILE_DIMS];           /* in bytes, one for each dimension of the result */
    double *adjoint;                         /* adjoint or tangent of the first element; NULL: passive */
    Py_ssize_t adjoint_strides[TILE_DIMS];   /* in doubles */
} TileOperand;

/* The loops of a sweep over few elements, kept with the program. */
typedef struct TileShortPlan TileShortPlan;

/* What a program runs for second order; a list, one for each set of active operands. */
typedef struct TileSecondPlan TileSecondPlan;

/* Several directions: `lanes` planes, `plane` doubles apart. Operands' adjoints in the sweep point at tangents in the
   first plane; the tangents of the adjoints of the same identifiers are `bars` doubles behind them. */
typedef struct {
    Py_ssize_t lanes, plane, bars;
} TileLanes;

/* Directions that lie apart: so many, and doubles from one to the next, of the operands' flows and of the result's. */
typedef struct {
    Py_ssize_t count, operands, result;
} TilePlanes;

/* What a call is about. */
typedef struct {
    const TileProgram *program;
    const TileOperand *operand;
    int dims;
    const Py_ssize_t *shape;
} TileSweep;
#endif
