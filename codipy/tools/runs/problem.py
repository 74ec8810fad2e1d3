# SPDX-License-Identifier: Apache-2.0
"""A function at a point: run plainly, or on a tape that the caller chose."""
from __future__ import annotations

from functools import partial

import numpy as np

from codipy.active.bulk import all_floats, as_float, pull_back
from codipy.tools.arguments.aliases import demand_apart
from codipy.tools.arguments.forms import flatten
from codipy.tools.arguments.leaves import Names, cut, demand_real, join, shape_of, split
from codipy.tools.arguments.repeated import arguments
from codipy.tools.arguments.trees import labelled, plain_copy
from codipy.tools.arguments.twins import Twins
from codipy.tools.callee import check_result, rebound
from codipy.tools.runs.recording import (
    ForwardRun,
    Recording,
    check_results,
    pull_arrays,
    register_leaves,
    register_result,
)
from codipy.tools.swallowed import demand_none_swallowed, said_before, watch

__all__ = ["Problem", "Weighted"]


class Problem:
    """A function that returns one number, and the arguments it is differentiated by, all of them.

    Parameters
    ----------
    f : callable
        Returns one real number.
    args : tuple
        Numbers, arrays, or lists, tuples, dicts and dataclasses of them.
    rebind : bool
        Whether recordings run `codipy.rebind(f)`.

    Attributes
    ----------
    point : numpy.ndarray
        All numbers of the arguments as one vector.
    names : sequence of str
        What each of them is called.
    pull : callable
        ``pull(tape, output, inputs)`` sweeps back and returns the adjoints of what `record` returned.
    """

    def __init__(self, f, args, rebind=True):
        self.f, self.trees, self.leaves, pairs = f, list(args), [], []
        self.recorded = rebound(f) if rebind else f
        for position, tree in enumerate(args):
            before = len(self.leaves)
            flatten(tree, f"argument {position}", self.leaves)
            demand_real(self.leaves[before:], f"argument {position}")
            pairs += labelled(tree, f"argument {position}")
        self.given = self.leaves
        # Differences of float32 values say nothing, so everything runs in float64.
        self.leaves = [leaf.astype(np.float64) if isinstance(leaf, np.ndarray) else leaf for leaf in self.leaves]
        self.names, self.point = Names(pairs), join(self.leaves)
        self.pull = pull_back if all_floats(self.leaves) else pull_arrays

    def arguments(self, point):
        """Arguments for one plain run, new ones since the function may change them."""
        return arguments(self.trees, split(point, self.leaves))

    def value(self, point):
        """The plain value at another point."""
        return as_float(check_result(self.f(*self.arguments(point)), self.f))

    def record(self, tape, direction=None):
        """Run once on a tape; returns the inputs and the output. A tape of strategy 'forward' takes their tangents."""
        watch(tape)
        try:
            with tape:
                inputs = register_leaves(tape, self.leaves)
                for x, tangent in zip(inputs, [] if direction is None else self.seeds(direction)):
                    x.tangent = tangent
                args = arguments(self.trees, inputs)
                twins = Twins(self.trees, args)
                result = self.recorded(*args)
                demand_apart(self.recorded, args, {}, inputs, self.given, None, twins)
                output = register_result(tape, result, self.f)
        except Exception as error:
            if (before := said_before(tape, error)) is not error:
                raise before from error
            raise
        demand_none_swallowed(tape)
        return inputs, output

    def seeds(self, directions):
        """Tangents of the leaves from those of all numbers, a vector or a column for each direction."""
        return cut(directions.reshape(self.point.size, -1), [shape_of(leaf) for leaf in self.leaves])

    def along(self, tape, direction):
        """Run once on an empty tape of strategy 'forward'; returns value and derivative along its directions."""
        inputs, output = self.record(tape, direction)
        return output.value, output.tangent

    def gradient(self, tape):
        """Record on an empty tape and sweep back; returns value and gradient, and leaves the recording."""
        inputs, output = self.record(tape)
        return output.value, join(self.pull(tape, output, inputs))


class Weighted(Problem):
    """A function with a result of any form, of which a sum with fixed weights is differentiated."""

    def __init__(self, f, args, rebind=True):
        super().__init__(f, args, rebind)
        self.result = f(*self.arguments(self.point))
        shapes = [shape_of(leaf) for leaf in check_results(self.result, f)]
        random = np.random.default_rng(len(shapes))
        # One number is its own sum; different weights else, since the sum of a softmax is a constant.
        self.weights = [random.uniform(0.5, 1.5, shape) for shape in shapes] if shapes != [()] else [1.0]

    def values(self, result):
        """All numbers of a result, active or plain, as one vector."""
        return join([np.asarray(leaf, np.float64) for leaf in check_results(plain_copy(result), self.f)])

    def value(self, point):
        """The plain weighted sum at another point."""
        values, weights = self.values(self.f(*self.arguments(point))), join(self.weights)
        if values.size != weights.size:
            raise ValueError(f"the result has {values.size} numbers here and {weights.size} at the point itself")
        return float(values @ weights)

    def record(self, tape, direction=None):
        """Run once on a tape; on one of strategy 'forward' along its directions."""
        args = list(self.trees)

        def place(args, inputs):
            args[:] = arguments(self.trees, inputs)
            place.twins = Twins(self.trees, args)

        run = Recording if direction is None else partial(ForwardRun, self.seeds(direction))
        found = run(watch(tape), self.recorded, args, {}, self.leaves, place)
        demand_apart(self.recorded, args, {}, found.inputs, self.given)
        return found
