/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of NumPy's and SciPy's ufuncs, which give the values that are not rounded correctly anyway. */
#ifndef CODIPY_PROGRAMS_TILES_UFUNCS_H
#define CODIPY_PROGRAMS_TILES_UFUNCS_H
#include "codipy/operations/array_loops.h"
#include <Python.h>

/* The inner loop of a ufunc, looked up once. */
typedef struct {
    void (*function)(char **, const Py_ssize_t *, const Py_ssize_t *, void *);
    void *data;
    int known;
} TileLoop;

extern TileLoop tile_loops[OP_COUNT], tile_single_loops[OP_COUNT]; /* of double and of float */
/* Set beside the ufuncs: fills both tables at `code`, takes the GIL. */
extern void (*tile_find_loop)(int code);

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

/* One operation on numbers, in float32 if asked. */
double loop_number(int code, int single, const double *u);
#endif
