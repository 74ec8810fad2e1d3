# SPDX-License-Identifier: Apache-2.0
"""Where the user's program is, as one number for an instruction and the calls that led to it."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.object cimport PyObject
from cpython.time cimport perf_counter_ns

from codipy.tape.provenance.running cimport (
    Frame, PyCodeObject, codipy_code, codipy_first, codipy_instruction, codipy_previous, codipy_ticks, codipy_top, is_at,
    look, spot_in)

cdef extern from "Python.h":
    int PyCode_Addr2Line(PyCodeObject* code, int offset) noexcept

from codipy.errors import TapeError


cdef class Spots:
    """Spots(is_users)
    --

    The spots of one profile.

    Parameters
    ----------
    is_users : callable
        Whether a code object is the user's.
    """
    def __cinit__(self, is_users):
        self.is_users, self.kept, self.users = is_users, [], []
        self.nodes = <Node*>larger(self.nodes, &self.nodes_room, 1, sizeof(Node))
        self.spots = <Spot*>larger(self.spots, &self.spots_room, 1, sizeof(Spot))
        self.elapsed = <int64_t*>larger(self.elapsed, &self.rows_room, 1, sizeof(int64_t))
        memset(self.nodes, 0, sizeof(Node))
        self.nodes[0].code, self.nodes[0].caller = -1, -1
        self.nowhere.frame = &self.nowhere
        self.reach(0)
        memset(self.spots, 0, sizeof(Spot))
        self.elapsed[0] = 0
        self.node_count = self.spot_count = self.row_count = 1
        self.begun, self.begun_ticks = perf_counter_ns(), now()
        self.skip()

    def __dealloc__(self):
        cdef Py_ssize_t k
        free_map(&self.codes)
        free_map(&self.children)
        free_map(&self.rows)
        PyMem_RawFree(self.levels)
        PyMem_RawFree(self.frames)
        PyMem_RawFree(self.spots)
        for k in range(self.node_count):
            PyMem_RawFree(self.nodes[k].spots)
        PyMem_RawFree(self.nodes)
        PyMem_RawFree(self.elapsed)

    def start(self, Py_ssize_t around=0):
        """Begin to look, and to count time; what is around the frame that calls this, or so many around that, is left out."""
        cdef Frame* frame = codipy_top()
        cdef Py_ssize_t _k
        for _k in range(around):
            if frame != NULL:
                frame = codipy_previous(frame)
        self.base, self.base_code = frame, codipy_code(frame) if frame != NULL else NULL
        self.skip()

    def skip(self):
        """Begin to count time anew: what passed since the last operation is nobody's."""
        self.since, self.row = now(), 0

    def stop(self):
        """Count time no longer."""
        self.switch(0)

    cdef int32_t here(self) except -1:
        return look(<PyObject*>self)

    cdef int32_t running_on(self) except -1:
        cdef int32_t spot = self.locate()
        if self.spots[spot].row != self.row:
            self.switch(self.spots[spot].row)
        return spot

    cdef void switch(self, int32_t row) noexcept:
        cdef int64_t ticks = now()
        self.elapsed[self.row] += ticks - self.since
        self.since, self.row = ticks, row

    cdef int32_t locate(self) except -1:
        cdef Frame* frame = codipy_top()
        if not is_at(self.innermost, self.levels, frame) and not self.step(frame):
            self.walk(frame)
        return self.spot_of(self.innermost, codipy_instruction(frame)) if self.depth else 0

    cdef void reach(self, Py_ssize_t depth) noexcept:
        """So many levels are those of the frames that run."""
        self.depth = depth
        self.innermost = self.levels + depth - 1 if depth else &self.nowhere

    cdef int step(self, void* top) except -1:
        """Follow one return, one call, or one of each; 0: it is something else that came after the last operation."""
        cdef Frame* frame = <Frame*>top
        cdef Frame* caller
        cdef Level* level = self.innermost
        if self.depth < 2 or frame == NULL:
            return 0
        if is_at(level - 1, self.levels, frame):
            self.reach(self.depth - 1)
            return 1
        caller = codipy_previous(frame)
        if caller == NULL or frame == self.base:
            return 0
        if not is_at(level, self.levels, caller):
            level -= 1
            if not is_at(level, self.levels, caller):
                return 0
        self.reach(level - self.levels + 1)
        if self.depth == self.levels_room:
            return 0
        level.instruction = codipy_instruction(caller)
        self.enter(level + 1, frame, self.spot_of(level, level.instruction))
        self.reach(self.depth + 1)
        return 1

    cdef int walk(self, void* top) except -1:
        """Find the nodes of all frames that run, from the first on that is not as it was."""
        cdef Frame* frame = <Frame*>top
        cdef Level* level
        cdef Py_ssize_t count = 0, known, k
        cdef char* instruction
        cdef bint same = True
        while frame != NULL:
            if count == self.frames_room:
                self.frames = <void**>larger(self.frames, &self.frames_room, count + 1, sizeof(void*))
            self.frames[count] = frame
            count += 1
            if frame == self.base and codipy_code(frame) == self.base_code:
                break
            frame = codipy_previous(frame)
        known = self.depth
        self.reach(0)        # nothing is known while this may fail
        if count > self.levels_room:
            self.levels = <Level*>larger(self.levels, &self.levels_room, count, sizeof(Level))
        for k in range(count):
            frame, level = <Frame*>self.frames[count - 1 - k], self.levels + k
            instruction = codipy_instruction(frame)
            same = same and k < known and level.frame == frame and level.code == codipy_code(frame)
            if not same:
                self.enter(level, frame, self.spot_of(level - 1, (level - 1).instruction) if k else 0)
            same = same and level.instruction == instruction
            level.instruction = instruction
        self.reach(count)
        return 0

    cdef int enter(self, Level* level, void* frame, int32_t caller) except -1:
        """Make a level that of a frame which was called from a spot."""
        cdef PyCodeObject* called = codipy_code(<Frame*>frame)
        cdef int32_t code = self.code_at(called)
        cdef Node* node
        level.frame, level.code = frame, called
        if self.users[code]:
            level.node, level.caller = self.child(caller, code), -1
        else:
            level.node, level.caller = 0, caller
        node = self.nodes + level.node
        level.before, level.spots, level.places = node.before, node.spots, node.places
        return 0

    cdef int32_t spot_of(self, Level* level, char* instruction) except -1:
        cdef int32_t spot
        if level.caller >= 0:
            return level.caller
        spot = spot_in(level, instruction)
        return spot if spot else self.spot_at(level.node, instruction)

    cdef int32_t code_at(self, void* code) except -1:
        cdef int32_t number = look_up(&self.codes, <uint64_t><size_t>code)
        if number >= 0:
            return number
        number = <int32_t>len(self.kept)
        known = <object><PyObject*>code
        self.kept.append(known)
        self.users.append(bool(self.is_users(known)))
        store(&self.codes, <uint64_t><size_t>code, number)
        return number

    cdef int32_t child(self, int32_t caller, int32_t code) except -1:
        """The node of a function called from a spot; one that is running already is entered again."""
        cdef uint64_t key = (<uint64_t>caller + 1) << 32 | <uint64_t>code
        cdef int32_t node = look_up(&self.children, key), spot
        cdef int32_t* spots
        cdef size_t places
        cdef Node* made
        if node >= 0:
            return node
        spot = caller
        while spot > 0 and self.nodes[self.spots[spot].node].code != code:
            spot = self.nodes[self.spots[spot].node].caller
        if spot > 0:
            node = self.spots[spot].node
        else:
            if self.node_count == self.nodes_room:
                self.nodes = <Node*>larger(self.nodes, &self.nodes_room, self.node_count + 1, sizeof(Node))
            places = len(self.kept[code].co_code) // 2 + 1       # a code unit has two bytes
            spots = <int32_t*>PyMem_RawCalloc(places, sizeof(int32_t))
            if spots == NULL:
                raise MemoryError(f"no memory for {places} instructions of a profile")
            node = <int32_t>self.node_count
            made = self.nodes + node
            made.code, made.caller, made.spots, made.places = code, caller, spots, places
            made.before = codipy_first(<PyCodeObject*><PyObject*>self.kept[code]) - 2
            self.node_count += 1
        store(&self.children, key, node)
        return node

    cdef int32_t spot_at(self, int32_t number, char* instruction) except -1:
        """A new spot, of an instruction of a node."""
        cdef Node* node = self.nodes + number
        cdef size_t place = <size_t>(instruction - node.before) >> 1
        cdef PyCodeObject* code = <PyCodeObject*><PyObject*>self.kept[node.code]
        cdef int offset, line
        cdef int32_t spot, row
        if place >= node.places:      # nowhere in its code: before it
            place = 0
            if node.spots[place]:
                return node.spots[place]
        offset = <int>(2 * place) - 2
        line = max(PyCode_Addr2Line(code, offset), 0)
        if self.spot_count >= 1 << 24:
            raise TapeError("a profile has room for 2**24 places of a program, and this one has more: profile a part of it")
        row = look_up(&self.rows, (<uint64_t>number + 1) << 32 | <uint64_t>line)
        if row < 0:
            if self.row_count == self.rows_room:
                self.elapsed = <int64_t*>larger(self.elapsed, &self.rows_room, self.row_count + 1, sizeof(int64_t))
            row = <int32_t>self.row_count
            self.elapsed[row] = 0
            self.row_count += 1
            store(&self.rows, (<uint64_t>number + 1) << 32 | <uint64_t>line, row)
        if self.spot_count == self.spots_room:
            self.spots = <Spot*>larger(self.spots, &self.spots_room, self.spot_count + 1, sizeof(Spot))
        spot = <int32_t>self.spot_count
        self.spots[spot].node, self.spots[spot].offset, self.spots[spot].line = number, offset, line
        self.spots[spot].row, self.spots[spot].hits = row, 0
        self.spot_count += 1
        node.spots[place] = spot
        return spot

    def table(self):
        """
        All there is, by number.

        Returns
        -------
        nodes : list of tuple
            (code or None, spot of the caller).
        spots : list of tuple
            (node, line, row, hits).
        elapsed : list of float
            Nanoseconds of each row.
        """
        cdef Py_ssize_t k
        cdef double tick = (perf_counter_ns() - self.begun) / max(<double>(now() - self.begun_ticks), 1.0)
        nodes = [(self.kept[self.nodes[k].code] if k else None, self.nodes[k].caller)
                 for k in range(self.node_count)]
        spots = [(self.spots[k].node, self.spots[k].line, self.spots[k].row, self.spots[k].hits)
                 for k in range(self.spot_count)]
        return nodes, spots, [tick * self.elapsed[k] for k in range(self.row_count)]


