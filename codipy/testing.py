# SPDX-License-Identifier: Apache-2.0
"""Checks of derivatives for tests: finite differences against forward against reverse, under every strategy."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codipy.active import Tape
from codipy.tape.html import html_table
from codipy.tape.strategies.settings import settings
from codipy.tape.strategies.table import FORWARD_STRATEGY
from codipy.tools.arguments.leaves import cut, join, shape_of, stack
from codipy.tools.callee import name_of
from codipy.tools.comparison.differences import Directions, agreement, finite_differences
from codipy.tools.console.table import table
from codipy.tools.runs.problem import Weighted

__all__ = ["DerivativeError", "Report", "check_derivatives"]

_DIRECTIONS = 16      # forward sweeps carry the unit directions up to here, else so many random ones
_SHOWN = 12           # components that a failure shows
_WIDE = 60            # letters of a value that is shown
_LARGE = 256          # numbers above which finite differences move all of them together


@dataclass(frozen=True)
class Row:
    """One way to record, and how far its derivatives are off, over what is allowed: 1 is the limit."""

    strategy: str
    granularity: str
    value: float            # recorded against plain value
    differences: float      # reverse against finite differences
    forward: float          # forward against reverse; under 'forward' against the first gradient

    @property
    def passed(self) -> bool:
        """Whether nothing is over the limit; NaN never passes."""
        return max(self.value, self.differences, self.forward) <= 1.0


@dataclass(frozen=True, repr=False)
class Report:
    """What `check_derivatives` found.

    Attributes
    ----------
    function : str
        Its name.
    value : object
        What the plain run returned. If that is not one number, derivatives are those of a sum of its numbers with
        fixed weights.
    names : sequence of str
        The numbers that it was differentiated by.
    differences, allowed : numpy.ndarray
        Finite differences, and how far a derivative may be from them: by each number, or by random directions if
        there are more than 256 numbers.
    directions : Directions or None
        Those directions.
    gradients : dict
        (strategy, granularity) -> gradient of the reverse sweep; of the strategy 'forward', which has none, that of its
        tangents in all unit directions, if those are 16 or fewer.
    rows : list of Row
        One for each way to record.
    """

    function: str
    value: object
    names: Sequence[str]
    differences: NDArray[np.float64]
    allowed: NDArray[np.float64]
    directions: Directions | None
    gradients: dict[tuple[str, str], NDArray[np.float64]]
    rows: list[Row]

    @property
    def passed(self) -> bool:
        """Whether every row is within the limits."""
        return all(row.passed for row in self.rows)

    def __repr__(self):
        return f"<Report of {self.function}: {self._verdict()}, {len(self.rows)} rows>"

    def __str__(self):
        return "\n".join([*self._said(), *table(*self._table(), texts=2), *self._worst()])

    def _repr_html_(self):
        said = "".join(f"<p>{escape(line)}</p>" for line in self._said())
        worst = "\n".join(self._worst())
        return f"{said}{html_table(*self._table(), 2)}" + (f"<pre>{escape(worst)}</pre>" if worst else "")

    def _verdict(self):
        return "derivatives agree" if self.passed else "derivatives disagree"

    def _said(self):
        value = repr(self.value.item() if isinstance(self.value, np.generic) else self.value)
        value = value if len(value) <= _WIDE else f"a {type(self.value).__name__}"
        return [f"{self.function}: {self._verdict()} (value {value}, {len(self.names)} numbers)",
                "Errors as multiples of what is allowed:"]

    def _table(self):
        return ["strategy", "granularity", "value", "finite differences", "forward", ""], [
            [row.strategy, row.granularity, f"{row.value:.2g}", f"{row.differences:.2g}", f"{row.forward:.2g}",
             "" if row.passed else "<- wrong"] for row in self.rows]

    def _worst(self):
        """The components that are furthest off, of the first way: nine times the same help nobody."""
        wrong = next((row for row in self.rows if not row.passed), None)
        return [] if wrong is None else list(self._components(wrong))

    def _components(self, row):
        gradient, names = self.gradients.get((row.strategy, row.granularity)), self.names
        if gradient is None:     # tangents in random directions
            return
        if self.directions is not None:
            gradient = self.directions.along(gradient)[0]
            names = [f"direction {k}" for k in range(len(gradient))]
        difference = agreement(gradient, self.differences)
        with np.errstate(invalid="ignore"):
            worst = np.argsort(-np.nan_to_num(difference / self.allowed, nan=0.0), kind="stable")[:_SHOWN]
        yield f"Worst of {row.strategy}, {row.granularity}:"
        yield from table(["number", "reverse", "finite difference", "difference", "allowed"], [
            [names[i], f"{gradient[i]:.12g}", f"{self.differences[i]:.12g}", f"{difference[i]:.2g}",
             f"{self.allowed[i]:.2g}"] for i in worst], texts=1)


class DerivativeError(AssertionError):
    """Derivatives disagree; `report` has the figures, the message is their table."""

    def __init__(self, report):
        super().__init__(str(report))
        self.report = report


def check_derivatives(f: Callable[..., Any], *x: Any, strategies: str | Sequence[str] | None = None,
                      granularities: str | Sequence[str] | None = None, chunk_size: int | None = None,
                      rtol: float = 1e-6, atol: float = 1e-9, step: float | None = None, rebind: bool = True) -> Report:
    """Check the derivatives of a function at a point: finite differences against reverse against forward sweeps.

    Parameters
    ----------
    f : callable
        Plain Python and NumPy; returns numbers and arrays, in lists, tuples, dicts and dataclasses.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments; all are differentiated by. Arrays of float32 become float64: differences of float32 say nothing.
    strategies, granularities : str or sequence of str, optional
        How to record; default is every way there is.
    chunk_size : int, optional
        Of the tapes: see `Tape`.
    rtol, atol : float
        Allowed relative and absolute error; the error that finite differences have by themselves comes on top.
    step : float, optional
        Of the central differences, for numbers up to 1 in size; larger ones take it times the root of their size. By
        default it is the cube root of the machine's precision. Smaller steps are tried where it does badly.
    rebind : bool
        Record `codipy.rebind(f)`; the plain runs are those of `f`.

    Returns
    -------
    Report
        Printable.

    Raises
    ------
    DerivativeError
        An AssertionError with a table of what is wrong, and the report.
    TypeError, ValueError
        An option that is none, or an argument or a result that is no real number or array of floats.

    Examples
    --------
    >>> from codipy.testing import check_derivatives
    >>> report = check_derivatives(lambda x, y: x * y[0] ** 2, 2.0, [3.0])
    >>> report.passed, report.differences.round(6).tolist()
    (True, [9.0, 12.0])
    >>> import numpy as np
    >>> check_derivatives(lambda a: a * a, np.array([[1.0, 2.0]])).names[1]
    'argument 0[0, 1]'
    """
    problem = Weighted(f, x, rebind)
    directions = None
    if problem.point.size > _LARGE:
        directions = Directions(problem.value, problem.point, _DIRECTIONS, step)
        differences, errors = directions.differences, directions.errors
    else:
        differences, errors = finite_differences(problem.value, problem.point, step)
    allowed = atol + rtol * np.nan_to_num(np.abs(differences), nan=0.0) + errors
    value = problem.values(problem.result)
    rows: list[Row] = []
    gradients: dict[tuple[str, str], NDArray[np.float64]] = {}
    for strategy, granularity in settings(strategies, granularities, True):
        if strategy == FORWARD_STRATEGY:
            rows.append(_forward_row(problem, granularity, value, differences, allowed, directions, gradients, rtol,
                                     atol))
            continue
        tape = Tape(strategy, granularity, chunk_size)
        recording = problem.record(tape)
        gradient = join(recording.reverse(tape.new_adjoints(), problem.weights))
        gradients[strategy, granularity] = gradient
        recorded = problem.values(recording.value)
        if recorded.size != value.size:
            raise TypeError(f"{name_of(f)} returns {recorded.size} numbers when recorded, {value.size} else")
        rows.append(Row(
            strategy, granularity,
            _over(agreement(recorded, value), atol + rtol * np.abs(value)),
            _over(agreement(gradient if directions is None else directions.along(gradient)[0], differences), allowed),
            _forward_error(problem, tape, gradient, rtol, atol)))
    report = Report(name_of(f), problem.result, problem.names, differences, allowed, directions, gradients, rows)
    if not report.passed:
        raise DerivativeError(report)
    return report


def _forward_row(problem, granularity, value, differences, allowed, directions, gradients, rtol, atol):
    """The strategy that keeps nothing, whose tangents share no recording with the gradients, in a few directions."""
    count = problem.point.size
    if directions is not None:
        columns = np.stack(directions.directions, axis=1)
    else:
        columns = _columns(count)
        if count > _DIRECTIONS:      # differences by each number, along these
            differences = _zero_safe(differences, columns).sum(axis=0)
            allowed = _zero_safe(allowed, np.abs(columns)).sum(axis=0)
    if not count:
        return Row(FORWARD_STRATEGY, granularity, 0.0, 0.0, 0.0)
    run = problem.record(Tape(FORWARD_STRATEGY, granularity, width=columns.shape[1]), columns)
    forward = _zero_safe(join(problem.weights), stack(run.tangents, columns.shape[1])).sum(axis=0)
    error = 0.0
    for gradient in list(gradients.values())[:1]:
        terms = _zero_safe(gradient, columns)
        with np.errstate(invalid="ignore"):
            error = _over(agreement(forward, terms.sum(axis=0)), atol + rtol * np.abs(terms).sum(axis=0))
    if columns.shape == (count, count) and directions is None:
        gradients[FORWARD_STRATEGY, granularity] = forward
    recorded = problem.values(run.value)
    return Row(FORWARD_STRATEGY, granularity, _over(agreement(recorded, value), atol + rtol * np.abs(value)),
               _over(agreement(forward, differences), allowed), error)


def _columns(count):
    """All unit directions, or some random ones."""
    return (np.eye(count) if count <= _DIRECTIONS else
            np.random.default_rng(count).standard_normal((count, _DIRECTIONS)))


def _over(difference, allowed):
    """The largest multiple of what is allowed; no difference is 0 whatever is allowed."""
    with np.errstate(invalid="ignore", divide="ignore"):
        multiple = np.where((difference == 0.0) | np.isinf(allowed), 0.0, difference / allowed)
    return float(multiple.max(initial=0.0))


def _forward_error(problem, tape, gradient, rtol, atol):
    """Forward derivatives against the gradient, in all unit directions or in some random ones."""
    count = len(gradient)
    if not count:
        return 0.0
    directions = _columns(count)
    tape.reset()
    recording = problem.record(tape)
    columns = directions.shape[1]
    seeds = cut(directions, [shape_of(leaf) for leaf in problem.leaves])
    forward = stack(recording.forward(tape.new_adjoints(width=columns), seeds), columns)
    with np.errstate(invalid="ignore"):
        forward = _zero_safe(join(problem.weights), forward).sum(axis=0)
        terms = _zero_safe(gradient, directions)
        return _over(agreement(forward, terms.sum(axis=0)), atol + rtol * np.abs(terms).sum(axis=0))


def _zero_safe(numbers, rows):
    """The numbers times the rows that belong to them; zero times anything is zero, as in the sweeps."""
    return np.where(rows == 0.0, 0.0, rows * numbers[:, None])
