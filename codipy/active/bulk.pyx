# SPDX-License-Identifier: Apache-2.0
"""What the drivers do around a recording, without a Python call per number: inputs in, one run, gradient out."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcmp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject

from codipy.active.core.base_real cimport IS_INPUT, OF_INPUT, OWNS
from codipy.active.scalar.expression cimport as_number
from codipy.active.scalar.kinds cimport PYTHON, plain_scalar
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.tape cimport Tape
from codipy.tape.sweeps.sweep cimport sweep
from codipy.tape.sweeps.walk cimport REVERSE


cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept


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


cpdef list register_floats(Tape tape, list numbers):
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
    cdef int flags = IS_INPUT | OF_INPUT | (OWNS if tape.recorder.reuse else 0)
    cdef Py_ssize_t i
    cdef list inputs = numbers.copy()      # of the right length at once
    cdef double value
    tape.demand_recording("register_floats()")
    tape.registered_inputs.make_room(tape, len(inputs))
    for i in range(len(inputs)):
        if not PyFloat_CheckExact(inputs[i]):
            tape.catch_up()
            raise TypeError(f"numbers must be floats, got {type(inputs[i]).__name__}")
        value = PyFloat_AS_DOUBLE(inputs[i])
        inputs[i] = new_identified(value, tape.recorder.epoch, tape.store.push_input(&tape.recorder, value), flags,
                                   PYTHON)
        (<Real>inputs[i]).made = tape.recorder.steps         # as register_input()
        if tape.registers:
            tape.registered_inputs.add_real(tape, inputs[i])
    tape.catch_up()
    return inputs


cpdef list pull_back(Tape tape, output, list inputs):
    """Seed one output with 1, sweep the whole tape and read the adjoints of the inputs.

    Parameters
    ----------
    tape : Tape
        Its own adjoints are used, whatever they were.
    output : Real
        A registered output of it.
    inputs : list of Real
        Registered inputs of it.

    Returns
    -------
    list of float
    """
    cdef int32_t identifier = tape.identifier_of(output, "output")
    cdef list gradients = inputs.copy()
    cdef double* slot
    cdef Py_ssize_t i
    tape.adjoint_vector.zero()       # the function may have seeded and swept on its own account
    tape.adjoint_vector.ensure(tape.largest())
    tape.adjoint_vector.slot(identifier)[0] = 1.0
    sweep(tape, REVERSE, None, None, tape.adjoint_vector, False)
    for i in range(len(gradients)):
        slot = tape.adjoint_vector.slot(tape.identifier_of(gradients[i], "inputs"))
        gradients[i] = slot[0]
    return gradients


cdef bint are_items(list items, list others) noexcept:
    """Whether two lists hold the same objects."""
    cdef Py_ssize_t i
    if len(items) != len(others):
        return False
    for i in range(len(items)):
        if PyList_GET_ITEM(items, i) != PyList_GET_ITEM(others, i):
            return False
    return True


cdef bint has_values_of(list numbers, list inputs) noexcept:
    """Whether a list holds floats of the values of some inputs, bit for bit."""
    cdef PyObject* number
    cdef Real real
    cdef double value
    cdef Py_ssize_t i
    if len(numbers) != len(inputs):
        return False
    for i in range(len(inputs)):
        number = PyList_GET_ITEM(numbers, i)
        if not PyFloat_CheckExact(<object>number):
            return False
        value = PyFloat_AS_DOUBLE(<object>number)
        real = <Real>PyList_GET_ITEM(inputs, i)
        if memcmp(&value, &real.primal, sizeof(double)):
            return False
    return True


def value_and_gradient(Tape tape not None, f, list args not None, dict kwargs not None, list leaves not None, place,
                       check, apart, list noted not None):
    """Record one run of a function on an empty tape and sweep back; the recording stays.

    Parameters
    ----------
    tape : Tape
        Empty.
    f : callable
        Returns one real number.
    args, kwargs : list, dict
        Its arguments; `args` is changed.
    leaves : list of float
        The inputs' values.
    place : int or callable
        Where in `args` the list of inputs goes; or ``place(args, inputs)`` puts them there.
    check : callable
        ``check(result, f)`` makes a number of a result that is no Real, or raises.
    apart : callable
        ``apart(f, args, kwargs, leaves, made, inputs, is_same)`` is called where the list that `f` got, or that of
        the caller, was written to, and where `noted` holds something; with `place` for `made` wherever that is no
        position.
    noted : list
        What drivers inside of `f` have found.

    Returns
    -------
    tuple
        Value, list of derivatives, and whether the result depends on anything.
    """
    cdef list inputs, made = None
    cdef Real output
    cdef bint is_same, depends
    tape.set_active()
    try:
        inputs = register_floats(tape, leaves)
        if type(place) is int:
            args[place] = made = inputs.copy()      # f may change its list
        else:
            place(args, inputs)
        result = f(*args, **kwargs)
        if made is None:
            apart(f, args, kwargs, leaves, place, inputs, True)
        else:
            is_same = has_values_of(leaves, inputs)
            if not is_same or noted or not are_items(made, inputs):
                apart(f, args, kwargs, leaves, made, inputs, is_same)
        number = result if type(result) is Real else check(result, f)
        depends = type(number) is Real and (<Real>number).epoch != 0
        output = tape.register_output(number)
    finally:
        tape.set_passive()
    return plain_scalar(output), pull_back(tape, output, inputs), depends
