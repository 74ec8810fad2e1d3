# SPDX-License-Identifier: Apache-2.0
"""``scipy.optimize`` as `codipy.scipy` and rebound code have it: what its solvers in C are refused, they say.

The loops in C take a float of what the user's function returns. Some versions of SciPy go on after that has failed, and
end in an error of the interpreter itself, behind which the true one stands. An assignment of rows to columns is indices
and so no derivative; a replay at costs that have another one raises.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.optimize

from codipy.errors import ActiveError
from codipy.numpy.arguments import value_tree
from codipy.numpy.decisions import decision, keep
from codipy.numpy.modules import module_for

__all__ = ["FUNCTIONS", "optimize"]


def _solver(original):
    @functools.wraps(original)
    def solver(f, *args, **kwargs):
        refused, asked = [], [f]

        def called(*numbers):
            try:
                return float(asked[0](*numbers))
            except ActiveError as error:
                refused.append(error)
                raise

        try:
            return original(called, *args, **kwargs)
        finally:
            asked.clear()  # SciPy's wrapper refers to itself and so to this one: what the function has is free at once
            if refused:  # whatever came of it: the loop may have gone on with any number
                raise refused[0] from None

    return solver


_plain_assignment = scipy.optimize.linear_sum_assignment
_ASSIGNED = decision("scipy.optimize.linear_sum_assignment", lambda *args: np.stack(_plain_assignment(*args)))


@functools.wraps(_plain_assignment)
def linear_sum_assignment(cost_matrix, maximize=False):
    keep(_ASSIGNED, (cost_matrix, bool(maximize)))
    return _plain_assignment(value_tree(cost_matrix), maximize)


FUNCTIONS = {name: _solver(getattr(scipy.optimize, name)) for name in ("bisect", "brenth", "brentq", "ridder")}
FUNCTIONS["linear_sum_assignment"] = linear_sum_assignment
optimize = module_for(scipy.optimize, FUNCTIONS)
