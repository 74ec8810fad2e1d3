/* SPDX-License-Identifier: Apache-2.0 */
/* One element of machine code after the other: which value is in which register, and the loop around them. */
#include "codipy/programs/native/compile.h"
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------------------------ */
static int next_reader(const Compiler *c, int from, int which)
{
    for (int k = from; k < c->lines->count; k++)
        if (c->lines->line[k].a == which || c->lines->line[k].b == which) return k;
    return NEVER;
}

static Place stack_place(int place)
{
    return (Place){RSP, NO_INDEX, 64 * place};
}

static Place array_place(Compiler *c, int reg)
{
    int base = c->pointer[reg];
    if (base == NOWHERE) emit_pointer(&c->machine, base = R11, RDI, 8 * reg);
    return (Place){base, RAX, 0};
}

/* A free vector register for line `now`, or one of those that no line from `now` on reads sooner than any other: that value
   is moved out. What can be read again is not stored. */
static int take_vector(Compiler *c, int now)
{
    int best = NOWHERE, farthest = -1;
    for (int v = 0; v < c->vectors - c->pinned; v++) {
        if (c->busy >> v & 1) continue;
        if (c->holds[v] == NOWHERE) {
            c->busy |= 1u << v;
            return v;
        }
        const int reader = next_reader(c, now, c->holds[v]);
        if (reader > farthest) farthest = reader, best = v;
    }
    const int line = c->holds[best];
    if (c->lines->line[line].kind > NUMBER && c->stacked[line] == NOWHERE) {
        if (c->stack == STACK_VALUES) {
            c->failed = 1;
            return best;
        }
        c->stacked[line] = (int8_t)c->stack++;
        emit_whole(&c->machine, MOVE_STORE, best, stack_place(c->stacked[line]));
    }
    c->vector[line] = NOWHERE;
    c->busy |= 1u << best;
    return best;
}

static void put(Compiler *c, int line, int vector)
{
    c->vector[line] = (int8_t)vector;
    c->holds[vector] = (int16_t)line;
}

/* Brings what is the same for all elements, or was moved out, or is in an array, into a vector register. */
static void fetch(Compiler *c, int line, int vector)
{
    const Line *l = &c->lines->line[line];
    put(c, line, vector);
    if (l->kind == NUMBER)
        emit_number(&c->machine, vector, c->numbers + 8 * l->reg);
    else if (l->kind == READ)
        emit_memory(&c->machine, MOVE_LOAD, vector, 0, array_place(c, l->reg));
    else if (l->kind == READ_EACH) {
        Place place = array_place(c, l->reg);
        place.index = R15;
        emit_whole(&c->machine, BROADCAST, vector, place);
    } else if (l->kind == READ_ONE) {
        Place place = array_place(c, l->reg);
        place.index = NO_INDEX;
        emit_whole(&c->machine, BROADCAST, vector, place);
    } else
        emit_whole(&c->machine, MOVE_LOAD, vector, stack_place(c->stacked[line]));
}

static int use(Compiler *c, int line, int now)
{
    if (c->vector[line] == NOWHERE) fetch(c, line, take_vector(c, now));
    c->busy |= 1u << c->vector[line];
    return c->vector[line];
}

