# SPDX-License-Identifier: Apache-2.0
"""Linear solves with the Jacobian of an equation by its solution: with one that is formed, or by products alone."""

from __future__ import annotations

import functools

import numpy as np

from codipy.active.array import Real, call, is_active, plain
from codipy.active.recordings.borrowed import origins
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules import factors
from codipy.tools.arguments.leaves import join, split
from codipy.tools.arguments.trees import labelled
from codipy.tools.callee import name_of
from codipy.tools.runs.columns import matrix_of

__all__ = ["Dense", "Inverse", "vector_of"]

_ROUNDED = 1e-3      # how much of a solution of linear equations may be rounding


def vector_of(leaves):
    """All numbers, active or not, in a row."""
    rows = [np.reshape(np.reshape(x, (1,)) if type(x) is Real else x, (-1,)) for x in leaves]
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


class Dense:
    """Solves with a Jacobian that is formed.

    Attributes
    ----------
    numbers : list
        The Jacobian, as an array, which may be the result of a call.
    residual : tree
        What the equation gives there.
    """

    def __init__(self, equation, f, options):
        self._unsolved = options.get("unsolved", "")
        self._f, self._around, self.residual = f, origins(equation.tape) if equation.tape.loans else [], equation.value
        with equation:
            self.numbers = [matrix_of(equation.recording, equation.leaves, "auto", None)]
        self._demand_regular(self.numbers[0])

    def around(self):
        """The variables of enclosing recordings on which the equation depends."""
        return [variable for _, variable in self._around]

    def solve(self, right):
        """The solution of J x = right."""
        return np.linalg.solve(self.numbers[0], right)

    correction = solve

    def rounding(self, found):
        """How far rounding of what the equation gives may move a solution."""
        sizes = np.abs(self.numbers[0])
        scale = 1.0 + np.abs(vector_of([leaf for _, leaf in labelled(found, "")]))
        rows = 1e3 * np.finfo(float).eps * (sizes @ scale) * np.cos(np.arange(len(sizes)))
        return float(np.max(np.abs(factors.solve(np.array(plain(self.numbers[0])), rows)), initial=0.0))

    def _demand_regular(self, matrix):
        """Raise where solutions would be made of rounding: LU factors of a singular matrix seldom have a zero.

        A right-hand side as large as the rounding of the rows, whatever their units and those of the columns are, must
        be solved by little.
        """
        sizes = np.abs(matrix)
        columns = np.max(sizes, axis=0, initial=0.0)
        if len(matrix) != columns.size or not np.all(np.isfinite(columns)):      # which the first solution shows
            return
        try:
            if not np.all(columns):
                raise np.linalg.LinAlgError
            rows = sizes @ (1.0 / columns) * np.cos(np.arange(len(matrix)))
            moved = np.abs(factors.solve(matrix, np.finfo(float).eps * rows)) * columns
        except np.linalg.LinAlgError:
            moved = np.inf
        if not np.max(moved, initial=0.0) <= _ROUNDED:
            raise ArithmeticError(f"the Jacobian of {name_of(self._f)} by the solution is singular there, or cannot be "
                                  f"told from a singular one: it has no derivative{self._unsolved}")

    def take(self, other):
        """Do as another one from now on, of the same equation elsewhere; None: as at first. The numbers do it here."""

    def close(self):
        """Nothing is solved any more."""


class _Product:
    """Products of a Jacobian, or of its transpose, with vectors, as a function: what a `solve` gets.

    Parameters
    ----------
    inverse : Inverse
        Whose Jacobian it is.
    is_turned : bool
        Whether it is the transpose that is multiplied with.
    """

    def __init__(self, inverse, is_turned):
        self._inverse, self.is_turned = inverse, is_turned

    @property
    def transposed(self):
        """Products with the transpose."""
        return _Product(self._inverse, not self.is_turned)

    def __call__(self, vector):
        return self._inverse.product(vector, self.is_turned)


