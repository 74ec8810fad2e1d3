# SPDX-License-Identifier: Apache-2.0
"""A joint place in all streams of a nest."""

cimport cython
from cpython.object cimport Py_EQ, Py_GT, Py_LE, Py_LT, Py_NE

from codipy.data cimport pool
from codipy.errors import TapeError


@cython.final
@cython.no_gc
cdef class Position:
    """
    A joint place in all streams of a nest; streams make them with `position()`.

    Positions of one nest have a total order, the order of recording. Positions of different nests are
    unequal, and asking for their order raises `TapeError`. A position does not keep the memory of its streams alive.
    """

    def __init__(self):
        raise TypeError("a Position is made by a stream or tape: call its position()")

    def __dealloc__(self):
        if self.places != NULL:
            pool.discard(self.places, self.depth * sizeof(Place))

    def __sizeof__(self):
        return object.__sizeof__(self) + self.depth * sizeof(Place)

    cdef bint is_beginning(self) noexcept:
        cdef Py_ssize_t j
        for j in range(self.depth):
            if self.places[j].chunk or self.places[j].item:
                return False
        return True

    cdef int compare(self, Position other) except -2:
        if self.nest != other.nest or self.depth != other.depth:
            raise TapeError("positions of different tapes have no order: compare positions of one tape")
        return compare_places(self.places, other.places, self.depth)

    def __richcmp__(self, other, int op):
        cdef int order
        if not isinstance(other, Position):
            return NotImplemented
        # Equality must not raise: a dictionary asks for it between any two keys whose hashes collide.
        if op == Py_EQ or op == Py_NE:
            if self.nest != (<Position>other).nest or self.depth != (<Position>other).depth:
                return op == Py_NE
        order = self.compare(<Position>other)
        if op == Py_EQ:
            return order == 0
        if op == Py_NE:
            return order != 0
        if op == Py_LT:
            return order < 0
        if op == Py_LE:
            return order <= 0
        if op == Py_GT:
            return order > 0
        return order >= 0

    def __hash__(self):
        return hash((self.nest, self.to_tuple()))

    def __repr__(self):
        return f"Position({', '.join(f'{chunk}:{item}' for chunk, item in self.to_tuple())})"

    def __reduce__(self):
        raise TypeError("a Position cannot be pickled: it means nothing without its streams")

    def to_tuple(self):
        """Return the places as a tuple of (chunk, item), the root stream first."""
        cdef Py_ssize_t j
        return tuple([(self.places[j].chunk, self.places[j].item) for j in range(self.depth)])


cdef Position new_position(Py_ssize_t depth, long long nest, long long generation):
    cdef Position position = Position.__new__(Position)
    position.places = <Place*>pool.resize(NULL, 0, depth * sizeof(Place))
    position.depth = depth
    position.nest = nest
    position.generation = generation
    return position
