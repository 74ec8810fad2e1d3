# SPDX-License-Identifier: Apache-2.0
"""The steps that an integrator took, once more, with variables: explicit Runge-Kutta methods, Radau and BDF.

Sizes and orders of steps are those of the plain run, and so are the values, to the last bit: what is computed here are
derivatives. The equations of an implicit step are those of its method (Hairer and Wanner, "Solving Ordinary
Differential Equations II", 1996, section IV.8; Shampine and Reichelt, "The MATLAB ODE Suite", 1997, section 2); their
solution has the derivative by the implicit function theorem, from steps of Newton's method with the Jacobian there, one
for each order of derivatives. Rejected: to rebuild SciPy's own loop, whose error estimates then are on the tape, and
whose Newton iterations stop before their derivatives have converged.
"""

from __future__ import annotations

import math

import numpy as np

import codipy.numpy
from codipy.active.array import Array, Real, call, is_active, plain
from codipy.active.arrays.known import with_known_values
from codipy.active.scalar.kinds import converted
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.decisions import decision, is_replayed, keep
from codipy.numpy.solved import LESS_VALUE
from codipy.tools.arguments.choice import Choice
from codipy.tools.orders import orders
from codipy.tools.runs.columns import matrix_of
from codipy.tools.runs.run import Run

__all__ = ["Bdf", "Explicit", "Radau", "anchored"]

_AS_FAR_OFF = 10.0      # parts of what an implicit step is solved for, which SciPy's Newton iteration leaves 0.03 of
_OTHER = ("the right-hand side of scipy.integrate.solve_ivp has other slopes where it is called once more for the "
          "derivative: let it depend on t, y and args only, not on how often it was called, on random numbers or on an "
          "array that SciPy has, too")

_SAME = decision("scipy.integrate.solve_ivp", lambda x: x)      # a replay does not integrate anew: it raises
_BY_STATE = Choice(0)


def anchored(x, values, same=_SAME):
    """A variable with these values, which it has but for rounding, and its derivatives.

    `same` is the decision that says of a replay at other inputs that it cannot find these values there.
    """
    if not is_active(x):
        return values
    if is_replayed():
        keep(same, [x])
    elif type(x) is not Real and with_known_values(x, values):
        return x
    change = x - x.value if type(x) is Real else call(LESS_VALUE, (x,))
    return values + (converted(change, float) if type(values) is float else change)      # a float of Python's stays one


def _sum(start, factor, weights, terms):
    """``start`` and the terms by their weights and one factor."""
    for weight, term in zip(weights, terms):
        if weight.__class__ is Real or weight:
            start = start + (factor * weight) * term
    return start


class _Steps:
    """What takes steps.

    Parameters
    ----------
    f : callable
        Of time and state, active.
    solver : OdeSolver
        Who took them.
    plain_f : callable
        Of numbers.
    """

    def __init__(self, f, solver, plain_f):
        self._f, self._plain_f, self._size = f, plain_f, solver.n
        self._rtol, self._atol = solver.rtol, solver.atol

    def _slope(self, t, y):
        """The right-hand side, as an array."""
        found = self._f(t, y)
        if type(found) is not Array or found.ndim != 1:
            found = as_numbers(found)
            if found.shape != (self._size,):
                found = codipy.numpy.broadcast_to(found, (self._size,))
        return found

    def _jacobian(self, t, y):
        """The matrix of its derivatives by the state, plain."""
        def f(y):
            return as_numbers(self._plain_f(t, y))

        equation = Run(self._plain_f, f, _BY_STATE, (y,), {}, False, ("auto", None), numbers=True)
        with equation:
            found = matrix_of(equation.recording, equation.leaves, "auto", None)
        return np.broadcast_to(np.reshape(found, (-1, self._size)), (self._size, self._size))

    def _moved(self, matrix, residual, y):
        """What a step of Newton's method moves, without its value, which is that of a solution."""
        if is_replayed():
            keep(_SAME, [residual])
        try:
            found = codipy.numpy.linalg.solve(matrix, residual)
        except np.linalg.LinAlgError as error:
            raise ArithmeticError("the equations of an implicit step of scipy.integrate.solve_ivp are singular: it has "
                                  "no derivative") from error
        if np.any(np.abs(plain(found)) > _AS_FAR_OFF * (self._atol + self._rtol * np.abs(y))) and not is_replayed():
            raise ActiveError(_OTHER)
        return call(LESS_VALUE, (found,))


