# SPDX-License-Identifier: Apache-2.0
# The look that each operation takes at the frames that run, inline: it is most of what a profile costs.
#
# A module that uses it sees the interpreter's own structures, so it is apart from what everybody imports.
from libc.stdint cimport int32_t, int64_t
from cpython.object cimport PyObject

from codipy.tape.provenance.spots cimport Level, Spot, Spots

cdef extern from "codipy/tape/provenance/frames.h":
    ctypedef struct Frame "codipy_frame":
        pass
    ctypedef struct PyCodeObject:
        pass
    Frame* codipy_top() noexcept
    Frame* codipy_previous(Frame* frame) noexcept
    PyCodeObject* codipy_code(Frame* frame) noexcept
    char* codipy_instruction(Frame* frame) noexcept
    char* codipy_first(PyCodeObject* code) noexcept
    int64_t codipy_ticks() noexcept


cdef inline bint is_at(Level* level, const Level* outermost, Frame* frame) noexcept:
    """Whether a frame is that of a level, and those around it are where they were."""
    if frame != level.frame or codipy_code(frame) != level.code:
        return False
    while level > outermost:
        # From here on the address is known to be a frame's, so the processor reads ahead of the comparison instead of
        # following one link after the other. An instruction is of one code: its address says which.
        if codipy_previous(<Frame*>level.frame) != (level - 1).frame:
            return False
        level -= 1
        if level.instruction != codipy_instruction(<Frame*>level.frame):
            return False
    return True


cdef inline int32_t spot_in(Level* level, char* instruction) noexcept:
    """The spot of an instruction of a level's code; 0: it is not known yet."""
    cdef size_t place = <size_t>(instruction - level.before) >> 1
    return level.spots[place] if place < level.places else 0


cdef inline int32_t look(PyObject* spots) except -1:
    """`Spots.here`; of an address, for which Cython counts no reference."""
    cdef Frame* frame = codipy_top()
    cdef Level* level = (<Spots>spots).innermost
    cdef Spot* found
    cdef int32_t spot = 0
    if is_at(level, (<Spots>spots).levels, frame):
        spot = level.caller if level.caller >= 0 else spot_in(level, codipy_instruction(frame))
    if spot == 0:
        spot = (<Spots>spots).locate()
    found = (<Spots>spots).spots + spot
    found.hits += 1
    if found.row != (<Spots>spots).row:
        (<Spots>spots).switch(found.row)
    return spot
