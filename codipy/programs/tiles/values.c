/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs over tiles: their values. */
#include "codipy/programs/tiles/team.h"
#include "codipy/programs/tiles/tile.h"
#include "codipy/programs/tiles/tiles.h"
#include <string.h>

static void values_part(TileRun *run, const TileCall *call, TileTeam *team)
{
    const TileSweep *of = call->sweep;
    const int operands = of->program->operands, root = operands + of->program->steps - 1, dims = of->dims;
    if (!walk_begin(&run->walk, dims, of->shape)) return;
    run_begin(run, of->program);
    for (int r = 0; r < operands; r++)
        walk_add(&run->walk, (void *)of->operand[r].data, of->operand[r].strides, 1, dims, of->shape);
    walk_add(&run->walk, call->lhs, call->lhs_strides, 1, dims, of->shape);
    run_close(run);
    find_rows_seen(run, of->program);
    for (int r = 0; r < operands; r++) run_bind_operand(run, r, r);
    run_bind(run, root, operands, STORE);
    if (run->walk.rows * run->walk.inner < TILE_SHORT_ROW)
        plan_short(run, of->program);
    else
        plan_values(run, of->program);
    run_cut(run);
    int is_first = !team_enter(team, run);
    for (Py_ssize_t n; (n = run_next(run)) > 0; is_first = 0) {
        run_load(run, is_first);
        run_tile(run, n);
        run_store(run);
    }
}

int tile_run_values(const TileProgram *program, const TileOperand *operand, int dims, const Py_ssize_t *shape,
    double *out, const Py_ssize_t *out_strides)
{
    const TileSweep values = {program, operand, dims, shape};
    const TileCall call = {&values, out, out_strides, 0, 0, NULL};
    return team_run(values_part, &call, team_for(&values));
}
