/* SPDX-License-Identifier: Apache-2.0 */
/* What a tile runs for values, back and forward; which values that reads, and where they have their memory. */
#include "codipy/programs/tiles/plan.h"

int tile_numpy_weighs = 1;

/* Which arguments of a step NumPy's iterator leaves as they lie: bits. Operand r must be view r. It copies those that
   have not one stride over as many dimensions as it takes together, and takes another dimension together while that
   makes the inner loops longer by more than copying costs. What is no operand lies side by side. */
static int seen_by_rows(const TileWalk *walk, const TileProgram *program, const TileStep *step)
{
    const int arity = tile_arity[step->code], last = walk->dims - 1;
    int together[3] = {1, 1, 1}, cost = 1, best_cost = 1, best = 0, seen = 0;
    double size = (double)walk->shape[last], best_size = size;
    for (int d = last - 1; d >= 0 && (cost == 1 || size < NUMPY_BUFFER); d--) {
        const int outside = last - d;
        for (int k = 0; k < arity; k++) {
            if (step->sources[k] >= program->operands) continue;
            const Py_ssize_t *strides = walk->view[step->sources[k]].strides;
            if (together[k] < outside) continue;
            if (strides[d] == strides[d + 1] * walk->shape[d + 1])
                together[k]++;
            else
                cost++;
        }
        size *= (double)walk->shape[d];
        if (cost * best_size <= best_cost * (cost > 1 && size > NUMPY_BUFFER ? NUMPY_BUFFER : size)) {
            best_cost = cost;
            best_size = size;
            best = outside;
        }
    }
    for (int k = 0; k < arity; k++) seen |= (together[k] > best) << k;
    return seen;
}

void find_rows_seen(TileRun *run, const TileProgram *program)
{
    TileWalk *walk = &run->walk;
    const int joined = walk->joined;
    for (int s = 0; s < program->steps && walk->dims > 1 && tile_numpy_weighs; s++) {
        const TileStep *step = &program->step[s];
        const int seen = tile_is_exact[step->code] ? 0 : seen_by_rows(walk, program, step);
        for (int k = 0; k < tile_arity[step->code]; k++) {
            const int r = step->sources[k];
            if (!(seen >> k & 1) || r >= program->operands) continue;
            run->by_rows |= 1u << r;
            if (walk->view[r].inner <= 0 && !walk->view[r].flat) walk->joined = 0;
        }
    }
    if (walk->joined != joined) walk_access(walk);
}

static inline int is_pulled(const TileStep *step, const TileActivity *registers, int argument)
{
    return (tile_active[step->code] >> argument & 1) && registers[step->sources[argument]].active;
}

void find_activity(const TileProgram *program, uint32_t active, TileActivity *registers)
{
    const int operands = program->operands;
    for (int r = 0; r < operands; r++) registers[r] = (TileActivity){active >> r & 1, 0, 0, 0};
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s];
        TileActivity *w = &registers[operands + s];
        *w = (TileActivity){0, 0, 0, 0};
        for (int k = 0; k < tile_arity[step->code]; k++) {
            if (!is_pulled(step, registers, k)) continue;
            const int needs = tile_needs[step->code][k];
            w->active = 1;
            registers[step->sources[k]].pulls++;
            if (needs & 1) registers[step->sources[0]].needed = 1;
            if (needs & 2) registers[step->sources[1]].needed = 1;
            if (needs & 4) registers[step->sources[2]].needed = 1;
            if (needs & 8) w->needed = 1;
        }
    }
    for (int s = program->steps - 1; s >= 0; s--) {
        const TileStep *step = &program->step[s];
        if (registers[operands + s].needed)
            for (int k = 0; k < tile_arity[step->code]; k++) registers[step->sources[k]].needed = 1;
    }
}

/* Which steps are the inner one of a pair: read by the next step alone, once. */
static void find_pairs(const TileProgram *program, uint8_t *is_inner)
{
    uint8_t readers[VALUES];
    for (int s = 0; s < program->steps; s++) is_inner[s] = readers[program->operands + s] = 0;
    if (program->single == TILE_SINGLE) return; /* the inner step is rounded too */
    for (int s = 0; s < program->steps; s++)
        for (int k = 0; k < tile_arity[program->step[s].code]; k++) {
            const int source = program->step[s].sources[k];
            if (source >= program->operands) readers[source]++;
        }
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s], *next = step + 1;
        const int w = program->operands + s;
        is_inner[s] = s + 1 < program->steps && readers[w] == 1 && tile_is_paired[step->code] &&
            tile_is_paired[next->code] && (next->sources[0] == w || next->sources[1] == w);
        if (s > 0 && is_inner[s - 1]) is_inner[s] = 0;
    }
}

