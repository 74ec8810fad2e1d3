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

from codipy.active.array import call
from codipy.active.doors import door
from codipy.active.messages.callers import refusal
from codipy.active.recordings.status import recording
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import copied, fillable, holds_variables, value_tree
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import conj
from codipy.numpy.sparse import kept
from codipy.scipy.calls import is_complex, numbers
from codipy.scipy.kernels.products import by_values, multiplied
from codipy.scipy.kernels.whole import (
    is_active_array,
    is_active_matrix,
    is_operator,
    matrix_of,
    parts_of,
    plain_matrix,
    plain_operator,
)
from codipy.scipy.products import effects_of

__all__ = ["FUNCTIONS"]

_SYMMETRIC = ("cg", "minres")
_NAMES = ("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr")
_SYMMETRY = 1e-6
_TIMES = 100.0      # what the tolerance may be missed by
_ROUNDED = 1e-8     # of the right-hand side: what recursions for the residual may be off by
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

    def __init__(self, name, given, effects):
        self.name, self.is_symmetric, self._effects, self._keeps = name, name in _SYMMETRIC, effects, False
        self._options, self._size = _plain_options(given), 1.0
        self._further = {key: x for key, x in self._options.items() if key not in _OF_ONE_RUN}
        self._preconditioners = [given[key] for key in ("M", "M1", "M2") if key in given]
        turned = {key: self._turned_option(given[key]) for key in ("M", "M1", "M2") if key in given}
        self._turned = self._further | turned

    def _turned_option(self, preconditioner):
        """That of the transposed equations, which come to the same solution without one."""
        if not self.is_symmetric and is_operator(preconditioner):
            preconditioner = door("with adjoint")(preconditioner)
        return _turned(_plain_option(preconditioner), self.is_symmetric)

    def first(self, matrix, b):
        """The solution of the user's own equations."""
        self._size = float(np.linalg.norm(b)) or 1.0
        self._effects.begin()
        with _telling(self.name, self._options) as options:
            found = self._solved(matrix, b, options, "the equations")
        self._effects.solved()
        self._keeps = self._effects.has_left
        if self._keeps:
            self._demand_of_one(matrix, b, found, "the equations")
        return found

    def further(self, matrix, b, is_turned):
        """That of others with the same matrix, or with its conjugate transpose, as exact beside its right-hand side.

        The right-hand side is scaled to the size of the user's, by a power of two: an ``atol`` is meant for that one,
        and some solvers take small numbers for a breakdown.
        """
        size = float(np.linalg.norm(b))
        if not 0.0 < size < np.inf:
            return np.zeros(np.size(b), np.asarray(b).dtype) if size == 0.0 else np.full(np.size(b), np.nan)
        power = int(np.round(np.log2(self._size) - np.log2(size)))
        equations = "the transposed equations of the sweep" if is_turned else "the equations of the derivative"
        options = self._turned if is_turned else self._further
        right = _scaled(b, power)
        with door("undone")(matrix, *self._preconditioners):
            found = self._solved(matrix, right, options, equations)
        if self._keeps:
            self._demand_of_one(matrix, right, found, equations)
        return _scaled(found, -power)

    def _solved(self, matrix, b, options, equations):
        found, info = getattr(scipy.sparse.linalg, self.name)(matrix, b, **options)
        if info != 0:
            raise ArithmeticError(f"scipy.sparse.linalg.{self.name}: {equations} were not solved within the tolerance "
                                  f"(info is {info}), so there is no derivative: say maxiter=, or take spsolve(A, b)")
        if self.name == "tfqmr" and options.get("M") is not None:
            self._demand_near(matrix, b, found, options, equations)
        return found

    def _demand_near(self, matrix, b, found, options, equations):
        """Raise where SciPy's `tfqmr` has stopped too early, as it does with a preconditioner."""
        size, apart, allowed = self._residual(matrix, b, found, options)
        if apart > allowed:
            raise ArithmeticError(f"scipy.sparse.linalg.tfqmr with M= says that it has solved {equations}, and the "
                                  f"residual is {apart / size:.3g} of the right-hand side, so there is no derivative: "
                                  "take bicgstab or gmres, which mind M=")

    def _demand_of_one(self, matrix, b, found, equations):
        """Raise where functions that keep something have multiplied with one matrix after another."""
        with door("undone")(matrix):
            size, apart, allowed = self._residual(matrix, b, found, self._options)
            if self.name == "minres":      # which compares with the sizes of matrix and solution
                there = np.linalg.norm(matrix @ np.reshape(b, -1)) / size
                allowed *= max(1.0, float(there * np.linalg.norm(found)) / size)
        if not apart <= max(allowed, _ROUNDED * size):
            raise ArithmeticError(f"what the solver gave is no solution: scipy.sparse.linalg.{self.name} says that it "
                                  f"has solved {equations}, and the residual is {apart / size:.3g} of the right-hand "
                                  "side where the functions of its LinearOperator find what they have kept as it was "
                                  "before: their products must be those of one matrix, whatever was called before")

    def _residual(self, matrix, b, found, options):
        """The size of the right-hand side, that of the residual, and what this may be."""
        size, apart = float(np.linalg.norm(b)) or 1.0, float(np.linalg.norm(matrix @ found - np.reshape(b, -1)))
        return size, apart, _TIMES * max(options.get("rtol", 1e-5) * size, options.get("atol", 0.0))


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


