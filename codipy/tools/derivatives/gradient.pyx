# SPDX-License-Identifier: Apache-2.0
"""One call of `value_and_grad`: the usual arguments without a Python call for each step around the function."""
import numpy as np

from codipy.active.tape cimport Tape
from codipy.tape.activity cimport current
from codipy.tools.driver cimport Driver
from codipy.tools.pool cimport borrow, give_back, wait_for_rebound

from codipy.active.recordings.recognised import recognised
from codipy.active.bulk import all_floats, value_and_gradient
from codipy.tools.arguments.aliases import demand_list_apart, noted
from codipy.tools.callee import check_result, is_rebound, rebound, with_aux
from codipy.tools.arguments.leaves import DOUBLE
from codipy.tools.arguments.lending import Lending, lends
from codipy.tools.rebinding.filled import filled_parameters
from codipy.tools.runs.recording import demand_computed, value_and_gradient_of_arrays
from codipy.tools.arguments.repeated import stands_again
from codipy.tools.swallowed import demand_none_swallowed, raised, said_before

cdef object ndarray = np.ndarray, double_dtype = DOUBLE, of_floats = value_and_gradient
cdef list errors = raised
cdef object of_arrays = value_and_gradient_of_arrays, are_floats = all_floats, check = check_result
cdef object apart = demand_list_apart, computed = demand_computed
cdef list inside = noted, known = recognised


cdef bint is_array(x):
    return type(x) is ndarray and x.dtype is double_dtype


cdef bint all_arrays(list args, tuple positions):
    for position in positions:
        if not is_array(args[position]):
            return False
    return True


cdef class Gradient(Driver):
    """Gradient(maker, f, options, text, choice)
    --

    What `grad` and `value_and_grad` return; these say what each option means.
    """
    cdef object run, choice, first, filled
    cdef Py_ssize_t last
    cdef tuple settings, positions
    cdef bint has_aux, rebind, with_value, by_name, is_rebound

    def __init__(self, maker, f, dict options, str text, choice, bint with_value):
        super().__init__(maker, f, options, text)
        self.choice, self.with_value, self.by_name = choice, with_value, bool(choice.names)
        self.settings = options["strategy"], options["granularity"]
        self.has_aux, self.rebind = options["has_aux"], options["rebind"]
        self.first = None if choice.several or self.by_name else choice.argnums
        self.last, self.positions = choice.last, choice.positions

    def __call__(self, *args, **kwargs):
        cdef object value, gradient
        value, gradient = self.of(args, kwargs)
        if self.with_value:
            return value, gradient
        return (gradient, value[1]) if self.has_aux else gradient

    cdef bint fills(self, list args, dict kwargs) except -1:
        if self.filled is None:
            positions, names = filled_parameters(self.run)
            self.filled = bool(positions or names)
        return self.filled is True and lends(self.run, args, kwargs)

    cdef tuple of(self, tuple positional, dict kwargs):
        """Value and gradient, or value and second result, and gradient, for the arguments of `f`."""
        cdef Tape tape
        cdef list args = list(positional), kept = None
        cdef object called, tree = None, trees = None, place = self.first, sweep = of_floats
        if self.run is None:
            self.run = rebound(self.f) if self.rebind else self.f
            self.is_rebound = is_rebound(self.run)
        if current() != NULL:
            from codipy.tools.runs.nested import value_and_gradient as nested    # not at import: seldom used
            self.choice.check(positional, self.f)
            return nested(self.choice, self.run, self.f, args, kwargs, self.has_aux)
        if len(args) <= self.last:
            self.choice.check(positional, self.f)
        called = self.run
        if self.has_aux:
            called, kept = with_aux(called)
        if place is not None:
            tree = args[self.last]
        # The usual cases, arrays, one list of floats and one float, are not walked.
        if self.is_rebound and (len(args) > 1 or kwargs) and self.fills(args, kwargs):
            trees, leaves, places = self.choice.take(args, kwargs, self.f)
            place = Lending(self.choice.placer(trees, places, kwargs), self.run, positional, kwargs, leaves, "gradient")
            if not are_floats(leaves):
                sweep = of_arrays
        elif type(tree) is float or is_array(tree):
            leaves, sweep = [tree], of_arrays
        elif type(tree) is list and are_floats(tree) and (
                len(args) + len(kwargs) == 1 or not stands_again(tree, args, kwargs)):
            leaves = tree
        elif place is None and not self.by_name and all_arrays(args, self.positions):
            leaves, place, sweep = [args[position] for position in self.positions], self.positions, of_arrays
        else:
            trees, leaves, places = self.choice.take(args, kwargs, self.f)
            place = self.choice.placer(trees, places, kwargs)
            if not are_floats(leaves):
                sweep = of_arrays
        tape, before = borrow(self.settings), known[0]
        if self.is_rebound:
            wait_for_rebound(tape, leaves)
        try:
            value, gradient, depends = sweep(tape, called, args, kwargs, leaves, place, check, apart, inside)
            if errors:
                demand_none_swallowed(tape)
            if not depends or known[0] is not before:
                computed(self.f, self.run, called, place, args, kwargs, leaves)
        except Exception as error:
            before = said_before(tape, error)
            if before is not error:
                raise before from error
            raise
        finally:
            give_back(self.settings, tape)
        if trees is not None:
            gradient = self.choice.give(trees, leaves, gradient)
        elif sweep is of_arrays:
            gradient = gradient[0] if type(place) is int else tuple(gradient)
        return ((value, kept[0]) if self.has_aux else value), gradient
