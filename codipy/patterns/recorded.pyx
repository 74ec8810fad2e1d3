# SPDX-License-Identifier: Apache-2.0
"""Which numbers of a recording depend on which: sweeps that carry 64 seeds as the bits of a word."""
import numpy as np

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memset

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, regions_between
from codipy.data.strided cimport advance, elements_of
from codipy.programs.program cimport INPUT, Program, program_at, program_blocks
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.base cimport BaseTape
from codipy.tape.records.record cimport Record
from codipy.tape.strategies.stored cimport ELEMENT, stored_arguments

from codipy.errors import TapeError
from codipy.patterns.structure import call_structure, handle_structure, tiles_structure
from codipy.tape.contents.reading import step_of

cdef enum:
    SCALARS = 0                  # statements a to b, the first of which has identifier c
    ARRAY = 1                    # areas a (the result), and b to c (arguments); pairs of program d
    MOVE = 2                     # block a, of which the elements are copies of sources b to c
    CALL = 3                     # number a of the calls
    PASSIVE = -1                 # number of the program of an input

# Identifiers of a view, one for each element; strides in identifiers.
cdef struct Area:
    Py_ssize_t first
    Py_ssize_t ndim
    Py_ssize_t shape[MAX_DIMS]
    Py_ssize_t strides[MAX_DIMS]


cdef class Ints:
    """Whole numbers that grow at the end."""
    cdef object numbers
    cdef int32_t[::1] items
    cdef Py_ssize_t count

    def __cinit__(self):
        self.numbers = np.empty(256, np.int32)
        self.items = self.numbers

    cdef inline int push(self, Py_ssize_t number) except -1:
        if self.count == self.items.shape[0]:
            self.numbers = np.concatenate((self.numbers, np.empty(self.count, np.int32)))
            self.items = self.numbers
        self.items[self.count] = <int32_t>number
        self.count += 1
        return 0


cdef inline Py_ssize_t size_of(const Area* area) noexcept nogil:
    return elements_of(<int>area.ndim, area.shape)


cdef inline void line(uint64_t* words, uint64_t* at, Py_ssize_t n, Py_ssize_t step, int action) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t word
    if action == 0:              # read: OR into `words`
        if step == 0:
            word = at[0]
            for i in range(n):
                words[i] |= word
        elif step == 1:
            for i in range(n):
                words[i] |= at[i]
        else:
            for i in range(n):
                words[i] |= at[i * step]
    elif action == 1:            # add: OR from `words`
        if step == 0:
            word = 0
            for i in range(n):
                word |= words[i]
            at[0] |= word
        elif step == 1:
            for i in range(n):
                at[i] |= words[i]
        else:
            for i in range(n):
                at[i * step] |= words[i]
    else:                        # clear
        for i in range(n):
            at[i * step] = 0


cdef void walk(uint64_t* words, uint64_t* bits, const Area* area, int action) noexcept nogil:
    """One action over an area, whose elements stand in `words` in the order of C."""
    cdef Py_ssize_t index[MAX_DIMS]
    cdef const Py_ssize_t* strides = area.strides
    cdef Py_ssize_t lines = 1, n = 1, step = 0, offset = area.first, i
    cdef int k, last = <int>area.ndim - 1
    if last >= 0:
        n, step = area.shape[last], area.strides[last]
    for k in range(last):
        lines *= area.shape[k]
        index[k] = 0
    if n == 0:
        return
    for i in range(lines):
        line(words + i * n, bits + offset, n, step, action)
        advance(max(last, 0), area.shape, index, 1, &strides, &offset)


