/* SPDX-License-Identifier: Apache-2.0 */
/* Second order over tiles: tangents forward, and the tangents of adjoints back, several directions at once. */
#include "codipy/programs/tiles/second.h"
#include "codipy/operations/clones.h"
#include "codipy/programs/tiles/compiled.h"
#include "codipy/programs/tiles/slopes.h"
#include "codipy/programs/tiles/team.h"
#include "codipy/programs/tiles/tile.h"
#include <stdlib.h>
#include <string.h>

/* What one loop does. Those from COPY on are the same for adjoints, tangents and tangents of adjoints:
   PUSH  out = a * b, 0 where a is 0              SIFT   likewise, 0 where b is 0 too
   PULL  out = a * b, 0 where a is 0, and where the adjoint c is 0 and b is not finite; PULL_SIFT
   CURVE out = a * b, 0 where a is 0 or the adjoint c is 0
   CURVED out = PULL of a, b, c and CURVE of d, e, c
   Each but SUM and DIFFERENCE has a twin that adds. */
typedef enum {
    SECOND_VALUE, SECOND_PARTIAL, SECOND_CURVATURE,
    COPY, COPY_ADD, NEGATE, NEGATE_ADD, SUM, DIFFERENCE,
    PUSH, PUSH_ADD, SIFT, SIFT_ADD, PULL_, PULL_ADD, PULL_SIFT, PULL_SIFT_ADD, CURVE, CURVE_ADD, CURVED, CURVED_ADD
} SecondKind;

/* VALUE: x, y, z, w. PARTIAL: x, y, z, w, out. CURVATURE: x, y, z, w, p, q, a, out. Others: out is the last of six. */
typedef struct {
    int16_t code;
    uint8_t kind, place;
    int16_t reg[8];
} SecondAction;

enum {
    MOST_SECOND = 4 * VALUES + 10 * TILE_STEPS, /* registers */
    OUT = 5
};

struct TileSecondPlan {
    struct TileSecondPlan *next;
    uint32_t active;
    int flows; /* whether there is anything to do */
    int part, registers, once, actions; /* actions: the first `once` for all directions, the others for each */
    int16_t ones, auxiliary, bar, lhs;          /* registers */
    int16_t tangent[TILE_OPERANDS];             /* of the operands, 0 where it is not read */
    int16_t deposit[TILE_OPERANDS];             /* D of the operands, 0 where there is none */
    uint8_t needed[VALUES];
    SecondAction action[];
};

/* ---- The plan -------------------------------------------------------------------------------------------------------*/
typedef struct {
    const TileProgram *program;
    SecondAction *action;
    int count, most, registers, failed;
} SecondDraft;

static SecondAction *draft_action(SecondDraft *draft, SecondKind kind)
{
    if (draft->count == draft->most) {
        SecondAction *more = realloc(draft->action, 2 * draft->most * sizeof(SecondAction));
        if (!more) {
            draft->failed = 1;
            draft->count = 0;
        } else {
            draft->action = more;
            draft->most *= 2;
        }
    }
    SecondAction *action = &draft->action[draft->count++];
    memset(action, 0, sizeof(*action));
    action->kind = (uint8_t)kind;
    return action;
}

static void draft_loop(SecondDraft *draft, SecondKind kind, int a, int b, int c, int d, int e, int out)
{
    SecondAction *action = draft_action(draft, kind);
    const int given[6] = {a, b, c, d, e, out};
    for (int k = 0; k < 6; k++) action->reg[k] = (int16_t)given[k];
}

static SecondAction *draft_step(SecondDraft *draft, SecondKind kind, int step, int place)
{
    const TileStep *s = &draft->program->step[step];
    const int arity = tile_arity[s->code];
    SecondAction *action = draft_action(draft, kind);
    action->code = (int16_t)s->code;
    action->place = (uint8_t)place;
    for (int k = 0; k < 3; k++) action->reg[k] = (int16_t)s->sources[k < arity ? k : 0];
    action->reg[3] = (int16_t)(draft->program->operands + step);
    return action;
}

static const uint8_t second_place[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};

static inline int flows(const TileProgram *program, const uint8_t *active, int step, int k)
{
    const TileStep *s = &program->step[step];
    return k < tile_arity[s->code] && (tile_active[s->code] >> k & 1) && active[s->sources[k]];
}

