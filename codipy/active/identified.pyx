# SPDX-License-Identifier: Apache-2.0
"""Identifiers that programs outside are told, and the adjoints that they ask for by them."""
import numpy as np

from libc.stdint cimport int64_t
cimport cython
cimport numpy as cnp

from codipy.active.adjoints cimport Adjoints
from codipy.active.core.base_array cimport BaseArray
from codipy.active.core.base_real cimport MERGED, OF_ARRAY, OF_INPUT, OWNS
from codipy.active.inputs cimport adjoint_slots, block_of
from codipy.active.scalar.expression cimport identify, readmit
from codipy.active.scalar.real cimport Real, demand_own
from codipy.active.storage.block cimport Block, is_of_input
from codipy.active.storage.storage cimport Storage
from codipy.active.tape cimport Tape
from codipy.tape.activity cimport current, tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder

from codipy.errors import TapeError

cnp.import_array()

cdef enum:
    OF_RESULT, OF_ELEMENT, INPUT      # which sweeps consume; whose statements may be older than the epoch says; neither


@cython.final
cdef class Told:
    """Told()
    --

    The identifiers of one tape that somebody outside knows, and the epochs of their variables.

    A number does not say of which recording it is. So a tape remembers what it told, and whoever asks with another one
    gets an error.
    """
    cdef object epochs      # by identifier; 0: nobody was told it
    cdef object kinds

    def __cinit__(self):
        self.epochs, self.kinds = np.zeros(0, np.int64), np.zeros(0, np.uint8)

    cdef object untold(self, Tape tape, identifiers):
        """Those of an array that nobody was told in what is left of this recording."""
        cdef Py_ssize_t largest = tape.largest()
        if largest >= len(self.epochs):
            self.epochs = np.concatenate((self.epochs, np.zeros(largest + 1, np.int64)))     # at least doubled
            self.kinds = np.concatenate((self.kinds, np.zeros(largest + 1, np.uint8)))
        epochs = self.epochs[identifiers]
        for epoch in np.unique(epochs):
            if epoch and tape.is_valid(epoch):
                identifiers = identifiers[epochs != epoch]
                epochs = epochs[epochs != epoch]
        return identifiers

    cdef int note(self, identifiers, int64_t epoch, int kind) except -1:
        self.epochs[identifiers] = epoch
        self.kinds[identifiers] = kind
        return 0


cdef Told told_by(Tape tape):
    if tape.told is None:
        tape.told = Told()
    return tape.told


def identifier_of(Real x):
    """int: what names its slot in adjoint vectors, 0 where it depends on no input; see ``Adjoints.at``.

    Nobody else gets the slot before the tape is reset. An element ``a[1]`` has that of ``a.identifier[1]``; with the
    strategies 'primal-reuse' and 'forward' it is a copy, which has one of its own.
    """
    cdef Recorder* r = current()
    cdef BaseTape tape
    cdef Told told
    if not x.epoch:
        return 0
    if x.count and not x.flags & MERGED and r != NULL and r.tape == tape_of_epoch(x.epoch) and readmit(r, x) and x.count:
        identify(r, x)       # a statement of its own, since it is asked for as one
    tape = demand_own(x, "identifier")
    told = told_by(tape)
    if told.untold(tape, np.array([x.identifier])).size:
        if x.flags & OWNS:
            tape.store.reusing.retain(x.identifier)
        told.note(x.identifier, x.epoch, INPUT if x.flags & OF_INPUT else OF_ELEMENT if x.flags & OF_ARRAY else OF_RESULT)
    return x.identifier


cdef object identifiers_of(BaseArray array):
    cdef Block block
    cdef Told told
    cdef Storage storage
    cdef Tape tape
    cdef Py_ssize_t k
    if array.pending is not None:      # a statement made now would not show what a larger one did with it
        raise TapeError("the Array has no identifier, it is part of a larger statement: call tape.register_output() on it "
                        "while recording")
    storage = array.storage
    if storage.input is None and storage.block is None and storage.output is None and storage.identifiers == NULL:
        return np.zeros(array.shape, np.int32)
    block = block_of(array, "identifier")
    found, identifiers = adjoint_slots(array)
    tape = found
    told = told_by(tape)
    untold = told.untold(tape, identifiers)
    for k in untold:
        block.hand_out(tape, k - block.base)
    told.note(untold, block.epoch, INPUT if is_of_input(block) else OF_ELEMENT if block.scattered else OF_RESULT)
    return identifiers.reshape(array.shape)


