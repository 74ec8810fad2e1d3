# SPDX-License-Identifier: Apache-2.0
"""How a tape grows while a function is recorded."""
from __future__ import annotations

import copy
import json
import math
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np

from codipy.active import Tape
from codipy.laboratory.figures import Figure, Series
from codipy.laboratory.page import document
from codipy.laboratory.sampled import Sample, sampled, totals_of, with_peaks
from codipy.laboratory.svg import svg
from codipy.tape.html import framed
from codipy.tape.memory.statistics import readable
from codipy.tape.provenance.watching import unwatched
from codipy.tools.arguments.forms import flatten
from codipy.tools.arguments.repeated import arguments
from codipy.tools.arguments.trees import labelled
from codipy.tools.callee import name_of, rebound, title_of
from codipy.tools.comparison.measuring import StatefulError, stateful
from codipy.tools.console.table import Table, line_width
from codipy.tools.runs.recording import Recording
from codipy.tools.swallowed import watch

__all__ = ["Timeline", "timeline"]

_ROWS = 20      # of the printed table
_SHARES = "primal", "operation"      # where passive operands are kept, and each operation is a statement
_COLUMNS = ("lines", "statements", "live", "peak", "largest", "used", "passive", "saved")


@dataclass(frozen=True, repr=False)
class Timeline:
    """How a tape grows.

    Attributes
    ----------
    function, strategy, granularity : str
    samples : list of Sample
        With ``lines``, how many lines of the program have run by then, each as often as it ran; ``statements``;
        ``live`` and ``largest`` identifiers; ``used`` bytes of the tape; and ``peak``, the most identifiers that were
        live at once so far, also in the midst of a line. The last is the whole recording.
    passive : list of float
        For each sample the share of passive operands in the operations recorded so far; NaN before the first. An array
        is one operand, also where it stands twice in an operation; of a movement each piece is one.
    saved : list of int
        For each sample the operations so far that were not recorded, because nothing in them was differentiated by,
        and would have been if all numbers of the arguments were inputs.
    """

    function: str
    strategy: str
    granularity: str
    samples: list[Sample]
    passive: list[float]
    saved: list[int]

    def rows(self):
        """One tuple for each sample: lines, statements, live, peak, largest, used, passive, saved."""
        return [(one.lines, one.statements, one.live, one.peak, one.largest, one.used, passive, saved)
                for one, passive, saved in zip(self.samples, self.passive, self.saved)]

    def table(self, format="text", width=None):
        """The samples as text, about twenty of them.

        Parameters
        ----------
        format : str
            'text', 'markdown' or 'latex'.
        width : int, optional
            Letters in a line of text; default is the terminal's.

        Returns
        -------
        str
        """
        rows = self.rows()
        step = max(1, len(rows) // _ROWS)
        shown = rows[:-1][::step] + rows[-1:]
        cells = [[str(lines), str(statements), str(live), str(peak), str(largest), readable(used),
                  "-" if math.isnan(passive) else f"{100 * passive:.1f} %", str(saved)]
                 for lines, statements, live, peak, largest, used, passive, saved in shown]
        title = f"{self.function} on a tape of strategy {self.strategy}, granularity {self.granularity}"
        header = ["lines", "statements", "live", "peak", "largest", "used", "passive operands", "saved operations"]
        return "\n".join(Table(title, header, cells).lines(format, width or line_width()))

    def __str__(self):
        return self.table()

    def to_dict(self):
        """Everything, in types that JSON has."""
        rows = [[None if value != value else value for value in row] for row in self.rows()]
        return {"function": self.function, "strategy": self.strategy, "granularity": self.granularity,
                "columns": list(_COLUMNS), "rows": rows}

    def to_json(self):
        """The same as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def to_csv(self):
        """One line for each sample, with a header."""
        lines = [",".join("" if value != value else repr(value) for value in row) for row in self.rows()]
        return "\n".join([",".join(_COLUMNS), *lines, ""])

    def figures(self):
        """Identifiers, statements and bytes over the lines of the program, as `codipy.laboratory` draws them."""
        rows = self.rows()
        if len(rows) < 2:
            return []

        def column(name):
            place = _COLUMNS.index(name)
            return [(row[0], row[place]) for row in rows if not math.isnan(row[place])]

        def drawn(name, title, y, **curves):
            series = [Series(label.replace("_", " "), points, colour, dots=False)
                      for colour, (label, points) in enumerate(curves.items())]
            return Figure(name, title, "lines of the program", y, series)

        live = with_peaks((one.lines, one.live, one.peak) for one in self.samples)
        return [drawn("identifiers", "Identifiers", "identifiers", live=live, largest=column("largest")),
                drawn("statements", "Statements, and operations that activity saved", "statements",
                      statements=column("statements"), saved_operations=column("saved")),
                drawn("bytes", "Bytes of the tape", "used bytes", used=column("used")),
                drawn("passive", "Share of passive operands", "share", passive=column("passive"))]

    def __repr__(self):
        return f"<Timeline of {self.function}: {len(self.samples)} samples>"

    def _repr_html_(self):
        body = "".join(f"<figure><figcaption>{escape(figure.title)}</figcaption>{svg(figure)}</figure>"
                       for figure in self.figures())
        return framed(document(f"Timeline of {self.function}", body))


def timeline(f, *x, argnums=None, strategy="auto", granularity=None, chunk_size=None, samples=200, rebind=True):
    """How identifiers, statements and bytes grow while a function is recorded, and what activity analysis spares.

    Parameters
    ----------
    f : callable
        Plain Python and NumPy; returns numbers and arrays in any form.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments.
    argnums : int or tuple of int, optional
        Those that it is differentiated by; default is all.
    strategy, granularity, chunk_size : optional
        Of the tape: see `Tape`.
    samples : int
        How many moments are looked at, and at most twice as many.
    rebind : bool
        Whether ``codipy.rebind(f)`` is recorded.

    Returns
    -------
    Timeline
        With ``samples``, ``passive``, ``saved``, ``table()``, ``to_dict()``, ``to_json()``, ``to_csv()`` and
        ``figures()``; notebooks draw it.

    Raises
    ------
    TypeError, ValueError
        Arguments or results that are no numbers, and settings that no tape has.
    StatefulError
        If the function does not run the same lines each time, or does not return the same.

    Notes
    -----
    The function runs three times. Shares of passive operands and saved operations are counted operation by
    operation on a tape of strategy 'primal', whatever `strategy` is: others do not keep passive operands. What is
    computed from constants and global variables alone never comes to a tape and is not counted as saved.

    Examples
    --------
    >>> import codipy
    >>> def model(a, b):
    ...     c = b * b
    ...     return a * c
    >>> found = codipy.timeline(model, 2.0, 3.0, argnums=0)
    >>> found.samples[-1].statements, found.saved[-1]
    (3, 1)
    >>> found.passive[-1]
    0.5
    """
    if not callable(f):
        raise TypeError(f"f must be a function, got {type(f).__name__}: say codipy.timeline(f, x)")
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ValueError(f"samples must be a positive int, got {samples!r}")
    chosen = range(len(x)) if argnums is None else (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not all(0 <= place < len(x) for place in chosen):
        raise ValueError(f"argnums must name some of the {len(x)} arguments, got {argnums!r}")
    recorded = rebound(f) if rebind else f
    tape = unwatched(Tape, strategy=strategy, granularity=granularity, chunk_size=chunk_size)
    results = []
    found = _run(tape, recorded, x, chosen, samples, results)
    counts, everything = (_counted(recorded, x, which, samples, results) for which in (chosen, range(len(x))))
    if not [one.lines for one in found] == [one.lines for one in counts] == [one.lines for one in everything]:
        raise StatefulError(f"{name_of(f)} does not run the same lines each time, so nothing can be set side by side: "
                            "does it keep something between calls, or ask what its arguments are?")
    for again in results[1:]:
        if not _are_the_same(again, results[0]):
            raise StatefulError(stateful(f, results[0], again))
    passive = [one.passive / (one.passive + one.active) if one.passive + one.active else math.nan for one in counts]
    saved = [every.operations - one.operations for every, one in zip(everything, counts)]
    return Timeline(title_of(f), tape.strategy, tape.granularity, found, passive, saved)


class _Counts(NamedTuple):
    """Up to some line."""

    lines: int
    operations: int
    passive: int
    active: int


def _are_the_same(again, value):
    """Whether two results have the same numbers, also where these are NaN."""
    pairs, others = labelled(again, ""), labelled(value, "")
    return len(pairs) == len(others) and all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc") for (_, a), (_, b) in zip(pairs, others))


def _run(tape, recorded, x, chosen, samples, results):
    """Samples of one recording, whose result is appended."""
    args, leaves = copy.deepcopy(list(x)), []
    trees = [args[position] for position in chosen]
    for position, tree in zip(chosen, trees):
        flatten(tree, f"argument {position}", leaves)

    def place(args, inputs):
        for position, tree in zip(chosen, arguments(trees, inputs)):
            args[position] = tree

    def run():
        recording = Recording(watch(tape), recorded, args, {}, leaves, place)
        results.append(recording.value)
        return recording

    return sampled(tape, run, samples)


def _counted(recorded, x, chosen, samples, results):
    """Samples of a recording operation by operation without its inputs; passive and active operands up to each."""
    tape = Tape(*_SHARES)
    found = _run(tape, recorded, x, chosen, samples, results)
    totals = totals_of(tape)
    return [_Counts(one.lines, *map(int, totals[one.statements])) for one in found]