cdef inline int64_t now() noexcept:
    """In ticks of the processor, which are as long as they turn out to be over the whole profile."""
    cdef int64_t ticks = codipy_ticks()
    return ticks if ticks >= 0 else perf_counter_ns()


cdef void* larger(void* memory, Py_ssize_t* room, Py_ssize_t count, size_t item) except NULL:
    cdef Py_ssize_t size = max(2 * room[0], count, <Py_ssize_t>64)
    cdef void* moved = PyMem_RawRealloc(memory, size * item)
    if moved == NULL:
        raise MemoryError(f"no memory for {size} entries of a profile")
    room[0] = size
    return moved


cdef void free_map(Map* map) noexcept:
    PyMem_RawFree(map.keys)
    PyMem_RawFree(map.values)


cdef inline uint64_t mixed(uint64_t key) noexcept:
    key = key * <uint64_t>0x9E3779B97F4A7C15
    return key ^ key >> 32


cdef inline int32_t look_up(const Map* map, uint64_t key) noexcept:
    """The value of a key, which is not 0; -1 if there is none."""
    cdef Py_ssize_t k
    if map.room == 0:
        return -1
    k = <Py_ssize_t>(mixed(key) & <uint64_t>(map.room - 1))
    while map.keys[k]:
        if map.keys[k] == key:
            return map.values[k]
        k = (k + 1) & (map.room - 1)
    return -1


