# SPDX-License-Identifier: Apache-2.0
"""Equations with a sparse matrix that is passive: `splu`, `spilu`, `factorized`, `spsolve`, of active right-hand sides.

The factors that a program has kept from before are SciPy's own: in rebound code `Factors` stand for them.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.array import call
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import fillable, holds_active, value_tree
from codipy.numpy.primitive import Primitive
from codipy.numpy.sparse import kept

__all__ = ["FUNCTIONS", "STANDINS", "Factors", "method_of"]

_TRANSPOSED = {"N": "T", "T": "N", "H": "N"}
_SuperLU = scipy.sparse.linalg.SuperLU


def _linear(name, value, adjoint):
    """The primitive of a map that is linear, of an ndarray or of something active, and has this adjoint."""
    return Primitive(
        name,
        value,
        lambda g, out, args, kwargs, argnums: [np.reshape(adjoint(g), np.shape(args[0]))],
        lambda tangents, out, args, kwargs: value(tangents[0]),
        keep_args=False,
        keep_out=False,
    )


def _of_matrix(name, matrix, options):
    """The arguments without Arrays, of which none is active."""
    if holds_active((matrix, options)):
        what = f"scipy.sparse.linalg.{name} of an active matrix"
        raise ActiveError(refusal(what, "write `np.linalg.solve(A, b)`; where it is not wanted, say codipy.value(A)"))
    return value_tree((matrix, *options))


class Factors:
    """What `splu` and `spilu` return, for active right-hand sides too.

    Parameters
    ----------
    lu : scipy.sparse.linalg.SuperLU
        SciPy's.
    """

    def __init__(self, lu):
        self._lu = lu

    def solve(self, rhs, trans="N"):
        """``lu.solve(rhs, trans)``."""
        if not holds_active((rhs,)):
            return self._lu.solve(*value_tree((rhs,)), trans)
        return self._solved(rhs, trans)

    def _solved(self, rhs, trans):
        def value(x):
            if holds_active((x,)):  # a rule that is differentiated itself
                return self._solved(x, trans)
            found = self._lu.solve(np.ascontiguousarray(x) if np.ndim(x) == 1 else np.asarray(x), trans)
            if np.iscomplexobj(found):
                raise ActiveError("a complex sparse matrix has no derivative: split it into real and imaginary part")
            return found

        rule = _linear("sparse solve", value, lambda g: self.solve(g, _TRANSPOSED[trans]))
        return fillable(call(rule, (asarray(rhs),)))

    def __getattr__(self, name):
        return getattr(self._lu, name)

    def __repr__(self):
        return repr(self._lu)


def _factors(name):
    original = getattr(scipy.sparse.linalg, name)

    @functools.wraps(original)
    def function(A, *args, **kwargs):
        return Factors(original(*_of_matrix(name, A, args), **kwargs))

    return function


@functools.wraps(scipy.sparse.linalg.factorized)
def _factorized(A):
    solve = scipy.sparse.linalg.factorized(*_of_matrix("factorized", A, ()))
    return _solver(solve) or solve  # or that of another library, which takes ndarrays alone


def _solver(method):
    """What stands for the method `solve` of SciPy's factors; None for every other function that is built in."""
    if type(getattr(method, "__self__", None)) is _SuperLU and method.__name__ == "solve":
        return Factors(method.__self__).solve
    return None


def method_of(o):
    """``o.solve``: of SciPy's factors, or a method of such that `o` has by this name, what stands for it."""
    if type(o) is _SuperLU:
        return Factors(o).solve
    method = o.solve
    return method if type(method) is not BuiltinFunctionType else _solver(method) or method


@functools.wraps(scipy.sparse.linalg.spsolve)
def _spsolve(A, b, *args, **kwargs):
    original = scipy.sparse.linalg.spsolve
    if not holds_active((b,)):
        A, *args = _of_matrix("spsolve", A, args)
        return original(A, *value_tree((b,)), *args, **kwargs)
    if not scipy.sparse.issparse(A):
        raise ActiveError(refusal("scipy.sparse.linalg.spsolve of a matrix that is not sparse",
                                  "write `np.linalg.solve(A, b)`"))  # fmt: skip
    matrix = kept(A)

    def value(x):
        if holds_active((x,)):
            return _spsolve(matrix, x, *args, **kwargs)
        return original(matrix, np.asarray(x), *args, **kwargs)

    def adjoint(g):
        return _spsolve(matrix.T.tocsc(), g, *args, **kwargs)

    return fillable(call(_linear("spsolve", value, adjoint), (asarray(b),)))


FUNCTIONS = {"splu": _factors("splu"), "spilu": _factors("spilu"), "factorized": _factorized, "spsolve": _spsolve}
STANDINS = {_SuperLU: Factors, BuiltinFunctionType: _solver}
