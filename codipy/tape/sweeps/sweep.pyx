# SPDX-License-Identifier: Apache-2.0
"""One sweep over a tape: its range, and what may not happen meanwhile."""
import os

from libc.stdint cimport int64_t
from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident

from codipy.data.position cimport Position
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.position cimport TapePosition
from codipy.tape.provenance.watching cimport watcher
from codipy.tape.records.replay cimport Replay
from codipy.tape.sweeps.underway cimport UnderWay
from codipy.tape.sweeps.walk cimport REVERSE, TANGENTS, VALUES, Bounds, Mode

from codipy.errors import TapeError


cdef UnderWay* first_under_way = NULL


cdef int enter(UnderWay* sweep, BaseTape tape, Mode mode, AdjointVector adjoints) except -1:
    """Until `leave`, nobody else may write to what the sweep reads and writes."""
    global first_under_way
    sweep.thread, sweep.tape = PyThread_get_thread_ident(), <PyObject*>tape
    sweep.adjoints = <PyObject*>adjoints if mode != VALUES else NULL
    sweep.next = first_under_way
    first_under_way = sweep
    tape.sweeps += 1
    tape.rewriting = mode == VALUES
    if mode != VALUES:
        adjoints.swept = True
    return tape.store.root.lock()


cdef int leave(UnderWay* sweep) except -1:
    global first_under_way
    cdef BaseTape tape = <BaseTape>sweep.tape
    cdef UnderWay** link = &first_under_way
    while link[0] != sweep:
        link = &link[0].next
    link[0] = sweep.next
    tape.sweeps -= 1
    tape.rewriting = False
    tape.store.root.unlock()
    if sweep.adjoints != NULL:
        (<AdjointVector>sweep.adjoints).swept = False
    if tape.replay.torn:
        tape.replay.buffers.clear()
    return 0


def _after_fork():
    """The child has no other threads, so their sweeps never end: their tapes can be reset, their adjoints are in part swept."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef UnderWay* sweep = first_under_way
    cdef UnderWay* following
    while sweep != NULL:
        following = sweep.next
        if sweep.thread != thread:
            leave(sweep)
        sweep = following


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


cdef int sweep(BaseTape tape, Mode mode, start, end, AdjointVector adjoints, bint keep) except -1:
    tape.demand_recorded("evaluate()" if mode == REVERSE else "evaluate_forward()" if mode == TANGENTS else
                         "evaluate_primal()")
    tape.demand_own_numbers()
    cdef bint backwards = mode == REVERSE
    cdef Position first = None, last = None      # the beginning and the end of the recording
    cdef TapePosition place
    cdef Bounds bounds
    cdef Replay replay = tape.replay
    cdef bint replays = (mode == VALUES and tape.recorder.keeps_values
                         and (len(tape.records.items) > 0 or replay.begun))
    cdef bint whole = True, continued
    cdef int64_t epoch = 0, now = tape.recorder.epoch, after = 0, until = now    # the last two: of what is swept
    bounds.start, bounds.end = 0, tape.largest()
    bounds.first, bounds.last = 0, len(tape.records.items)
    if backwards:
        start, end = end, start      # from here on in the order of recording
    if start is not None:
        place = tape.checked(start, "end" if backwards else "start")
        first, bounds.start, bounds.first, after = place.streams, place.largest, place.records, place.epoch
    if end is not None:
        place = tape.checked(end, "start" if backwards else "end")
        last, bounds.end, bounds.last = place.streams, place.largest, place.records
        whole, until, epoch = False, place.epoch, place.epoch
    if replays or replay.begun:      # which compare places
        first = tape.root_begin if start is None else first
        last = tape.store.root.position() if end is None else last
    if start is not None and end is not None and (last < first or bounds.last < bounds.first):
        raise TapeError("end lies after start: a reverse sweep runs from the later position to the earlier; "
                        "exchange them" if backwards else
                        "end lies before start: this sweep runs from the earlier position to the later; "
                        "exchange them")
    if keep and tape.shared and not tape.recorder.reuse:
        raise TapeError("keep=True needs an identifier for every value, but arrays were written in place or (strategy 'auto') "
                        "used the identifiers of dead ones: leave keep=True away")
    if keep and tape.recorder.reuse:
        raise TapeError("keep=True needs identifiers that are not reused: "
                        "use strategy='jacobian', 'primal' or 'simple'")
    if tape.rewriting:
        raise TapeError("evaluate_primal() is rewriting this tape's values on another thread: wait until it ends")
    if mode == VALUES:
        tape.demand_idle("evaluate_primal()")
        if replays:
            tape.store.demand_recomputable()
            continued = replay.continues(first, bounds.first)
            if whole and replay.ended(last, bounds.last):
                epoch = replay.epoch
            elif whole:
                epoch = tape.recorder.epoch
                tape.draw_epoch()        # tells the variables of before from those of after, as a position does
            if bounds.first and not continued:      # arrays keep no values by identifier: those before come again
                first, bounds.start, bounds.first = tape.root_begin, 0, 0
            replay.begin(continued, whole)
    elif adjoints.swept:
        raise TapeError("another thread is sweeping with these adjoints: give each thread tape.new_adjoints()")
    if mode != VALUES:
        adjoints.consumed.demand_swept()
        replay.demand(last, bounds.last)
        adjoints.ensure(tape.largest())
        tape.look_back()
        tape.hold_for(adjoints)
        if backwards:
            adjoints.consumed.backwards(after, until, now, tape.shares(), keep)
        else:
            adjoints.consumed.begin_forward(after)
    if watcher is not None and backwards:
        watcher.sweeps(tape, adjoints, start is None and end is None)
    cdef UnderWay* under_way = &tape.under_way if mode == VALUES else &adjoints.under_way
    enter(under_way, tape, mode, adjoints)
    try:
        if mode == REVERSE:
            adjoints.consumed.torn = True
            tape.store.reverse(&tape.recorder, adjoints, first, last, bounds, keep)
            adjoints.consumed.torn = False
        elif mode == TANGENTS:
            tape.store.forward(&tape.recorder, adjoints, first, last, bounds)
            adjoints.consumed.end_forward(after, until, now, tape.shares())
        else:
            tape.store.primal(&tape.recorder, first, last, bounds)
            if replays:
                replay.end(last, bounds.last, epoch, whole)
    finally:
        leave(under_way)
    return 0
