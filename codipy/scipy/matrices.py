# SPDX-License-Identifier: Apache-2.0
"""``scipy.sparse.linalg`` as `codipy.scipy` and rebound code have it.

Its solvers know no array but an ndarray: they get the values of what is passive. Of what is active there are rules for
some; the others say what to write instead. What is on no list here is rebuilt, as a user's function is.
"""

from __future__ import annotations

import functools
from types import FunctionType

import numpy as np
import scipy.sparse.linalg

from codipy.active.array import Array
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.scipy import eigenpairs, factored, krylov, singular, squares
from codipy.scipy.kernels.whole import is_active_matrix, plain_matrix

__all__ = ["FUNCTIONS", "REBUILT", "RULES", "STANDINS", "instead_of"]

_PAIRS = "`np.linalg.eigh(A)`, if A is symmetric, and take those that are wanted"
_INSTEAD = {
    **dict.fromkeys(("eigs", "lobpcg"), _PAIRS),
    "expm": "`expm_multiply(A, b)`, or scipy.linalg.expm(A.toarray())",
    "inv": "`spsolve(A, b)`",
}
# Python code that computes with what it is given.
REBUILT = {"aslinearoperator", "expm_multiply", "is_sptriangular", "matrix_power", "norm", "spbandwidth"}


def _of_ndarrays(name, original):
    @functools.wraps(original)
    def function(*args, **kwargs):
        args = [_plain(name, x) for x in args]
        return original(*args, **{key: _plain(name, x) for key, x in kwargs.items()})

    return function


def instead_of(name):
    """What to write in the place of a function that has no rule."""
    return _INSTEAD.get(name, "`A.toarray()` and a function of scipy.linalg")


def _plain(name, x):
    is_sparse = is_active_matrix(x)
    if type(x) is not Array and not is_sparse:
        factored.sort_in_place(name, x)
        return plain_matrix(x)
    if is_sparse or name in _INSTEAD and x.is_active:
        kind = "a sparse matrix with active values" if is_sparse else "an active Array"
        instead = f"write {instead_of(name)}; where it is not wanted, say codipy.value(x)"
        raise ActiveError(refusal(f"scipy.sparse.linalg.{name} of {kind}", instead))
    return x if x.is_active else np.asarray(x)


_NAMES = {name for name in scipy.sparse.linalg.__all__ if type(getattr(scipy.sparse.linalg, name)) is FunctionType}
FUNCTIONS = {name: _of_ndarrays(name, getattr(scipy.sparse.linalg, name)) for name in sorted(_NAMES - REBUILT)}
RULES = {**factored.FUNCTIONS, **krylov.FUNCTIONS, **eigenpairs.FUNCTIONS, **singular.FUNCTIONS, **squares.FUNCTIONS}
FUNCTIONS |= RULES
STANDINS = factored.STANDINS