def _demand_symmetric(name, matrix, b, found):
    """Raise where a matrix is not Hermitian, with which the solver may have found a solution, and finds no slope."""
    there, back = (np.reshape(copied(matrix @ x), -1) for x in (b, found))
    size = np.linalg.norm(there) * np.linalg.norm(found) + np.linalg.norm(b) * np.linalg.norm(back)
    if abs(np.vdot(there, found) - np.vdot(b, back)) > _SYMMETRY * size:
        raise ArithmeticError(f"scipy.sparse.linalg.{name} is for symmetric matrices, or Hermitian ones, and this is "
                              "none: it has solved the equations, but not those of the derivative, which has the "
                              "transpose. Take bicgstab or gmres")


class _Equations:
    """A solver, and the matrix without its values, or itself where it is passive."""

    def __init__(self, solver, structure=None, matrix=None):
        self._solver, self._structure, self._matrix = solver, structure, matrix

    def _run(self, values, b, is_turned, is_first):
        matrix = self._matrix if self._structure is None else self._structure.matrix(np.array(values))
        if is_first:
            found = self._solver.first(matrix, b)
            if self._solver.is_symmetric:
                _demand_symmetric(self._solver.name, matrix, np.reshape(b, -1), np.reshape(found, -1))
            return found
        turned = _turned(matrix, self._solver.is_symmetric) if is_turned else matrix
        return self._solver.further(turned, b, is_turned)

    def solve(self, values, b, is_turned=False, is_first=False):
        """Of plain or active values of the matrix (None where it is passive) and of the right-hand side."""
        operands = (b,) if values is None else (b, values)
        if holds_variables(operands):
            if any(map(is_complex, operands)) or values is None and self._matrix.dtype.kind == "c":
                return door("complexes")().recorded_once(self._rule(is_turned, is_first), operands)
            return call(self._rule(is_turned, is_first), tuple(map(as_numbers, operands)))
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


def _plain_options(given):
    return {key: _plain_option(x) for key, x in given.items()}


def _plain_option(x):
    """What only says how to come to the solution, which does not depend on it."""
    return plain_operator(x, True) if is_operator(x) else value_tree((plain_matrix(x),))[0]


def _vector(operator, b):
    """The right-hand side in one axis, where products with an operator use active values; else None."""
    right = np.reshape(b, -1)
    number = np.array(numbers(right), np.result_type(operator.dtype or float, numbers(right)))
    if not holds_variables((operator.matvec(number),)):
        return None
    return right if is_complex(right) else as_numbers(right)


def _turnable(name, A):
    """A matrix with which the transposed equations can be solved."""
    if name in _SYMMETRIC or not is_operator(A):
        return A
    found = door("with adjoint")(A)
    if found is None:
        instead = "say rmatvec=, the product with the transpose; or, of a matrix, write `spsolve(A, b)`"
        raise ActiveError(refusal(f"scipy.sparse.linalg.{name} with a LinearOperator without rmatvec", instead))
    return found


def _solver(name):
    original = getattr(scipy.sparse.linalg, name)

    def solved(A, b, kwargs, effects):
        if is_operator(A) and recording() is not None and (right := _vector(A, b)) is not None:
            solver = _Solver(name, kwargs, effects)
            first = functools.partial(solver.first, plain_operator(A, True))
            found = door("by operator")(name, A, right, first, solver.further, effects)
            return fillable(found), 0
        is_active = is_active_matrix(A) or is_active_array(A)
        if not is_active and not holds_variables((b,)):
            if not any(holds_variables((x,)) or is_active_matrix(x) for x in kwargs.values()):
                effects.begin()
                found = original(*value_tree((plain_matrix(A), numbers(b))), **_plain_options(kwargs))
                effects.solved()
                return found
            return _Solver(name, kwargs, effects).first(*value_tree((plain_matrix(A), numbers(b)))), 0
        if is_active:
            structure, values = parts_of(A)
            equations = _Equations(_Solver(name, kwargs, effects), structure)
        else:
            plain = numbers(value_tree((plain_matrix(_turnable(name, A)),))[0])
            if scipy.sparse.issparse(plain):
                plain = kept(plain)
            elif isinstance(plain, np.ndarray):
                plain = np.array(plain)
            equations, values = _Equations(_Solver(name, kwargs, effects), matrix=plain), None
        return fillable(equations.solve(values, b if is_complex(b) else as_numbers(b), is_first=True)), 0

    @functools.wraps(original)
    def function(A, b, *args, **kwargs):
        if args:  # x0, which stands third in all of them
            kwargs["x0"], *rest = args
            if rest:
                raise TypeError(f"{name}() takes from 2 to 3 positional arguments")
        A = matrix_of(A)
        with effects_of({"A": A, "b": b, **kwargs}) as effects:
            found = solved(A, b, kwargs, effects)
            for x in (A, *(kwargs.get(key) for key in ("M", "M1", "M2"))):
                if is_operator(x):
                    with contextlib.suppress(Exception):      # compiled code has errors of its own for a variable
                        effects.run_within(x.matvec, numbers(found[0]))
            return found

    return function


FUNCTIONS = {name: _solver(name) for name in _NAMES}
