# SPDX-License-Identifier: Apache-2.0
"""Where the user's program is, as one number for an instruction and the calls that led to it."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.object cimport PyObject
from cpython.time cimport perf_counter_ns

cdef extern from "codipy/tape/provenance/frames.h":
    ctypedef struct Frame "codipy_frame":
        pass
    ctypedef struct PyCodeObject:
        pass
    Frame* codipy_top() noexcept
    Frame* codipy_previous(Frame* frame) noexcept
    PyCodeObject* codipy_code(Frame* frame) noexcept
    char* codipy_instruction(Frame* frame) noexcept
    int codipy_offset(PyCodeObject* code, char* instruction) noexcept
    int64_t codipy_ticks() noexcept
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
        self.nodes[0].code, self.nodes[0].caller = -1, -1
        memset(self.spots, 0, sizeof(Spot))
        self.elapsed[0] = 0
        self.node_count = self.spot_count = self.row_count = 1
        self.begun, self.begun_ticks = perf_counter_ns(), now()
        self.skip()

    def __dealloc__(self):
        free_map(&self.codes)
        free_map(&self.children)
        free_map(&self.found)
        free_map(&self.rows)
        PyMem_RawFree(self.levels)
        PyMem_RawFree(self.frames)
        PyMem_RawFree(self.spots)
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
        cdef int32_t spot = known(self)
        cdef Spot* found
        if spot < 0:
            spot = self.locate()
        found = self.spots + spot
        found.hits += 1
        if found.row != self.row:
            self.switch(found.row)
        return spot

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
        cdef Level* level
        if not is_same(self, frame):
            self.walk(frame)
            if self.depth == 0:
                return 0
        level = self.levels + self.depth - 1
        return level.caller if level.caller >= 0 else spot_of(self, level.node, codipy_instruction(frame))

    cdef int walk(self, void* top) except -1:
        """Find the nodes of all frames that run, from the first on that is not as it was."""
        cdef Frame* frame = <Frame*>top
        cdef Level* level
        cdef Py_ssize_t count = 0, known, k
        cdef int32_t caller = 0, code
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
        if count > self.levels_room:
            self.levels = <Level*>larger(self.levels, &self.levels_room, count, sizeof(Level))
        known, self.depth = self.depth, 0        # nothing is known while this may fail
        for k in range(count):
            frame, level = <Frame*>self.frames[count - 1 - k], self.levels + k
            instruction = codipy_instruction(frame)
            same = same and k < known and level.frame == frame and level.code == codipy_code(frame)
            if not same:
                if k > 0:
                    caller = self.levels[k - 1].caller
                    if caller < 0:
                        caller = spot_of(self, self.levels[k - 1].node, self.levels[k - 1].instruction)
                code = self.code_at(codipy_code(frame))
                level.frame, level.code, level.node, level.caller = frame, codipy_code(frame), 0, caller
                if self.users[code]:
                    level.node, level.caller = self.child(caller, code), -1
            same = same and level.instruction == instruction
            level.instruction = instruction
        self.depth = count
        return 0

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
            node = <int32_t>self.node_count
            self.nodes[node].code, self.nodes[node].caller = code, caller
            self.node_count += 1
        store(&self.children, key, node)
        return node

    cdef int32_t spot_at(self, int32_t node, char* instruction) except -1:
        cdef PyCodeObject* code = <PyCodeObject*><PyObject*>self.kept[self.nodes[node].code]
        cdef int offset = codipy_offset(code, instruction), line
        cdef uint64_t key = (<uint64_t>node + 1) << 32 | <uint64_t>(offset + 3)
        cdef int32_t spot = look_up(&self.found, key), row
        if spot >= 0:
            return spot
        line = max(PyCode_Addr2Line(code, offset), 0)
        if self.spot_count >= 1 << 24:
            raise TapeError("a profile has room for 2**24 places of a program, and this one has more: profile a part of it")
        row = look_up(&self.rows, (<uint64_t>node + 1) << 32 | <uint64_t>line)
        if row < 0:
            if self.row_count == self.rows_room:
                self.elapsed = <int64_t*>larger(self.elapsed, &self.rows_room, self.row_count + 1, sizeof(int64_t))
            row = <int32_t>self.row_count
            self.elapsed[row] = 0
            self.row_count += 1
            store(&self.rows, (<uint64_t>node + 1) << 32 | <uint64_t>line, row)
        if self.spot_count == self.spots_room:
            self.spots = <Spot*>larger(self.spots, &self.spots_room, self.spot_count + 1, sizeof(Spot))
        spot = <int32_t>self.spot_count
        self.spots[spot].node, self.spots[spot].offset, self.spots[spot].line = node, offset, line
        self.spots[spot].row, self.spots[spot].hits = row, 0
        self.spot_count += 1
        store(&self.found, key, spot)
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


cdef inline bint is_same(Spots self, Frame* frame) noexcept:
    """Whether the frames that run are those of the last walk, and those around the innermost where they were."""
    cdef Level* level = self.levels + self.depth - 1
    if self.depth == 0 or frame != level.frame or codipy_code(frame) != level.code:
        return False
    while level > self.levels:
        # From here on the address is known to be a frame's, so the processor reads ahead of the comparison instead of
        # following one link after the other. An instruction is of one code: its address says which.
        if codipy_previous(<Frame*>level.frame) != (level - 1).frame:
            return False
        level -= 1
        if level.instruction != codipy_instruction(<Frame*>level.frame):
            return False
    return True


cdef inline Seen* place_of(Spots self, int32_t node, char* instruction) noexcept:
    cdef uint64_t key = <uint64_t><size_t>instruction ^ <uint64_t>node << 32
    return &self.seen[key * <uint64_t>0x9E3779B97F4A7C15 >> (64 - CACHED_BITS)]


cdef inline int32_t spot_of(Spots self, int32_t node, char* instruction) except -1:
    cdef Seen* seen = place_of(self, node, instruction)
    if seen.instruction != instruction or seen.node != node:
        seen.spot = self.spot_at(node, instruction)
        seen.instruction, seen.node = instruction, node
    return seen.spot


cdef inline int32_t known(Spots self) noexcept:
    """The spot of the innermost frame, where nothing must be found for it; else -1."""
    cdef Frame* frame = codipy_top()
    cdef Level* level
    cdef Seen* seen
    cdef char* instruction
    if not is_same(self, frame):
        return -1
    level = self.levels + self.depth - 1
    if level.caller >= 0:
        return level.caller
    instruction = codipy_instruction(frame)
    seen = place_of(self, level.node, instruction)
    return seen.spot if seen.instruction == instruction and seen.node == level.node else -1


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
