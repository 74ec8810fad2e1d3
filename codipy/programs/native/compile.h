/* SPDX-License-Identifier: Apache-2.0 */
/* Lines become a loop of machine code: values stay in vector registers, and each element is read and written once.
 *
 * The loop is called with the addresses of the registers of a tile and its length. */
#ifndef CODIPY_PROGRAMS_NATIVE_COMPILE_H
#define CODIPY_PROGRAMS_NATIVE_COMPILE_H
#include "codipy/programs/native/lines.h"
#include "codipy/programs/native/x86.h"

enum {
    VECTORS = 32,      /* of AVX-512; AVX2 has half of them */
    STACK_VALUES = 64, /* places of 64 bytes each for values that do not fit the vector registers: one page */
    NOWHERE = -1,
    NEVER = MOST_LINES /* after all lines */
};

/* Where the values are while the code of one element is written. */
typedef struct {
    Machine machine;
    const Lines *lines;
    const uint8_t *numbers;                         /* in the code */
    int vectors, pinned;                            /* the last ones are pinned: what is the same for all elements */
    int16_t holds[VECTORS];                         /* which line's value is there */
    int8_t vector[MOST_LINES], stacked[MOST_LINES]; /* where a line's value is */
    int16_t last[MOST_LINES];                       /* the line that reads it last */
    int stack, failed;                              /* places that are taken; whether there were too few */
    uint32_t busy;                                  /* bits: vector registers that the current line needs */
    int8_t pointer[TILE_REGISTERS];                 /* the register with an array's address, or NOWHERE */
    int16_t masked[MASKS];                          /* which line's value is not zero, by mask register */
    int next_mask;
} Compiler;

/* Writes the loop into `room` and returns its entry; NULL if it does not fit. `size`: the bytes that were used. */
uint8_t *compile_loop(Compiler *c, const Lines *lines, int wide, uint8_t *room, int bytes, int *size);

/* The same for elements of so many numbers, which are called for by the number of elements. */
uint8_t *compile_rows(Compiler *c, const Lines *lines, int wide, int numbers, uint8_t *room, int bytes, int *size);
#endif
