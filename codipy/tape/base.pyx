# SPDX-License-Identifier: Apache-2.0
"""The tape without variables: identifiers in, identifiers out; epochs, sweeps, positions, memory."""
import sys
from bisect import bisect_left

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset
from cpython.mem cimport PyMem_RawFree
from cpython.object cimport PyObject
cimport cython
from cpython.pythread cimport PyThread_get_thread_ident

from codipy.data.stream cimport Cursor
from codipy.identifiers.waiting cimport WaitingBlocks
from codipy.tape cimport activity
from codipy.tape.adjoints cimport AdjointVector, long_array
from codipy.tape.loan cimport Loan
from codipy.tape.position cimport TapePosition, make_position
from codipy.tape.provenance.journal cimport Journal, new_journal, profiler
from codipy.tape.provenance.spots cimport Spots
from codipy.tape.provenance.watching cimport watcher
from codipy.tape.recorder cimport Entry, JACOBIAN, PRIMAL, grow_tangents, is_live, tangents_at
from codipy.tape.records.record cimport Record, Records
from codipy.tape.records.replay cimport Replay
from codipy.tape.strategies.strategy cimport carried_class, check_width
from codipy.tape.sweeps.sweep cimport sweep
from codipy.tape.sweeps.walk cimport REVERSE, TANGENTS, VALUES

from codipy.errors import CorruptTape, NoTangent, TapeError
from codipy.tape.strategies.table import FORWARD_STRATEGY, GRANULARITIES, STORES, check_choice, stored_as