@cython.final
cdef class AdjointsAt:
    """AdjointsAt(adjoints, identifiers)
    --

    Adjoints by identifiers; made by ``adjoints.at(identifiers)``.

    Parameters
    ----------
    adjoints : Adjoints
        Where they stand.
    identifiers : int or array_like of int
        As ``x.identifier`` of Reals and Arrays gave them in this recording. 0 is passive: it reads as 0, and what is
        seeded there goes nowhere.

    Raises
    ------
    TypeError
        If there is something else than integers among them.
    TapeError
        If one of them was told to nobody in this recording.
    """
    cdef readonly Adjoints adjoints
    cdef object known, places, epochs, kinds    # all; those that are not passive, and what the tape knows of them

    def __cinit__(self, Adjoints adjoints not None, identifiers):
        cdef Told told = told_by(adjoints.tape)
        try:
            given = np.asarray(identifiers)
        except ValueError as error:
            raise TypeError("identifiers must be an integer or an array of integers, and these lists make none: "
                            f"{error}") from error
        if given.dtype.kind not in "iu" and given.size:
            exact = np.asarray(identifiers, object).reshape(-1)
            if all([type(x) is int for x in exact]):     # larger than any type of NumPy's holds
                self.refuse(max(exact, key=abs))
            raise TypeError(f"identifiers must be integers, got {type(identifiers).__name__}"
                            + (f" of dtype {given.dtype}" if isinstance(identifiers, np.ndarray) else ""))
        for extreme in (given.min(), given.max()) if given.size else ():
            if not 0 <= extreme <= adjoints.tape.largest():
                self.refuse(extreme)
        self.adjoints, self.known = adjoints, given.astype(np.int32)
        self.places = self.known[self.known != 0]
        unknown = self.places[self.places >= len(told.epochs)]
        if unknown.size:
            self.refuse(unknown[0])
        self.epochs, self.kinds = told.epochs[self.places], told.kinds[self.places]
        self.demand_told()

    def __repr__(self):
        return f"AdjointsAt({self.known.size} identifiers of {self.adjoints!r})"

    @property
    def identifiers(self):
        """ndarray of int32: a copy of them."""
        return self.known.copy()

    @property
    def gradient(self):
        """float or ndarray: of the identifiers' shape, with width > 1 one axis more, the last, for the directions.

        Set it to seed a sweep; what broadcasts to that shape will do. An identifier may then stand there once only.
        """
        self.demand_told()
        self.adjoints.tape.renew(self.adjoints)
        self.adjoints.consumed.demand_swept()
        if not self.adjoints.consumed.is_whole():
            for places, epoch, kind in self.of_results():
                self.adjoints.consumed.demand(f"identifier {places[0]}" if len(places) == 1 else
                                              f"some identifier of {places[0]} ... {places[len(places) - 1]}", places, epoch,
                                              kind == OF_ELEMENT, self.adjoints.tape.shares())
        rows = self.adjoints.read(self.known)
        found = rows.reshape(self.shape())
        return found if found.ndim else float(found)

    @gradient.setter
    def gradient(self, seed):
        rows = self.rows(seed)
        if np.unique(self.places).size != self.places.size:
            values, counts = np.unique(self.places, return_counts=True)
            raise ValueError(f"identifier {values[counts > 1][0]} stands here more than once: it can have one seed; "
                             "call add(seed), which sums them")
        self.write(rows)

    def add(self, seed):
        """Add to the adjoints, also where an identifier stands more than once.

        Parameters
        ----------
        seed : float or array_like
            What broadcasts to the shape of ``gradient``.
        """
        rows = self.rows(seed)
        before = np.reshape(self.gradient, rows.shape)       # an error where a sweep consumed them
        unique, inverse = np.unique(self.known, return_inverse=True)
        total = np.zeros((unique.size, self.adjoints.width))
        np.add.at(total, inverse.reshape(-1), rows)
        self.write(before + total[inverse.reshape(-1)])

    # ---- ----

    cdef tuple shape(self):
        return self.known.shape + ((self.adjoints.width,) if self.adjoints.width > 1 else ())

    cdef object rows(self, seed):
        """A seed for each identifier and direction."""
        seed = np.asarray(seed, dtype=np.float64)
        if seed.ndim <= self.known.ndim or self.adjoints.width == 1:
            seed = np.broadcast_to(seed, self.known.shape)[..., None]
        seed = np.broadcast_to(seed, self.known.shape + (self.adjoints.width,))
        return np.ascontiguousarray(seed).reshape(self.known.size, self.adjoints.width)

    cdef int write(self, rows) except -1:
        cdef Adjoints adjoints = self.adjoints
        cdef Tape tape = adjoints.tape
        self.demand_told()
        adjoints.demand_idle("setting an adjoint")
        tape.renew(adjoints)
        adjoints.ensure(tape.largest())
        if self.places.size:
            if not adjoints.consumed.is_whole():
                for places, epoch, kind in self.of_results():
                    adjoints.consumed.seed(places, epoch, kind == OF_ELEMENT, tape.recorder.epoch, tape.largest())
                    tape.look_back()
            tape.hold_for(adjoints)
        if rows.size:
            adjoints.write(self.known.reshape(-1), rows)
        return 0

    cdef list of_results(self):
        """Identifiers whose adjoints sweeps consume, with the epoch and the kind that they share."""
        groups = []
        for epoch in np.unique(self.epochs):
            for kind in (OF_RESULT, OF_ELEMENT):
                places = self.places[(self.epochs == epoch) & (self.kinds == kind)]
                if places.size:
                    groups.append((places, epoch, kind))
        return groups

    cdef int demand_told(self) except -1:
        """That the tape told all of them, and that this recording has not been reset since."""
        for epoch in np.unique(self.epochs):
            if not epoch or not self.adjoints.tape.is_valid(epoch):
                self.refuse(self.places[self.epochs == epoch][0])
        return 0

    cdef int refuse(self, identifier) except -1:
        raise TapeError(f"{identifier} is no identifier that a variable of this recording was asked for: take "
                        "x.identifier after the last reset of the tape, and of what has it still")
