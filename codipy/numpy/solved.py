# SPDX-License-Identifier: Apache-2.0
"""What a tape knows of the solution of an equation: numbers without a slope, found anew where inputs are others.

The slope of a solution is that of steps of Newton's method from it (`codipy.implicit`). Their start, and the Jacobian
by which they divide, are constants of the derivative. They are no constants of ``tape.evaluate_primal()``: there the
primitive of this file calls whoever solved. A tape file has no solver, so that a tape that was loaded keeps to the
inputs of the recording. Rejected: one step of Newton's method from the recorded solution, which is wrong where inputs
are far from those, and says nothing.
"""

from __future__ import annotations

import numpy as np

from codipy.errors import TapeError
from codipy.numpy.links import Groups
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.patterns import elementwise

__all__ = ["LESS_VALUE", "SOLVED", "Solver"]


class Solver:
    """Who solves once more.

    Parameters
    ----------
    text : str
        What is solved, and the line that asked for it.
    """

    def __init__(self, text):
        self.text = text

    def solve(self, values):
        """The numbers that the equation has for other values of its parameters."""
        raise NotImplementedError

    def go_back(self):
        """The numbers of the recording are asked for again."""


def _bits(x):
    return np.asarray(x, np.float64).tobytes()


def _solved(*values, solver, given, found):
    if len(values) == len(given) and all(_bits(x) == _bits(known) for x, known in zip(values, given)):
        if isinstance(solver, Solver):
            solver.go_back()
        return tuple(np.array(x) if np.ndim(x) else np.float64(x) for x in found)
    if not isinstance(solver, Solver):
        raise TapeError(f"evaluate_primal() at other inputs needs who solved {solver}, and a tape file has no solver: "
                        "record again at these inputs")
    return solver.solve(values)


def _no_cotangent(g, out, args, kwargs, argnums):
    return [None] * len(argnums)


def _no_tangent(tangents, out, args, kwargs):
    return tuple(np.zeros(np.shape(part)) for part in out)


def _nothing(args, kwargs, argnums, shapes):
    return [[Groups(np.full(np.shape(args[k]), -1), np.full(shape, -1), 0) for shape in shapes] for k in argnums]


SOLVED = Primitive("the solution of an equation", _solved, _no_cotangent, _no_tangent, keep_args=False, keep_out=False,
                   pattern=_nothing)  # fmt: skip

# 0.0, with the slope of the argument: u - LESS_VALUE(step) is u to the last bit, and has the slope of u - step.
LESS_VALUE = Primitive("x less its value", np.zeros_like, lambda g, out, args, kwargs, argnums: [g],
                       lambda tangents, out, args, kwargs: tangents[0], keep_args=False, keep_out=False,
                       pattern=elementwise)  # fmt: skip
