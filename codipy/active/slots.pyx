# SPDX-License-Identifier: Apache-2.0
"""Identifiers for Python code: those of Reals, and blocks for arrays."""
from libc.stdint cimport int32_t
from cpython.object cimport PyObject

from codipy.active.expression cimport identify, readmit
from codipy.active.real cimport OWNS, Real, new_identified
from codipy.tape.activity cimport current, is_passive
from codipy.tape.base cimport BaseTape
from codipy.tape.record cimport Record
from codipy.tape.recorder cimport PRIMAL, Recorder, grow_primals


def recording():
    """The tape that records on this thread, or None; None inside ``passive()``."""
    cdef Recorder* r = current()
    return None if r == NULL else <object>r.tape


def in_passive():
    """Whether this thread is inside ``with codipy.passive():``."""
    return bool(is_passive())


def slot_of(Real x not None):
    """The identifier of a Real in the recording on this thread; 0 where it is passive. Pending ones are pushed."""
    cdef Recorder* r = current()
    if not x.epoch or not readmit(r, x):
        return 0
    if x.count:
        identify(r, x)
    return x.identifier


def real_at(BaseTape tape not None, double value, int32_t identifier):
    """A Real on an identifier of the recording tape that somebody else holds."""
    if tape.recorder.kind == PRIMAL:
        if identifier >= tape.recorder.primals_size:
            grow_primals(&tape.recorder, identifier)
        tape.recorder.primals[identifier] = value
    return new_identified(value, tape.recorder.epoch, identifier, 0)


def new_real_result(BaseTape tape not None, double value):
    """A Real that depends on nothing yet: a record made next may set its derivatives."""
    return new_identified(value, tape.recorder.epoch, tape.new_copy(0, value), OWNS if tape.recorder.reuse else 0)


def new_block(BaseTape tape not None, Py_ssize_t n):
    """The first of `n` contiguous identifiers of the recording tape."""
    tape.demand_recording("an array operation")
    return tape.new_block(n)


def push_record(BaseTape tape not None, Record record not None, int32_t before):
    """Put a record on the tape; `before` is what `largest` said before it took identifiers."""
    tape.push_record(record, before)


def largest(BaseTape tape not None):
    """The largest identifier handed out."""
    return tape.largest()


def ensure(BaseTape tape not None):
    """Make the tape's own adjoints reach to its largest identifier."""
    tape.adjoint_vector.ensure(tape.largest())


def epoch(BaseTape tape not None):
    """The epoch in force."""
    return tape.recorder.epoch


def is_valid(BaseTape tape not None, epoch):
    """Whether variables of an epoch are still on the tape."""
    return bool(tape.is_valid(epoch))
