# SPDX-License-Identifier: Apache-2.0
"""One function under every strategy: what recording and sweeping cost, and whether the gradients agree."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from codipy.tape.strategies.settings import settings
from codipy.tools.callee import title_of
from codipy.tools.comparison.measuring import (
    PHASES,
    StatefulError,
    TimedTape,
    demand_the_same,
    no_garbage_collection,
    runs_for,
    time_plain,
)
from codipy.tools.comparison.report import Comparison, Row, Times
from codipy.tools.comparison.verdict import Differences, Verdict, differenced, direction_of, timed_value
from codipy.tools.runs.problem import Problem

__all__ = ["StatefulError", "compare"]

_KEPT = 10_000           # gradients of more numbers are compared but not kept


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
        Printable, with ``rows``, ``agree``, ``to_dict()`` and ``to_csv()``. Times are seconds of the thread's
        processor time (with several threads of the wall clock), memory is in bytes.

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
    value, seconds = timed_value(problem)
    demand_the_same(problem, value)
    runs, (only, together) = runs_for(seconds), differenced(problem, seconds)
    step, steps = 0, len(only) + together + len(pairs) + repeat * (len(pairs) + 1)

    def advance():
        nonlocal step
        step += 1
        if progress is not None:
            progress(step, steps)

    differences = Differences(problem, seconds, advance)
    tapes = [TimedTape(problem, strategy, granularity, chunk_size) for strategy, granularity in pairs]
    seen = []
    for tape in tapes:
        seen.append(tape.look())
        advance()
    plain: list[float] = []
    taped: list[list[dict[str, float]]] = [[] for _ in tapes]
    with no_garbage_collection():
        for _ in range(repeat):
            # Python adapts its bytecode to the types that it meets, and each measurement meets others than the last.
            if runs > 1:
                time_plain(problem, 1)
            plain.append(time_plain(problem, runs))
            advance()
            for tape, measured in zip(tapes, taped):
                if runs > 1:
                    tape.run()
                measured.append({phase: taken / plain[-1] for phase, taken in tape.run(runs).items()})
                advance()
    verdict = Verdict([looked.gradient for looked in seen], differences, rtol)
    rows = [_row(tape, looked, measured, verdict) for tape, looked, measured in zip(tapes, seen, taped)]
    return Comparison(
        function=title_of(f), value=value, numbers=problem.point.size, differenced=differences.count,
        directions=len(differences.directions), repeat=repeat, runs=runs, plain=Times.of(plain), rows=rows,
        disagreements=[*verdict.lines([f"{row.strategy}, {row.granularity}" for row in rows]),
                       *_wrong_tangents(problem, tapes, seen, verdict)],
        notes=[line for line in [verdict.missing()] if line])


def _wrong_tangents(problem, tapes, seen, verdict):
    """A line for each tape of strategy 'forward' without a gradient whose derivative in one direction is off."""
    for tape, looked in zip(tapes, seen):
        if looked.gradient is None:
            found = problem.along(tape.tape, direction_of(problem.point))[1]
            tape.tape.reset()
            line = verdict.wrong_tangent(f"{tape.tape.strategy}, {tape.tape.granularity}", found)
            yield from [] if line is None else [line]


def _row(tape, looked, measured, verdict):
    identifiers = looked.statistics["identifiers"].counts
    times = {phase: Times.of([one[phase] for one in measured]) if phase in measured[-1] else None for phase in PHASES}
    gradient = looked.gradient
    from_others, from_differences = (None, None) if gradient is None else verdict.distances(gradient)
    return Row(
        strategy=tape.tape.strategy, granularity=tape.tape.granularity, **times, refused=tape.refused,
        used=looked.total.used, allocated=looked.total.allocated, adjoint_bytes=looked.adjoint_bytes,
        streams={section.title: section.memory.used for section in looked.statistics.recorded},
        statements=looked.statements, live_identifiers=identifiers["live indices"],
        peak_identifiers=identifiers["max live indices"],
        gradient=gradient.tolist() if gradient is not None and gradient.size <= _KEPT else [],
        gradient_difference=from_others, finite_difference=from_differences)
