# SPDX-License-Identifier: Apache-2.0
"""The bytes of a tape under every strategy, from runs that store nothing."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from codipy.active import Tape
from codipy.tape.memory.statistics import Statistics, collect, readable
from codipy.tape.provenance.watching import unwatched
from codipy.tape.strategies.settings import settings
from codipy.tape.strategies.table import FORWARD_STRATEGY
from codipy.tools.callee import check_result, title_of
from codipy.tools.comparison.measuring import StatefulError, stateful
from codipy.tools.console.json_text import json_text
from codipy.tools.console.table import Table, Told
from codipy.tools.runs.problem import Problem, Weighted

__all__ = ["Predicted", "Prediction", "bytes_of", "predict"]

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def predict(f: Callable[..., Any], *x: Any, strategies: str | Sequence[str] | None = None,
            granularities: str | Sequence[str] | None = None,
            chunk_sizes: int | None | Sequence[int | None] = None, width: int = 1, budget: int | str | None = None,
            rebind: bool = True, progress: Callable[[int, int], object] | None = None) -> Prediction:
    """Count the bytes that a recording of a function would take, without keeping it.

    The function runs plainly once and then once for each strategy and granularity, which gives the bytes for all
    chunk sizes. Such a run needs memory for what is alive in the program and nothing for the tape: it says which
    strategies fit before any of them is tried.

    Parameters
    ----------
    f : callable
        Plain Python and NumPy; returns numbers and arrays in any form.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments; all are differentiated by.
    strategies, granularities : str or sequence of str, optional
        What to predict; default is all there is. The strategy 'forward' keeps nothing: its row is what it has at the
        end.
    chunk_sizes : int, None, or sequence of them
        Items per chunk of the data streams; None, the default: chunks grow.
    width : int
        Directions of the sweep, for the adjoint vector.
    budget : int or str, optional
        Bytes that a tape may take, as a number or as ``"2 GiB"``, ``"500 MB"`` (powers of 1024 either way).
    rebind : bool
        Record `codipy.rebind(f)`.
    progress : callable, optional
        Called with (runs done, runs in all).

    Returns
    -------
    Prediction
        Printable, with ``rows``, ``fitting``, ``table()``, ``to_dict()`` and ``to_json()``.

    Raises
    ------
    TypeError, ValueError
        An option that is none, or an argument or result that is no real number or array of floats.
    StatefulError
        `f` does not return in a recording what it returned before.
    TapeError
        `f` sweeps over the recording that it is part of, or takes some of it back: there is none.

    Examples
    --------
    >>> import codipy
    >>> found = codipy.predict(lambda x: x[0] * x[1], [2.0, 3.0], strategies=["jacobian", "primal"],
    ...                        granularities="statement")
    >>> [(row.strategy, row.streams, row.used) for row in found.rows][0]
    ('jacobian', {'statement entries': 4, 'Jacobian entries': 36}, 72)
    """
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise ValueError(f"width must be an int of at least 1, got {width!r}")
    limit = None if budget is None else bytes_of(budget)
    sizes = [chunk_sizes] if chunk_sizes is None or isinstance(chunk_sizes, int) else list(dict.fromkeys(chunk_sizes))
    if not sizes:
        raise ValueError("chunk_sizes must name one at least")
    pairs = settings(strategies, granularities, True)
    problem = Weighted(f, x, rebind)
    record = Problem.record if _is_one_number(problem.result, f) else Weighted.record
    rows = []
    for done, pair in enumerate(pairs, start=1):
        rows += _rows(problem, record, pair, sizes, width, limit)
        if progress is not None:
            progress(done, len(pairs))
    return Prediction(title_of(f), problem.point.size, width, limit, rows)


def _is_one_number(result, f):
    """Whether drivers of functions that return one number take it."""
    try:
        check_result(result, f)
    except TypeError:
        return False
    return True


def _rows(problem, record, pair, sizes, width, limit):
    """What one run on a tape that counts says, for each chunk size."""
    wide = {"width": width} if pair[0] == FORWARD_STRATEGY else {}
    tape = unwatched(Tape, strategy=pair[0], granularity=pair[1], chunk_size=sizes[0], **wide)
    tape.registers = False       # as those of the drivers
    if tape.strategy == FORWARD_STRATEGY:
        kept = record(problem, tape, np.ones((problem.point.size, width)))
        _demand_the_same(problem, kept)
        statistics = [tape.statistics()] * len(sizes)
        adjoints = statistics[0]["adjoint vector"].memory.used
    else:
        tape._count_only(sizes[1:])
        kept = record(problem, tape)      # inputs and outputs are alive when a tape is swept, and have identifiers
        _demand_the_same(problem, kept)
        statistics = [collect(tape, layout) for layout in range(len(sizes))]
        adjoints = 8 * width * (tape.identifiers - tape.store.first)
    rows = []
    for size, found in zip(sizes, statistics):
        row = Predicted(*pair, size, tape.statements, found, adjoints, None)
        rows.append(row if limit is None else replace(row, fits=row.allocated <= limit))
    del kept
    return rows


def _demand_the_same(problem, kept):
    """Raise unless a recording has the plain run's value: of a function that draws numbers each counts another one."""
    result = kept[1].value if isinstance(kept, tuple) else kept.value
    plain, here = problem.values(problem.result), problem.values(result)
    if not np.array_equal(plain, here, equal_nan=True):
        raise StatefulError(stateful(problem.f, problem.result, result))