/* After the last reader a value's register is free, unless it is pinned. */
static void release(Compiler *c, int line, int now)
{
    const int v = c->vector[line];
    if (v == NOWHERE || v >= c->vectors - c->pinned || c->last[line] > now) return;
    c->holds[v] = c->vector[line] = NOWHERE;
    c->busy &= ~(1u << v);
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */
/* The mask of where a value is not zero. */
static int mask_of(Compiler *c, int line, int now)
{
    for (int k = FIRST_MASK; k < MASKS; k++)
        if (c->masked[k] == line) return k;
    const int mask = c->next_mask;
    c->next_mask = mask + 1 < MASKS ? mask + 1 : FIRST_MASK;
    c->masked[mask] = (int16_t)line;
    emit_registers(&c->machine, COMPARE, mask, use(c, line, now), use(c, c->lines->number[FORMULA_ZERO], now));
    return mask;
}

/* Where `a` is not zero, a times b, or b alone; elsewhere 0. */
static void compile_gated(Compiler *c, const Line *line, int now)
{
    Machine *m = &c->machine;
    const int sifted = line->kind == SIFTED;
    const int a = use(c, line->a, now), b = use(c, line->b, now);
    if (m->wide) {
        const int mask = mask_of(c, line->a, now);
        release(c, line->a, now);
        release(c, line->b, now);
        const int to = take_vector(c, now + 1);
        put(c, now, to);
        emit_masked(m, sifted ? BITS_AND : TIMES, to, sifted ? b : a, b, mask);
        return;
    }
    const int zero = use(c, c->lines->number[FORMULA_ZERO], now), gate = take_vector(c, now), to = take_vector(c, now);
    emit_registers(m, COMPARE, gate, a, zero);
    if (!sifted) emit_registers(m, TIMES, to, a, b);
    emit_registers(m, BITS_AND, to, sifted ? b : to, gate);
    c->holds[gate] = NOWHERE;
    put(c, now, to);
    release(c, line->a, now);
    release(c, line->b, now);
}

static void compile_arithmetic(Compiler *c, const Line *line, int now)
{
    static const Opcode opcodes[] = {
        [ADD] = PLUS, [SUBTRACT] = MINUS, [MULTIPLY] = TIMES, [DIVIDE] = OVER, [OPPOSITE] = BITS_XOR, [SIZE] = BITS_AND};
    const Line *second = &c->lines->line[line->b];
    const int a = use(c, line->a, now), bits = line->kind == OPPOSITE || line->kind == SIZE;
    const int in_memory = second->kind == READ && c->vector[line->b] == NOWHERE && c->last[line->b] == now && !bits;
    const int b = in_memory ? 0 : use(c, line->b, now);
    release(c, line->a, now);
    release(c, line->b, now);
    const int to = take_vector(c, now + 1);
    put(c, now, to);
    if (in_memory)
        emit_memory(&c->machine, opcodes[line->kind], to, a, array_place(c, second->reg));
    else
        emit_registers(&c->machine, opcodes[line->kind], to, a, b);
}

static void compile_line(Compiler *c, int now)
{
    const Line *line = &c->lines->line[now];
    c->busy = 0;
    if (line->kind <= NUMBER) return;
    if (line->kind == WRITE) {
        const int from = use(c, line->a, now);
        emit_memory(&c->machine, MOVE_STORE, from, 0, array_place(c, line->reg));
        release(c, line->a, now);
    } else if (line->kind == GATED || line->kind == SIFTED) {
        compile_gated(c, line, now);
    } else if (line->kind == ROOT) {
        const int from = use(c, line->a, now);
        release(c, line->a, now);
        const int to = take_vector(c, now + 1);
        put(c, now, to);
        emit_registers(&c->machine, SQUARE_ROOT, to, 0, from);
    } else {
        compile_arithmetic(c, line, now);
    }
    release(c, now, now);
}

/* The code of one vector, or of a tail. */
static void compile_element(Compiler *c, int tail)
{
    c->machine.tail = tail;
    for (int v = 0; v < c->vectors - c->pinned; v++) c->holds[v] = NOWHERE;
    for (int k = 0; k < c->lines->count; k++) {
        if (c->vector[k] < c->vectors - c->pinned) c->vector[k] = NOWHERE;
        c->stacked[k] = NOWHERE;
    }
    for (int k = 0; k < MASKS; k++) c->masked[k] = NOWHERE;
    c->next_mask = FIRST_MASK;
    c->stack = 0;
    for (int k = 0; k < c->lines->count; k++) compile_line(c, k);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */
#define EMIT(m, bytes) emit_bytes(m, bytes, (int)sizeof(bytes) - 1)

/* A jump whose distance is known later: where it stands. */
static uint8_t *emit_jump(Machine *m)
{
    emit_int(m, 0);
    return m->at;
}

static void land(Machine *m, uint8_t *from, const uint8_t *to)
{
    const int32_t distance = (int32_t)(to - from);
    if (from <= m->end) memcpy(from - 4, &distance, 4);
}

/* Addresses of arrays in the registers that are there, and what is the same for all elements in vector registers. */
static void compile_start(Compiler *c)
{
    static const int8_t pointers[] = {RCX, RDX, R8, R9, R10, RBX, RBP, R12, R13, R14, R15};
    const Lines *lines = c->lines;
    const int most = c->vectors / 2 - 2;
    int used = 0;
    for (int k = 0; k < TILE_REGISTERS; k++) c->pointer[k] = NOWHERE;
    for (int k = 0; k < lines->count; k++) {
        const Line *line = &lines->line[k];
        if ((line->kind != READ && line->kind != READ_EACH && line->kind != WRITE) || c->pointer[line->reg] != NOWHERE) continue;
        if (used == (int)sizeof(pointers) - lines->by_rows) break; /* R15 counts the rows */
        c->pointer[line->reg] = pointers[used];
        emit_pointer(&c->machine, pointers[used++], RDI, 8 * line->reg);
    }
    for (int k = 0; k < lines->count && c->pinned < most; k++) {
        if (lines->line[k].kind != NUMBER && lines->line[k].kind != READ_ONE) continue;
        c->pinned++;
        fetch(c, k, c->vectors - c->pinned);
    }
}

/* The numbers and what goes before the loop; returns its entry. */
static uint8_t *compile_entry(Compiler *c, const Lines *lines, int wide, uint8_t *room, int bytes)
{
    Machine *m = &c->machine;
    *m = (Machine){room, room + bytes, wide, 0};
    c->lines = lines;
    c->numbers = room;
    c->vectors = wide ? VECTORS : VECTORS / 2;
    c->pinned = c->failed = c->stack = 0;
    c->busy = 0;
    for (int k = 0; k < lines->count; k++) {
        c->vector[k] = c->stacked[k] = NOWHERE;
        c->last[k] = (int16_t)k;
    }
    for (int k = 0; k < lines->count; k++) {
        const Line *line = &lines->line[k];
        if (line->kind <= NUMBER) continue;
        c->last[line->a] = (int16_t)k;
        if (line->b >= 0) c->last[line->b] = (int16_t)k;
        if (line->kind == GATED || line->kind == SIFTED) c->last[lines->number[FORMULA_ZERO]] = (int16_t)k;
    }
    for (int k = 0; k < LINE_NUMBERS; k++) {
        uint64_t bits = ~(uint64_t)0 >> 1;
        if (k < FORMULA_NUMBERS) memcpy(&bits, &formula_numbers[k], 8);
        emit_int(m, (int32_t)bits);
        emit_int(m, (int32_t)(bits >> 32));
    }
    uint8_t *const entry = m->at;
    EMIT(m, "\xF3\x0F\x1E\xFA");                         /* endbr64 */
    EMIT(m, "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57"); /* push rbx, rbp, r12, r13, r14, r15 */
    EMIT(m, "\x48\x81\xEC");                             /* sub rsp, STACK_VALUES * 64 */
    emit_int(m, STACK_VALUES * 64);
    compile_start(c);
    EMIT(m, "\x31\xC0"); /* xor eax, eax */
    return entry;
}

static void compile_return(Compiler *c)
{
    Machine *m = &c->machine;
    EMIT(m, "\xC5\xF8\x77\x48\x81\xC4"); /* vzeroupper; add rsp, STACK_VALUES * 64 */
    emit_int(m, STACK_VALUES * 64);
    EMIT(m, "\x41\x5F\x41\x5E\x41\x5D\x41\x5C\x5D\x5B\xC3"); /* pop r15, r14, r13, r12, rbp, rbx; ret */
}

uint8_t *compile_loop(Compiler *c, const Lines *lines, int wide, uint8_t *room, int bytes, int *size)
{
    Machine *m = &c->machine;
    const int lanes = wide ? 8 : 4;
    uint8_t *const entry = compile_entry(c, lines, wide, room, bytes);
    uint8_t *const top = m->at;
    EMIT(m, "\x4C\x8D\x58"); /* lea r11, [rax + lanes] */
    emit(m, lanes);
    EMIT(m, "\x49\x39\xF3\x0F\x87"); /* cmp r11, rsi; ja tail */
    uint8_t *const to_tail = emit_jump(m);
    compile_element(c, 0);
    EMIT(m, "\x48\x83\xC0"); /* add rax, lanes */
    emit(m, lanes);
    emit(m, 0xE9); /* jmp top */
    land(m, emit_jump(m), top);
    uint8_t *const tail = m->at;
    land(m, to_tail, tail);
    uint8_t *to_end;
    if (wide) {
        EMIT(m, "\x48\x29\xC6\x0F\x84"); /* sub rsi, rax; je end */
        to_end = emit_jump(m);
        EMIT(m, "\x41\xBB\xFF\xFF\xFF\xFF"); /* mov r11d, -1 */
        EMIT(m, "\xC4\x42\x48\xF5\xDB");     /* bzhi r11d, r11d, esi */
        EMIT(m, "\xC4\xC1\x78\x92\xCB");     /* kmovw k1, r11d */
        compile_element(c, 1);
    } else {
        EMIT(m, "\x48\x39\xF0\x0F\x83"); /* cmp rax, rsi; jae end */
        to_end = emit_jump(m);
        compile_element(c, 1);
        EMIT(m, "\x48\xFF\xC0\xE9"); /* inc rax; jmp tail */
        land(m, emit_jump(m), tail);
    }
    land(m, to_end, m->at);
    compile_return(c);
    *size = (int)(m->at - room);
    return c->failed || m->at > m->end ? NULL : entry;
}

uint8_t *compile_rows(Compiler *c, const Lines *lines, int wide, int numbers, uint8_t *room, int bytes, int *size)
{
    Machine *m = &c->machine;
    const int lanes = wide ? 8 : 4, rest = numbers % lanes;
    uint8_t *const entry = compile_entry(c, lines, wide, room, bytes);
    EMIT(m, "\x45\x31\xFF"); /* xor r15d, r15d */
    if (wide && rest) {
        EMIT(m, "\x41\xBB"); /* mov r11d, a bit for each number of the last vector */
        emit_int(m, (1 << rest) - 1);
        EMIT(m, "\xC4\xC1\x78\x92\xCB"); /* kmovw k1, r11d */
    }
    uint8_t *const top = m->at;
    int done = 0;
    if (numbers / lanes > 2) { /* a loop over the whole vectors, counted in the red zone: nothing is called */
        EMIT(m, "\xC7\x44\x24\xF8"); /* mov dword [rsp - 8], how many */
        emit_int(m, numbers / lanes);
        uint8_t *const vector = m->at;
        compile_element(c, 0);
        EMIT(m, "\x48\x83\xC0"); /* add rax, lanes */
        emit(m, lanes);
        EMIT(m, "\xFF\x4C\x24\xF8\x0F\x85"); /* dec dword [rsp - 8]; jnz vector */
        land(m, emit_jump(m), vector);
        done = numbers - rest;
    }
    while (done < numbers) {
        const int whole = done + lanes <= numbers, step = whole ? lanes : wide ? rest : 1;
        compile_element(c, !whole);
        EMIT(m, "\x48\x83\xC0"); /* add rax, step */
        emit(m, step);
        done += step;
    }
    EMIT(m, "\x49\xFF\xC7\x49\x39\xF7\x0F\x82"); /* inc r15; cmp r15, rsi; jb top */
    land(m, emit_jump(m), top);
    compile_return(c);
    *size = (int)(m->at - room);
    return c->failed || m->at > m->end ? NULL : entry;
}
#undef EMIT