class Inverse:
    """Solves with a Jacobian, and with its transpose, of which products with vectors alone are known.

    Each is a primitive, of which the rules are the two again: derivatives of any order take solves only. Attributes and
    methods are those of `Dense`.
    """

    def __init__(self, equation, f, options):
        self._first = self._equation = equation
        self._f, self._with, self._bound = f, options["solve"], options["tolerance"] / 1000.0
        self.numbers, self.residual = [], equation.value
        name = f"the linear solve of {name_of(f)}"
        self._forward, self._back = (
            Primitive(f"{name}, transposed" if transposed else name, functools.partial(self._solved, transposed),
                      vjp=functools.partial(self._pull, transposed), jvp=functools.partial(self._push, transposed),
                      keep_args=False, keep_out=False)
            for transposed in (False, True))
        self._none = Primitive(f"{name}, solved", lambda right: np.zeros(right.shape), keep_args=False, keep_out=False,
                               vjp=functools.partial(self._pull, False), jvp=functools.partial(self._push, False))

    def around(self):
        tape = self._equation.tape
        return [variable for _, variable in origins(tape)] if tape.loans else []

    def take(self, other):
        if self._equation is not self._first:
            self.close()
        self._equation = self._first if other is None else other._equation

    def close(self):
        self._equation.close()

    def solve(self, right, transposed=False):
        return call(self._back if transposed else self._forward, (right,)) if is_active(right) else self._solved(
            transposed, right)

    def correction(self, right):
        """What is to be taken from a solution, where `right` is what the equation gives there.

        A solver that is trusted has found it as exactly as it was asked to: the number is zero, and has a slope.
        """
        if self._bound < np.inf:
            return self.solve(right)
        return call(self._none, (right,)) if is_active(right) else np.zeros(np.shape(right))

    def _pull(self, transposed, g, out, args, kwargs, argnums):
        return [self.solve(g, not transposed)]

    def _push(self, transposed, tangents, out, args, kwargs):
        return self.solve(tangents[0], transposed)

    def product(self, vector, transposed):
        """A vector times the Jacobian, or its transpose."""
        equation = self._equation
        sweep = equation.recording.reverse if transposed else equation.recording.forward
        return join(sweep(equation.tape.new_adjoints(), split(np.reshape(vector, -1), equation.leaves)))

    def _solved(self, transposed, right):
        product, scale = _Product(self, transposed), np.linalg.norm(right)
        if scale == 0.0:
            return np.zeros(right.shape)
        solver = self._with if callable(self._with) else functools.partial(_by_scipy, self._with)
        found = np.asarray(solver(product, right.copy()))
        if found.shape != right.shape or found.dtype != np.float64:
            raise TypeError(f"solve(product, right) must return a vector of {right.size} float64, got one of shape "
                            f"{found.shape} and dtype {found.dtype}")
        residual = np.linalg.norm(product(found) - right) / scale
        if not residual <= self._bound:
            by = name_of(self._with) if callable(self._with) else self._with
            raise ArithmeticError(f"a linear equation with the {'transposed ' if transposed else ''}Jacobian of "
                                  f"{name_of(self._f)} was not solved by {by}: the residual is {residual:.3g} "
                                  "of the right side; is the Jacobian singular, or badly conditioned? Give a solve of "
                                  "your own, with a preconditioner")
        return found


def _by_scipy(name, product, right):
    try:
        from scipy.sparse.linalg import LinearOperator, cg, gmres
    except ImportError as error:
        raise ImportError(f"codipy.implicit needs SciPy for solve={name!r}: install it, or give a function "
                          "solve(product, right)") from error
    operator = LinearOperator((right.size, right.size), matvec=product, dtype=np.float64)
    if name == "cg":
        return cg(operator, right, rtol=1e-13, atol=0.0)[0]
    # Whether it converged is judged by the residual: rounding may keep it above what is asked for here.
    return gmres(operator, right, rtol=1e-13, atol=0.0, restart=min(right.size, 60))[0]