static inline void need(uint8_t *needed, const TileStep *s, int w, int bits)
{
    for (int k = 0; k < 3; k++)
        if (bits >> k & 1) needed[s->sources[k]] = 1;
    if (bits & 8) needed[w] = 1;
}

/* What a plan is made for, found out before its loops are written down. */
typedef struct {
    uint8_t active[VALUES]; /* depends on active operands */
    uint8_t needed[VALUES]; /* its value is read */
    uint8_t wanted[VALUES]; /* ... its tangent */
    uint8_t barred[VALUES]; /* ... its adjoint */
    uint8_t dotted[VALUES]; /* the tangent of its adjoint is not 0 */
    uint16_t bar_pulls[VALUES], dot_pulls[VALUES]; /* how often something is added to these */
    uint8_t curved[TILE_STEPS][6]; /* second partials: 0 it is 0, or no matter; 1; 2 computed */
    uint8_t computed[TILE_STEPS];  /* bits: partials that loops compute */
    uint8_t several[TILE_STEPS];   /* how many operands of a step are active */
    uint8_t sifts[TILE_STEPS];
} SecondNeeds;

static inline int is_unit(const TileStep *step, int k)
{
    return tile_unit[step->code] >> k & 1;
}

static inline int curves(const SecondNeeds *needs, int s, int k)
{
    int found = 0;
    for (int j = 0; j < 3; j++) found |= needs->curved[s][second_place[k][j]];
    return found;
}

static void need_partial(SecondNeeds *needs, const TileProgram *program, int s, int k)
{
    const TileStep *step = &program->step[s];
    if (is_unit(step, k)) return;
    if (!tile_partial_is[step->code][k]) needs->computed[s] |= 1 << k;
    need(needs->needed, step, program->operands + s, tile_needs[step->code][k]);
}

static void second_find(SecondNeeds *needs, const TileProgram *program, uint32_t active, SecondPart part)
{
    const int operands = program->operands, root = operands + program->steps - 1;
    memset(needs, 0, sizeof(*needs));
    for (int r = 0; r < operands; r++) needs->active[r] = active >> r & 1;
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s];
        for (int k = 0; k < 3; k++) needs->several[s] += (uint8_t)flows(program, needs->active, s, k);
        needs->active[operands + s] = needs->several[s] != 0;
        needs->sifts[s] = tile_sifts[step->code] == 2 || (tile_sifts[step->code] == 1 && needs->several[s] == 1);
        for (int k = 0; k < 3 && part != SECOND_FORWARD; k++) {
            if (!flows(program, needs->active, s, k)) continue;
            needs->barred[operands + s] |= part == SECOND_BACK && !is_unit(step, k);
            for (int j = 0; j <= k; j++) {
                const int place = second_place[k][j], kind = tile_second_kind[step->code][place];
                if (!flows(program, needs->active, s, j) || !kind) continue;
                needs->curved[s][place] = (uint8_t)kind;
                needs->wanted[step->sources[k]] = needs->wanted[step->sources[j]] = 1;
                needs->barred[operands + s] = 1;
                if (kind < 2) continue;
                const int reads = tile_second_needs[step->code][place];
                need(needs->needed, step, operands + s, reads);
                for (int f = 0; f < 2; f++)
                    if (reads >> (4 + f) & 1) need_partial(needs, program, s, f);
            }
        }
    }
    if (part == SECOND_FORWARD) needs->wanted[root] = 1;
    needs->dotted[root] = part != SECOND_FORWARD;
    for (int s = 0; s < program->steps; s++) /* an adjoint comes from those of all steps that read the value */
        for (int k = 0; k < 3; k++) {
            const int source = program->step[s].sources[k];
            if (!flows(program, needs->active, s, k) || source < operands || !needs->barred[source]) continue;
            needs->barred[operands + s] = 1;
            needs->bar_pulls[source]++;
            need_partial(needs, program, s, k);
        }
    for (int s = program->steps - 1; s >= 0; s--)
        for (int k = 0; k < 3; k++) {
            const int source = program->step[s].sources[k], w = operands + s;
            if (!flows(program, needs->active, s, k)) continue;
            if (needs->wanted[w] || needs->dotted[w]) need_partial(needs, program, s, k);
            if (needs->wanted[w]) needs->wanted[source] = 1;
            if (!needs->dotted[w] && !curves(needs, s, k)) continue;
            needs->dotted[source] = 1;
            needs->dot_pulls[source]++;
        }
    for (int s = program->steps - 1; s >= 0; s--)
        for (int k = 0; needs->needed[operands + s] && k < tile_arity[program->step[s].code]; k++)
            needs->needed[program->step[s].sources[k]] = 1;
}

