/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of NumPy's and SciPy's ufuncs, which give the values that are not rounded correctly anyway. */
#ifndef CODIPY_PROGRAMS_TILE_LOOPS_H
#define CODIPY_PROGRAMS_TILE_LOOPS_H
#include "codipy/operations/tiles.h"

/* The inner loop of a ufunc, looked up once. */
typedef struct {
    void (*function)(char **, const Py_ssize_t *, const Py_ssize_t *, void *);
    void *data;
    int known;
} TileLoop;

static TileLoop tile_loops[OP_COUNT], tile_single_loops[OP_COUNT]; /* of double and of float */
static void tile_find_loop(int code); /* defined beside the ufuncs: fills both tables at `code`, takes the GIL */

/* Another thread that sees a loop known must see the loop too. */
static inline int loop_is_known(const TileLoop *loop)
{
#if defined(__GNUC__)
    return __atomic_load_n(&loop->known, __ATOMIC_ACQUIRE);
#else
    return *(const volatile int *)&loop->known;
#endif
}

static inline void loop_set_known(TileLoop *loop)
{
#if defined(__GNUC__)
    __atomic_store_n(&loop->known, 1, __ATOMIC_RELEASE);
#else
    *(volatile int *)&loop->known = 1;
#endif
}

static inline void find_loop(int code)
{
    if (!tile_is_exact[code] && !loop_is_known(&tile_loops[code])) tile_find_loop(code);
}

/* One operation on numbers. The strides are those that NumPy gives operands without dimensions; `power` looks at them. */
static inline double loop_number(int code, int single, const double *u)
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
#endif
