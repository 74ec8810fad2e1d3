# SPDX-License-Identifier: Apache-2.0
"""Passes over the scalar statements of plain contents: names, equal statements and arguments, liveness, new identifiers.

A name stands for one value of an identifier. Identifiers that are pinned, since records name them, are names themselves;
each other result gets a name of its own, so that a statement can be merged with an earlier one, and a name can get any
identifier. Statements are flat arrays: of statement s the arguments stand from `starts[s]` on.
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp
cimport numpy as cnp

from codipy.operations.kernels cimport OP_IDENTITY
from codipy.programs.program cimport ARGUMENT, intern_program

cnp.import_array()


cdef enum:
    MOST_NAMES = 0x7ffffffe


cdef inline int32_t* ints(object array) noexcept:
    return <int32_t*>cnp.PyArray_DATA(<cnp.ndarray>array)


cdef inline int64_t* longs(object array) noexcept:
    return <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>array)


cdef inline uint8_t* flags(object array) noexcept:
    return <uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>array)


cdef inline double* doubles(object array) noexcept:
    return <double*>cnp.PyArray_DATA(<cnp.ndarray>array)


cdef class Statements:
    """Statements(codes, counts, arguments, results, numbers, number_counts)
    --

    Scalar statements in the order of the recording.

    Parameters
    ----------
    codes : ndarray of int32
        What is computed; 0 where Jacobians say it.
    counts : ndarray of int32
        Arguments of each.
    arguments, results : ndarray of int32
        Identifiers; `rename` makes names of them.
    numbers : ndarray of float64
        Jacobians, or constants.
    number_counts : ndarray of int32
        Of each statement.

    Attributes
    ----------
    kept : ndarray of uint8
        Which statements stay.
    """
    cdef readonly object codes, counts, arguments, results, numbers, number_counts, starts, number_starts, kept
    cdef readonly Py_ssize_t size

    def __init__(self, codes, counts, arguments, results, numbers, number_counts):
        self.codes, self.counts, self.number_counts = (np.array(x, np.int32) for x in (codes, counts, number_counts))
        self.arguments, self.results = np.array(arguments, np.int32), np.array(results, np.int32)
        self.numbers = np.array(numbers, np.float64)
        self.size = len(self.codes)
        self.starts, self.number_starts = starts_of(self.counts), starts_of(self.number_counts)
        self.kept = np.ones(self.size, np.uint8)

    def rename(self, pinned):
        """Turn identifiers into names.

        Parameters
        ----------
        pinned : ndarray of uint8
            By identifier; an identifier that no statement has as its result is its own name, too.

        Returns
        -------
        tuple
            How many names there are, and the last name of each identifier.
        """
        cdef cnp.ndarray current = np.arange(len(pinned), dtype=np.int32)
        cdef const int64_t* starts = longs(self.starts)
        cdef const int32_t* counts = ints(self.counts)
        cdef const uint8_t* fixed = flags(pinned)
        cdef int32_t* arguments = ints(self.arguments)
        cdef int32_t* results = ints(self.results)
        cdef int32_t* now = ints(current)
        cdef int32_t name = <int32_t>len(pinned)
        cdef Py_ssize_t s, a
        if len(pinned) + self.size > MOST_NAMES:
            raise MemoryError("a recording of so many statements is too long for its passes")
        for s in range(self.size):
            for a in range(starts[s], starts[s] + counts[s]):
                arguments[a] = now[arguments[a]]
            if not fixed[results[s]]:
                now[results[s]] = name
                results[s] = name
                name += 1
        return name, current

    def simplify(self, Py_ssize_t names, stable, stands, may_go, bint jacobians, bint equal, bint merge, bint skip_zero,
                 int identity):
        """Merge equal arguments of a statement, and statements that are equal to an earlier one, or copies.

        Parameters
        ----------
        names : int
            How many there are.
        stable : ndarray of uint8
            By name, whether it has one value in the whole recording.
        stands : ndarray of uint8
            By name, whether it may take the place of others that are equal.
        may_go : ndarray of uint8
            By statement, whether its result may be called by an equal one's name.
        jacobians : bool
            Whether the numbers are the arguments' Jacobians.
        equal, merge : bool
            Which of the two is asked for.
        skip_zero : bool
            Whether merged arguments whose Jacobians cancel go.
        identity : int
            The code of a copy, where numbers are no Jacobians.

        Returns
        -------
        tuple of int
            Statements that went, and arguments that were merged.
        """
        cdef cnp.ndarray same = np.arange(names, dtype=np.int32), where = np.zeros(names, np.int64)
        cdef Py_ssize_t slots = 4, s, a, k, n, write, gone = 0, fewer = 0
        cdef const int64_t* starts = longs(self.starts)
        cdef const int64_t* number_starts = longs(self.number_starts)
        cdef const int32_t* codes = ints(self.codes)
        cdef int32_t* counts = ints(self.counts)
        cdef int32_t* number_counts = ints(self.number_counts)
        cdef int32_t* arguments = ints(self.arguments)
        cdef int32_t* results = ints(self.results)
        cdef double* numbers = doubles(self.numbers)
        cdef uint8_t* kept = flags(self.kept)
        cdef const uint8_t* single = flags(stable)
        cdef const uint8_t* first_of = flags(stands)
        cdef const uint8_t* goes = flags(may_go)
        cdef int32_t* alias = ints(same)
        cdef int64_t* seen = longs(where)
        cdef int32_t* table
        cdef cnp.ndarray room
        cdef uint64_t hashed
        cdef bint fits
        while slots < 2 * self.size:
            slots *= 2
        room = np.full(slots if equal else 1, -1, np.int32)
        table = ints(room)
        for s in range(self.size):
            n = counts[s]
            for a in range(starts[s], starts[s] + n):
                arguments[a] = alias[arguments[a]]
            if merge and jacobians and n > 1:
                write = starts[s]
                for a in range(starts[s], starts[s] + n):
                    k = seen[arguments[a]] - 1           # where this statement has it already
                    if starts[s] <= k < write and arguments[k] == arguments[a]:
                        numbers[k] += numbers[a]
                        continue
                    arguments[write], numbers[write] = arguments[a], numbers[a]
                    seen[arguments[a]] = write + 1
                    write += 1
                if write < starts[s] + n:
                    if skip_zero:
                        k = starts[s]
                        for a in range(starts[s], write):
                            if numbers[a] != 0.0:
                                arguments[k], numbers[k] = arguments[a], numbers[a]
                                k += 1
                        write = k
                    fewer += starts[s] + n - write
                    n = write - starts[s]
                    counts[s] = number_counts[s] = <int32_t>n
            if not equal or not goes[s] and not first_of[results[s]]:
                continue
            fits = True
            for a in range(starts[s], starts[s] + n):
                fits = fits and single[arguments[a]]
            if not fits:
                continue
            if goes[s] and n == 1 and arguments[starts[s]] and first_of[arguments[starts[s]]] and (
                    numbers[number_starts[s]] == 1.0 if jacobians else codes[s] == identity):
                alias[results[s]] = arguments[starts[s]]
                kept[s] = 0
                gone += 1
                continue
            hashed = hash_of(codes[s], arguments + starts[s], n, numbers + number_starts[s], number_counts[s])
            k = <Py_ssize_t>(hashed & <uint64_t>(slots - 1))
            while table[k] >= 0 and not alike(codes, counts, number_counts, starts, number_starts, arguments, numbers, table[k], s):
                k = (k + 1) & (slots - 1)
            if table[k] < 0:
                if first_of[results[s]]:
                    table[k] = <int32_t>s
            elif goes[s]:
                alias[results[s]] = results[table[k]]
                kept[s] = 0
                gone += 1
        return gone, fewer

    def mark(self, Py_ssize_t first, Py_ssize_t last, live, stays):
        """Find which statements of a stretch are read later.

        Parameters
        ----------
        first, last : int
            The stretch; of several the last one comes first.
        live : ndarray of uint8
            By name, whether it is read later; changed.
        stays : ndarray of uint8
            By statement, whether it stays anyhow.

        Returns
        -------
        int
            How many statements went.
        """
        cdef const int64_t* starts = longs(self.starts)
        cdef const int32_t* counts = ints(self.counts)
        cdef const int32_t* arguments = ints(self.arguments)
        cdef const int32_t* results = ints(self.results)
        cdef const uint8_t* anyhow = flags(stays)
        cdef uint8_t* read = flags(live)
        cdef uint8_t* kept = flags(self.kept)
        cdef Py_ssize_t s, a, gone = 0
        for s in range(last - 1, first - 1, -1):
            if not kept[s]:
                continue
            if not read[results[s]] and not anyhow[s]:
                kept[s] = 0
                gone += 1
                continue
            read[results[s]] = 0
            for a in range(starts[s], starts[s] + counts[s]):
                read[arguments[a]] = 1
        return gone

    def number_in_order(self, Py_ssize_t first, Py_ssize_t last, new, int32_t largest):
        """Give the results of a stretch the identifiers that follow `largest`, and return the last of them.

        Parameters
        ----------
        first, last : int
            The stretch.
        new : ndarray of int32
            By name the identifier, set here.
        largest : int
            Handed out before.

        Returns
        -------
        int
        """
        cdef const int32_t* results = ints(self.results)
        cdef const uint8_t* kept = flags(self.kept)
        cdef int32_t* identifiers = ints(new)
        cdef Py_ssize_t s
        for s in range(first, last):
            if kept[s]:
                largest += 1
                identifiers[results[s]] = largest
        return largest

    def number_by_lifetime(self, new, lasting, int32_t largest):
        """Give names without identifier one that serves again after the last statement that reads the name.

        Parameters
        ----------
        new : ndarray of int32
            By name the identifier, 0 for those that get one here.
        lasting : ndarray of uint8
            By name, whether it stays until the end.
        largest : int
            Handed out before.

        Returns
        -------
        int
            The largest identifier.
        """
        cdef cnp.ndarray until = np.full(len(new), -1, np.int64), free = np.empty(self.size + 1, np.int32)
        cdef const int64_t* starts = longs(self.starts)
        cdef const int32_t* counts = ints(self.counts)
        cdef const int32_t* arguments = ints(self.arguments)
        cdef const int32_t* results = ints(self.results)
        cdef const uint8_t* kept = flags(self.kept)
        cdef const uint8_t* stays = flags(lasting)
        cdef int64_t* last = longs(until)
        cdef int32_t* pool = ints(free)
        cdef int32_t* identifiers = ints(new)
        cdef Py_ssize_t s, a, pooled = 0, fixed = largest
        for s in range(self.size):
            if kept[s]:
                last[results[s]] = s
                for a in range(starts[s], starts[s] + counts[s]):
                    last[arguments[a]] = s
        for s in range(self.size):
            if not kept[s]:
                continue
            if not identifiers[results[s]]:          # before its arguments' identifiers are free
                if pooled:
                    pooled -= 1
                    identifiers[results[s]] = pool[pooled]
                else:
                    largest += 1
                    identifiers[results[s]] = largest
            for a in range(starts[s], starts[s] + counts[s]):
                if last[arguments[a]] == s and not stays[arguments[a]] and identifiers[arguments[a]] > fixed:
                    pool[pooled] = identifiers[arguments[a]]
                    pooled += 1
                    last[arguments[a]] = -1          # it may stand there twice
            if last[results[s]] == s and not stays[results[s]] and identifiers[results[s]] > fixed:
                pool[pooled] = identifiers[results[s]]
                pooled += 1
        return largest


def code_of_copy(bint programs):
    """The code of a statement that copies a variable.

    Parameters
    ----------
    programs : bool
        Whether codes are handles of programs, and not operations.

    Returns
    -------
    int
    """
    return intern_program(OP_IDENTITY, ARGUMENT, 0, 0) if programs else OP_IDENTITY


def exchanged(identifiers, numbers, known, bint backwards):
    """Give identifiers numbers, one after the other, and say what each had before: from what statements compute what they
    overwrite, and, with the last of them first, from what they overwrote what they computed.

    Parameters
    ----------
    identifiers : ndarray of int32
        Of the statements' results.
    numbers : ndarray of float64
        By statement.
    known : ndarray of float64
        By identifier, what they have at first; what they have in the end afterwards.
    backwards : bool
        Whether the last statement comes first.

    Returns
    -------
    ndarray of float64
        By statement.
    """
    cdef cnp.ndarray found = np.empty(len(identifiers))
    cdef const int32_t* slots = ints(identifiers)
    cdef const double* given = doubles(numbers)
    cdef double* now = doubles(known)
    cdef double* before = doubles(found)
    cdef Py_ssize_t i, s, n = len(identifiers)
    for i in range(n):
        s = n - 1 - i if backwards else i
        before[s] = now[slots[s]]
        now[slots[s]] = given[s]
    return found


cdef object starts_of(counts):
    cdef cnp.ndarray found = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=found[1:])
    return found


cdef inline uint64_t mixed(uint64_t hashed, uint64_t word) noexcept:
    """One round of a multiplicative hash."""
    hashed ^= word
    hashed *= <uint64_t>0x9E3779B97F4A7C15
    return hashed ^ (hashed >> 29)


cdef uint64_t hash_of(int32_t code, const int32_t* arguments, Py_ssize_t n, const double* numbers, Py_ssize_t m) noexcept:
    cdef uint64_t hashed = mixed(<uint64_t>0x51ED270B, <uint64_t><int64_t>code)
    cdef Py_ssize_t k
    for k in range(n):
        hashed = mixed(hashed, <uint64_t>arguments[k])
    for k in range(m):
        hashed = mixed(hashed, (<const uint64_t*>numbers)[k])
    return hashed


cdef bint alike(const int32_t* codes, const int32_t* counts, const int32_t* number_counts, const int64_t* starts,
                const int64_t* number_starts, const int32_t* arguments, const double* numbers, Py_ssize_t s,
                Py_ssize_t t) noexcept:
    """Whether two statements compute the same, to the bit."""
    return (codes[s] == codes[t] and counts[s] == counts[t] and number_counts[s] == number_counts[t]
            and not memcmp(arguments + starts[s], arguments + starts[t], counts[s] * sizeof(int32_t))
            and not memcmp(numbers + number_starts[s], numbers + number_starts[t], number_counts[s] * sizeof(double)))
