/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobians of many scalar statements of one program: values and partials do not wait for adjoints, so they run in the
 * loops of tiles, whole vectors at a time; the sweep itself then is that over Jacobians. */
#include "codipy/programs/tiles/together.h"
#include "codipy/operations/array_loops.h"
#include "codipy/programs/tiles/single.h"
#include "codipy/programs/tiles/slopes.h"
#include <string.h>

/* Whether the loop of a partial has the bits of the table's text. */
static int has_loop(int code, int k)
{
    return (tile_active[code] >> k & 1) && tile_auxiliary[code][k] < 0 && tile_sifts[code] != 2 && code != OP_ASINH && code != OP_ATAN2;
}

static void partials(int code, int k, ptrdiff_t n, const double *x, const double *y, const double *z, const double *w,
    const double *ones, double *out)
{
    if (code == OP_SIN || code == OP_COS) {
        tile_slopes(code == OP_SIN, n, x, out);
        for (ptrdiff_t i = 0; code == OP_COS && i < n; i++) out[i] = -out[i];
    } else if (has_loop(code, k)) {
        tile_pull(code, k, 0, n, x, y, z, w, x, ones, out);
    } else {
        for (ptrdiff_t i = 0; i < n; i++) out[i] = op_partial_any(code, k, x[i], y[i], z[i], w[i]);
    }
}

void scalars_jacobians(const ScalarStep *step, int steps, int leaves, const unsigned char *is_active, ptrdiff_t n,
    double *registers, double *bars)
{
    const int rows = leaves + steps;
    double *ones = bars + rows * TOGETHER, *partial = ones + TOGETHER;
    for (ptrdiff_t i = 0; i < n; i++) ones[i] = 1.0;
    for (int s = 0; s < steps && steps > 1; s++) {
        const int32_t *from = step[s].sources;
        double *to = registers + (leaves + s) * TOGETHER;
        tile_value(step[s].code, n, registers + from[0] * TOGETHER, registers + from[1] * TOGETHER, registers + from[2] * TOGETHER, to);
        if (step[s].flags & SCALAR_SINGLE) tile_round(n, to);
    }
    for (int r = 0; r < rows; r++) memset(bars + r * TOGETHER, 0, n * sizeof(double));
    memcpy(bars + (rows - 1) * TOGETHER, ones, n * sizeof(double));
    for (int s = steps - 1; s >= 0; s--) {
        const int code = step[s].code;
        const int32_t *from = step[s].sources;
        const double *u[4] = {registers + from[0] * TOGETHER, registers + from[1] * TOGETHER, registers + from[2] * TOGETHER,
            registers + (leaves + s) * TOGETHER};
        const double *flow = bars + (leaves + s) * TOGETHER;
        for (int k = 0; k < tile_arity[code]; k++) {
            const int is = tile_partial_is[code][k];
            double *to = bars + from[k] * TOGETHER;
            if (from[k] < leaves && !is_active[from[k]]) continue;
            if (steps == 1) {
                partials(code, k, n, u[0], u[1], u[2], u[3], ones, to);
            } else if (tile_unit[code] >> k & 1) {
                tile_pull(code, k, 1, n, u[0], u[1], u[2], u[3], u[0], flow, to);
            } else {
                const double *p = is ? u[is - 1] : partial;
                if (!is) partials(code, k, n, u[0], u[1], u[2], u[3], ones, partial);
                tile_pull(OP_MULTIPLY, 0, 1 | 4, n, p, p, p, p, p, flow, to); /* gated on both sides */
            }
        }
    }
}