def bytes_of(amount: int | str) -> int:
    """
    Bytes as a number.

    Parameters
    ----------
    amount : int or str
        A number, or text as "2 GiB" or "500 MB"; as everywhere here the units are powers of 1024.

    Returns
    -------
    int

    Examples
    --------
    >>> bytes_of("1.5 KiB")
    1536
    """
    if isinstance(amount, int) and not isinstance(amount, bool) and amount >= 0:
        return amount
    found = _AMOUNT.fullmatch(amount) if isinstance(amount, str) else None
    if found is None:
        raise ValueError(f"a number of bytes is expected, like 1000000, '500 MB' or '2 GiB', got {amount!r}")
    return int(float(found[1]) * 1024 ** _POWERS[found[2].lower()])


@dataclass(frozen=True)
class Predicted:
    """One way to record.

    Attributes
    ----------
    strategy, granularity : str
    chunk_size : int or None
        Items per chunk of the data streams; None: they grow.
    statements : int
        Those of arrays among them.
    statistics : Statistics
        What ``tape.statistics()`` would say behind the recording. All sections are exact but for "array statements",
        Python's objects, which may be off by a few percent.
    adjoint_bytes : int
        Bytes of the adjoint vector of a sweep; of strategy 'forward' those of the tangents, which `statistics` has too.
    fits : bool or None
        Whether recording and sweep take no more than the budget; None where there is none.
    """

    strategy: str
    granularity: str
    chunk_size: int | None
    statements: int
    statistics: Statistics
    adjoint_bytes: int
    fits: bool | None

    @property
    def title(self) -> str:
        """What sentences call it."""
        chunk = "" if self.chunk_size is None else f", chunks of {self.chunk_size}"
        return f"{self.strategy}, {self.granularity}{chunk}"

    @property
    def used(self) -> int:
        """Bytes of recording and adjoint vector."""
        return self.statistics.total.used + self._behind

    @property
    def allocated(self) -> int:
        """Bytes of the memory behind them."""
        return self.statistics.total.allocated + self._behind

    @property
    def _behind(self):
        """Bytes that a sweep takes beside what the recording has taken."""
        return 0 if self.strategy == FORWARD_STRATEGY else self.adjoint_bytes

    @property
    def streams(self) -> dict[str, int]:
        """Used bytes by title: of each data stream, and of primal values, array statements and array values."""
        return {section.title: section.memory.used for section in self.statistics.recorded}

    @property
    def arrays(self) -> int:
        """Used bytes of array statements and of the values that they keep."""
        return sum(used for title, used in self.streams.items() if title.startswith("array "))

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has."""
        return {"strategy": self.strategy, "granularity": self.granularity, "chunk_size": self.chunk_size,
                "statements": self.statements, "used": self.used, "allocated": self.allocated,
                "adjoint_bytes": self.adjoint_bytes, "fits": self.fits, "sections": self.statistics.to_dict()}


@dataclass(frozen=True, repr=False)
class Prediction(Told):
    """The bytes of a function's tape under several strategies.

    Attributes
    ----------
    function : str
        Its name.
    numbers : int
        How many it is differentiated by.
    width : int
        Directions of the sweep.
    budget : int or None
        Bytes.
    rows : list of Predicted
        One for each strategy, granularity and chunk size.
    point : str
        Where it comes from, on the command line.
    """

    function: str
    numbers: int
    width: int
    budget: int | None
    rows: list[Predicted]
    point: str = ""

    @property
    def fitting(self) -> list[Predicted]:
        """The rows that fit the budget, the smallest first; all where there is none."""
        return sorted((row for row in self.rows if row.fits is not False), key=lambda row: row.allocated)

    def _table(self):
        several = len({row.chunk_size for row in self.rows}) > 1
        header = ["strategy", "granularity", *(["chunk"] if several else []), "statements", "streams", "arrays",
                  "adjoints", "allocated", *(["fits"] if self.budget is not None else [])]
        return Table("", header, [
            [row.strategy, row.granularity, *([str(row.chunk_size or "grows")] if several else []), str(row.statements),
             _short(sum(row.streams.values()) - row.arrays), _short(row.arrays), _short(row.adjoint_bytes),
             _short(row.allocated), *(["yes" if row.fits else "no"] if self.budget is not None else [])]
            for row in self.rows],
            texts=2 + several)      # what tells rows apart stands in each part of a table that folds

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has."""
        return {"function": self.function, "numbers": self.numbers, "width": self.width, "budget": self.budget,
                "point": self.point, "rows": [row.to_dict() for row in self.rows]}

    def to_json(self) -> str:
        """The same as JSON text."""
        return json_text(self.to_dict())

    def _said(self):
        point = f" at {self.point}" if self.point else ""
        before = [f"{self.function}: {self.numbers} numbers{point}; bytes of a recording and of a sweep in "
                  f"{self.width} direction{'s' if self.width > 1 else ''}, counted and not kept."]
        if self.budget is None:
            return before, []
        rows = self.fitting
        return before, [f"{len(rows)} of {len(self.rows)} fit {readable(self.budget)}"
                        + (f", the smallest is {rows[0].title}." if rows else ".")]


def _short(size):
    return readable(size).replace(".00 B", " B")
