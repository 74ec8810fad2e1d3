# SPDX-License-Identifier: Apache-2.0
"""Many inputs in one call: what the drivers do around a recording, without a Python call per number."""
import numpy as np

from libc.stdint cimport int32_t
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject

from codipy.active.expression cimport as_number
from codipy.active.real cimport IS_INPUT, OWNS, Real, new_identified
from codipy.active.tape cimport Tape


def all_floats(list numbers):
    """Whether every item is exactly a float, so that a driver need not look at them one by one.

    Parameters
    ----------
    numbers : list
        Anything.

    Returns
    -------
    bool
    """
    for number in numbers:
        if not PyFloat_CheckExact(number):
            return False
    return True


def as_float(number):
    """The value of a plain real number, None for anything else; a bool is a flag and no number here.

    Parameters
    ----------
    number : object
        Anything; a Real is not plain.

    Returns
    -------
    float or None
    """
    cdef double result
    if type(number) is bool or isinstance(number, np.bool_) or as_number(<PyObject*>number, &result) != 1:
        return None
    return result


def register_floats(Tape tape not None, list numbers not None):
    """New inputs of a recording tape, one for each number.

    Parameters
    ----------
    tape : Tape
        Recording on this thread.
    numbers : list of float
        Exact floats: see `all_floats`.

    Returns
    -------
    list of Real

    Raises
    ------
    TypeError
        If an item is no float; the inputs before it are on the tape.
    """
    cdef int flags = IS_INPUT | (OWNS if tape.recorder.reuse else 0)
    cdef list inputs = []
    cdef double value
    tape.demand_recording("register_floats()")
    for number in numbers:
        if not PyFloat_CheckExact(number):
            raise TypeError(f"numbers must be floats, got {type(number).__name__}")
        value = PyFloat_AS_DOUBLE(number)
        inputs.append(new_identified(value, tape.recorder.epoch, tape.store.push_input(&tape.recorder, value), flags))
    return inputs


def pull_back(Tape tape not None, output, list inputs not None):
    """Seed one output with 1, sweep the whole tape and read the adjoints of the inputs.

    Parameters
    ----------
    tape : Tape
        Its adjoints are 0.
    output : Real
        A registered output of it.
    inputs : list of Real
        Registered inputs of it.

    Returns
    -------
    list of float
    """
    cdef int32_t identifier = tape.identifier_of(output, "output")
    cdef list gradients = []
    cdef double* slot
    tape.adjoint_vector.ensure(tape.largest())
    tape.adjoint_vector.slot(identifier)[0] = 1.0
    tape.evaluate()
    for x in inputs:
        slot = tape.adjoint_vector.slot(tape.identifier_of(x, "inputs"))
        gradients.append(slot[0])
    return gradients
