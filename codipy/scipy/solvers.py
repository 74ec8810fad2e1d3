# SPDX-License-Identifier: Apache-2.0
"""``scipy.optimize`` as `codipy.scipy` and rebound code have it: what its solvers in C are refused, they say.

The loops in C take a float of what the user's function returns. Some versions of SciPy go on after that has failed, and
end in an error of the interpreter itself, behind which the true one stands.
"""

from __future__ import annotations

import functools
from types import ModuleType

import scipy.optimize

from codipy.errors import ActiveError

__all__ = ["FUNCTIONS", "optimize"]


def _solver(original):
    @functools.wraps(original)
    def solver(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        except SystemError as error:
            if isinstance(error.__cause__, ActiveError):
                raise error.__cause__ from None
            raise

    return solver


FUNCTIONS = {name: _solver(getattr(scipy.optimize, name)) for name in ("bisect", "brenth", "brentq", "ridder")}
optimize = ModuleType(scipy.optimize.__name__, scipy.optimize.__doc__)
vars(optimize).update(vars(scipy.optimize) | FUNCTIONS)