/* The loops of a flow through one argument of a step; returns the register that it ends in, `into` or a new one. */
static int draft_flow(SecondDraft *draft, const TileStep *step, int k, SecondKind kind, int flow, int partial, int bar, int into)
{
    const int unit = is_unit(step, k), minus = tile_minus[step->code] >> k & 1, add = into != 0;
    if (!into) into = draft->registers++;
    draft_loop(draft, (unit ? minus ? NEGATE : COPY : kind) + add, flow, partial, bar, 0, 0, into);
    return into;
}

static TileSecondPlan *second_make(const TileProgram *program, uint32_t active, SecondPart part)
{
    const int operands = program->operands, root = operands + program->steps - 1, back = part != SECOND_FORWARD;
    int16_t tangent[VALUES] = {0}, bar[VALUES] = {0}, dot[VALUES] = {0};
    int16_t partial[TILE_STEPS][3], curvature[TILE_STEPS][6];
    SecondNeeds needs;
    SecondDraft draft = {program, malloc(64 * sizeof(SecondAction)), 0, 64, root + 1, 0};
    if (!draft.action) return NULL;
    memset(partial, 0, sizeof(partial));
    memset(curvature, 0, sizeof(curvature));
    second_find(&needs, program, active, part);
    const int ones = draft.registers++, auxiliary = draft.registers++, lhs_bar = draft.registers++;
    const int lhs = draft.registers++;
    /* Once for all directions: values, partials, adjoints, and these times second partials. */
    for (int s = 0; s < program->steps; s++)
        if (needs.needed[operands + s]) draft_step(&draft, SECOND_VALUE, s, 0);
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s];
        for (int k = 0; k < tile_arity[step->code]; k++) {
            const int is = tile_partial_is[step->code][k];
            if (needs.computed[s] >> k & 1)
                draft_step(&draft, SECOND_PARTIAL, s, k)->reg[4] = partial[s][k] = (int16_t)draft.registers++;
            else if (is)
                partial[s][k] = (int16_t)(is == 4 ? operands + s : step->sources[is - 1]);
        }
    }
    bar[root] = (int16_t)lhs_bar;
    for (int s = program->steps - 1; back && s >= 0; s--) {
        const TileStep *step = &program->step[s];
        const int a = bar[operands + s];
        if (!a || !needs.barred[operands + s]) continue;
        for (int place = 0; place < 6; place++) {
            if (needs.curved[s][place] == 1) curvature[s][place] = (int16_t)a;
            if (needs.curved[s][place] < 2) continue;
            SecondAction *action = draft_step(&draft, SECOND_CURVATURE, s, place);
            action->reg[4] = (int16_t)(needs.computed[s] & 1 ? partial[s][0] : ones);
            action->reg[5] = (int16_t)(needs.computed[s] & 2 ? partial[s][1] : ones);
            action->reg[6] = (int16_t)a;
            action->reg[7] = curvature[s][place] = (int16_t)draft.registers++;
        }
        for (int k = 0; k < 3; k++) {
            const int source = step->sources[k];
            if (!flows(program, needs.active, s, k) || source < operands || !needs.barred[source]) continue;
            if (is_unit(step, k) && !(tile_minus[step->code] >> k & 1) && needs.bar_pulls[source] == 1)
                bar[source] = (int16_t)a;
            else
                bar[source] = (int16_t)draft_flow(&draft, step, k, needs.sifts[s] ? SIFT : PUSH, a, partial[s][k], 0, bar[source]);
        }
    }
    const int once = draft.count;
    /* For each direction: tangents forward ... */
    for (int r = 0; r < operands; r++)
        if (needs.active[r] && needs.wanted[r]) tangent[r] = (int16_t)draft.registers++;
    for (int s = 0; s < program->steps; s++) {
        const TileStep *step = &program->step[s];
        const int w = operands + s, last = w == root && !back;
        if (!needs.active[w] || !needs.wanted[w]) continue;
        if (needs.several[s] == 2 && tile_unit[step->code] == 3) { /* a sum or a difference */
            tangent[w] = (int16_t)(last ? lhs : draft.registers++);
            draft_loop(&draft, tile_minus[step->code] >> 1 & 1 ? DIFFERENCE : SUM, tangent[step->sources[0]],
                tangent[step->sources[1]], 0, 0, 0, tangent[w]);
            continue;
        }
        for (int k = 0, begun = 0; k < 3; k++) {
            if (!flows(program, needs.active, s, k)) continue;
            const int unit = is_unit(step, k), minus = tile_minus[step->code] >> k & 1, t = tangent[step->sources[k]];
            if (unit && !minus && needs.several[s] == 1 && !last) {
                tangent[w] = (int16_t)t;
                continue;
            }
            if (!begun) tangent[w] = (int16_t)(last ? lhs : draft.registers++);
            draft_loop(&draft, (unit ? minus ? NEGATE : COPY : needs.sifts[s] ? SIFT : PUSH) + begun, t, partial[s][k], 0, 0,
                0, tangent[w]);
            begun = 1;
        }
    }
    /* ... and the tangents of adjoints back. */
    dot[root] = (int16_t)(needs.dotted[root] ? lhs : 0);
    for (int s = program->steps - 1; back && s >= 0; s--) {
        const TileStep *step = &program->step[s];
        const int a = bar[operands + s], d = dot[operands + s];
        for (int k = 0; k < 3; k++) {
            const int source = step->sources[k], unit = is_unit(step, k);
            int pulled = !d;
            if (!flows(program, needs.active, s, k)) continue;
            if (d && unit && !(tile_minus[step->code] >> k & 1) && !curves(&needs, s, k) && needs.dot_pulls[source] == 1) {
                dot[source] = (int16_t)d;
                continue;
            }
            for (int j = 0; j < 3; j++) {
                const int c = curvature[s][second_place[k][j]];
                if (!flows(program, needs.active, s, j) || !c) continue;
                const int add = dot[source] != 0, t = tangent[step->sources[j]];
                if (!add) dot[source] = (int16_t)draft.registers++;
                if (!pulled && !unit && !needs.sifts[s] && part == SECOND_BACK) {
                    draft_loop(&draft, CURVED + add, d, partial[s][k], a, t, c, dot[source]);
                    pulled = 1;
                } else {
                    draft_loop(&draft, CURVE + add, t, c, a, 0, 0, dot[source]);
                }
            }
            if (!pulled)
                dot[source] = (int16_t)draft_flow(&draft, step, k, (needs.sifts[s] ? 2 : 0) + (part == SECOND_BACK ? PULL_ : PUSH),
                    d, partial[s][k], a, dot[source]);
        }
    }
    TileSecondPlan *plan = draft.failed ? NULL : malloc(sizeof(TileSecondPlan) + draft.count * sizeof(SecondAction));
    if (plan) {
        plan->next = NULL;
        plan->active = active;
        plan->part = part;
        plan->registers = draft.registers;
        plan->once = once;
        plan->actions = draft.count;
        plan->flows = back ? 0 : needs.active[root];
        plan->ones = (int16_t)ones;
        plan->auxiliary = (int16_t)auxiliary;
        plan->bar = (int16_t)lhs_bar;
        plan->lhs = (int16_t)lhs;
        memcpy(plan->needed, needs.needed, sizeof(plan->needed));
        for (int r = 0; r < operands; r++) {
            plan->tangent[r] = tangent[r];
            plan->deposit[r] = (int16_t)(needs.active[r] ? dot[r] : 0);
            plan->flows |= plan->deposit[r] != 0;
        }
        memcpy(plan->action, draft.action, draft.count * sizeof(SecondAction));
    }
    free(draft.action);
    return plan;
}

