# SPDX-License-Identifier: Apache-2.0
"""One function under every strategy: what recording and sweeping cost, and whether the gradients agree."""
from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from codipy.active import Tape
from codipy.tape.base import FORWARD_STRATEGY
from codipy.tools.callee import name_of
from codipy.tools.differences import Directions, agreement, finite_differences, largest_difference
from codipy.tools.leaves import join
from codipy.tools.problem import Problem
from codipy.tools.report import Comparison, Row, Times
from codipy.tools.settings import settings

__all__ = ["StatefulError", "compare"]

_LONG_ENOUGH = 5e-3      # seconds of plain runs in one measurement, so that the clock's resolution does not matter
_MOST_RUNS = 1000
_DIFFERENCING = 5.0      # seconds that finite differences may take, by estimate; else only some numbers get theirs
_DIRECTIONS = 3          # and the others are differenced together, in so many directions
_WIDTH, _MOST_COLUMNS = 16, 256      # of strategy 'forward': directions in a run, and most of them that are run
_KEPT = 10_000           # gradients of more numbers are compared but not kept


class StatefulError(ValueError):
    """A function does not return twice what it returned once."""


def compare(f: Callable[..., Any], *x: Any, strategies: str | Sequence[str] | None = None,
            granularities: str | Sequence[str] | None = None, chunk_size: int | None = None, repeat: int = 7,
            rtol: float = 1e-8, progress: Callable[[int, int], object] | None = None,
            rebind: bool = True) -> Comparison:
    """Run a function under every strategy and granularity and compare time, memory and gradients.

    Parameters
    ----------
    f : callable
        Plain Python and NumPy; returns one real number.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments; all are differentiated by.
    strategies, granularities : str or sequence of str, optional
        What to compare; default is all there is. The strategy 'forward' computes in one direction while it runs, and
        has no sweep; its time is that of one direction.
    chunk_size : int, optional
        Of the tapes: see `Tape`.
    repeat : int
        Measurements of each, interleaved, so that a slow moment of the machine meets them all.
    rtol : float
        Gradients that differ by more, relative to the largest component, disagree.
    progress : callable, optional
        Called with (steps done, steps in all) now and then.
    rebind : bool
        Record `codipy.rebind(f)`; the plain run is that of `f`.

    Returns
    -------
    Comparison
        Printable, with ``rows``, ``agree``, ``to_dict()`` and ``to_csv()``. Times are in seconds, memory in bytes.

    Raises
    ------
    TypeError, ValueError
        An option that is none, an argument that is no real number or array of floats, or a result that is no number.
    StatefulError
        `f` returns another value the second time it is called at one point.

    Examples
    --------
    >>> import codipy
    >>> result = codipy.compare(lambda x: x[0] * x[1], [2.0, 3.0], strategies="jacobian", repeat=1)
    >>> [(row.granularity, row.statements, row.gradient) for row in result.rows], result.agree
    ([('statement', 4, [3.0, 2.0]), ('operation', 4, [3.0, 2.0])], True)
    """
    if isinstance(repeat, bool) or not isinstance(repeat, int):
        raise TypeError(f"repeat must be an int, got {type(repeat).__name__}")
    if repeat < 1:
        raise ValueError(f"repeat must be at least 1, got {repeat}")
    problem = Problem(f, x, rebind)
    pairs = settings(strategies, granularities, True)
    step, steps = 0, (repeat + 1) * (len(pairs) + 1)

    def advance():
        nonlocal step
        step += 1
        if progress is not None:
            progress(step, steps)

    start = time.perf_counter()
    value = problem.value(problem.point)
    seconds = max(time.perf_counter() - start, 1e-9)
    _demand_the_same(problem, value)
    runs = max(1, min(_MOST_RUNS, int(_LONG_ENOUGH / seconds)))
    numbers = problem.point.size
    only = range(0, numbers, max(1, math.ceil(numbers * 4 * seconds / _DIFFERENCING)))
    differences, errors = finite_differences(problem.value, problem.point, only=only)
    directions = Directions(problem.value, problem.point, _DIRECTIONS if len(only) < numbers else 0)
    advance()
    tapes = [Tape(strategy, granularity, chunk_size) for strategy, granularity in pairs]
    seen = []
    for tape in tapes:
        look = _look_forward if tape.strategy == FORWARD_STRATEGY else _look
        seen.append(look(problem, tape))
        advance()
    plain: list[float] = []
    taped: list[tuple[list[float], list[float]]] = [([], []) for _ in tapes]
    with _no_garbage_collection():
        for _ in range(repeat):
            # Python adapts its bytecode to the types that it meets, and each measurement meets others than the last.
            if runs > 1:
                _time_plain(problem, 1)
            plain.append(_time_plain(problem, runs))
            advance()
            for tape, (records, reverses) in zip(tapes, taped):
                if runs > 1:
                    _time_tape(problem, tape, 1)
                record, reverse = _time_tape(problem, tape, runs)
                records.append(record / plain[-1])
                reverses.append(reverse / plain[-1])
                advance()
    # The median, component by component: a number that occurs, and NaN where most are NaN.
    gradients = [gradient for gradient, _, _ in seen if gradient is not None]
    reference = np.sort(gradients, axis=0)[(len(gradients) - 1) // 2] if gradients else np.full(numbers, np.nan)
    # Of many numbers the strategy 'forward' is not asked for a gradient: its row has that of the others.
    gradients = [reference if gradient is None else gradient for gradient, _, _ in seen]
    rows = [
        _row(tape, Times.of(records), Times.of(reverses), gradient, figures, statements, reference, differences)
        for tape, (records, reverses), gradient, (_, figures, statements) in zip(tapes, taped, gradients, seen)]
    return Comparison(
        function=name_of(f), value=value, numbers=numbers, differenced=len(only), directions=len(directions),
        repeat=repeat, runs=runs, plain=Times.of(plain), rows=rows,
        disagreements=[*_disagreements(rows, gradients, reference, differences, errors, directions, problem.names,
                                       rtol),
                       *_wrong_tangents(problem, tapes, seen, reference, rtol)])


def _demand_the_same(problem, value):
    """Raise unless the function returns again what it returned: each strategy would be given another one."""
    again = problem.value(problem.point)
    if again != value and not (math.isnan(again) and math.isnan(value)):
        raise StatefulError(
            f"{name_of(problem.f)} returns {value} when it is called first and {again} when it is called again with "
            "the same arguments, so nothing can be compared: it keeps something between calls (an attribute, a global "
            "variable), or draws random numbers. Make what it keeps anew in each call, in a function that makes the "
            "object and calls it, and seed the numbers there"
        )


def _look(problem, tape):
    """Gradient, statistics and statements of one run, with the inputs and the output still alive."""
    inputs, output = problem.record(tape)
    gradient = join(problem.pull(tape, output, inputs))
    figures = gradient, tape.statistics(), tape.statements
    tape.reset()
    return figures


def _look_forward(problem, tape):
    """The same for strategy 'forward', which runs again for every few of the numbers; of many the gradient is None."""
    _, output = problem.record(tape, np.ones(problem.point.size))
    figures, gradient = tape.statistics(), np.zeros(problem.point.size)
    del output
    tape.reset()
    if gradient.size > _MOST_COLUMNS:
        return None, figures, 0
    for start in range(0, gradient.size, _WIDTH):
        rows = np.eye(gradient.size)[:, start:start + _WIDTH]
        wide = Tape(tape.strategy, tape.granularity, width=rows.shape[1])
        gradient[start:start + rows.shape[1]] = problem.along(wide, rows)[1]
    return gradient, figures, 0


def _wrong_tangents(problem, tapes, seen, reference, rtol):
    """A line for each tape of strategy 'forward' without a gradient whose derivative in one direction is off."""
    direction = np.random.default_rng(problem.point.size).uniform(-1.0, 1.0, problem.point.size)
    for tape, (gradient, _, _) in zip(tapes, seen):
        if gradient is None and np.all(np.isfinite(reference)):
            found, expected = problem.along(tape, direction)[1], float(reference @ direction)
            tape.reset()
            if not abs(found - expected) <= rtol * float(np.abs(reference) @ np.abs(direction)):
                yield (f"{tape.strategy}, {tape.granularity} disagrees with the others: the derivative in a random "
                       f"direction is {found:.12g}, not {expected:.12g}")


@contextmanager
def _no_garbage_collection():
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _time_plain(problem, runs):
    """Seconds of one plain run; the arguments are made before, as for a recording."""
    clock, taken = time.perf_counter, 0.0
    for _ in range(runs):
        arguments = problem.arguments(problem.point)
        start = clock()
        problem.f(*arguments)
        taken += clock() - start
    return taken / runs


def _time_tape(problem, tape, runs):
    """Seconds of one recording, registration included, and of its reverse sweep, gradient included.

    Of strategy 'forward' those of one run in one direction, and none.
    """
    direction = np.ones(problem.point.size) if tape.strategy == FORWARD_STRATEGY else None
    clock, record, reverse = time.perf_counter, 0.0, 0.0
    for _ in range(runs):
        start = clock()
        inputs, output = problem.record(tape, direction)
        recorded = clock()
        if direction is None:
            problem.pull(tape, output, inputs)
            reverse += clock() - recorded
        record += recorded - start
        tape.reset()
    return record / runs, reverse / runs


def _row(tape, record, reverse, gradient, figures, statements, reference, differences):
    identifiers = figures["identifiers"].counts
    known = np.isfinite(differences)
    return Row(
        strategy=tape.strategy, granularity=tape.granularity, record=record, reverse=reverse,
        used=figures.total.used, allocated=figures.total.allocated,
        adjoint_bytes=figures["adjoint vector"].memory.used,
        streams={section.title: section.memory.used for section in figures.sections
                 if section.title not in ("adjoint vector", "identifiers")},
        statements=statements, live_identifiers=identifiers["live indices"],
        peak_identifiers=identifiers["max live indices"], gradient=gradient.tolist() if gradient.size <= _KEPT else [],
        gradient_difference=largest_difference(gradient, reference),
        finite_difference=largest_difference(gradient[known], differences[known]))


def _disagreements(rows, gradients, reference, differences, errors, directions, names, rtol):
    """One line for each row whose gradient is not that of the others, or not that of finite differences."""
    finite = np.abs(reference[np.isfinite(reference)])
    scale = finite.max(initial=0.0) or 1.0
    known = np.isfinite(differences)
    allowed = np.where(known, errors, 0.0) + 1e-5 * scale
    for row, gradient in zip(rows, gradients):
        far = agreement(gradient, reference)
        off = np.where(known, agreement(gradient, differences), 0.0) - allowed
        if not far.max(initial=0.0) <= rtol * scale:
            i, other, value = int(far.argmax()), "the median of all strategies", reference
        elif off.max(initial=0.0) > 0.0:
            i, other, value = int(off.argmax()), "finite differences", differences
        else:
            yield from (f"{row.strategy}, {row.granularity} disagrees with {text}" for text in directions.off(gradient))
            continue
        yield (f"{row.strategy}, {row.granularity} disagrees with {other}: the derivative by {names[i]} is "
               f"{gradient[i]:.12g}, not {value[i]:.12g}")
