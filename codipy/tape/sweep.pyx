# SPDX-License-Identifier: Apache-2.0
"""One sweep over a tape: its range, and what may not happen meanwhile."""
from codipy.data.position cimport Position
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.position cimport TapePosition
from codipy.tape.walk cimport Bounds

from codipy.errors import TapeError


cdef int sweep(BaseTape tape, Direction direction, start, end, AdjointVector adjoints, bint keep) except -1:
    cdef bint backwards = direction == REVERSE
    cdef Position first = None, last = None      # the beginning and the end of the recording
    cdef TapePosition place
    cdef Bounds bounds
    bounds.start, bounds.end = 0, tape.largest()
    bounds.first, bounds.last = 0, len(tape.records.items)
    if backwards:
        start, end = end, start      # from here on in the order of recording
    if start is not None:
        place = tape.checked(start, "end" if backwards else "start")
        first, bounds.start, bounds.first = place.streams, place.largest, place.records
    if end is not None:
        place = tape.checked(end, "start" if backwards else "end")
        last, bounds.end, bounds.last = place.streams, place.largest, place.records
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
    if direction == VALUES:
        tape.demand_idle("evaluate_primal()")
    elif adjoints.swept:
        raise TapeError("another thread is sweeping with these adjoints: give each thread tape.new_adjoints()")
    if adjoints is not None:
        adjoints.ensure(tape.largest())
        adjoints.swept = True
    tape.rewriting = direction == VALUES
    tape.sweeps += 1
    tape.store.root.lock()
    try:
        if direction == REVERSE:
            tape.store.reverse(&tape.recorder, adjoints, first, last, bounds, keep)
        elif direction == TANGENTS:
            tape.store.forward(&tape.recorder, adjoints, first, last, bounds)
        else:
            tape.store.primal(&tape.recorder, first, last, bounds)
    finally:
        tape.sweeps -= 1
        tape.rewriting = False
        tape.store.root.unlock()
        if adjoints is not None:
            adjoints.swept = False
    return 0