# ---- Explicit methods ------------------------------------------------------------------------------------------------
class Explicit(_Steps):
    """Steps of an explicit Runge-Kutta method."""

    def __init__(self, f, solver, plain_f):
        super().__init__(f, solver, plain_f)
        method = type(solver)
        self._rows, self._nodes = [row[:k].tolist() for k, row in enumerate(method.A)], method.C.tolist()
        self._weights, self._method, self._is_replayed = method.B.tolist(), method, is_replayed()
        self._first = self._end = self._next = None      # slope at the beginning; where the step ends; its slope there

    def start(self, t, y, inner):
        """Begin at a state, with what the first step has."""

    def step(self, step, t, h, y, wanted):
        """One step from a state.

        Parameters
        ----------
        step : Step
        t, h : float or Real
            Where it begins, and how far it goes.
        y : ndarray or Array
        wanted : bool
            Whether the interpolant is asked for.

        Returns
        -------
        y : ndarray or Array
            The state at its end.
        interpolant : callable or None
            Of time. It may call the function when it is asked first, or when its `complete` is called.
        """
        moves = type(t) is Real or type(h) is Real
        slopes = [self._slope(t, y) if self._first is None else self._first]
        for k, (at, state) in enumerate(step.calls[:-1], start=1):
            stage = _sum(y, h, self._rows[k], slopes)
            if self._is_replayed or not with_known_values(stage, state):
                stage = anchored(stage, state.reshape(-1))
            slopes.append(self._slope(t + self._nodes[k] * h if moves else at, stage))
        new = _sum(y, h, self._weights, slopes)
        if not self._is_replayed:
            _demand_same(plain(new), step, plain(y), abs(plain(h)))
        if self._is_replayed or not with_known_values(new, step.y):
            new = anchored(new, step.y)
        self._first, self._end = None, (t + h if moves else step.t, new)
        if not wanted:
            return new, None
        interpolant = _Eighth if hasattr(self._method, "A_EXTRA") else _Polynomial
        return new, interpolant(self, t, h, y, new, slopes, self._last(*self._end))

    def _last(self, t, y):
        """Gives the slope at the end of a step, computed once."""
        found = []

        def slope():
            if not found:
                found.append(self._slope(t, y))
            return found[0]

        self._next = slope
        return slope

    def go_on(self):
        """There will be another step."""
        self._first = self._slope(*self._end) if self._next is None else self._next()
        self._next = None


def _demand_same(new, step, y, h):
    """Raise where a step ends elsewhere than SciPy's, by more than rounding."""
    if new.__class__ is not np.ndarray:
        return
    off = np.abs(new - step.y).max(initial=0.0)
    if off > 1e-9 * h * np.abs(step.slopes).max() + 1e-13 * (np.abs(y).max() + np.abs(step.y).max()):
        raise ActiveError(_OTHER)


class _Polynomial:
    """What a Runge-Kutta method takes between two states, a sum of its slopes."""

    def __init__(self, steps, t, h, y, new, slopes, last):
        self._t, self._h, self._y, self._slopes, self._last = t, h, y, slopes, last
        self._rows = steps._method.P

    def complete(self):
        """Call the function as far as it is asked for at some time."""
        self._last()

    def __call__(self, t):
        x = (t - self._t) / self._h
        weights = [_horner(row.tolist(), x) for row in self._rows]
        return _sum(self._y, self._h, weights, [*self._slopes, self._last()])


