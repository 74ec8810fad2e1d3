# SPDX-License-Identifier: Apache-2.0
"""What shows at once that a function has written to none of its inputs: most functions write to none.

Where it does not show, `aliases.py` looks.
"""
import numpy as np

cimport numpy as cnp

from codipy.active.core.base_array cimport BaseArray
from codipy.tools.arguments.twins cimport Twins
from codipy.tools.driver cimport Driver

from codipy.active import Real
from codipy.active.array import Array
from codipy.active.inputs import has_values_of

cnp.import_array()

FEW = 4096      # numbers that are compared at no price

cdef object ndarray = np.ndarray, real = Real, active_array = Array, compared = has_values_of
cdef Py_ssize_t few = FEW


def is_untouched(f, list args not None, dict kwargs not None, list inputs not None, list leaves not None,
                 Twins twins=None):
    """is_untouched(f, args, kwargs, inputs, leaves, twins=None)
    --

    Whether it is plain that no input, and no container of inputs, was written to, here or under another name.

    Parameters
    ----------
    f, args, kwargs
        What a driver has run, with inputs in the arguments.
    inputs, leaves : list
        Of the recording; and the numbers and arrays of the caller that they were made of.
    twins : Twins, optional
        The containers of the caller, and those of inputs.

    Returns
    -------
    bool
        False where it must be looked at with care.
    """
    cdef Py_ssize_t k, arrays = 0
    for k in range(len(inputs)):
        x = inputs[k]
        if type(x) is real:
            continue
        if type(x) is not active_array or (<BaseArray>x).storage.overwritten:
            return False
        leaf = leaves[k]
        if type(leaf) is not ndarray or cnp.PyArray_SIZE(<cnp.ndarray>leaf) > few or not compared(x, leaf):
            return False
        arrays += 1
    if twins is not None and not twins.are_as_before():
        return False
    # A driver has inputs of its own, to which it may write.
    return not arrays or arrays + len(args) + len(kwargs) <= 2 or not isinstance(unwrapped(f), Driver)


def unwrapped(f):
    """unwrapped(f)
    --

    The function of the user for which one of codipy's stands.
    """
    while is_wrapped(f):
        f = f.__wrapped__
    return f


cpdef bint is_wrapped(f):
    """Whether it is a function of codipy's around one of the user's."""
    variables = getattr(f, "__globals__", None)
    if type(variables) is not dict:
        return False
    name = (<dict>variables).get("__name__")
    return type(name) is str and (<str>name).startswith("codipy.") and hasattr(f, "__wrapped__")
