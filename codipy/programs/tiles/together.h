/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobians of many scalar statements of one program, side by side as the elements of a tile are. */
#ifndef CODIPY_PROGRAMS_TILES_TOGETHER_H
#define CODIPY_PROGRAMS_TILES_TOGETHER_H
#include <stddef.h>
#include <stdint.h>

enum {
    TOGETHER = 64,              /* statements: numbers in a row */
    TOGETHER_ROWS = 64,         /* leaves and steps of the largest program */
    SCALAR_SINGLE = 1 << 29     /* OF_SINGLE of programs/program.pxd */
};

/* Instruction of programs/program.pxd. */
typedef struct {
    int32_t code, flags, sources[3];
} ScalarStep;

/* The first `n` numbers of the first rows of `bars`, one row for each leaf that is active, become the partials of the root.
   `bars` has two rows beside one for each leaf and step. `registers` has the leaves' values, one row for each; where there is one step, the row behind them has its values, else
   it is room for those of the steps. All bits are those of program_jacobian() and op_partials() on single numbers. */
void scalars_jacobians(const ScalarStep *step, int steps, int leaves, const unsigned char *is_active, ptrdiff_t n,
    double *registers, double *bars);
#endif
