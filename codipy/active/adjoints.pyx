# SPDX-License-Identifier: Apache-2.0
"""External adjoint vectors: several directions in one sweep, or sweeps beside the tape's own."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.object cimport PyObject
cimport cython
cimport numpy as cnp

from codipy.active.core.base_array cimport BaseArray, is_array
from codipy.active.inputs cimport adjoint_slots, block_of, demand_adjoints, note_seed, tape_of
from codipy.active.scalar.expression cimport as_number
from codipy.active.scalar.real cimport Real, demand_adjoint, seed_slot
from codipy.active.storage.block cimport Block
from codipy.active.storage.view cimport is_contiguous
from codipy.active.tape cimport Tape
from codipy.data.plain cimport plain_array
from codipy.tape.adjoints cimport AdjointVector

from codipy.errors import TapeError
from codipy.programs.tiles import has_vectors_of
from codipy.tape.signatures import Signature

cnp.import_array()


@cython.final
cdef class Adjoints(AdjointVector):
    """Adjoints(tape, width)
    --

    Adjoints of `tape` in `width` directions; made by ``tape.new_adjoints(width)``.

    ``adj[x]`` of a Real is a float, with `width` > 1 an array of `width` numbers; of an Array it is an array of its
    shape, with `width` > 1 one axis more, the last, for the directions. ``adj[y] = seed`` takes the same shapes and
    what broadcasts to them.

    Parameters
    ----------
    tape : Tape
        Of whose variables these are adjoints, or tangents in a sweep forwards.
    width : int
        Directions that one sweep carries, from 1 to 2**20. A slot of the vector takes 8 bytes for each.

    Raises
    ------
    TypeError, ValueError
        A width that is no integer, or out of range; of ``adj[x]``, a seed of another shape.
    TapeError
        Of ``adj[x]``: `x` is passive, of another tape, or of a recording that was reset.

    Examples
    --------
    >>> import codipy
    >>> tape = codipy.Tape()
    >>> with tape:
    ...     x = tape.register_input(3.0)
    ...     y, z = tape.register_output(x * x), tape.register_output(5.0 * x)
    >>> adj = tape.new_adjoints(width=2)
    >>> adj[y], adj[z] = (1.0, 0.0), (0.0, 1.0)
    >>> tape.evaluate(adjoints=adj)
    >>> adj[x].tolist()
    [6.0, 5.0]
    """
    __signature__ = Signature()

    def __cinit__(self, Tape tape not None, width):
        if isinstance(width, bool) or not isinstance(width, int):
            raise TypeError(f"width must be an int, got {type(width).__name__}")
        if not 1 <= width <= 1 << 20:
            raise ValueError(f"width must be from 1 to {1 << 20}, got {width}")
        self.tape, self.width, self.first, self.serial = tape, width, tape.store.first, tape.serial
        self.resets = tape.resets

    cdef int ensure(self, int32_t largest) except -1:
        if self.slots == 0:      # all its memory is zero
            self.planes = self.width > 1 and not has_vectors_of(self.width) and self.tape.has_long_arrays()
        return AdjointVector.ensure(self, largest)

    def __repr__(self):
        return f"Adjoints(width={self.width}, of {self.tape.strategy} tape {self.serial})"

    def __getitem__(self, x):
        """A float (of a Real, width 1) or a new array, the directions of width > 1 along its last axis."""
        cdef int32_t identifier
        cdef Py_ssize_t d, size
        cdef double* numbers
        cdef cnp.ndarray rows
        self.tape.renew(self)
        if is_array(x):
            demand_adjoints(x, self)
            numbers = side_by_side(self, x)
            if numbers != NULL:
                size = (<BaseArray>x).geometry.size
                if self.planes:
                    rows = np.empty((self.width, *x.shape))
                    for d in range(self.width):
                        memcpy(<double*>cnp.PyArray_DATA(rows) + d * size, numbers + d * self.capacity, size * sizeof(double))
                    return np.moveaxis(rows, 0, -1)
                rows = np.empty(x.shape + (self.width,) if self.width > 1 else x.shape)
                memcpy(cnp.PyArray_DATA(rows), numbers, size * self.width * sizeof(double))
                return rows
            rows = self.read(self.slots_of(x))
            return rows.reshape(x.shape + (self.width,) if self.width > 1 else x.shape)
        identifier = self.tape.identifier_of(x, "x")
        demand_adjoint(self.tape, self, x)
        numbers = self.slot(identifier)
        if self.width == 1:
            return 0.0 if numbers == NULL else numbers[0]
        result = np.zeros(self.width)
        if numbers != NULL:
            for d in range(self.width):
                result[d] = numbers[d * self.step()]
        return result

    def __setitem__(self, x, seed):
        """Seed with one number for all directions, or one for each; an Array with what broadcasts to its shape."""
        cdef Py_ssize_t d, size
        cdef double number
        cdef cnp.ndarray planes
        cdef double* slot
        if is_array(x):
            seed = np.asarray(seed, dtype=np.float64)
            if seed.ndim <= x.ndim or self.width == 1:
                seed = np.broadcast_to(seed, x.shape)[..., None]
            seed = np.broadcast_to(seed, x.shape + (self.width,))
            self.demand_idle("setting an adjoint")
            self.tape.renew(self)
            self.ensure(self.tape.largest())
            slot = side_by_side(self, x)
            identifiers = None if slot != NULL else self.slots_of(x)
            note_seed(x, self)
            if slot != NULL and self.planes:
                size = (<BaseArray>x).geometry.size
                planes = np.ascontiguousarray(np.moveaxis(seed, -1, 0))
                for d in range(self.width):
                    memcpy(slot + d * self.capacity, <double*>cnp.PyArray_DATA(planes) + d * size, size * sizeof(double))
                return
            if slot != NULL:
                seed = np.ascontiguousarray(seed)
                memcpy(slot, cnp.PyArray_DATA(seed), (<BaseArray>x).geometry.size * self.width * sizeof(double))
                return
            self.write(identifiers, np.ascontiguousarray(seed).reshape(x.size, self.width))
            return
        if type(seed) is not Real and as_number(<PyObject*>seed, &number) == 1:
            numbers = np.full(self.width, number)
        else:
            try:
                numbers = np.ascontiguousarray(seed, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise TypeError(f"seed must be a number or {self.width} numbers, got {type(seed).__name__}") from error
            if numbers.shape != (self.width,):
                said = len(numbers) if numbers.ndim == 1 else f"an array of shape {numbers.shape}"
                raise ValueError(f"seed must be a number or {self.width} numbers, got {said}")
        self.tape.identifier_of(x, "x")      # now: a seed may be Python code, which may reset the tape
        self.demand_idle("setting an adjoint")
        self.tape.renew(self)
        slot = seed_slot(self.tape, self, x)
        for d in range(self.width):
            slot[d * self.step()] = numbers[d]

    def at(self, identifiers):
        """The adjoints of variables that are known by their identifiers: CoDiPack's ``getGradient(identifier)``.

        Parameters
        ----------
        identifiers : int or array_like of int
            From ``x.identifier`` of Reals and Arrays, in this recording.

        Returns
        -------
        AdjointsAt
            ``adj.at(ids).gradient`` reads and sets them, of the shape of `identifiers` (with `width` > 1 followed by that);
            ``adj.at(ids).add(seed)`` adds.

        Raises
        ------
        TypeError
            If these are no integers.
        TapeError
            If one of them is of no variable of this recording that was asked for it.

        Examples
        --------
        >>> import codipy, numpy as np
        >>> tape = codipy.Tape()
        >>> with tape:
        ...     x = tape.register_input(np.array([3.0, 4.0]))
        ...     y = tape.register_output(x * x)
        >>> sources, targets = x.identifier, y.identifier       # plain numbers, for a program outside
        >>> adj = tape.new_adjoints()
        >>> adj.at(targets).gradient = [1.0, 10.0]
        >>> tape.evaluate(adjoints=adj)
        >>> adj.at(sources).gradient
        array([ 6., 80.])
        """
        from codipy.active.identified import AdjointsAt     # it needs this module first
        return AdjointsAt(self, identifiers)

    cdef slots_of(self, x):
        tape, identifiers = adjoint_slots(x)
        if tape is not self.tape:
            raise TapeError("x is an Array of another tape: register it with this one")
        return identifiers

    def clear(self):
        """Set all adjoints to 0."""
        self.demand_idle("clear()")
        self.zero()

    cdef int demand_idle(self, str action) except -1:
        if self.swept:
            raise TapeError(f"{action} while a sweep on another thread uses these adjoints: wait until it ends")
        return 0


def seed_units(Adjoints adjoints not None, x, Py_ssize_t number, Py_ssize_t direction, Py_ssize_t count):
    """Add 1 to `count` numbers of a variable, from `number` on, each in the direction after that of the one before.

    What ``adjoints[x] += seed`` does with a seed that is nearly all zeros, which is as large as the derivatives.
    """
    cdef Py_ssize_t k, step
    cdef double* slot
    cdef const int32_t* known
    cdef cnp.ndarray places
    adjoints.demand_idle("setting an adjoint")
    if not is_array(x):
        adjoints.tape.identifier_of(x, "x")
        adjoints.tape.renew(adjoints)
        slot = seed_slot(adjoints.tape, adjoints, x)
        slot[direction * adjoints.step()] += 1.0
        return
    adjoints.tape.renew(adjoints)
    adjoints.ensure(adjoints.tape.largest())
    slot = side_by_side(adjoints, x)
    places = None if slot != NULL else adjoints.slots_of(x)
    note_seed(x, adjoints)
    step = adjoints.step()
    if slot != NULL:
        for k in range(count):
            slot[(number + k) * adjoints.row() + (direction + k) * step] += 1.0
        return
    known = <const int32_t*>cnp.PyArray_DATA(places)
    for k in range(count):
        adjoints.slot(known[number + k])[(direction + k) * step] += 1.0


def seed_colours(Adjoints adjoints not None, x, cnp.ndarray colours not None, int32_t first, int32_t count, cnp.ndarray last):
    """Add 1 to each number of a variable in the direction of its colour, if that is one of `count` colours from `first` on.

    What ``adjoints[x] += seed`` does with a seed that has a direction for each of these colours; with `last`, one number for
    each of the variable, which are added in one direction more.
    """
    cdef Py_ssize_t k, step, row, size = x.size if is_array(x) else 1
    cdef int32_t colour
    cdef double* slot
    cdef double* at
    cdef const int32_t* colour_of = <const int32_t*>cnp.PyArray_DATA(colours)
    cdef const double* number_of = <const double*>cnp.PyArray_DATA(last) if last is not None else NULL
    cdef const int32_t* known = NULL
    cdef cnp.ndarray places
    adjoints.demand_idle("setting an adjoint")
    if count + (last is not None) > adjoints.width:
        raise ValueError(f"{count} colours do not fit into {adjoints.width} directions")
    if not is_row_of(colours, cnp.NPY_INT32, size) or last is not None and not is_row_of(last, cnp.NPY_DOUBLE, size):
        raise ValueError(f"a variable of {size} numbers has as many colours, side by side")
    if is_array(x):
        adjoints.tape.renew(adjoints)
        adjoints.ensure(adjoints.tape.largest())
        slot = side_by_side(adjoints, x)
        if slot == NULL:
            places = adjoints.slots_of(x)
            known = <const int32_t*>cnp.PyArray_DATA(places)
        note_seed(x, adjoints)
    else:
        adjoints.tape.identifier_of(x, "x")
        adjoints.tape.renew(adjoints)
        slot = seed_slot(adjoints.tape, adjoints, x)
    step, row = adjoints.step(), adjoints.row()
    for k in range(size):
        at = adjoints.slot(known[k]) if known != NULL else slot + k * row
        colour = colour_of[k] - first
        if 0 <= colour < count:
            at[colour * step] += 1.0
        if number_of != NULL:
            at[count * step] += number_of[k]


cdef inline bint is_row_of(cnp.ndarray numbers, int kind, Py_ssize_t size):
    return cnp.PyArray_TYPE(numbers) == kind and numbers.ndim == 1 and numbers.size == size and cnp.PyArray_ISCARRAY_RO(numbers)


def planes_of(Adjoints adjoints not None, x):
    """The numbers of an Array as they are now, a row for each direction, without a copy; None where they do not lie so.

    Whoever asks lets nobody clear, release or sweep these adjoints as long as the rows are read.
    """
    cdef double* numbers
    cdef Py_ssize_t[2] shape
    cdef Py_ssize_t[2] strides
    if not is_array(x) or adjoints.width > 1 and not adjoints.planes:
        return None
    adjoints.tape.renew(adjoints)
    demand_adjoints(x, adjoints)
    numbers = side_by_side(adjoints, x)
    if numbers == NULL:
        return None
    shape[0], shape[1] = adjoints.width, (<BaseArray>x).geometry.size
    strides[0], strides[1] = adjoints.capacity, 1
    return plain_array(numbers, 2, shape, strides, 1, False, adjoints)


cdef double* side_by_side(Adjoints adjoints, BaseArray x) except? NULL:
    """The numbers of an Array whose identifiers follow one another; NULL if they do not, or not all have slots."""
    cdef Block block = block_of(x, "gradient")
    cdef Py_ssize_t first = block.base + x.geometry.offset
    if tape_of(block) is not adjoints.tape or x.geometry.size == 0 or not is_contiguous(&x.geometry):
        return NULL              # where it is of another tape, slots_of says so
    if adjoints.slot(<int32_t>(first + x.geometry.size - 1)) == NULL:
        return NULL
    return adjoints.slot(<int32_t>first)
