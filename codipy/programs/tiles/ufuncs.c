/* SPDX-License-Identifier: Apache-2.0 */
/* Where the loops of ufuncs are kept, and one of them run on numbers. */
#include "codipy/programs/tiles/ufuncs.h"

TileLoop tile_loops[OP_COUNT], tile_single_loops[OP_COUNT];
void (*tile_find_loop)(int code);

/* The strides are those that NumPy gives operands without dimensions; `power` looks at them. */
double loop_number(int code, int single, const double *u)
{
    const Py_ssize_t one = 1, size = single ? sizeof(float) : sizeof(double), arity = tile_arity[code];
    const TileLoop *loop = (single ? tile_single_loops : tile_loops) + code;
    double doubles[4] = {u[0], u[1], u[2], 0.0};
    float floats[4] = {(float)u[0], (float)u[1], (float)u[2], 0.0f};
    char *places[4], *base = single ? (char *)floats : (char *)doubles;
    Py_ssize_t steps[4] = {0, 0, 0, 0};
    find_loop(code);
    if (loop->function == NULL) {
        doubles[3] = op_value_any(code, u[0], u[1], u[2]);
        return single ? (double)(float)doubles[3] : doubles[3];
    }
    for (Py_ssize_t k = 0; k < arity; k++) places[k] = base + k * size;
    places[arity] = base + 3 * size;
    steps[arity] = size;
    loop->function(places, &one, steps, loop->data);
    return single ? (double)floats[3] : doubles[3];
}
