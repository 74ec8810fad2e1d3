/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of second order: which values, partials, tangents and adjoints a statement needs, and the loops that give them. */
#include "codipy/programs/tiles/second_plan.h"
#include "codipy/programs/tiles/plan.h"
#include <stdlib.h>
#include <string.h>

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