def _horner(coefficients, x):
    """The polynomial without a constant."""
    total = 0.0
    for each in reversed(coefficients):
        total = (total + each) * x
    return total


class _Eighth:
    """What DOP853 takes between two states, from three slopes more."""

    def __init__(self, steps, t, h, y, new, slopes, last):
        self._steps, self._t, self._h, self._y, self._new = steps, t, h, y, new
        self._slopes, self._last, self._parts = slopes, last, None

    def complete(self):
        """Call the function as far as it is asked for at some time."""
        if self._parts is not None:
            return
        steps, h, slopes = self._steps, self._h, [*self._slopes, self._last()]
        for row, node in zip(steps._method.A_EXTRA, steps._method.C_EXTRA.tolist()):
            stage = _sum(self._y, h, row[:len(slopes)].tolist(), slopes)
            slopes.append(steps._slope(self._t + node * h, stage))
        change, first, last = self._new - self._y, h * slopes[0], h * self._last()
        self._parts = [change, first - change, 2.0 * change - (last + first)]
        self._parts += [_sum(np.zeros(steps._size), h, row.tolist(), slopes) for row in steps._method.D]

    def __call__(self, t):
        self.complete()
        x, total = (t - self._t) / self._h, 0.0
        for k, part in enumerate(reversed(self._parts)):
            total = (total + part) * (x if k % 2 == 0 else 1.0 - x)
        return self._y + total


# ---- Radau -----------------------------------------------------------------------------------------------------------
_NODES = [(4.0 - math.sqrt(6.0)) / 10.0, (4.0 + math.sqrt(6.0)) / 10.0, 1.0]
_POWERS = np.vander(_NODES, 3, increasing=True)
# The integrals of Lagrange's polynomials to each node.
_COLLOCATION = (_POWERS * np.array(_NODES)[:, None] / np.arange(1.0, 4.0)) @ np.linalg.inv(_POWERS)


class Radau(_Steps):
    """Steps of the Radau IIA method of order 5."""

    def start(self, t, y, inner):
        """Begin at a state, with what the first step has."""

    def step(self, step, t, h, y, wanted):
        """See `Explicit.step`."""
        [found] = step.inner
        n, size, state = self._size, plain(h), plain(y)
        moves = is_active(t) or is_active(h)
        times = [plain(t) + node * size for node in _NODES]
        slopes = [self._jacobian(at, state + part) for at, part in zip(times, found)]
        matrix = np.eye(3 * n) - size * np.block([[weight * slope for weight, slope in zip(row, slopes)]
                                                  for row in _COLLOCATION.tolist()])
        if moves:
            times = [t + node * h for node in _NODES]
        parts = list(found)
        for _ in range(orders()):
            slopes = [self._slope(at, anchored(y + part, state + plain(part))) for at, part in zip(times, parts)]
            residual = codipy.numpy.concatenate([part - _sum(0.0, h, row, slopes)
                                        for part, row in zip(parts, _COLLOCATION.tolist())])
            if not is_active(residual):
                break
            moved = self._moved(matrix, residual, np.tile(step.y, 3))
            parts = [part - moved[k * n:k * n + n] for k, part in enumerate(parts)]
        return anchored(y + parts[2], step.y), _Collocation(t, h, y, parts)

    def go_on(self):
        """There will be another step."""


class _Collocation:
    """The polynomial of a collocation method."""

    def __init__(self, t, h, y, parts):
        self._t, self._h, self._y, self._parts = t, h, y, parts

    def complete(self):
        """Nothing is left to be found."""

    def __call__(self, t):
        x, total = (t - self._t) / self._h, self._y
        for k, (node, part) in enumerate(zip(_NODES, self._parts)):
            weight = x * (1.0 / node)
            for other in _NODES[:k] + _NODES[k + 1:]:
                weight = weight * ((x - other) / (node - other))
            total = total + weight * part
        return total


