# SPDX-License-Identifier: Apache-2.0
"""A function at a point: run plainly, or on a tape that the caller chose."""
from __future__ import annotations

from codipy.active import Real
from codipy.active.bulk import as_float, pull_back, register_floats
from codipy.tools.trees import flatten, paths, rebuild

__all__ = ["Problem", "name_of", "register_result"]


class Problem:
    """A function and the arguments it is differentiated by, all of them, as one flat list of numbers.

    Parameters
    ----------
    f : callable
        Returns one real number.
    args : tuple
        Numbers, or lists, tuples and dicts of them.

    Attributes
    ----------
    leaves : list of float
        The point.
    """

    def __init__(self, f, args):
        self.f, self.trees, self.leaves = f, list(args), []
        for position, tree in enumerate(args):
            flatten(tree, f"argument {position}", self.leaves)

    def names(self):
        """What each number is called, in the order of `leaves`."""
        return [name for position, tree in enumerate(self.trees) for name in paths(tree, f"argument {position}")]

    def arguments(self, leaves):
        """Arguments for one run, new ones since the function may change them."""
        return rebuild(self.trees, leaves)

    def value(self, leaves):
        """The plain value at another point."""
        return as_float(check_result(self.f(*self.arguments(leaves)), self.f))

    def record(self, tape):
        """Run once on a tape; returns the inputs and the output."""
        with tape:
            inputs = register_floats(tape, self.leaves)
            return inputs, register_result(tape, self.f(*self.arguments(inputs)), self.f)

    def gradient(self, tape):
        """Record on an empty tape and sweep back; returns value and flat gradient, and leaves the recording."""
        inputs, output = self.record(tape)
        return output.value, pull_back(tape, output, inputs)


def check_result(result, f):
    """The result of f if it is one real number, a passive Real's value included; else an error that says what came."""
    if type(result) is Real:
        return result if result.is_active else result.value
    if as_float(result) is None:
        fix = "does it return on every path?" if result is None else "return one number"
        raise TypeError(f"{name_of(f)} must return one real number, got {type(result).__name__}: {fix}")
    return result


def register_result(tape, result, f):
    """The result of f as an output of the tape; it must be one real number."""
    return tape.register_output(result if type(result) is Real else check_result(result, f))


def name_of(f):
    """What messages call a function."""
    return getattr(f, "__name__", None) or type(f).__name__
