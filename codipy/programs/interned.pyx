# SPDX-License-Identifier: Apache-2.0
"""Array programs, one object for all statements of the same expression."""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
cimport cython

from codipy.programs.tiles cimport (
    MAX_OPERANDS, MAX_STEPS, ROUND_NONE, ROUND_RESULT, ROUND_STEPS, Step, TileProgram, second_forget, tiles_needed)

from codipy.operations import TABLE

cdef enum:
    RECENT = 256                 # one for each value of the hash's highest byte
    MOST = 1 << 14               # programs that live at once: a new expression then starts the table anew

cdef dict programs = {}
cdef PyObject* recent[RECENT]        # borrowed from `programs`, by a hash of the steps


cdef inline Py_ssize_t size_of(const TileProgram* program) noexcept:
    # Three numbers come first; steps behind the last are not compared.
    return 3 * sizeof(program.steps) + program.steps * sizeof(Step)


@cython.final
@cython.no_gc
cdef class ArrayProgram:
    """ArrayProgram()
    --

    The operations of an array statement.
    """
    def __dealloc__(self):
        free(self.plan)
        second_forget(self.second)

    cdef uint32_t needed(self, uint32_t active) noexcept:
        """tiles_needed() of this program, which hardly ever changes from statement to statement."""
        if self.active != active:
            self.active, self.read = active, tiles_needed(&self.tiles, active)
        return self.read

    @property
    def steps(self):
        """Pairs of an operation's code and its registers: first the operands, then one for each step."""
        return [(self.tiles.step[k].code, [self.tiles.step[k].sources[a] for a in range(TABLE[self.tiles.step[k].code].arity)])
                for k in range(self.tiles.steps)]

    @property
    def rounded(self):
        """Which values are rounded to float32: 0 none, 1 those of all steps, 2 that of the result."""
        return {ROUND_NONE: 0, ROUND_STEPS: 1, ROUND_RESULT: 2}[self.tiles.single]

    @property
    def operands(self):
        """How many registers are operands."""
        return self.tiles.operands

    def __repr__(self):
        cdef int k
        names = [f"u{k}" for k in range(self.tiles.operands)]
        for k in range(self.tiles.steps):
            row = TABLE[self.tiles.step[k].code]
            sources = ", ".join([names[self.tiles.step[k].sources[a]] for a in range(row.arity)])
            names.append(f"{row.name}({sources})")
        return names[len(names) - 1]


def array_program(operands, steps, rounded):
    """The program of an array statement.

    Parameters
    ----------
    operands, steps, rounded
        As the attributes of an ArrayProgram say them.

    Returns
    -------
    ArrayProgram

    Raises
    ------
    ValueError
        If it has too many operands or steps, or one of its steps reads what is not before it.
    """
    cdef TileProgram program
    cdef int k, a
    if not 0 <= operands <= MAX_OPERANDS or not 1 <= len(steps) <= MAX_STEPS or rounded not in (0, 1, 2):
        raise ValueError(f"there is no program of {operands} operands and {len(steps)} steps, rounded {rounded}")
    memset(&program, 0, sizeof(program))
    program.operands, program.steps = operands, <int32_t>len(steps)
    program.single = ROUND_STEPS if rounded == 1 else ROUND_RESULT if rounded == 2 else ROUND_NONE
    for k in range(program.steps):
        code, sources = steps[k]
        if not 0 <= code < len(TABLE) or len(sources) != TABLE[code].arity or not all(
                [0 <= source < operands + k for source in sources]):
            raise ValueError(f"step {k} is no operation on what is before it")
        program.step[k].code = code
        for a in range(<int>len(sources)):
            program.step[k].sources[a] = sources[a]
    return intern_tiles(&program)


cdef ArrayProgram intern_tiles(const TileProgram* program):
    cdef const int32_t* words = <const int32_t*>program
    cdef Py_ssize_t i, size = size_of(program)
    cdef uint64_t mixed = 0
    cdef Py_ssize_t place
    for i in range(size // <Py_ssize_t>sizeof(int32_t)):
        mixed = (mixed ^ <uint32_t>words[i]) * <uint64_t>0x9E3779B97F4A7C15
    place = <Py_ssize_t>(mixed >> 56)
    if recent[place] != NULL and memcmp(&(<ArrayProgram>recent[place]).tiles, program, size) == 0:
        return <ArrayProgram>recent[place]
    cdef bytes key = PyBytes_FromStringAndSize(<const char*>program, size)
    found = programs.get(key)
    cdef ArrayProgram new
    if found is None:
        if len(programs) >= MOST:
            memset(recent, 0, sizeof(recent))
            programs.clear()
        new = ArrayProgram.__new__(ArrayProgram)
        memcpy(&new.tiles, program, size)
        programs[key] = found = new
    recent[place] = <PyObject*>found
    return found
