# SPDX-License-Identifier: Apache-2.0
"""What each pass over a recording saves: statements, bytes, and time of a reverse sweep."""
from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codipy.active import Tape
from codipy.tape.contents.assemble import fill
from codipy.tape.contents.dissect import contents_of
from codipy.tape.memory.statistics import readable
from codipy.tape.passes.optimize import Passes, optimized
from codipy.tape.strategies.settings import settings
from codipy.tools.callee import title_of
from codipy.tools.comparison.measuring import clock, no_garbage_collection
from codipy.tools.comparison.report import Times
from codipy.tools.console.table import Table, Told
from codipy.tools.runs.problem import Problem

__all__ = ["PassedRow", "Saving", "passes"]

_NONE = Passes(dead=False, equal=False, merge=False, renumber=False)
_CHOICES = {"none": _NONE, **{name: _NONE._replace(**{name: True}) for name in Passes._fields}, "all": Passes()}


def passes(f: Callable[..., Any], *x: Any, strategies: str | Sequence[str] | None = None,
           granularities: str | Sequence[str] | None = None, repeat: int = 7, rebind: bool = True,
           progress: Callable[[int, int], object] | None = None) -> Saving:
    """Measure what each pass of ``tape.optimize()`` saves of a function's recording, alone and with all others.

    Parameters
    ----------
    f : callable
        Returns one number.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments; all are differentiated by.
    strategies, granularities : str or sequence of str, optional
        How it is recorded; default is all there is.
    repeat : int
        Sweeps over each recording, in turns with the one that nothing was done to.
    rebind : bool
        Record `codipy.rebind(f)`.
    progress : callable, optional
        Called with (recordings done, recordings in all).

    Returns
    -------
    Saving
        Printable, with ``rows`` and ``table()``.

    Raises
    ------
    TypeError, ValueError
        An option that is none, or an argument or result that is no real number or array of floats.

    Examples
    --------
    >>> import codipy
    >>> from codipy.laboratory import passes
    >>> found = passes(lambda x: x * x + x, 3.0, strategies="jacobian", granularities="statement", repeat=1)
    >>> [(row.after, row.arguments) for row in found.rows]
    [('none', 4), ('dead', 4), ('equal', 4), ('merge', 2), ('renumber', 4), ('all', 2)]
    """
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise ValueError(f"repeat must be an int of at least 1, got {repeat!r}")
    pairs, rows, problem = settings(strategies, granularities), [], Problem(f, x, rebind)
    for done, pair in enumerate(pairs, start=1):
        rows += _rows(problem, Tape(*pair), repeat)
        if progress is not None:
            progress(done, len(pairs))
    return Saving(title_of(f), problem.point.size, rows)


def _rows(problem, tape, repeat):
    inputs, output = problem.record(tape)
    contents, outputs = contents_of(tape), np.ravel(output.identifier)
    del inputs
    found = {name: optimized(contents, outputs, chosen) for name, chosen in _CHOICES.items()}
    swept = {name: _Swept(one.contents, one.outputs[outputs]) for name, one in found.items()}
    seconds = {name: [] for name in swept}
    with no_garbage_collection():
        for _ in range(repeat + 1):      # the first sweep of each finds cold memory, and makes the adjoints' slots
            for name, one in swept.items():
                seconds[name].append(one.seconds())
    rows = []
    for name, one in swept.items():
        ratios = [before / after for before, after in zip(seconds["none"][1:], seconds[name][1:])]
        rows.append(PassedRow(tape.strategy, tape.granularity, name, one.tape.strategy, one.tape.statements,
                              one.arguments, one.recorded, one.tape.adjoint_vector.bytes_used,
                              statistics.median(seconds[name][1:]), Times.of(ratios)))
    return rows


class _Swept:
    """A recording that was put together, and what a sweep over it costs."""

    def __init__(self, contents, outputs):
        self.tape, self.outputs = Tape(**contents.parameters), outputs[outputs > 0]
        fill(self.tape, contents)
        streams = self.tape.store.streams
        self.arguments = (streams[0] if len(streams) == 2 or contents.parameters["strategy"] == "simple"
                          else streams[1]).items
        self.recorded = sum(section.memory.used for section in self.tape.statistics().recorded)

    def seconds(self):
        """Of one reverse sweep from the outputs."""
        now, tape = clock()[0], self.tape
        tape.clear_adjoints()
        tape.evaluate()      # makes all slots, of zeros
        tape.adjoint_vector.write(self.outputs, np.ones((1, 1)))
        start = now()
        tape.evaluate()
        return now() - start


@dataclass(frozen=True)
class PassedRow:
    """One recording after some passes.

    Attributes
    ----------
    strategy, granularity : str
        How it was recorded.
    after : str
        The pass, ``none`` or ``all``.
    stored : str
        The strategy that the result is one of: see `Passes`.
    statements, arguments : int
        Those of arrays are among the statements; arguments are those of scalar ones.
    recorded, adjoint_bytes : int
        Bytes of streams, values and array statements; of an adjoint vector.
    seconds : float
        Of a reverse sweep, the median.
    faster : Times
        How many times faster than the recording that nothing was done to.
    """

    strategy: str
    granularity: str
    after: str
    stored: str
    statements: int
    arguments: int
    recorded: int
    adjoint_bytes: int
    seconds: float
    faster: Times


@dataclass(frozen=True, repr=False)
class Saving(Told):
    """What passes save of a function's recordings.

    Attributes
    ----------
    function : str
        Its name.
    numbers : int
        How many it is differentiated by.
    rows : list of PassedRow
    point : str
        Where it comes from, on the command line.
    """

    function: str
    numbers: int
    rows: list[PassedRow]
    point: str = ""

    def _table(self):
        header = ["strategy", "granularity", "pass", "stored as", "statements", "arguments", "recorded", "adjoints",
                  "sweep faster"]
        return Table("", header, [
            [row.strategy, row.granularity, row.after, row.stored, str(row.statements), str(row.arguments),
             readable(row.recorded), readable(row.adjoint_bytes), str(row.faster)] for row in self.rows], texts=4)

    def _said(self):
        point = f" at {self.point}" if self.point else ""
        return [f"{self.function}: {self.numbers} numbers{point}; what each pass over the recording saves, and all "
                "together. Times are those of reverse sweeps."], []
