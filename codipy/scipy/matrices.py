# SPDX-License-Identifier: Apache-2.0
"""``scipy.sparse.linalg`` as `codipy.scipy` and rebound code have it: its solvers know no array but an ndarray.

They get the values of a passive Array. Of an active one they say what to write instead.
"""

from __future__ import annotations

import functools
from types import FunctionType

import numpy as np
import scipy.sparse.linalg

from codipy.active.array import Array
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.modules import module_for
from codipy.scipy import factored

__all__ = ["FUNCTIONS", "STANDINS", "linalg", "sparse"]

_SOLVE, _SQUARES = "`np.linalg.solve(A, b)`", "`np.linalg.lstsq(A, b, rcond=None)[0]`"
_PAIRS = "`np.linalg.eigh(A)`, if A is symmetric, and take those that are wanted"
_INSTEAD = {
    **dict.fromkeys(("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr"), _SOLVE),
    **dict.fromkeys(("lsmr", "lsqr"), _SQUARES),
    **dict.fromkeys(("eigs", "eigsh", "lobpcg"), _PAIRS),
    "svds": "`np.linalg.svd(A, full_matrices=False)`, and take those that are wanted",
    "aslinearoperator": "the products themselves, `A @ x`",
}
_PASSED_ON = {"expm_multiply"}  # it computes with what it is given


def _of_ndarrays(name, original):
    @functools.wraps(original)
    def function(*args, **kwargs):
        args = [_plain(name, x) for x in args]
        return original(*args, **{key: _plain(name, x) for key, x in kwargs.items()})

    return function


def _plain(name, x):
    if type(x) is not Array:
        return x
    if name in _INSTEAD and x.is_active:
        what = f"scipy.sparse.linalg.{name} of an active Array"
        raise ActiveError(refusal(what, f"write {_INSTEAD[name]}; where it is not wanted, say codipy.value(x)"))
    return x if x.is_active else np.asarray(x)


_NAMES = {name for name in scipy.sparse.linalg.__all__ if type(getattr(scipy.sparse.linalg, name)) is FunctionType}
# The solvers of `factored.py` take active right-hand sides.
FUNCTIONS = {name: _of_ndarrays(name, getattr(scipy.sparse.linalg, name)) for name in sorted(_NAMES - _PASSED_ON)}
FUNCTIONS |= factored.FUNCTIONS
STANDINS = factored.STANDINS
linalg = module_for(scipy.sparse.linalg, FUNCTIONS)
sparse = module_for(scipy.sparse, {"linalg": linalg})