const TileSecondPlan *second_plan(TileSecondPlan **list, const TileProgram *program, uint32_t active, SecondPart part)
{
    for (TileSecondPlan *plan = *list; plan; plan = plan->next)
        if (plan->active == active && plan->part == (int)part) return plan;
    TileSecondPlan *plan = second_make(program, active, part);
    if (!plan) return NULL;
    plan->next = *list;
    *list = plan;
    return plan;
}

void second_free(TileSecondPlan *list)
{
    while (list) {
        TileSecondPlan *next = list->next;
        free(list);
        list = next;
    }
}

/* ---- The loops ------------------------------------------------------------------------------------------------------*/
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-trapping-math")
#endif
#define EACH for (Py_ssize_t i = 0; i < n; i++)
#define PUSHED(a, b) ((a) != 0 ? (a) * (b) : 0.0)
#define SIFTED(a, b) (((a) != 0) & ((b) != 0) ? (a) * (b) : 0.0)
#define FINITE(b) ((b) - (b) == 0)
#define PULLED(a, b, c) (((a) != 0) & (((c) != 0) | FINITE(b)) ? (a) * (b) : 0.0)
#define PULLED_SIFTED(a, b, c) (((a) != 0) & ((b) != 0) & (((c) != 0) | FINITE(b)) ? (a) * (b) : 0.0)
#define CURVES(a, b, c) (((a) != 0) & ((c) != 0) ? (a) * (b) : 0.0)
TILE_CLONES
static void second_loop(int kind, Py_ssize_t n, const double *__restrict a, const double *__restrict b,
    const double *__restrict c, const double *__restrict d, const double *__restrict e, double *__restrict out)
{
    switch (kind) {
    case COPY: EACH out[i] = a[i]; return;
    case COPY_ADD: EACH out[i] += a[i]; return;
    case NEGATE: EACH out[i] = -a[i]; return;
    case NEGATE_ADD: EACH out[i] -= a[i]; return;
    case SUM: EACH out[i] = a[i] + b[i]; return;
    case DIFFERENCE: EACH out[i] = a[i] - b[i]; return;
    case PUSH: EACH out[i] = PUSHED(a[i], b[i]); return;
    case PUSH_ADD: EACH out[i] += PUSHED(a[i], b[i]); return;
    case SIFT: EACH out[i] = SIFTED(a[i], b[i]); return;
    case SIFT_ADD: EACH out[i] += SIFTED(a[i], b[i]); return;
    case PULL_: EACH out[i] = PULLED(a[i], b[i], c[i]); return;
    case PULL_ADD: EACH out[i] += PULLED(a[i], b[i], c[i]); return;
    case PULL_SIFT: EACH out[i] = PULLED_SIFTED(a[i], b[i], c[i]); return;
    case PULL_SIFT_ADD: EACH out[i] += PULLED_SIFTED(a[i], b[i], c[i]); return;
    case CURVE: EACH out[i] = CURVES(a[i], b[i], c[i]); return;
    case CURVE_ADD: EACH out[i] += CURVES(a[i], b[i], c[i]); return;
    case CURVED: EACH out[i] = PULLED(a[i], b[i], c[i]) + CURVES(d[i], e[i], c[i]); return;
    case CURVED_ADD: EACH out[i] += PULLED(a[i], b[i], c[i]) + CURVES(d[i], e[i], c[i]); return;
    }
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

static void second_partial(const TileRun *run, const SecondAction *action, double *const *at, int ones, int auxiliary, Py_ssize_t n)
{
    const double *const from[3] = {at[action->reg[0]], at[action->reg[1]], at[action->reg[2]]};
    const int function = tile_auxiliary[action->code][action->place];
    double *aux = at[auxiliary];
    if (function >= 0) {
        const double *of = from[0];
        if (tile_is_prepared[action->code]) {
            tile_argument(action->code, n, from[0], from[1], from[2], aux);
            of = aux;
        }
        const double *const arguments[3] = {of, of, of};
        const int registers[3] = {VALUES, VALUES, VALUES};
        if (function == OP_SIN || function == OP_COS)
            tile_slopes(function == OP_COS, n, of, aux);
        else
            run_value(run, function, registers, arguments, aux, n);
    }
    tile_pull(action->code, action->place, tile_sifts[action->code] == 2 ? 4 : 0, n, from[0], from[1], from[2], at[action->reg[3]], aux, at[ones], at[action->reg[4]]);
}

static void second_actions(const TileRun *run, const TileSecondPlan *plan, int first, int last, double *const *at, Py_ssize_t n)
{
    for (const SecondAction *action = plan->action + first; action < plan->action + last; action++) {
        const int16_t *reg = action->reg;
        if (action->kind == SECOND_VALUE) {
            const double *const from[3] = {at[reg[0]], at[reg[1]], at[reg[2]]};
            const int registers[3] = {VALUES, VALUES, VALUES};
            if (!run->single && (action->code == OP_SIN || action->code == OP_COS))
                tile_slopes(action->code == OP_COS, n, from[0], at[reg[3]]);
            else
                run_step(run, action->code, registers, from, at[reg[3]], n);
            if (run->single && reg[3] == run->root) tile_round(n, at[reg[3]]);
        } else if (action->kind == SECOND_PARTIAL) {
            second_partial(run, action, at, plan->ones, plan->auxiliary, n);
        } else if (action->kind == SECOND_CURVATURE) {
            tile_second(action->code, action->place, n, at[reg[0]], at[reg[1]], at[reg[2]], at[reg[3]], at[reg[4]], at[reg[5]],
                at[reg[6]], at[reg[7]]);
        } else {
            second_loop(action->kind, n, at[reg[0]], at[reg[1]], at[reg[2]], at[reg[3]], at[reg[4]], at[reg[OUT]]);
        }
    }
}

/* ---- Compiled loops -------------------------------------------------------------------------------------------------*/
/* A loop as the action of a first-order sweep that does the same; 0 if there is none. */
static int as_action(const TileSecondPlan *plan, const SecondAction *action, TileAction *tile)
{
    const int16_t *reg = action->reg;
    const int add = (action->kind - COPY) & 1;
    memset(tile, 0, sizeof(*tile)); /* a compiled loop is found by all bytes */
    switch (action->kind) {
    case SECOND_VALUE:
        tile->kind = VALUE;
        if (!tile_is_exact[action->code]) return 0;
        break;
    case SECOND_PARTIAL:
        tile->kind = PULL;
        tile->argument = action->place;
        tile->mode = tile_sifts[action->code] == 2 ? 4 : 0;
        if (tile_auxiliary[action->code][action->place] >= 0) return 0;
        break;
    case SUM:
    case DIFFERENCE:
        *tile = (TileAction){.kind = VALUE, .code = action->kind == SUM ? OP_ADD : OP_SUBTRACT};
        tile->x = tile->z = (uint8_t)reg[0];
        tile->y = (uint8_t)reg[1];
        tile->w = (uint8_t)reg[OUT];
        return 1;
    case COPY: case COPY_ADD: case NEGATE: case NEGATE_ADD:
        *tile = (TileAction){.kind = PULL, .code = OP_POSITIVE, .mode = (uint8_t)(action->kind - COPY)};
        tile->x = tile->y = tile->z = tile->w = tile->in = (uint8_t)reg[0];
        tile->out = (uint8_t)reg[OUT];
        return 1;
    case CURVE: case CURVE_ADD:
        if (reg[1] != reg[2]) return 0; /* else gated on both sides */
        /* fall through */
    case PUSH: case PUSH_ADD: case SIFT: case SIFT_ADD:
        *tile = (TileAction){.kind = PULL, .code = OP_MULTIPLY, .mode = (uint8_t)add};
        tile->mode |= action->kind == PUSH || action->kind == PUSH_ADD ? 0 : 4;
        tile->in = (uint8_t)reg[0];
        tile->x = tile->y = tile->z = tile->w = (uint8_t)reg[1];
        tile->out = (uint8_t)reg[OUT];
        return 1;
    default: return 0;
    }
    tile->code = action->code;
    tile->x = (uint8_t)reg[0];
    tile->y = (uint8_t)reg[1];
    tile->z = (uint8_t)reg[2];
    tile->w = (uint8_t)reg[3];
    tile->in = (uint8_t)plan->ones;
    tile->out = (uint8_t)reg[4];
    return 1;
}

/* Lets run->action do what the plan does, compiled where that is known; 0 where the plan is too large. What has no such
   action stays one of the plan, by its number; two actions then name all registers that it reads. */
static int second_compile(TileRun *run, const TileSecondPlan *plan, int operands)
{
    if (run->single || plan->registers > TILE_REGISTERS || 2 * plan->actions > TILE_ACTIONS) return 0;
    for (int k = 0; k < plan->actions; k++) {
        const SecondAction *action = &plan->action[k];
        if (as_action(plan, action, &run->action[run->actions++])) continue;
        const uint8_t reg[8] = {(uint8_t)action->reg[0], (uint8_t)action->reg[1], (uint8_t)action->reg[2], (uint8_t)action->reg[3],
            (uint8_t)action->reg[4], (uint8_t)action->reg[5], (uint8_t)action->reg[6], (uint8_t)action->reg[7]};
        run->action[run->actions - 1] = (TileAction){.kind = LANES, .code = (int16_t)k, .x = reg[0], .y = reg[1], .z = reg[2],
            .w = reg[3], .in = reg[4], .out = reg[5]};
        run->action[run->actions++] = (TileAction){.kind = LANES, .code = -1, .x = reg[6], .y = reg[7], .in = (uint8_t)plan->ones};
    }
    for (int r = 0; r < operands; r++)
        if (plan->deposit[r]) run->binding[run->bindings++] = (TileBinding){(uint8_t)plan->deposit[r], 0, DEPOSIT};
    run_compile(run);
    return 1;
}

static void compiled_actions(const TileRun *run, const TileSecondPlan *plan, Py_ssize_t n)
{
    for (int k = 0; k < run->actions; k++) {
        const TileAction *action = &run->action[k];
        if (action->kind != LANES)
            run_actions(run, k, k + 1, n);
        else if (action->code >= 0)
            second_actions(run, plan, action->code, action->code + 1, run->at, n);
    }
}

/* ---- The tiles ------------------------------------------------------------------------------------------------------*/
static inline void view_shift(TileView *view, Py_ssize_t bytes)
{
    view->base += bytes;
    view->row += bytes;
}

/* Where a direction of a view is for this tile: in place, else copied to `room`. */
static double *lane_read(const TileWalk *walk, TileView *view, Py_ssize_t bytes, double *room)
{
    double *found = room;
    view_shift(view, bytes);
    if (view->access == IN_PLACE)
        found = (double *)view_start(walk, view);
    else
        view_gather(walk, view, room);
    view_shift(view, -bytes);
    return found;
}

static int second_run(TileRun *run, const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes,
    const double *bar, double *lhs, const Py_ssize_t *lhs_strides)
{
    const TileProgram *program = sweep->program;
    const TileOperand *operand = sweep->operand;
    const int operands = program->operands, dims = sweep->dims, back = bar != NULL, dotted = back;
    const Py_ssize_t *shape = sweep->shape;
    const Py_ssize_t unit = sizeof(double), least = (Py_ssize_t)plan->registers * (TILE_SHORT_ROW + TILE_GAP);
    TileWalk *walk = &run->walk;
    double *many[MOST_SECOND], *own[MOST_SECOND], *room = run->room, *larger = NULL;
    double **at = plan->registers <= TILE_REGISTERS ? run->at : many;
    Py_ssize_t space = TILE_ROOM, n;
    uint8_t value_view[TILE_OPERANDS], flow_view[TILE_OPERANDS], bar_view = 0, lhs_view;
    if (!walk_begin(walk, dims, shape)) return 0;
    run_begin(run, program);
    if (least > space) {
        room = larger = malloc((least + 8) * unit);
        if (!larger) return -1;
        space = least;
    }
    lhs_view = walk_add(walk, lhs, lhs_strides, unit, dims, shape);
    if (back) bar_view = walk_add(walk, (void *)bar, lhs_strides, unit, dims, shape);
    for (int r = 0; r < operands; r++) {
        if (plan->needed[r]) value_view[r] = walk_add(walk, (void *)operand[r].data, operand[r].strides, 1, dims, shape);
        if (plan->tangent[r] || plan->deposit[r])
            flow_view[r] = walk_add(walk, operand[r].adjoint, operand[r].adjoint_strides, unit, dims, shape);
    }
    walk_close(walk, plan->registers, space);
    const Py_ssize_t distance = walk_cut(walk, plan->registers, space);
    room = (double *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
    for (int k = 0; k < plan->registers; k++) at[k] = own[k] = room + k * distance;
    for (Py_ssize_t i = 0; i < distance; i++) at[plan->ones][i] = 1.0;
    const int compiled = plan->part == SECOND_SMOOTH && lanes->lanes == 1 && second_compile(run, plan, operands);
    int is_first = 1;
    while ((n = walk_next(walk)) > 0) {
        if (back) at[plan->bar] = lane_read(walk, &walk->view[bar_view], 0, own[plan->bar]);
        const int no_bar = !back || all_zero(at[plan->bar], n);
        int idle = back && no_bar;
        for (Py_ssize_t lane = 0; idle && dotted && lane < lanes->lanes; lane++)
            idle = all_zero(lane_read(walk, &walk->view[lhs_view], lane * lanes->plane * unit, own[plan->lhs]), n);
        if (idle) continue;
        for (int r = 0; r < operands; r++) {
            if (!plan->needed[r]) continue;
            TileView *view = &walk->view[value_view[r]];
            const int fixed = view->access == FIXED, rounds = run->single == TILE_SINGLE && view->constant;
            if (rounds) view->access = FIXED; /* a number beside float32 arrays, never in place */
            if (view->access == IN_PLACE)
                at[r] = (double *)view_start(walk, view);
            else if (is_first || !(fixed || rounds)) {
                view_gather(walk, view, at[r] = own[r]);
                if (rounds) tile_round(n, at[r]);
            }
        }
        is_first = 0;
        if (!compiled) second_actions(run, plan, 0, plan->once, at, n);
        for (Py_ssize_t lane = 0; lane < lanes->lanes; lane++) {
            const Py_ssize_t off = lane * lanes->plane * unit;
            TileView *result = &walk->view[lhs_view];
            if (!plan->flows) { /* the tangent of what depends on nothing */
                view_shift(result, off);
                view_clear(walk, result);
                view_shift(result, -off);
                continue;
            }
            if (dotted) {
                at[plan->lhs] = lane_read(walk, result, off, own[plan->lhs]);
            } else if (!back) {
                view_shift(result, off);
                at[plan->lhs] = result->access == IN_PLACE ? (double *)view_start(walk, result) : own[plan->lhs];
                view_shift(result, -off);
            }
            for (int r = 0; r < operands; r++)
                if (plan->tangent[r])
                    at[plan->tangent[r]] = lane_read(walk, &walk->view[flow_view[r]], off, own[plan->tangent[r]]);
            if (compiled)
                compiled_actions(run, plan, n);
            else
                second_actions(run, plan, plan->once, plan->actions, at, n);
            if (!back && result->access != IN_PLACE) {
                view_shift(result, off);
                view_assign(walk, result, at[plan->lhs]);
                view_shift(result, -off);
            }
            for (int r = 0; back && r < operands; r++) {
                if (!plan->deposit[r]) continue;
                TileView *view = &walk->view[flow_view[r]];
                view_shift(view, off + lanes->bars * unit);
                view_deposit(walk, view, at[plan->deposit[r]]);
                view_shift(view, -off - lanes->bars * unit);
            }
        }
    }
    free(larger);
    return 0;
}

static int second_in_space(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, const double *bar,
    double *lhs, const Py_ssize_t *lhs_strides)
{
    find_loops(sweep->program);
    TileRun *run = space_take();
    if (!run) return -1;
    const int done = second_run(run, plan, sweep, lanes, bar, lhs, lhs_strides);
    space_give(run);
    return done;
}

int tile_run_second_forward(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, double *lhs,
    const Py_ssize_t *lhs_strides)
{
    return second_in_space(plan, sweep, lanes, NULL, lhs, lhs_strides);
}

int tile_run_second_back(const TileSecondPlan *plan, const TileSweep *sweep, const TileLanes *lanes, const double *bar,
    const double *lhs, const Py_ssize_t *lhs_strides)
{
    return plan->flows ? second_in_space(plan, sweep, lanes, bar, (double *)lhs, lhs_strides) : 0;
}

int second_is_smooth(const TileProgram *program)
{
    for (int s = 0; s < program->steps; s++) switch (program->step[s].code) {
        case OP_ADD: case OP_SUBTRACT: case OP_MULTIPLY: case OP_NEGATIVE: case OP_POSITIVE: case OP_IDENTITY: case OP_SQUARE:
        case OP_FMA: case OP_EXP: case OP_SIN: case OP_COS: case OP_TANH: case OP_ATAN: case OP_ASINH: case OP_SINH: case OP_COSH:
        case OP_ERF: case OP_ERFC: case OP_EXPIT: case OP_ABSOLUTE: case OP_MAXIMUM: case OP_MINIMUM: case OP_SINGLE: break;
        default: return 0;
        }
    return 1;
}
