/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of x86-64 that compiled loops are made of, as bytes.
 *
 * One face for two encodings: VEX, 4 doubles in each of 16 registers (AVX2), and EVEX, 8 in each of 32 (AVX-512).
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2. */
#ifndef CODIPY_PROGRAMS_NATIVE_X86_H
#define CODIPY_PROGRAMS_NATIVE_X86_H
#include <stdint.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, NO_INDEX = RSP };

typedef enum {
    MOVE_LOAD = 0x10,
    MOVE_STORE = 0x11,
    SQUARE_ROOT = 0x51,
    BITS_AND = 0x54,
    BITS_XOR = 0x57,
    PLUS = 0x58,
    TIMES = 0x59,
    MINUS = 0x5C,
    OVER = 0x5E,
    COMPARE = 0xC2,
    BROADCAST = 0x219 /* of the map 0F38, all others of 0F */
} Opcode;

enum { NOT_EQUAL = 4, TAIL_MASK = 1, FIRST_MASK = 2, MASKS = 8 }; /* a comparison, true for NaN; mask registers */

typedef struct {
    uint8_t *at, *end; /* of the code; nothing is written past the end, but `at` goes on */
    int wide;          /* AVX-512 */
    int tail;          /* the last elements: under a mask if wide, else one by one */
} Machine;

/* What lies at base + 8 * index + offset. */
typedef struct {
    int base, index;
    int32_t offset;
} Place;

static inline void emit(Machine *m, int byte)
{
    if (m->at < m->end) *m->at = (uint8_t)byte;
    m->at++;
}

static inline void emit_bytes(Machine *m, const char *bytes, int count)
{
    for (int k = 0; k < count; k++) emit(m, (unsigned char)bytes[k]);
}

static inline void emit_int(Machine *m, int32_t value)
{
    for (int k = 0; k < 4; k++) emit(m, (int)((uint32_t)value >> 8 * k & 255));
}

/* An instruction up to the bytes that say where its operand is: `x` and `b` are the bits of that operand's registers which
   those bytes have no room for (index and base; fifth and fourth of a vector). All lanes, unless this is a tail that goes
   one by one: then, but for bits and what is the same in all lanes, the first. */
static inline void emit_opcode(Machine *m, Opcode opcode, int reg, int v, int x, int b, int mask, int zeroing)
{
    const int one = m->tail && !m->wide && opcode != BITS_AND && opcode != BITS_XOR && opcode != BROADCAST;
    const int map = opcode >> 8 ? 2 : 1, pp = one ? 3 : 1;
    const int high = (~reg >> 3 & 1) << 7 | (~x & 1) << 6 | (~b & 1) << 5 | map;
    if (m->wide) {
        emit(m, 0x62);
        emit(m, high | (~reg >> 4 & 1) << 4);
        emit(m, 0x84 | (~v & 15) << 3 | pp);
        emit(m, zeroing << 7 | 2 << 5 | (~v >> 4 & 1) << 3 | mask);
    } else {
        emit(m, 0xC4);
        emit(m, high);
        emit(m, (~v & 15) << 3 | (one ? 0 : 4) | pp);
    }
    emit(m, opcode & 255);
}

static inline void emit_place(Machine *m, int reg, Place place)
{
    emit(m, 0x84 | (reg & 7) << 3);
    emit(m, 0xC0 | (place.index & 7) << 3 | (place.base & 7));
    emit_int(m, place.offset);
}

/* reg = v opcode rm, where the mask is set, else 0. */
static inline void emit_masked(Machine *m, Opcode opcode, int reg, int v, int rm, int mask)
{
    emit_opcode(m, opcode, reg, v, rm >> 4, rm >> 3, mask, mask != 0 && opcode != COMPARE);
    emit(m, 0xC0 | (reg & 7) << 3 | (rm & 7));
    if (opcode == COMPARE) emit(m, NOT_EQUAL);
}

/* What a tail's last lanes would compute raises no floating-point flag. */
static inline int tail_mask(const Machine *m)
{
    return m->wide && m->tail ? TAIL_MASK : 0;
}

/* reg = v opcode rm */
static inline void emit_registers(Machine *m, Opcode opcode, int reg, int v, int rm)
{
    emit_masked(m, opcode, reg, v, rm, tail_mask(m));
}

/* reg = v opcode memory, or for moves reg = memory or memory = reg */
static inline void emit_memory(Machine *m, Opcode opcode, int reg, int v, Place place)
{
    const int mask = tail_mask(m);
    emit_opcode(m, opcode, reg, v, place.index >> 3, place.base >> 3, mask, mask && opcode != MOVE_STORE);
    emit_place(m, reg, place);
}

/* The same for all lanes even in a tail: of the stack, or from one number in memory. */
static inline void emit_whole(Machine *m, Opcode opcode, int reg, Place place)
{
    const int tail = m->tail;
    m->tail = 0;
    emit_memory(m, opcode, reg, 0, place);
    m->tail = tail;
}

/* reg = the number at `to`, in the code itself: in all lanes */
static inline void emit_number(Machine *m, int reg, const uint8_t *to)
{
    emit_opcode(m, BROADCAST, reg, 0, 0, 0, 0, 0);
    emit(m, 5 | (reg & 7) << 3);
    emit_int(m, (int32_t)(to - (m->at + 4)));
}

/* reg = the pointer at base + offset */
static inline void emit_pointer(Machine *m, int reg, int base, int32_t offset)
{
    emit(m, 0x48 | (reg >> 3) << 2 | base >> 3);
    emit(m, 0x8B);
    emit(m, 0x80 | (reg & 7) << 3 | (base & 7));
    emit_int(m, offset);
}
#endif
