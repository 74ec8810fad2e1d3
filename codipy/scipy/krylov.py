# SPDX-License-Identifier: Apache-2.0
"""Solvers that only multiply with a matrix: `cg`, `gmres`, `bicgstab` and their like.

SciPy iterates with plain numbers; the solution has the derivative of the equation's, not of the iterations. The sweep
solves once with the transpose, by the same solver with the same tolerances: derivatives are as accurate as those say.
"""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.array import Array, call
from codipy.active.doors import door
from codipy.active.messages.callers import refusal
from codipy.active.recordings.status import recording
from codipy.errors import ActiveError
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import fillable, holds_active, holds_variables, value_tree
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import conj
from codipy.numpy.sparse import kept
from codipy.scipy.calls import is_complex, numbers
from codipy.scipy.kernels.products import by_values, multiplied
from codipy.scipy.kernels.whole import (
    is_active_matrix,
    is_operator,
    matrix_of,
    plain_matrix,
    plain_operator,
    structure_of,
)

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
    return operator.H if is_operator(operator) else operator.conj().T


class _Solver:
    """A solver of SciPy with its options, for plain numbers."""

    def __init__(self, name, options):
        self.name, self.is_symmetric = name, name in _SYMMETRIC
        self._options, self._size = options, 1.0

    def first(self, matrix, b):
        """The solution of the user's own equations."""
        self._size = float(np.linalg.norm(b)) or 1.0
        with _telling(self.name, self._options) as options:
            return self._solved(matrix, b, options, "the equations")

    def further(self, matrix, b, is_turned):
        """That of others with the same matrix, or with its conjugate transpose, as exact beside its right-hand side.

        The right-hand side is scaled to the size of the user's, by a power of two: an ``atol`` is meant for that one,
        and some solvers take small numbers for a breakdown.
        """
        size = float(np.linalg.norm(b))
        if not 0.0 < size < np.inf:
            return np.zeros(np.size(b), np.asarray(b).dtype) if size == 0.0 else np.full(np.size(b), np.nan)
        options = {key: value for key, value in self._options.items() if key not in _OF_ONE_RUN}
        for key in ("M", "M1", "M2") if is_turned else ():
            if options.get(key) is not None:
                options[key] = _turned(options[key], self.is_symmetric)
        power = int(np.round(np.log2(self._size) - np.log2(size)))
        equations = "the transposed equations of the sweep" if is_turned else "the equations of the derivative"
        return _scaled(self._solved(matrix, _scaled(b, power), options, equations), -power)

    def _solved(self, matrix, b, options, equations):
        found, info = getattr(scipy.sparse.linalg, self.name)(matrix, b, **options)
        if info != 0:
            raise ArithmeticError(f"scipy.sparse.linalg.{self.name}: {equations} were not solved within the tolerance "
                                  f"(info is {info}), so there is no derivative: say maxiter=, or take spsolve(A, b)")
        return found


@contextlib.contextmanager
def _telling(name, options):
    """The options with a callback whose iterates depend on active values."""
    if options.get("callback") is None:
        yield options
        return
    with door("iterates")(f"scipy.sparse.linalg.{name}", True) as iterates:
        yield options | {"callback": iterates.told(options["callback"])}


def _scaled(x, power):
    """Times a power of two."""
    return np.ldexp(x.real, power) + 1j * np.ldexp(x.imag, power) if is_complex(x) else np.ldexp(x, power)


class _Equations:
    """A solver, and the matrix without its values, or itself where it is passive."""

    def __init__(self, solver, structure=None, matrix=None):
        self._solver, self._structure, self._matrix = solver, structure, matrix

    def _run(self, values, b, is_turned, is_first):
        matrix = self._matrix if self._structure is None else self._structure.matrix(np.array(values))
        if is_first:
            return self._solver.first(matrix, b)
        turned = _turned(matrix, self._solver.is_symmetric) if is_turned else matrix
        return self._solver.further(turned, b, is_turned)

    def solve(self, values, b, is_turned=False, is_first=False):
        """Of plain or active values of the matrix (None where it is passive) and of the right-hand side."""
        operands = (b,) if values is None else (b, values)
        if holds_variables(operands):
            if any(map(is_complex, operands)) or values is None and self._matrix.dtype.kind == "c":
                return door("complexes")().recorded_once(self._rule(is_turned, is_first), operands)
            return call(self._rule(is_turned, is_first), tuple(map(asarray, operands)))
        return self._run(*(None if x is None else np.asarray(x) for x in (values, b)), is_turned, is_first)

    def _rule(self, is_turned, is_first):
        is_transposed = is_turned and not self._solver.is_symmetric

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
            return self._run(values_of(operands), operands[0], is_turned, is_first)

        return Primitive(f"sparse {self._solver.name}", forward, vjp, jvp, linear=(0,))


def _plain_option(x):
    """What only says how to come to the solution, which does not depend on it."""
    return plain_operator(x, True) if is_operator(x) else plain_matrix(x)


def _vector(operator, b):
    """The right-hand side in one axis, where the products of a real operator with it use active values; else None."""
    right = np.reshape(b, -1)
    if is_complex(right) or operator.dtype is not None and np.dtype(operator.dtype).kind == "c":
        return None
    return asarray(right) if holds_variables((operator.matvec(np.array(numbers(right))),)) else None


def _solver(name):
    original = getattr(scipy.sparse.linalg, name)

    @functools.wraps(original)
    def function(A, b, *args, **kwargs):
        if args:  # x0, which stands third in all of them
            kwargs["x0"], *rest = args
            if rest:
                raise TypeError(f"{name}() takes from 2 to 3 positional arguments")
        A = matrix_of(A)
        options = {key: value_tree((_plain_option(x),))[0] for key, x in kwargs.items()}
        if type(A) is Array and holds_active((A,)):
            instead = "write `np.linalg.solve(A, b)`; where it is not wanted, say codipy.value(x)"
            raise ActiveError(refusal(f"scipy.sparse.linalg.{name} of an active Array", instead))
        if is_operator(A) and recording() is not None and (right := _vector(A, b)) is not None:
            solver = _Solver(name, options)
            first = functools.partial(solver.first, plain_operator(A, True))
            found = door("by operator")(name, A, right, first, solver.further)
            return fillable(found), 0
        is_active = is_active_matrix(A)
        if not is_active and not holds_variables((b,)):
            if not any(holds_variables((x,)) or is_active_matrix(x) for x in kwargs.values()):
                return original(*value_tree((plain_matrix(A), numbers(b))), **options)
            return _Solver(name, options).first(*value_tree((plain_matrix(A), numbers(b)))), 0
        if is_active:
            matrix = A.tocsr() if A.format in ("lil", "dok") else A
            equations, values = _Equations(_Solver(name, options), structure_of(matrix)), matrix.data.copy()
        else:
            plain = value_tree((plain_matrix(A),))[0]
            if scipy.sparse.issparse(plain):
                plain = kept(plain)
            elif isinstance(plain, np.ndarray):
                plain = np.array(plain)
            equations, values = _Equations(_Solver(name, options), matrix=plain), None
        return fillable(equations.solve(values, b if is_complex(b) else asarray(b), is_first=True)), 0

    return function


FUNCTIONS = {name: _solver(name) for name in _NAMES}