static void run_pair(TileRun *run, const TileProgram *program, int inner)
{
    const TileStep *next = &program->step[inner + 1];
    const int side = next->sources[1] == program->operands + inner;
    TileAction *action = run_action(run, PAIR, program, inner);
    action->outer = (uint8_t)next->code;
    action->mode = (uint8_t)side;
    action->z = (uint8_t)next->sources[1 - side];
    action->w++;
}

/* The registers that the loop that gives step `s` reads, which is one for both steps of a pair. */
static inline int sources_of(const TileProgram *program, const uint8_t *is_inner, int s, int *sources)
{
    int count = 0;
    if (s == 0 || !is_inner[s - 1]) {
        for (; count < tile_arity[program->step[s].code]; count++) sources[count] = program->step[s].sources[count];
        return count;
    }
    for (int step = s - 1; step <= s; step++)
        for (int k = 0; k < 2; k++) {
            const int source = program->step[step].sources[k];
            if (source != program->operands + s - 1) sources[count++] = source;
        }
    return count;
}

/* Memory of the tile for the values of all loops but the last; a register's memory is free after its last reader. */
static void run_share_slots(TileRun *run, const TileProgram *program, const uint8_t *is_inner)
{
    uint8_t last[VALUES], slot[VALUES], is_free[TILE_STEPS];
    int frees = 0, sources[6];
    for (int s = 0; s < program->steps; s++)
        for (int k = sources_of(program, is_inner, s, sources) - 1; k >= 0 && !is_inner[s]; k--)
            last[sources[k]] = (uint8_t)s;
    for (int s = 0; s < program->steps; s++) {
        const int w = program->operands + s;
        if (is_inner[s]) continue;
        if (s < program->steps - 1) {
            slot[w] = frees ? is_free[--frees] : (uint8_t)run->slots;
            run_slot(run, w, slot[w]);
        }
        for (int k = sources_of(program, is_inner, s, sources) - 1; k >= 0; k--) {
            const int source = sources[k];
            if (source >= program->operands && last[source] == s) {
                is_free[frees++] = slot[source];
                last[source] = 255; /* a loop may read a register twice */
            }
        }
    }
}

void plan_values(TileRun *run, const TileProgram *program)
{
    uint8_t is_inner[TILE_STEPS];
    find_pairs(program, is_inner);
    run_share_slots(run, program, is_inner);
    for (int s = 0; s < program->steps; s++) {
        if (is_inner[s])
            run_pair(run, program, s++);
        else
            run_action(run, VALUE, program, s);
    }
}

void plan_short(TileRun *run, const TileProgram *program)
{
    for (int s = 0; s < program->steps; s++) {
        if (s < program->steps - 1) run_slot(run, program->operands + s, run->slots);
        run_action(run, VALUE, program, s);
    }
}

/* Whether nothing flows through a partial that is zero: what was not selected gets nothing, and what is multiplied by a
   passive zero does not depend on anything, so that an infinite adjoint is no reason for a NaN. */
static inline int is_sifted(const TileStep *step, const TileActivity *registers, int argument)
{
    if (tile_sifts[step->code] != 1) return tile_sifts[step->code] != 0;
    return !registers[step->sources[!argument]].active;
}

static inline void run_pull(TileRun *run, const TileProgram *program, const TileActivity *registers, int step,
    int argument, TileFlow in, int out, int add)
{
    const int code = program->step[step].code, function = tile_auxiliary[code][argument];
    if (function >= 0) {
        if (tile_is_prepared[code]) run_action(run, ARGUMENT, program, step)->w = AUXILIARY_REGISTER;
        TileAction *before = run_action(run, FUNCTION, program, step);
        before->code = (int16_t)function;
        before->w = AUXILIARY_REGISTER;
        if (tile_is_prepared[code]) before->x = AUXILIARY_REGISTER;
    }
    TileAction *action = run_action(run, PULL, program, step);
    action->argument = (uint8_t)argument;
    action->in = in.reg;
    action->out = (uint8_t)out;
    action->mode = (uint8_t)(add + 2 * in.minus + 4 * is_sifted(&program->step[step], registers, argument));
}

/* The flow through a partial that is 1 or -1: the same memory, perhaps the other sign. */
static inline TileFlow same_flow(const TileStep *step, int argument, TileFlow from)
{
    return (TileFlow){from.reg, from.minus ^ (tile_minus[step->code] >> argument & 1)};
}

