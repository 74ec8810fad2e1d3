# SPDX-License-Identifier: Apache-2.0
"""Solvers that only multiply with a matrix: `cg`, `gmres`, `bicgstab` and their like.

SciPy iterates with plain numbers; the solution has the derivative of the equation's, not of the iterations. The sweep
solves once with the transpose, by the same solver with the same tolerances: derivatives are as accurate as those say.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.array import Array, call
from codipy.active.doors import door
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import fillable, holds_active, holds_variables, value_tree
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import conj
from codipy.numpy.sparse import kept
from codipy.scipy.calls import is_complex, numbers
from codipy.scipy.kernels.products import by_values, multiplied
from codipy.scipy.kernels.whole import is_active_matrix, matrix_of, plain_matrix, structure_of

__all__ = ["FUNCTIONS"]

_SYMMETRIC = ("cg", "minres")
_NAMES = ("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr")
_OF_ONE_RUN = ("x0", "callback", "callback_type", "CU", "discard_C", "outer_v", "store_outer_Av", "prepend_outer_v")


def _turned(operator, is_symmetric):
    """The conjugate transpose, or the operator itself if it is Hermitian."""
    if operator is None or is_symmetric:
        return operator
    if operator.dtype is None or operator.dtype.kind != "c":
        return operator.T
    return operator.H if isinstance(operator, scipy.sparse.linalg.LinearOperator) else operator.conj().T


class _Equations:
    """A solver of SciPy with its options, and the matrix without its values, or itself where it is passive."""

    def __init__(self, name, options, structure=None, matrix=None):
        self._name, self._options, self._structure, self._matrix = name, options, structure, matrix

    def _run(self, values, b, is_turned):
        is_symmetric, options = self._name in _SYMMETRIC, self._options
        matrix = self._matrix if self._structure is None else self._structure.matrix(np.array(values))
        if is_turned:
            matrix = _turned(matrix, is_symmetric)
            options = {key: value for key, value in options.items() if key not in _OF_ONE_RUN}
            for key in ("M", "M1", "M2"):
                if options.get(key) is not None:
                    options = {**options, key: _turned(options[key], is_symmetric)}
        found, info = getattr(scipy.sparse.linalg, self._name)(matrix, b, **options)
        if info != 0:
            where = "the transposed equations of the sweep" if is_turned else "the equations"
            raise ArithmeticError(f"scipy.sparse.linalg.{self._name}: {where} were not solved within the tolerance "
                                  f"(info is {info}), so there is no derivative: say maxiter=, or take spsolve(A, b)")
        return found

    def solve(self, values, b, is_turned=False):
        """Of plain or active values of the matrix (None where it is passive) and of the right-hand side."""
        operands = (b,) if values is None else (b, values)
        if holds_variables(operands):
            if any(map(is_complex, operands)) or values is None and self._matrix.dtype.kind == "c":
                return door("complexes")().recorded_once(self._rule(is_turned), operands)
            return call(self._rule(is_turned), tuple(map(asarray, operands)))
        return self._run(*(None if x is None else np.asarray(x) for x in (values, b)), is_turned)

    def _rule(self, is_turned):
        is_transposed = is_turned and self._name not in _SYMMETRIC

        def values_of(args):
            return args[1] if len(args) == 2 else None

        def vjp(g, out, args, kwargs, argnums):
            bar = self.solve(values_of(args), np.reshape(g, -1), not is_turned)
            bars = []
            for k in argnums:
                left, right = (conj(bar), out) if is_transposed else (bar, conj(out))
                bars.append(np.reshape(-by_values(self._structure, left, right, is_transposed) if k else bar,
                                       np.shape(args[k])))  # fmt: skip
            return bars

        def jvp(tangents, out, args, kwargs):
            right = np.reshape(tangents[0], -1) if 0 in tangents else 0.0
            if 1 in tangents:
                moved = conj(tangents[1]) if is_transposed else tangents[1]
                right = right - multiplied(self._structure, moved, out, is_transposed)
            return self.solve(values_of(args), right, is_turned)

        def forward(*operands):
            return self._run(values_of(operands), operands[0], is_turned)

        return Primitive(f"sparse {self._name}", forward, vjp, jvp, linear=(0,))


def _solver(name):
    original = getattr(scipy.sparse.linalg, name)

    @functools.wraps(original)
    def function(A, b, *args, **kwargs):
        if args:  # x0, which stands third in all of them
            kwargs["x0"], *rest = args
            if rest:
                raise TypeError(f"{name}() takes from 2 to 3 positional arguments")
        A = matrix_of(A)
        options = {key: value_tree((plain_matrix(x),))[0] for key, x in kwargs.items()}
        if type(A) is Array and holds_active((A,)):
            instead = "write `np.linalg.solve(A, b)`; where it is not wanted, say codipy.value(x)"
            raise ActiveError(refusal(f"scipy.sparse.linalg.{name} of an active Array", instead))
        is_active = is_active_matrix(A)
        if not is_active and not holds_variables((b,)):
            return original(*value_tree((plain_matrix(A), numbers(b))), **options)
        if is_active:
            matrix = A.tocsr() if A.format in ("lil", "dok") else A
            equations, values = _Equations(name, options, structure_of(matrix)), matrix.data.copy()
        else:
            plain = value_tree((plain_matrix(A),))[0]
            if scipy.sparse.issparse(plain):
                plain = kept(plain)
            elif isinstance(plain, np.ndarray):
                plain = np.array(plain)
            equations, values = _Equations(name, options, matrix=plain), None
        return fillable(equations.solve(values, b if is_complex(b) else asarray(b))), 0

    return function


FUNCTIONS = {name: _solver(name) for name in _NAMES}
