# SPDX-License-Identifier: Apache-2.0
"""One call of `value_and_grad`: the usual arguments without a Python call for each step around the function."""
import numpy as np

from codipy.active.tape cimport Tape
from codipy.tools.pool cimport borrow, give_back

from codipy.active.bulk import all_floats, value_and_gradient
from codipy.tools.callee import check_result, rebound, with_aux
from codipy.tools.leaves import DOUBLE
from codipy.tools.recording import value_and_gradient_of_arrays

cdef object ndarray = np.ndarray, double_dtype = DOUBLE, of_floats = value_and_gradient
cdef object of_arrays = value_and_gradient_of_arrays, are_floats = all_floats, check = check_result


cdef bint is_array(x):
    return type(x) is ndarray and x.dtype is double_dtype and x.ndim


cdef bint all_arrays(list args, tuple positions):
    for position in positions:
        if not is_array(args[position]):
            return False
    return True


cdef class Gradient:
    """Gradient(f, choice, settings, has_aux, rebind)
    --

    What a driver was made with; `value_and_grad` says what each means.
    """
    cdef object f, run, choice, first
    cdef Py_ssize_t last
    cdef tuple settings, positions
    cdef bint has_aux, rebind

    def __init__(self, f, choice, tuple settings, bint has_aux, bint rebind):
        self.f, self.choice, self.settings, self.has_aux, self.rebind = f, choice, settings, has_aux, rebind
        self.first = None if choice.several else choice.argnums
        self.last, self.positions = choice.last, choice.positions

    def of(self, tuple positional, dict kwargs):
        """Value and gradient, or value and second result, and gradient, for the arguments of `f`."""
        cdef Tape tape
        cdef list args = list(positional), kept = None
        cdef object called, tree = None, trees = None, place = self.first, sweep = of_floats
        if self.run is None:
            self.run = rebound(self.f) if self.rebind else self.f
        if len(args) <= self.last:
            self.choice.check(positional, self.f)
        called = self.run
        if self.has_aux:
            called, kept = with_aux(called)
        if place is not None:
            tree = args[self.last]
        # The usual cases, arrays, one list of floats and one float, are not walked.
        if type(tree) is float or is_array(tree):
            leaves, sweep = [tree], of_arrays
        elif type(tree) is list and are_floats(tree):
            leaves = tree
        elif place is None and all_arrays(args, self.positions):
            leaves, place, sweep = [args[position] for position in self.positions], self.positions, of_arrays
        else:
            trees, leaves = self.choice.take(args)
            place = self.choice.placer(trees)
            if not are_floats(leaves):
                sweep = of_arrays
        tape = borrow(self.settings)
        try:
            value, gradient = sweep(tape, called, args, kwargs, leaves, place, check)
        finally:
            give_back(self.settings, tape)
        if trees is not None:
            gradient = self.choice.give(trees, leaves, gradient)
        elif sweep is of_arrays:
            gradient = gradient[0] if type(place) is int else tuple(gradient)
        return ((value, kept[0]) if self.has_aux else value), gradient