cdef int store(Map* map, uint64_t key, int32_t value) except -1:
    """Of a key that is not there."""
    cdef Map old = map[0]
    cdef Py_ssize_t k
    if 2 * (map.count + 1) > map.room:
        map.room = 2 * map.room if map.room else 64
        map.keys = <uint64_t*>PyMem_RawMalloc(map.room * sizeof(uint64_t))
        map.values = <int32_t*>PyMem_RawMalloc(map.room * sizeof(int32_t))
        if map.keys == NULL or map.values == NULL:
            PyMem_RawFree(map.keys)
            PyMem_RawFree(map.values)
            map[0] = old
            raise MemoryError("no memory for the places of a profile")
        memset(map.keys, 0, map.room * sizeof(uint64_t))
        for k in range(old.room):
            if old.keys[k]:
                put(map, old.keys[k], old.values[k])
        PyMem_RawFree(old.keys)
        PyMem_RawFree(old.values)
    put(map, key, value)
    map.count += 1
    return 0


cdef void put(Map* map, uint64_t key, int32_t value) noexcept:
    cdef Py_ssize_t k = <Py_ssize_t>(mixed(key) & <uint64_t>(map.room - 1))
    while map.keys[k]:
        k = (k + 1) & (map.room - 1)
    map.keys[k], map.values[k] = key, value