# ---- BDF -------------------------------------------------------------------------------------------------------------
class Bdf(_Steps):
    """Steps of backward differentiation formulas, of order 1 to 5: differences of past states, a variable each."""

    def __init__(self, f, solver, plain_f):
        super().__init__(f, solver, plain_f)
        self._gamma, self._alpha = solver.gamma.tolist(), solver.alpha.tolist()
        self._direction = solver.direction
        self._differences, self._spacing, self._rounding = None, None, 0.0

    def start(self, t, y, inner):
        """Begin at a state: the first differences are those of the step that SciPy thought of."""
        self._spacing = inner[1]
        self._differences = [y, self._direction * self._spacing * self._slope(t, y)]

    def step(self, step, t, h, y, wanted):
        """See `Explicit.step`."""
        order, _, next_order, next_size = step.inner
        length, self._rounding = self._direction * h, 4.0 * np.spacing(max(abs(step.t), abs(step.t_old)))
        self._rescale(order, length)
        old = self._differences
        predicted = _sum(old[0], 1.0, [1.0] * order, old[1:order + 1])
        alpha, at = self._alpha[order], t + h if is_active(t) or is_active(h) else step.t
        history = _sum(0.0, 1.0 / alpha, self._gamma[1:order + 1], old[1:order + 1])
        new, matrix, c = step.y, None, h / alpha
        for _ in range(orders()):
            residual = (new - predicted) + history - c * self._slope(at, new)
            if not is_active(residual):
                break
            if matrix is None:
                matrix = np.eye(self._size) - plain(c) * self._jacobian(plain(at), step.y)
            new = new - self._moved(matrix, residual, step.y)
        change = new - predicted
        beyond = old[order + 1:order + 2]
        last = [change, *(change - other for other in beyond)]
        differences = [*old[:order + 1], *last]
        for k in reversed(range(order + 1)):
            differences[k] = differences[k] + differences[k + 1]
        differences[0] = new
        self._differences = differences + old[len(differences):]
        if next_order != order or next_size != abs(step.t - step.t_old):
            self._rescale(next_order, next_size)
        return new, _Differences(t + h if is_active(t) or is_active(h) else step.t, self._direction * self._spacing,
                                 self._differences[:next_order + 1])

    def go_on(self):
        """There will be another step."""

    def _rescale(self, order, spacing):
        """Differences at points of another distance, of the polynomial that they make."""
        if not (is_active(spacing) or is_active(self._spacing)) and (
                abs(spacing / self._spacing - 1.0) <= self._rounding / spacing):
            self._spacing = spacing      # SciPy has not rescaled: what it adds to the time is rounded
            return
        factor, old = spacing / self._spacing, self._differences
        rows = [[_binomial(j, -i * factor) for j in range(order + 1)] for i in range(order + 1)]
        for m in range(1, order + 1):
            signs = [(-1) ** i * math.comb(m, i) for i in range(m + 1)]
            weights = [sum(sign * row[j] for sign, row in zip(signs, rows)) for j in range(1, order + 1)]
            self._differences = [*self._differences[:m], _sum(0.0, 1.0, weights, old[1:order + 1]),
                                 *self._differences[m + 1:]]
        self._spacing = spacing


def _binomial(j, s):
    """What the difference of order j is multiplied by in the polynomial, s distances on."""
    product = 1.0
    for k in range(j):
        product = product * ((s + k) / (k + 1.0))
    return product


class _Differences:
    """The polynomial of backward differences."""

    def __init__(self, t, h, differences):
        self._t, self._h, self._differences = t, h, differences

    def complete(self):
        """Nothing is left to be found."""

    def __call__(self, t):
        s = (t - self._t) / self._h
        weights = [_binomial(j, s) for j in range(1, len(self._differences))]
        return _sum(self._differences[0], 1.0, weights, self._differences[1:])