@cython.no_gc_clear          # a Real that dies in the same cycle gives its identifier back to the store
cdef class BaseTape:
    """Identifiers, streams and sweeps; codipy.Tape adds the variables."""

    def __cinit__(self, strategy="auto", granularity=None, chunk_size=None, *, skip_zero_jacobians=True,
                  skip_invalid_jacobians=False, width=None):
        self.strategy = check_choice("strategy", strategy, ("auto", *STORES))
        cdef bint auto = strategy == "auto"
        strategy = stored_as(strategy)
        if granularity is None:
            granularity = "operation" if strategy == "simple" else "statement"
        self.granularity = check_choice("granularity", granularity, GRANULARITIES)
        if strategy == "simple" and granularity != "operation":
            raise ValueError("granularity: strategy='simple' records single operations; "
                             "leave granularity out or say granularity='operation'")
        self.chunk_size = chunk_size
        self.watched = watcher is not None and strategy != FORWARD_STRATEGY
        if self.watched:      # who looks on reads values, and each operation by itself
            self.strategy = strategy = "primal"
            self.granularity = "operation"
        self.recorder.width = check_width(width, strategy == FORWARD_STRATEGY)
        self.store = STORES[strategy](chunk_size)
        self.store.connect(&self.recorder)
        self.recorder.eager = self.granularity == "operation"
        self.recorder.skip_zero = bool(skip_zero_jacobians)
        self.recorder.skip_invalid = bool(skip_invalid_jacobians)
        self.recorder.carried = carried_class(self.recorder.width)
        self.recorder.tape = <PyObject*>self
        self.records, self.replay, self.waiting = Records(), Replay(), WaitingBlocks()
        self.by_value = self.recorder.keeps_values or self.recorder.carries or auto
        self.recycle = auto and not self.watched
        self.recorder.waiting = <PyObject*>self.waiting
        self.recorder.records, self.recorder.replay = <PyObject*>self.records, <PyObject*>self.replay
        self.set_plain()
        self.root_begin = self.store.root.position()
        self.valid, self.constants = [], {}
        self.serial = activity.register_tape(<PyObject*>self)
        self.adjoint_vector = AdjointVector()
        self.adjoint_vector.first, self.adjoint_vector.serial = self.store.first, self.serial
        self.adjoint_vector.width = self.recorder.width
        self.recorder.tangent_vector = <PyObject*>self.adjoint_vector
        self.draw_epoch()
        if watcher is not None:
            watcher.made(self)

    def __dealloc__(self):
        activity.unregister_tape(self.serial)
        PyMem_RawFree(self.recorder.window if self.recorder.window != NULL else self.recorder.primals)

    # ---- Epochs: which variables are in force ----

    cdef int64_t draw_epoch(self) except -1:
        """Variables made from now on are told from all earlier ones."""
        if self.generation >= 0x7fffffff:
            activity.unregister_tape(self.serial)
            self.serial, self.generation = activity.register_tape(<PyObject*>self), 0
            self.valid.clear()
            self.first_generation = 1
            if self.adjoint_vector is not None:
                self.adjoint_vector.serial = self.serial
        self.generation += 1
        self.recorder.epoch = (self.serial << 32) | self.generation
        self.valid.append(self.recorder.epoch)
        return self.recorder.epoch

    cdef bint is_valid(self, int64_t epoch) except? True:
        """Whether variables of this epoch are still on the tape."""
        if epoch == self.recorder.epoch:
            return True
        i = bisect_left(self.valid, epoch)
        return i < len(self.valid) and self.valid[i] == epoch

    cdef bint owns(self, int64_t epoch) noexcept:
        """Whether identifiers of this epoch still count in the reuse manager (also after a partial reset)."""
        return epoch >> 32 == self.serial and <int64_t><uint32_t>epoch >= self.first_generation

    cdef void release_identifier(self, int32_t identifier) noexcept:
        if self.store.reusing is not None:
            self.store.reusing.release(identifier)

    cdef int32_t largest(self) noexcept:
        if self.store.reusing is not None:
            return self.store.reusing.next - 1
        return self.store.linear.state.largest

    cdef bint shares(self) noexcept:
        """Whether an identifier may serve for more than one variable."""
        return self.recorder.reuse or self.shared

    cdef int look_back(self) except -1:
        """Adjoints are seeded or swept: variables of now are told from later ones."""
        self.looked_back = self.recorder.epoch
        if self.recordings:
            self.draw_epoch()
        return 0

    cdef void hold_for(self, AdjointVector adjoints) noexcept:
        """Numbers of now stand in a vector: whatever is recorded before they are cleared may not get their slots.

        The owner of a slot may die before the sweep, and a sweep to a position leaves numbers for statements whose
        variables died long ago: the next owner's statement would take them for its own.
        """
        if adjoints is self.adjoint_vector:
            self.numbers = True
        else:
            self.other_numbers = True
        if self.recordings:
            self.hold()

    cdef void hold(self) noexcept:
        self.held = self.largest()
        self.waiting.clear()
        if self.store.reusing is not None:
            self.store.reusing.hold()

    # ---- Profiles ----

    def _keep_journal(self, Spots spots, ended=None):
        """
        Note the spots of what is recorded from now on.

        Parameters
        ----------
        spots : Spots or None
            Where the program is; None: note no more.
        ended : callable
            Called with the tape before all that was recorded is dropped.

        Raises
        ------
        TapeError
            If anything is recorded, or nothing is kept.
        """
        cdef Journal journal = None
        if spots is not None:
            self.demand_recorded("a profile")
            if self.statements:
                raise TapeError("a profile begins with an empty tape: reset it, or take a new one")
            journal = new_journal(spots, &self.recorder, ended)
        self.journal = journal
        self.recorder.journal = <PyObject*>journal if journal is not None else NULL
        self.recorder.apart = self.recorder.carries or journal is not None
        self.set_plain()

    cdef void set_plain(self) noexcept:
        cdef bint default = self.recorder.kind == JACOBIAN and not self.recorder.reuse and not self.recorder.eager
        self.recorder.plain = default and self.recorder.journal == NULL
        self.recorder.noted = default and self.recorder.journal != NULL

    cdef int catch_up(self) except -1:
        if self.recorder.journal != NULL:
            self.journal.catch_up(self.store.statements())
        return 0

    cdef int end_profile(self) except -1:
        """The recording is about to be dropped: whoever profiles it reads the journal now."""
        if self.journal is not None:
            self.journal.ended(self)
        return 0

    cdef int demand_idle(self, str action) except -1:
        if self.sweeps:
            raise TapeError(f"{action} while a sweep is reading this tape on another thread: wait until it ends")
        return 0

    # ---- Recording ----

    cdef int demand_recording(self, str action) except -1:
        if activity.current() != &self.recorder:
            raise TapeError(f"{action} needs the tape to be recording on this thread: "
                            "call it inside `with tape:` or after tape.set_active()")
        return self.demand_idle(action)

    cdef int demand_recorded(self, str action) except -1:
        """An error where nothing is kept."""
        self.demand_kept(action)
        if self.recorder.carries:
            raise TapeError(f"{action}: a tape of strategy='forward' keeps nothing to sweep over. Set x.tangent of an input "
                            "before it is used and read y.tangent of a result, or take another strategy")
        return 0

    cdef int demand_kept(self, str action) except -1:
        """An error where a recording is counted instead of kept."""
        if self.recorder.counts:
            raise TapeError(f"{action}: this recording is counted and not kept, so it can neither be swept nor taken back. "
                            "What sweeps over its own recording has to be measured: see codipy.compare")
        return 0

    cdef int demand_forward(self, str variable, int64_t epoch) except -1:
        """That a variable of this epoch has a tangent."""
        if not self.recorder.carries:
            raise NoTangent(f"{variable} has no tangent, it is on a tape of strategy={self.strategy!r}: take "
                            "strategy='forward', or seed .gradient, call tape.evaluate_forward() and read .gradient")
        if not self.is_valid(epoch):
            raise NoTangent(f"{variable} has no tangent: its tape was reset since; compute it again")
        return 0

    cdef int32_t new_input(self, double value) except -1:
        self.demand_recording("register_input()")
        cdef int32_t identifier = self.store.push_input(&self.recorder, value)
        self.catch_up()
        return identifier

    cdef int32_t new_copy(self, int32_t source, double value) except -1:
        self.demand_recording("register_output()")
        cdef int32_t identifier = self.store.push_copy(&self.recorder, source, value)
        self.catch_up()
        return identifier

    cdef int32_t new_element(self, int32_t source, double value) except -1:
        self.demand_recording("taking an element of an Array")
        cdef int32_t identifier = self.store.push_element(&self.recorder, source, value)
        self.catch_up()
        return identifier

    cdef int32_t new_handmade(self, double value, const Entry* entries, Py_ssize_t count) except -1:
        self.demand_recording("push_statement()")
        cdef int32_t identifier = self.store.push_handmade(&self.recorder, value, entries, count)
        self.catch_up()
        return identifier

    cdef int32_t new_block(self, Py_ssize_t n) except -1:
        """The first of n contiguous identifiers."""
        cdef int32_t first
        if self.recycle:
            first = self.waiting.take(n)
            if first:
                self.shared = True
                return first
        if self.store.reusing is not None:
            first = self.store.reusing.assign_block(n)
            return self.with_tangents(first, n) if self.recorder.carries else first
        return self.store.linear.assign_block(n)

    cdef int32_t new_input_block(self, Py_ssize_t n) except -1:
        """As new_block, of identifiers that the recording never used: no statement before them consumes their adjoints."""
        cdef Py_ssize_t _i
        cdef int32_t first
        if self.store.reusing is None:
            return self.store.linear.assign_block(n)
        if self.recorder.carries:        # nothing is consumed, so any will do
            first = self.new_block(n)
            if n:
                memset(tangents_at(&self.recorder, first), 0, n * self.recorder.width * sizeof(double))
            return first
        first = self.store.reusing.next if n else 0
        for _i in range(n):
            self.store.reusing.assign_fresh()
        return first

    cdef int32_t with_tangents(self, int32_t first, Py_ssize_t n) except -1:
        """Room for the tangents of a new block, which does not stay without it."""
        if first + n > self.recorder.tangents_size:
            try:
                grow_tangents(&self.recorder, first + n - 1)
            except BaseException:
                self.store.reusing.release_block(first, n)
                raise
        return first

    cdef void give_block(self, int32_t base, Py_ssize_t n, int64_t epoch, bint lent) noexcept:
        """Identifiers of a dead array; `lent`: Reals may still carry some."""
        if self.store.reusing is not None:
            self.store.reusing.release_block(base, n)
        elif self.recycle and not lent and base > self.held and base + n - 1 <= self.largest() and self.is_valid(epoch):
            # What a partial reset made stale has identifiers that others have got since.
            self.waiting.give(base, n)

    cdef int withdraw_block(self, int32_t before) except -1:
        """The last new_block() was in vain: a linear count must not have a gap that no record explains."""
        if self.store.reusing is None:
            self.store.linear.reset_to(before)
        return 0

    cdef int withdraw_record(self, int32_t before) except -1:
        """The last append() was in vain."""
        if self.recorder.counts:
            self.counting.withdraw()
        elif not self.recorder.carries:
            self.records.items.pop()
            if self.journal is not None:
                self.journal.record_count -= 1
        return self.withdraw_block(before)

    cdef int append(self, Record record, int32_t before) except -1:
        try:
            assert self.names_live(record), "a record names an identifier that is free"
            return self.place(record, before)
        except BaseException:
            self.withdraw_block(before)
            raise

    cdef int place(self, Record record, int32_t before) except -1:
        if self.recorder.carries:
            self.recorder.steps += 1
            return record.forward(self.adjoint_vector)
        cdef Records records = self.records
        cdef Cursor* cursor = self.recorder.statements
        cdef Py_ssize_t statements
        if self.recorder.counts:         # where the cursor is, others may have been before
            statements = self.store.statements()
            if records.last is None or records.used != statements:
                records.last, records.used = self.store.root.position(), statements
            record.place, record.before, record.after = records.last, before, self.largest()
            self.counting.push(record)
            return 0
        if records.last is None or records.chunk != cursor.fields[0] or records.used != cursor.used:
            records.last = self.store.root.position()
            records.chunk, records.used = cursor.fields[0], cursor.used
        record.place, record.before, record.after = records.last, before, self.largest()
        if self.journal is not None:
            self.journal.note_record()
        try:
            records.items.append(record)
        except BaseException:
            if self.journal is not None:
                self.journal.record_count -= 1
            raise
        return 0

    cdef Py_ssize_t recorded(self):
        return self.counting.records if self.recorder.counts else len(self.records.items)

    cdef bint names_live(self, Record record):
        """For assertions: whether nobody else may be given what a record names as result or argument now."""
        results, arguments = record.named
        for first, last in (*results, *arguments):
            if last >= first and not is_live(&self.recorder, first, last + 1 - first):
                return False
        return True

    def set_active(self):
        """Start or resume recording on this thread; recordings of different tapes nest.

        Raises
        ------
        TapeError
            If the tape records on another thread.
        """
        cdef unsigned long thread = PyThread_get_thread_ident()
        if self.recordings and self.thread != thread:
            if self.thread in sys._current_frames():
                raise TapeError("this tape is recording on another thread: use one tape per thread")
            self.recordings = 0      # that thread ended in the middle of its recording
        self.demand_idle("set_active()")
        if self.looked_back == self.recorder.epoch:
            self.draw_epoch()
        if self.numbers or self.other_numbers:
            self.hold()
        if profiler is not None:
            profiler(self)
        activity.activate(self, &self.recorder)
        self.thread = thread
        self.recordings += 1
        if watcher is not None and self.recordings == 1:
            watcher.began(self)

    def set_passive(self):
        """End the recording that the last ``set_active()`` of this tape began.

        Raises
        ------
        TapeError
            If this tape is not the innermost recording of this thread.
        """
        try:
            if watcher is not None and self.recordings == 1:
                watcher.ended(self)
        finally:
            activity.deactivate(self)
            self.recordings -= 1
        if self.journal is not None:
            self.journal.spots.switch(0)
        if self.loans is not None and self.recordings == 0:
            for loan in self.loans:
                (<Loan>loan).end()

    def __enter__(self):
        self.set_active()
        return self

    def __exit__(self, *exception):
        self.set_passive()
        return False

    @property
    def is_active(self):
        """Whether the tape is recording, on any thread."""
        return self.recordings > 0

    # ---- Positions ----

    def position(self):
        """The present end of the recording.

        Returns
        -------
        TapePosition
            Comparable and hashable; valid until the tape is reset to an earlier one.
        """
        cdef int64_t epoch = self.recorder.epoch
        # A new epoch tells the variables of before from those of after, so that a reset to here finds the stale ones.
        self.draw_epoch()
        return make_position(self.store.root.position(), self.recorded(), self.largest(), epoch, self.first_generation)

    cdef TapePosition checked(self, position, str name):
        if type(position) is not TapePosition:
            raise TypeError(f"{name} must be a position from tape.position(), got {type(position).__name__}")
        cdef TapePosition place = position
        if place.epoch >> 32 != self.serial:
            raise TapeError(f"{name} is a position of another tape: take it from this tape's position()")
        if not self.is_valid(place.epoch):
            raise TapeError(f"{name} is a position from before a reset: take a new one with tape.position()")
        return place

    # ---- Sweeps ----

    cdef int demand_own_numbers(self) except -1:
        return 0

    cdef object sweep_recorded(self, adjoints, bint backwards):
        raise NotImplementedError

    cdef AdjointVector checked_adjoints(self, adjoints):
        if adjoints is None:
            return self.adjoint_vector
        if not isinstance(adjoints, AdjointVector):
            raise TypeError(f"adjoints must come from tape.new_adjoints(), got {type(adjoints).__name__}")
        if (<AdjointVector>adjoints).serial != self.serial:
            raise TapeError("adjoints belong to another tape: make them with this tape's new_adjoints()")
        self.renew(adjoints)
        return adjoints

    cdef void renew(self, AdjointVector adjoints) noexcept:
        """Set to 0 what an external vector holds from before a reset: adjoints of variables that are gone."""
        if adjoints.resets != self.resets:
            adjoints.zero()
            adjoints.resets = self.resets

    cdef bint has_long_arrays(self) except? True:
        """Whether a vector of several directions should have a plane for each."""
        cdef Record record
        if self.recorder.values_move:        # a sweep back over scalars restores values, once
            return False
        if self.long_arrays is not None:
            return self.long_arrays
        if self.largest() < long_array * (self.store.statements() + len(self.records.items)):
            return False
        for record in self.records.items:
            if record.carries_rows():
                return False
        return True

    def evaluate(self, start=None, end=None, *, adjoints=None, keep=False, record=False):
        """Reverse sweep: from seeded adjoints to those of the inputs.

        A statement consumes the adjoint of its result, so that reading ``gradient`` of what the sweep passed raises, until it
        is seeded again or the adjoints are cleared. The adjoints of inputs, and of what lies before `end`, stay.

        Parameters
        ----------
        start, end : TapePosition, optional
            The sweep runs from `start` (default: the end of the recording) back to `end` (default: its beginning).
        adjoints : Adjoints, optional
            External vector from ``tape.new_adjoints(width=k)``; default is the tape's own.
        keep : bool
            Keep the adjoints of intermediate results, so that they can be read after it.
            Only where identifiers are linear. Inputs accumulate over sweeps either way.
        record : bool
            Record the sweep on the enclosing recording, from the adjoints that are seeded, which stay: for a tape that
            was recorded by ``tape.nested``. External vectors of ``tape.new_adjoints(record=True)`` need not say so.

        Returns
        -------
        RecordedAdjoints or None
            The first where the sweep is recorded: ``adj[x]`` are variables of the enclosing recording.

        Raises
        ------
        TapeError
            If a position is of another tape or stale, `end` lies after `start`, or `keep` meets reused identifiers.
        KeyboardInterrupt
            On Ctrl-C; the tape stays whole, the adjoints are partly swept: clear them.
        """
        if record or is_of_variables(adjoints):
            if start is not None or end is not None or keep:
                raise TypeError("a sweep that is recorded goes over the whole recording: leave start, end and keep out")
            return self.sweep_recorded(adjoints, True)
        sweep(self, REVERSE, start, end, self.checked_adjoints(adjoints), keep)

    def evaluate_forward(self, start=None, end=None, *, adjoints=None):
        """Forward sweep: from tangents seeded at the inputs to those of the results.

        What a statement computes gets its tangent from there, whatever was seeded: with the strategy 'primal-reuse' also
        an element ``x[1]`` of an input, which is a copy. Seed ``x``.

        Parameters
        ----------
        start, end : TapePosition, optional
            The sweep runs from `start` (default: the beginning) to `end` (default: the end of the recording).
        adjoints : Adjoints, optional
            External vector for the tangents; default is the tape's own. Of ``tape.new_adjoints(record=True)``: the sweep is
            recorded, see ``evaluate``.
        """
        if is_of_variables(adjoints):
            if start is not None or end is not None:
                raise TypeError("a sweep that is recorded goes over the whole recording: leave start and end out")
            self.sweep_recorded(adjoints, False)
            return
        sweep(self, TANGENTS, start, end, self.checked_adjoints(adjoints), False)

    def evaluate_primal(self, start=None, end=None):
        """Recompute all recorded values, from those of the inputs (see ``set_primal``), along the recorded path.

        Variables keep their values, ``get_primal`` reads the new ones.

        Parameters
        ----------
        start, end : TapePosition, optional
            As for ``evaluate_forward``. Where arrays stand before `start`, that part is recomputed too, unless this
            continues where the last one ended: arrays keep no values by identifier.

        Raises
        ------
        TapeError
            On a Jacobian tape, and where ``push_statement`` recorded a value from outside. Any error on the way, from
            NumPy too, leaves old and new values on the tape, which refuses sweeps until this ran to the end.
        """
        sweep(self, VALUES, start, end, None, False)

    # ---- Memory ----

    def reset(self, position=None):
        """Drop the recording, or its part after `position`; the memory is kept and adjoints are set to 0.

        Parameters
        ----------
        position : TapePosition, optional
            Where to return to. Variables made after it become stale: using them is an error.
        """
        self.demand_idle("reset()")
        self.demand_kept("reset()")
        cdef TapePosition place
        if position is not None:
            self.demand_recorded("reset(position)")
        self.recorder.tangents_size = 0      # there may be more memory than slots
        if position is None:
            self.end_profile()
            self.store.root.reset()
            self.forget_all()
        else:
            place = self.checked(position, "position")
            self.records.truncate(place.records)
            self.waiting.clear()
            self.replay.torn = self.replay.begun
            self.store.roll_back(&self.recorder, place.streams, place.largest)
            if self.journal is not None:
                self.journal.truncate(self.store.statements(), len(self.records.items))
            del self.valid[bisect_left(self.valid, place.epoch) + 1:]
            self.draw_epoch()
        self.adjoint_vector.zero()
        self.numbers = self.other_numbers = False
        self.held = 0
        self.adjoint_vector.resets = self.resets = self.resets + 1

    def reset_hard(self):
        """Drop the recording and give its memory back, adjoints and primal values included."""
        self.demand_idle("reset_hard()")
        self.demand_kept("reset_hard()")
        self.end_profile()
        self.recorder.tangents, self.recorder.tangents_size = NULL, 0
        self.store.root.reset_hard()
        self.adjoint_vector.release()
        self.numbers = self.other_numbers = False
        self.held = 0
        self.adjoint_vector.resets = self.resets = self.resets + 1
        PyMem_RawFree(self.recorder.primals)
        self.recorder.primals, self.recorder.primals_size = NULL, 0
        self.forget_all()
        if self.store.reusing is not None:
            self.store.reusing.reset_hard()

    cdef int forget_all(self) except -1:
        self.records.truncate(0)
        self.waiting.clear()
        self.replay.forget()
        self.constants.clear()
        self.shared = self.twice = False
        self.long_arrays = None
        self.store.forget()
        self.valid.clear()
        self.first_generation = self.generation + 1
        self.draw_epoch()
        return 0

    def clear_adjoints(self):
        """Set all adjoints of the tape's own vector to 0."""
        self.demand_recorded("clear_adjoints()")
        self.demand_idle("clear_adjoints()")
        self.adjoint_vector.zero()
        self.numbers = False

    def delete_adjoints(self):
        """Give the memory of the tape's own adjoint vector back; it grows again when it is used."""
        self.demand_recorded("delete_adjoints()")
        self.demand_idle("delete_adjoints()")
        self.adjoint_vector.release()
        self.numbers = False

    # ---- Counting ----

    def _count_only(self, chunk_sizes=()):
        """
        Keep nothing of what is recorded from now on: count what it would take, which `statistics` then says.

        Parameters
        ----------
        chunk_sizes : sequence of int or None
            For which sizes the chunks are counted, beside the tape's own.

        Raises
        ------
        TapeError
            If anything is recorded, or the tape is recording.
        """
        self.demand_recorded("counting")
        if self.statements or self.recordings or self.resets:
            raise TapeError("a tape counts from its beginning: take a new one")
        from codipy.tape.memory.counting import Counting
        for stream in self.store.streams:
            stream.count_only(chunk_sizes)
        self.counting = Counting()
        self.recorder.counts = True

    # ---- What it is ----

    @property
    def identifiers(self):
        """How many identifiers variables have got, the passive one among them: an adjoint vector has as many slots."""
        return self.largest() + 1

    @property
    def parameters(self):
        """The settings of this tape, by name."""
        return {"strategy": self.strategy, "granularity": self.granularity, "chunk_size": self.chunk_size,
                "skip_zero_jacobians": bool(self.recorder.skip_zero),
                "skip_invalid_jacobians": bool(self.recorder.skip_invalid),
                **({"width": self.recorder.width} if self.recorder.carries else {})}

    @property
    def can_sweep(self):
        """Whether anything is kept; else tangents are computed while the function runs."""
        return not self.recorder.carries

    @property
    def epoch(self):
        """What tells the variables made now from those of before the last position, sweep or reset."""
        return self.recorder.epoch

    @property
    def keeps_values(self):
        """Whether the values of scalar statements are kept, so that they can be computed again."""
        return bool(self.recorder.keeps_values)

    @property
    def statements(self):
        """Statements on the tape, those of arrays among them."""
        return self.store.statements() + self.recorded()

    def statistics(self):
        """Where the tape's memory goes, to the byte.

        Returns
        -------
        Statistics
            Items, chunks, used and allocated bytes per stream, adjoints, primal values, identifiers.
        """
        from codipy.tape.memory.statistics import collect
        return collect(self)

    @property
    def _primal_vector_bytes(self):
        """(used, allocated) bytes of the primal values."""
        if self.recorder.kind != PRIMAL:
            return 0, self.recorder.primals_size * sizeof(double)
        cdef Py_ssize_t size = self.recorder.primals_size
        if self.recorder.window != NULL:
            size = self.recorder.primals_counted
        return min(self.largest(), size) * sizeof(double), size * sizeof(double)

    @property
    def _identifiers(self):
        """The manager of the tape's identifiers."""
        return self.store.linear if self.store.reusing is None else self.store.reusing

    def demand_readable(self, str action):
        """Raise where nothing is kept that could be read.

        Parameters
        ----------
        action : str
            Who wants to read.

        Raises
        ------
        TapeError
            For strategy 'forward', and where a recording is counted.
        """
        self.demand_kept(action)
        if self.recorder.carries:
            raise TapeError(f"{action}: a tape of strategy='forward' keeps no statements: take another strategy")

    def _repr_html_(self):
        return self.statistics()._repr_html_()

    def __repr__(self):
        from codipy.tape.memory.statistics import recorded_bytes
        cdef object used = sum(stream.bytes_used for stream in self.store.streams) + recorded_bytes(self)
        return (f"<codipy.Tape strategy={self.strategy!r} granularity={self.granularity!r} "
                f"statements={self.statements} bytes={used} {'active' if self.is_active else 'passive'}>")

    def _check(self, held=()):
        """Verify every invariant of the recording.

        Parameters
        ----------
        held : sequence of (int, int)
            First identifier and number of them, of variables that somebody can still reach: none of them is free.

        Raises
        ------
        CorruptTape
            Naming the broken invariant.
        """
        from codipy.tape.checks.check import check
        check(self, self.root_begin)
        for first, n in held:
            if not is_live(&self.recorder, first, n):
                raise CorruptTape(f"a variable that is alive names a free identifier, one of {n} from {first}")


cdef bint is_of_variables(adjoints) except? True:
    """Whether these are variables of an enclosing recording: codipy.nested.taped."""
    return adjoints is not None and not isinstance(adjoints, AdjointVector) and getattr(adjoints, "of_variables", False)