cdef class Recorded:
    """Recorded(tape, inputs, outputs)
    --

    A recording as what depends on what.

    Parameters
    ----------
    tape : Tape
        Of the strategy ``primal``; it may be reset afterwards.
    inputs, outputs : ndarray of int
        Identifiers, in one axis; those of outputs may be 0, which depend on nothing.

    Raises
    ------
    TapeError
        For another strategy.
    UndifferentiableError
        For records of the user's, of which nothing is known.
    """
    cdef Ints steps, sources, offsets, arguments, programs
    cdef object area_numbers
    cdef list areas, calls, pairs_of
    cdef dict known
    cdef Area* area
    cdef int32_t[::1] inputs, outputs, pairs, pair_ends
    cdef Py_ssize_t size, largest_area
    cdef bint rewrites           # an identifier is set more than once: sweeps back need what was read, as it was
    cdef object words, seen, more
    cdef uint64_t* tmp

    def __cinit__(self, BaseTape tape not None, inputs, outputs):
        self.inputs = np.ascontiguousarray(inputs, np.int32)
        self.outputs = np.ascontiguousarray(outputs, np.int32)
        self.steps, self.sources, self.offsets, self.arguments, self.programs = Ints(), Ints(), Ints(), Ints(), Ints()
        self.areas, self.calls, self.pairs_of, self.known, self.size = [], [], [], {}, 1
        if not tape.recorder.values_by_identifier or tape.recorder.reuse:
            raise TapeError("patterns are read from a tape of strategy='primal' only")
        self.read(tape)
        self.area_numbers = np.array(self.areas, np.intp).reshape(-1, 2 + 2 * MAX_DIMS)
        self.area = <Area*>(<size_t>self.area_numbers.ctypes.data)
        ends = np.cumsum([0, *map(len, self.pairs_of)])
        self.pair_ends = np.asarray(ends, np.int32)
        self.pairs = np.array([k for pairs in self.pairs_of for pair in pairs for k in pair] or [0], np.int32)
        self.largest_area = max(1, max([int(np.prod(row[2:2 + row[1]])) for row in self.area_numbers.tolist()] or [1]))
        for k in range(0, self.steps.count, 5):
            if self.steps.items[k] == MOVE:
                self.largest_area = max(self.largest_area, self.steps.items[k + 3] - self.steps.items[k + 2])
        for numbers in (inputs, outputs):
            self.size = max(self.size, 1 + int(np.max(numbers, initial=0)))
        self.words = np.zeros((3, self.largest_area), np.uint64)
        self.tmp = <uint64_t*><size_t>self.words.ctypes.data
        self.rewrites = self.sets_again()

    # ---- Reading ----

    cdef int add_step(self, Py_ssize_t kind, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c, Py_ssize_t d) except -1:
        for number in (kind, a, b, c, d):
            self.steps.push(number)
        return 0

    cdef Py_ssize_t add_area(self, tuple where) except -1:
        first, shape, strides = where
        ndim = len(shape)
        low = high = first
        for n, step in zip(shape, strides):
            if n > 1:
                low, high = (low, high + (n - 1) * step) if step > 0 else (low + (n - 1) * step, high)
        self.size = max(self.size, high + 1)
        self.areas.append([first, ndim, *shape, *[1] * (MAX_DIMS - ndim), *strides, *[0] * (MAX_DIMS - ndim)])
        return len(self.areas) - 1

    cdef int32_t program_number(self, tuple pairs):
        """The number of a list of pairs of arguments, whose product an expression is."""
        if pairs not in self.known:
            self.known[pairs] = len(self.pairs_of)
            self.pairs_of.append(pairs)
        return self.known[pairs]

    cdef int read(self, BaseTape tape) except -1:
        cdef Record record
        cdef Position here = tape.root_begin
        cdef int32_t lhs = tape.store.first - 1
        self.offsets.push(0)
        for record in tape.records.items:
            if record.place is not here:
                self.read_scalars(tape, here, record.place, lhs)
                here = record.place
            self.read_record(step_of(record))
            lhs = record.after
            self.size = max(self.size, <Py_ssize_t>lhs + 1)
        self.read_scalars(tape, here, None, lhs)
        return 0

    cdef int read_scalars(self, BaseTape tape, Position start, Position end, int32_t lhs) except -1:
        cdef Regions regions = regions_between(tape.store.root, start, end)
        cdef const int32_t* arguments
        cdef const int32_t* handles
        cdef const Program* program
        cdef Py_ssize_t a, s, i, count, first = self.programs.count
        cdef int32_t handle, last = INPUT
        cdef object kept = ()
        cdef int32_t number = PASSIVE
        cdef int32_t linear = self.program_number(())
        while regions.next_forward():
            arguments = <const int32_t*>regions.spans[1].fields[0]
            handles = <const int32_t*>regions.spans[2].fields[0]
            a = regions.spans[1].begin
            for s in range(regions.spans[2].begin, regions.spans[2].end):
                handle = handles[s]
                if handle == INPUT:
                    self.programs.push(PASSIVE)
                    self.offsets.push(self.arguments.count)
                    continue
                if handle < 0:       # a copy, or Jacobians that came from outside, of whose slopes nothing is known
                    count = stored_arguments(program_blocks(), handle)
                    for i in range(count):
                        self.arguments.push(arguments[a + i])
                    self.programs.push(linear if handle == ELEMENT else self.program_number(all_pairs(count)))
                else:
                    program = program_at(program_blocks(), handle)
                    count = program.active
                    if handle != last:
                        kept, pairs = handle_structure(handle)
                        number, last = self.program_number(pairs), handle
                    if len(kept) == count:
                        for i in range(count):
                            self.arguments.push(arguments[a + i])
                    else:
                        for i in kept:
                            self.arguments.push(arguments[a + i])
                    self.programs.push(number)
                self.offsets.push(self.arguments.count)
                a += count
        if self.programs.count > first:
            self.add_step(SCALARS, first, self.programs.count, lhs + 1, 0)
            self.size = max(self.size, lhs + 1 + self.programs.count - first)
        return 0

    cdef int read_record(self, tuple step) except -1:
        kind = step[0]
        if kind == "array":
            _, result, program, operands = step
            kept, pairs = tiles_structure(program, tuple([type(x) is tuple for x in operands]))
            first = self.add_area(result)
            for k in kept:
                self.add_area(operands[k])
            self.add_step(ARRAY, first, first + 1, first + 1 + len(kept), self.program_number(pairs))
        elif kind == "sum":
            _, (identifier, _, strides), argument, axes, _ = step
            own = iter(strides)
            first = self.add_area((identifier, argument[1],
                                   tuple([0 if k in axes else next(own) for k in range(len(argument[1]))])))
            self.add_area(argument)
            self.add_step(ARRAY, first, first + 1, first + 2, self.program_number(()))
        elif kind == "move":
            _, base, sources, _ = step
            first = self.sources.count
            for k in sources.tolist():
                self.sources.push(k)
            self.add_step(MOVE, base, first, self.sources.count, 0)
        elif kind == "call":
            _, results, primitive, args, kwargs, argnums, arguments = step
            shapes = [None if where is None else where[1] for where in results]
            links, pairs = call_structure(primitive, args, kwargs, argnums, shapes, [where[1] for where in arguments])
            outs = [-1 if where is None else self.add_area(where) for where in results]
            given = [self.add_area(where) for where in arguments]
            self.calls.append((outs, given, links, pairs))
            self.add_step(CALL, len(self.calls) - 1, 0, 0, 0)
        return 0

    cdef bint sets_again(self) except -1:
        """Whether a step sets identifiers that were set before; inputs are."""
        cdef int32_t* step
        cdef Py_ssize_t s, i, n
        cdef uint64_t[::1] seen = np.zeros(self.size, np.uint64)
        cdef uint64_t* bits = &seen[0]
        cdef uint64_t word
        for i in range(self.inputs.shape[0]):
            bits[self.inputs[i]] = 1
        for s in range(0, self.steps.count, 5):
            step = &self.steps.items[s]
            if step[0] == SCALARS:
                continue         # the identifiers of statements are linear
            if step[0] == MOVE:
                for i in range(step[1], step[1] + step[3] - step[2]):
                    if bits[i]:
                        return True
                    bits[i] = 1
                continue
            for k in [step[1]] if step[0] == ARRAY else self.calls[step[1]][0]:
                if k < 0:
                    continue
                n = size_of(self.area + <Py_ssize_t>k)
                memset(self.tmp, 0, n * sizeof(uint64_t))
                walk(self.tmp, bits, self.area + <Py_ssize_t>k, 0)
                word = 0
                for i in range(n):
                    word |= self.tmp[i]
                    self.tmp[i] = 1
                if word:
                    return True
                walk(self.tmp, bits, self.area + <Py_ssize_t>k, 1)
        return False

    # ---- Sweeps ----

    cdef uint64_t[::1] seeded(self, int32_t[::1] identifiers, const uint64_t[::1] words):
        cdef uint64_t[::1] bits = np.zeros(self.size, np.uint64)
        cdef Py_ssize_t i
        for i in range(identifiers.shape[0]):
            bits[identifiers[i]] |= words[i]
        bits[0] = 0
        return bits

    cdef object read_off(self, uint64_t[::1] bits, int32_t[::1] identifiers):
        cdef uint64_t[::1] found = np.empty(identifiers.shape[0], np.uint64)
        cdef Py_ssize_t i
        for i in range(identifiers.shape[0]):
            found[i] = bits[identifiers[i]]
        return found.base

    def forward(self, const uint64_t[::1] words not None):
        """The bits of the outputs, where those of the inputs are given: whatever depends on an input has its bits."""
        cdef uint64_t[::1] bits = self.seeded(self.inputs, words)
        self.push(bits, None)
        return self.read_off(bits, self.outputs)

    def reverse(self, const uint64_t[::1] words not None):
        """The bits of the inputs, where those of the outputs are given: the transpose of `forward`."""
        cdef uint64_t[::1] bits = self.seeded(self.outputs, words)
        self.pull(bits)
        return self.read_off(bits, self.inputs)

    def second(self, const uint64_t[::1] words not None):
        """The bits of the gradient's numbers, where those of the inputs are given.

        An input has the bits of those inputs that its share of the gradient of the outputs, added, depends on.
        """
        cdef uint64_t[::1] dots = self.seeded(self.inputs, words)
        cdef list kept = [] if self.rewrites else None
        cdef uint64_t[::1] bars = self.seeded(self.outputs, np.full(self.outputs.shape[0], ~np.uint64(0)))
        cdef uint64_t[::1] slopes = np.zeros(self.size, np.uint64)
        self.push(dots, kept)
        self.pull_slopes(dots, bars, slopes, kept)
        return self.read_off(slopes, self.inputs)

    cdef int push(self, uint64_t[::1] view, list kept) except -1:
        cdef uint64_t* bits = &view[0]
        cdef uint64_t* tmp = self.tmp
        cdef int32_t* step
        cdef Py_ssize_t s, i, j, k, n
        cdef uint64_t word
        for s in range(0, self.steps.count, 5):
            step = &self.steps.items[s]
            if kept is not None and step[0] != SCALARS:      # those read what statements of the same step set
                kept.append(self.operands(view, step))
            if step[0] == SCALARS:
                for i in range(step[1], step[2]):
                    if self.programs.items[i] == PASSIVE:
                        continue
                    word = 0
                    for j in range(self.offsets.items[i], self.offsets.items[i + 1]):
                        word |= bits[self.arguments.items[j]]
                    bits[step[3] + i - step[1]] = word
                if kept is not None:
                    kept.append(self.operands(view, step))
            elif step[0] == ARRAY:
                n = size_of(self.area + step[1])
                memset(tmp, 0, n * sizeof(uint64_t))
                for k in range(step[2], step[3]):
                    walk(tmp, bits, self.area + k, 0)
                walk(tmp, bits, self.area + step[1], 2)
                walk(tmp, bits, self.area + step[1], 1)
            elif step[0] == MOVE:
                n = step[3] - step[2]
                for i in range(n):
                    tmp[i] = bits[self.sources.items[step[2] + i]]
                memcpy(bits + step[1], tmp, n * sizeof(uint64_t))
            else:
                outs, given, links, _ = self.calls[step[1]]
                words = [self.taken(bits, a) for a in given]
                for a, found in [(a, pushed(words, links, r)) for r, a in enumerate(outs) if a >= 0]:
                    self.put(bits, a, found)
        return 0

    cdef int pull(self, uint64_t[::1] view) except -1:
        cdef uint64_t* bits = &view[0]
        cdef uint64_t* tmp = self.tmp
        cdef int32_t* step
        cdef Py_ssize_t s, i, j, k, n
        cdef uint64_t word
        for s in range(self.steps.count - 5, -1, -5):
            step = &self.steps.items[s]
            if step[0] == SCALARS:
                for i in range(step[2] - 1, step[1] - 1, -1):
                    word = bits[step[3] + i - step[1]]
                    if word:
                        for j in range(self.offsets.items[i], self.offsets.items[i + 1]):
                            bits[self.arguments.items[j]] |= word
            elif step[0] == ARRAY:
                self.take(tmp, bits, step[1])
                for k in range(step[2], step[3]):
                    walk(tmp, bits, self.area + k, 1)
            elif step[0] == MOVE:
                n = step[3] - step[2]
                memcpy(tmp, bits + step[1], n * sizeof(uint64_t))
                memset(bits + step[1], 0, n * sizeof(uint64_t))
                for i in range(n):
                    bits[self.sources.items[step[2] + i]] |= tmp[i]
                bits[0] = 0
            else:
                outs, given, links, _ = self.calls[step[1]]
                words = [None if a < 0 else self.consumed(bits, a) for a in outs]
                for a, found in zip(given, [pulled(words, row) for row in links]):
                    self.add(bits, a, found)
        return 0

    cdef int pull_slopes(self, uint64_t[::1] dot_view, uint64_t[::1] bar_view, uint64_t[::1] slope_view,
                         list kept) except -1:
        # A result's slope reaches what it was computed of; where an expression has a second derivative by two
        # arguments, and its adjoint is not zero, the tangent of each is part of the slope of the other.
        cdef uint64_t* dots = &dot_view[0]
        cdef uint64_t* bars = &bar_view[0]
        cdef uint64_t* slopes = &slope_view[0]
        cdef uint64_t* bar = self.tmp
        cdef uint64_t* slope = self.tmp + self.largest_area
        cdef uint64_t* dot = slope + self.largest_area
        cdef const uint64_t* read
        cdef const uint64_t[::1] operands
        cdef int32_t* step
        cdef int32_t* given
        cdef Py_ssize_t s, i, j, k, n, p, a, b, begin
        cdef uint64_t first, second
        for s in range(self.steps.count - 5, -1, -5):
            step = &self.steps.items[s]
            read = NULL
            if kept is not None and step[0] != CALL:
                operands = kept[s // 5]
                read = &operands[0]
            if step[0] == SCALARS:
                begin = self.offsets.items[step[1]]
                for i in range(step[2] - 1, step[1] - 1, -1):
                    k = step[3] + i - step[1]
                    if self.programs.items[i] == PASSIVE or not (bars[k] | slopes[k]):
                        continue
                    given = &self.arguments.items[0] + self.offsets.items[i]
                    for j in range(self.offsets.items[i + 1] - self.offsets.items[i]):
                        bars[given[j]] |= bars[k]
                        slopes[given[j]] |= slopes[k]
                    for p in range(self.pair_ends[self.programs.items[i]], self.pair_ends[self.programs.items[i] + 1]):
                        a, b = self.pairs[2 * p], self.pairs[2 * p + 1]
                        j = self.offsets.items[i] - begin
                        first = dots[given[a]] if read == NULL else read[j + a]
                        second = dots[given[b]] if read == NULL else read[j + b]
                        slopes[given[a]] |= bars[k] & second
                        slopes[given[b]] |= bars[k] & first
            elif step[0] == ARRAY:
                n = self.take(bar, bars, step[1])
                self.take(slope, slopes, step[1])
                for k in range(step[2], step[3]):
                    walk(bar, bars, self.area + k, 1)
                    walk(slope, slopes, self.area + k, 1)
                for p in range(2 * self.pair_ends[step[4]], 2 * self.pair_ends[step[4] + 1]):
                    a, b = self.pairs[p], self.pairs[p + 1 if p % 2 == 0 else p - 1]
                    if a == b and p % 2:
                        continue
                    memset(dot, 0, n * sizeof(uint64_t))
                    if read == NULL:
                        walk(dot, dots, self.area + step[2] + b, 0)
                    else:
                        memcpy(dot, read + b * n, n * sizeof(uint64_t))
                    for i in range(n):
                        dot[i] &= bar[i]
                    walk(dot, slopes, self.area + step[2] + a, 1)
            elif step[0] == MOVE:
                n = step[3] - step[2]
                memcpy(bar, bars + step[1], n * sizeof(uint64_t))
                memcpy(slope, slopes + step[1], n * sizeof(uint64_t))
                memset(bars + step[1], 0, n * sizeof(uint64_t))
                memset(slopes + step[1], 0, n * sizeof(uint64_t))
                for i in range(n):
                    bars[self.sources.items[step[2] + i]] |= bar[i]
                    slopes[self.sources.items[step[2] + i]] |= slope[i]
                bars[0] = slopes[0] = 0
            else:
                outs, areas, links, pairs = self.calls[step[1]]
                above = [None if r < 0 else self.consumed(bars, r) for r in outs]
                along = [None if r < 0 else self.consumed(slopes, r) for r in outs]
                words = [self.taken(dots, r) for r in areas] if kept is None else kept[s // 5]
                for row, r in zip(links, areas):
                    self.add(bars, r, pulled(above, row))
                    self.add(slopes, r, pulled(along, row))
                for first_of, second_of in pairs:
                    only = [words[second_of]]
                    for r in range(len(outs)):
                        if above[r] is not None:
                            both = above[r] & pushed(only, [links[second_of]], r)
                            self.add(slopes, areas[first_of], links[first_of][r].pull(both))
        return 0

    cdef object operands(self, uint64_t[::1] view, int32_t* step):
        """The bits that a step reads, as they are now."""
        cdef uint64_t* bits = &view[0]
        cdef uint64_t[::1] found
        cdef Py_ssize_t j, k, n
        if step[0] == CALL:
            return [self.taken(bits, a) for a in self.calls[step[1]][1]]
        if step[0] == SCALARS:
            j, n = self.offsets.items[step[1]], self.offsets.items[step[2]] - self.offsets.items[step[1]]
            found = np.zeros(n + 1, np.uint64)
            for k in range(n):
                found[k] = bits[self.arguments.items[j + k]]
            return found.base
        if step[0] == MOVE:
            return np.zeros(1, np.uint64)
        n = size_of(self.area + step[1])
        found = np.zeros(n * (step[3] - step[2]) + 1, np.uint64)
        for k in range(step[2], step[3]):
            walk(&found[0] + n * (k - step[2]), bits, self.area + k, 0)
        return found.base

    cdef Py_ssize_t take(self, uint64_t* words, uint64_t* bits, Py_ssize_t k) noexcept:
        """The bits of an area, which become 0: identifiers may have had another meaning before."""
        cdef Py_ssize_t n = size_of(self.area + k)
        memset(words, 0, n * sizeof(uint64_t))
        walk(words, bits, self.area + k, 0)
        walk(words, bits, self.area + k, 2)
        return n

    # ---- The same for primitives, as arrays ----

    cdef object shape_of(self, Py_ssize_t k):
        return tuple([self.area[k].shape[d] for d in range(self.area[k].ndim)])

    cdef object taken(self, uint64_t* bits, Py_ssize_t k):
        cdef uint64_t[::1] found = np.zeros(max(1, size_of(self.area + k)), np.uint64)
        walk(&found[0], bits, self.area + k, 0)
        return found.base[:size_of(self.area + k)].reshape(self.shape_of(k))

    cdef object consumed(self, uint64_t* bits, Py_ssize_t k):
        found = self.taken(bits, k)
        walk(self.tmp, bits, self.area + k, 2)
        return found

    cdef int add(self, uint64_t* bits, Py_ssize_t k, words) except -1:
        cdef const uint64_t[::1] flat
        if words is not None and size_of(self.area + k):
            flat = np.ascontiguousarray(np.broadcast_to(words, self.shape_of(k))).reshape(-1)
            walk(<uint64_t*>&flat[0], bits, self.area + k, 1)
        return 0

    cdef int put(self, uint64_t* bits, Py_ssize_t k, words) except -1:
        walk(self.tmp, bits, self.area + k, 2)
        return self.add(bits, k, words)


def all_pairs(count):
    """Every pair of so many arguments, those of one with itself among them."""
    return tuple([(a, b) for b in range(count) for a in range(b + 1)])


cdef object pushed(list words, list links, Py_ssize_t result):
    """The bits of one result of a primitive, where those of its arguments are given."""
    found = None
    for word, row in zip(words, links):
        part = row[result].push(word)
        found = part if found is None else found | part
    return found


cdef object pulled(list words, list row):
    """The bits of one argument of a primitive, where those of its results are given."""
    found = None
    for word, link in zip(words, row):
        if word is not None:
            part = link.pull(word)
            found = part if found is None else found | part
    return found
