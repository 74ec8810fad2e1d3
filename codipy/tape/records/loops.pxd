# SPDX-License-Identifier: Apache-2.0
# Loops over elements that lie side by side, for several instruction sets: all give the same bits.
from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* As those of the tiles: chosen when the module is loaded, for which sanitizers are not ready. */
    #if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
        !defined(__SANITIZE_ADDRESS__)
    #define LOOP_CLONES __attribute__((unused, target_clones("avx512f", "avx2", "default")))
    #elif defined(__GNUC__)
    #define LOOP_CLONES __attribute__((unused))
    #else
    #define LOOP_CLONES
    #endif
    enum { LOOP_TILE = 1024 };          /* elements: what was read is cleared while it is in the first cache */

    LOOP_CLONES static void loop_add(double *__restrict target, const double *__restrict bars, Py_ssize_t n)
    {
        for (Py_ssize_t i = 0; i < n; i++) target[i] += bars[i];
    }

    /* In eight sums, which lie in one register or in several. */
    LOOP_CLONES static double loop_total(const double *__restrict numbers, Py_ssize_t n)
    {
        double sums[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, rest = 0.0;
        Py_ssize_t i = 0;
        for (; i + 8 <= n; i += 8) {
            for (int k = 0; k < 8; k++) sums[k] += numbers[i + k];
        }
        for (; i < n; i++) rest += numbers[i];
        return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest;
    }

    LOOP_CLONES static void loop_add_chosen(double *__restrict target, const double *__restrict bars,
                                            const uint8_t *__restrict chosen, uint8_t k, Py_ssize_t n)
    {
        for (Py_ssize_t i = 0; i < n; i++) {
            double bar = bars[i];       /* read in any case: nobody foresees the branches of a random mask */
            target[i] += chosen[i] == k ? bar : 0.0;
        }
    }

    /* By way of 32 bits: from doubles to bytes at once takes twice as long. */
    LOOP_CLONES static void loop_clip(const double *__restrict x, double low, double high, Py_ssize_t n,
                                      double *__restrict out, uint8_t *__restrict chosen)
    {
        int32_t taken[LOOP_TILE];
        for (Py_ssize_t i = 0; i < n; i += LOOP_TILE) {
            Py_ssize_t count = n - i < LOOP_TILE ? n - i : LOOP_TILE;
            for (Py_ssize_t k = 0; k < count; k++) {
                double value = x[i + k];
                out[i + k] = value < low ? low : value > high ? high : value;
                taken[k] = (value < low ? 1 : 0) + (value > high ? 2 : 0);
            }
            for (Py_ssize_t k = 0; k < count; k++) chosen[i + k] = (uint8_t)taken[k];
        }
    }

    LOOP_CLONES static int loop_places(const Py_ssize_t *__restrict index, Py_ssize_t n, Py_ssize_t size,
                                       Py_ssize_t *__restrict places)
    {
        Py_ssize_t least = 0, most = -1;
        for (Py_ssize_t i = 0; i < n; i++) {
            Py_ssize_t place = index[i] + (index[i] < 0 ? size : 0);
            places[i] = place;
            least = place < least ? place : least;
            most = place > most ? place : most;
        }
        return least >= 0 && most < size;
    }

    LOOP_CLONES static int loop_within(const Py_ssize_t *at, Py_ssize_t n, Py_ssize_t size)
    {
        Py_ssize_t least = 0, most = -1;
        for (Py_ssize_t i = 0; i < n; i++) {
            least = at[i] < least ? at[i] : least;
            most = at[i] > most ? at[i] : most;
        }
        return least >= 0 && most < size;
    }

    LOOP_CLONES static int loop_pick(const double *__restrict x, const Py_ssize_t *__restrict at, Py_ssize_t n,
                                     Py_ssize_t size, double factor, double *__restrict to)
    {
        for (Py_ssize_t i = 0; i < n; i += LOOP_TILE) {
            Py_ssize_t end = n - i < LOOP_TILE ? n : i + LOOP_TILE;
            if (!loop_within(at + i, end - i, size)) return 0;
            for (Py_ssize_t k = i; k < end; k++) to[k] = factor * x[at[k]];
        }
        return 1;
    }

    /* The loads of a tile wait for nothing but memory. */
    static inline int loop_take(const double *data, const Py_ssize_t *index, Py_ssize_t n, Py_ssize_t size,
                                Py_ssize_t step, int32_t first, double *to, int32_t *identifiers)
    {
        Py_ssize_t places[LOOP_TILE];
        for (Py_ssize_t i = 0; i < n; i += LOOP_TILE) {
            Py_ssize_t count = n - i < LOOP_TILE ? n - i : LOOP_TILE;
            if (!loop_places(index + i, count, size, places)) return 0;
            for (Py_ssize_t k = 0; k < count; k++) to[i + k] = data[places[k] * step];
            for (Py_ssize_t k = 0; k < count; k++) identifiers[i + k] = first + (int32_t)(places[k] * step);
        }
        return 1;
    }

    LOOP_CLONES static int loop_any_equal(const double *x, double number, Py_ssize_t n)
    {
        int found = 0;
        for (Py_ssize_t i = 0; i < n; i++) found |= x[i] == number;
        return found;
    }

    static inline Py_ssize_t loop_find(const double *x, double number, Py_ssize_t n)
    {
        for (Py_ssize_t i = 0; i < n; i += LOOP_TILE) {
            Py_ssize_t end = n - i < LOOP_TILE ? n : i + LOOP_TILE;
            if (!loop_any_equal(x + i, number, end - i)) continue;
            for (Py_ssize_t k = i; k < end; k++)
                if (x[k] == number) return k;
        }
        return -1;
    }

    LOOP_CLONES static int loop_all_finite(const double *x, Py_ssize_t n)
    {
        const int64_t exponent = INT64_C(0x7FF0000000000000);
        int64_t infinite = 0;
        for (Py_ssize_t i = 0; i < n; i++) {
            int64_t bits;
            memcpy(&bits, x + i, sizeof bits);
            infinite |= (bits & exponent) == exponent;
        }
        return !infinite;
    }

    LOOP_CLONES static int loop_single(const double *__restrict x, int64_t k, Py_ssize_t n, int64_t *__restrict where,
                                       double *__restrict factor)
    {
        int64_t twice = 0;
        for (Py_ssize_t i = 0; i < n; i++) {
            int64_t is_other = x[i] != 0.0;
            twice |= is_other & (factor[i] != 0.0);
            where[i] = is_other ? k : where[i];
            factor[i] = is_other ? x[i] : factor[i];
        }
        return !twice;
    }

    LOOP_CLONES static void loop_add_picked(double *__restrict target, const double *__restrict x,
                                            const int64_t *__restrict where, const double *__restrict factor, Py_ssize_t n)
    {
        for (Py_ssize_t i = 0; i < n; i++) target[i] += x[where[i]] * factor[i];
    }

    static inline void loop_move(double *target, double *bars, Py_ssize_t n, int clear)
    {
        for (Py_ssize_t i = 0; i < n; i += LOOP_TILE) {
            Py_ssize_t count = n - i < LOOP_TILE ? n - i : LOOP_TILE;
            loop_add(target + i, bars + i, count);
            if (clear) memset(bars + i, 0, count * sizeof(double));
        }
    }
    """
    enum: LOOP_TILE
    # Add n numbers to others, which do not overlap; and set them to zero if asked.
    double loop_total(const double* numbers, Py_ssize_t n) noexcept nogil
    void loop_add(double* target, const double* bars, Py_ssize_t n) noexcept nogil
    void loop_move(double* target, double* bars, Py_ssize_t n, bint clear) noexcept nogil
    # Add where `chosen` is k, elsewhere nothing whatever stands there.
    void loop_add_chosen(double* target, const double* bars, const uint8_t* chosen, uint8_t k, Py_ssize_t n) noexcept nogil
    # Numbers clipped to two others, and which was taken: the number (0), the lower bound (1), the upper one (2).
    void loop_clip(const double* x, double low, double high, Py_ssize_t n, double* out, uint8_t* chosen) noexcept nogil
    bint loop_all_finite(const double* x, Py_ssize_t n) noexcept nogil
    # A row, called k, of a matrix of which each column is to have one element at most that is not zero: in which row that
    # stands, and its value, 0 before; 0 where a column has two.
    bint loop_single(const double* x, int64_t k, Py_ssize_t n, int64_t* where, double* factor) noexcept nogil
    # Add elements of a row of numbers times factors; target, row and factors do not overlap.
    void loop_add_picked(double* target, const double* x, const int64_t* where, const double* factor, Py_ssize_t n) noexcept nogil
    # The first place of a number; -1 where it is not, as NaN.
    Py_ssize_t loop_find(const double* x, double number, Py_ssize_t n) noexcept nogil
    # An index of integers as places from 0 on, in memory of its own; 0 where one is out of bounds.
    bint loop_places(const Py_ssize_t* index, Py_ssize_t n, Py_ssize_t size, Py_ssize_t* places) noexcept nogil
    # Whether places are those of elements, from 0 on.
    bint loop_within(const Py_ssize_t* at, Py_ssize_t n, Py_ssize_t size) noexcept nogil
    # The elements of a vector at places, times a factor; 0 where a place is out of bounds.
    bint loop_pick(const double* x, const Py_ssize_t* at, Py_ssize_t n, Py_ssize_t size, double factor, double* to) noexcept nogil
    # The elements of a vector at an index, and their identifiers, of which `first` is the vector's; 0 likewise.
    bint loop_take(const double* data, const Py_ssize_t* index, Py_ssize_t n, Py_ssize_t size, Py_ssize_t step,
                   int32_t first, double* to, int32_t* identifiers) noexcept nogil