/* Whether two arrays, whose elements are rows of directions, never see the same element at the same time. */
static int are_rows_apart(const TileWalk *walk, const TileView *a, const TileView *b)
{
    if (walk->lanes == 1 || a->base == b->base) return 0;
    for (int d = 0; d < walk->dims; d++)
        if (a->strides[d] != b->strides[d]) return 0;
    return 1;
}

void gather_crowded(TileWalk *walk, int operands, const TileActivity *registers, const uint8_t *flow)
{
    for (int r = 1; r < operands; r++) {
        if (!registers[r].pulls) continue;
        TileView *view = &walk->view[flow[r]];
        for (int q = 0; q < r && view->access == IN_PLACE; q++) {
            const TileView *other = &walk->view[flow[q]];
            if (!registers[q].pulls || other->access != IN_PLACE || !views_meet(walk, view, other)) continue;
            if (are_rows_apart(walk, view, other))
                walk->meet = 1;
            else
                view->access = GATHERED;
        }
    }
}

void plan_registers(TileRun *run, const TileProgram *program, const TileActivity *registers, const uint8_t *value)
{
    const int operands = program->operands;
    for (int r = 0; r < operands; r++)
        if (registers[r].needed) run_bind_operand(run, r, value[r]);
    for (int w = operands; w < operands + program->steps; w++)
        if (registers[w].needed) run_slot(run, w, run->slots); /* its own: a sweep back reads it long after */
}

void plan_reverse(TileRun *run, const TileProgram *program, TileActivity *registers, int seed, const uint8_t *flow)
{
    TileFlow at[VALUES];
    const int operands = program->operands, root = operands + program->steps - 1;
    for (int s = 0; s < program->steps; s++)
        if (registers[operands + s].needed) run_action(run, VALUE, program, s);
    at[root] = (TileFlow){(uint8_t)seed, 0};
    registers[root].reached = registers[root].active;
    for (int s = program->steps - 1; s >= 0; s--) {
        const TileStep *step = &program->step[s];
        const int w = operands + s;
        for (int k = 0; k < tile_arity[step->code] && registers[w].reached; k++) {
            const int source = step->sources[k], own = VALUES + source, is_operand = source < operands;
            TileActivity *to = &registers[source];
            if (!is_pulled(step, registers, k)) continue;
            const int in_place = is_operand && run->walk.view[flow[source]].access == IN_PLACE;
            const TileFlow same = same_flow(step, k, at[w]);
            if (!to->reached && in_place) run_bind(run, own, flow[source], DEPOSIT);
            if (!to->reached && !in_place && to->pulls == 1 && is_unit(step, k) && !(is_operand && same.minus)) {
                at[source] = same;
            } else {
                if (!to->reached && !in_place) run_slot(run, own, run->slots);
                at[source] = (TileFlow){(uint8_t)own, 0};
                run_pull(run, program, registers, s, k, at[w], own, to->reached || in_place);
            }
            to->reached = 1;
        }
    }
    for (int r = 0; r < operands; r++)
        if (registers[r].reached && run->walk.view[flow[r]].access != IN_PLACE)
            run_bind_deposit(run, at[r].reg, flow[r]);
    run_slot(run, AUXILIARY_REGISTER, run->slots);
}

void plan_tangent(TileRun *run, const TileProgram *program, const TileActivity *registers, const uint8_t *flow)
{
    TileFlow at[VALUES];
    const int operands = program->operands, root = operands + program->steps - 1;
    for (int r = 0; r < operands; r++) {
        if (registers[r].pulls) run_bind(run, VALUES + r, flow[r], LOAD);
        at[r] = (TileFlow){(uint8_t)(VALUES + r), 0};
    }
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s];
        const int w = operands + s;
        int pulled = 0, last = 0;
        if (registers[operands + s].needed) run_action(run, VALUE, program, s);
        for (int k = 0; k < tile_arity[step->code]; k++)
            if (is_pulled(step, registers, k)) pulled++, last = k;
        at[w] = (TileFlow){(uint8_t)(VALUES + w), 0};
        if (pulled == 1 && is_unit(step, last) && w != root) {
            at[w] = same_flow(step, last, at[step->sources[last]]);
            continue;
        }
        if (pulled && w != root) run_slot(run, at[w].reg, run->slots);
        for (int k = 0, add = 0; k < tile_arity[step->code]; k++)
            if (is_pulled(step, registers, k)) {
                run_pull(run, program, registers, s, k, at[step->sources[k]], at[w].reg, add);
                add = 1;
            }
    }
    run_slot(run, AUXILIARY_REGISTER, run->slots);
}
