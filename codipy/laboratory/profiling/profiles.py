# SPDX-License-Identifier: Apache-2.0
"""Where a tape comes from: statements, bytes and seconds by line, function and loop of the user's code."""
from __future__ import annotations

import math
import sys
import threading
from typing import Any

from codipy.active import Tape
from codipy.active.messages.callers import is_of_library, is_ours
from codipy.errors import TapeError
from codipy.laboratory.profiling.calls import Calls
from codipy.laboratory.profiling.ledger import Ledger
from codipy.laboratory.profiling.lines import Function, Line, Loop, Tables
from codipy.laboratory.profiling.page import page
from codipy.laboratory.profiling.rounds import Rounds
from codipy.laboratory.profiling.stacks import WEIGHTS, collapsed, speedscope
from codipy.laboratory.profiling.text import text
from codipy.numpy.rules.factors import import_lapack
from codipy.tape import active_tape
from codipy.tape.html import framed
from codipy.tape.memory.statistics import Amount
from codipy.tape.provenance.journal import profiled_by
from codipy.tape.provenance.spots import Spots
from codipy.tape.provenance.watching import unwatched
from codipy.tape.strategies.table import FORWARD_STRATEGY
from codipy.tools.callee import title_of
from codipy.tools.comparison.measuring import StatefulError, stateful
from codipy.tools.console.json_text import json_text
from codipy.tools.runs.problem import Problem

__all__ = ["Profile", "profile"]

_running: dict[int, Profile] = {}      # by thread


def profile(f=None, *x, strategy: str = "auto", granularity: str | None = None, chunk_size: int | None = None,
            rebind: bool = True, calls: bool = False) -> Profile:
    """Say which lines and functions put what on the tape, and what they cost.

    Called with a function it runs it plainly, to count calls, records it by operation, to follow its loops, and once
    more as it is asked for, sweeps back once and returns the profile of that. Called without, it is for a ``with``
    block: all recordings that begin in the block, on this thread, are profiled, those of drivers too but for drivers
    inside of a recording, and the profile is complete when the block ends.

    A statement belongs to the line that wrote its last operation, also if it was pushed later on another line; values
    that several records keep to the first of them. What libraries and codipy itself do belongs to the line that called
    them. The lines and `whole` sum to ``tape.statistics()`` to the byte.

    Parameters
    ----------
    f : callable, optional
        Returns one real number.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments.
    strategy, granularity, chunk_size
        Of the tape: see `Tape`. In a ``with`` block the recordings say it themselves.
    rebind : bool
        Record `codipy.rebind(f)`.
    calls : bool
        Count calls and iterations in a ``with`` block too, and look for what these hand on, which makes its times
        longer.

    Returns
    -------
    Profile
        Printable, with ``lines``, ``functions``, ``loops``, ``whole``, ``total``, ``to_dict()``, ``to_html()`` and
        more.

    Raises
    ------
    TapeError
        If this thread is being profiled already, calls are counted and another profiler runs; or of strategy 'forward',
        which keeps no tape.
    StatefulError
        `f` does not return in the recording what it returned before.

    Examples
    --------
    >>> import codipy
    >>> def f(x):
    ...     y = x[0] * x[1]
    ...     return y * y
    >>> found = codipy.profile(f, [2.0, 3.0], strategy="jacobian")
    >>> [(line.line, line.sums.arguments, line.sums.bytes) for line in found.lines if line.line]
    [(2, 2, 25), (3, 2, 25)]
    >>> with codipy.profile(calls=True) as found:
    ...     gradient = codipy.grad(f)([2.0, 3.0])
    >>> found.recordings, [function.calls for function in found.functions if function.name == "f"]
    (1, [1])
    """
    if f is None:
        return Profile(calls=calls)
    if strategy == FORWARD_STRATEGY:
        raise TapeError("strategy='forward' keeps no tape, so no line puts anything on it: profile another strategy")
    problem, tape = Problem(f, x, rebind), Tape(strategy, granularity, chunk_size)
    found, counted = Profile(title_of(f)), Calls(_is_users)
    with counted:
        value = problem.value(problem.point)
    found._followed = _followed(problem, strategy)
    import_lapack()      # no line's time
    with found:
        inputs, output = problem.record(tape)
        problem.pull(tape, output, inputs)
        found._end(counted)      # with the inputs and the output alive
    if output.value != value and not (math.isnan(value) and math.isnan(output.value)):
        raise StatefulError(stateful(f, value, output.value))
    return found


class Profile:
    """What recordings put on their tapes, by line: see `profile`.

    Attributes
    ----------
    function : str
        Name of what was run; empty of a block.
    recordings : int
        How many were profiled; all else is the sum over them.
    missed : int
        Recordings that had begun before the profile, or that count instead of keeping.
    inner : int
        Recordings inside of the profiled ones, as `codipy.preaccumulate` and drivers make them. Nothing of them stays,
        and no number here is theirs: what they put on the tape around them belongs to the lines that called them.
    lines : list of Line
        With ``file``, ``line``, ``function``, ``source`` and ``sums``, which has ``statements``, ``arguments``,
        ``bytes``, ``streams``, ``objects``, ``values``, ``record``, ``reverse`` and ``live``.
    functions : list of Function
        With ``calls`` (None where they were not counted), and Sums ``own`` and ``whole``, the latter with what they
        called; the largest first.
    loops : list of Loop
        With ``iterations``, ``each`` (bytes an iteration), ``state`` (bytes that one hands on to the next, None where
        that is ``unknown`` and why), ``checkpointed`` (bytes with a checkpoint for each iteration), ``runs`` and
        ``sums``; the largest first.
    whole : dict
        Title -> Amount of what belongs to the tape and not to a line, memory allocated and not used among it.
    total : Amount
        Bytes used and allocated, as ``tape.statistics()`` says them.
    """

    def __init__(self, function="", calls=False):
        self.function, self.missed, self.inner = function, 0, 0
        self._complete, self._tables, self._followed = False, None, {}
        self._calls, self._rounds = (Calls(_is_users), Rounds(_is_users)) if calls else (None, None)
        self._tapes: list[Tape] = []      # with a journal: they are read when they are reset, or the profile ends
        self._ledger, self._spots = Ledger(calls), Spots(_is_users)

    def __reduce__(self):
        raise TypeError("a profile cannot be pickled or copied: keep profile.to_json(), profile.to_html() or "
                        "str(profile)")

    def __enter__(self):
        thread = threading.get_ident()
        if self._complete:
            raise TapeError("this profile is complete: make another with codipy.profile()")
        if thread in _running:
            raise TapeError("this thread is being profiled already: one profile at a time")
        if self._calls is not None:
            self._calls.__enter__()
            self._rounds.__enter__()
        self._spots.start(1)
        self._thread = thread
        _running[thread] = self
        profiled_by(_begin)
        self.missed += active_tape() is not None      # a block inside of a recording
        return self

    def __exit__(self, *exception):
        if not self._complete:
            if self._calls is not None:
                self._rounds.__exit__()
                self._calls.__exit__()
            self._end(self._calls, self._rounds)

    def _end(self, calls, rounds=None):
        self._spots.stop()
        del _running[self._thread]
        if not _running:
            profiled_by(None)
        try:
            for tape in self._tapes:
                self._ledger.take(tape)
        finally:
            for tape in self._tapes:
                tape._keep_journal(None)
            self._tapes.clear()
            self._complete, self._calls, self._rounds = True, calls, rounds

    def _begin(self, tape):
        """A tape begins to record."""
        if tape.journal is not None:
            if tape not in self._tapes:
                self.missed += 1      # another thread's profile has it
        elif tape.statements or tape.counting is not None or not tape.can_sweep:
            self.missed += 1
        elif any(other.is_active for other in self._tapes):
            self.inner += 1
        else:
            self._release()
            tape._keep_journal(self._spots, self._ended)
            self._tapes.append(tape)

    def _release(self):
        """Read the tapes that nobody else has, and give them up: there may be thousands, one after the other."""
        kept = []
        while self._tapes:
            tape = self._tapes.pop()
            if sys.getrefcount(tape) == _ALONE:
                self._ended(tape)
            else:
                kept.append(tape)
        self._tapes = kept[::-1]

    def _ended(self, tape):
        """What a tape has is about to be dropped."""
        tape_journal = tape.journal
        if tape_journal is not None:
            try:
                self._ledger.take(tape)
            finally:
                tape._keep_journal(None)
                self._tapes = [other for other in self._tapes if other is not tape]
                self._spots.skip()

    def _demand(self):
        if not self._complete:
            raise TapeError("the profile is not complete: read it when its `with` block has ended")
        if self._tables is None:
            self._tables = Tables(self._ledger, *self._spots.table(), self._calls, self._rounds, self._followed)
        return self._tables

    @property
    def recordings(self) -> int:
        return self._ledger.recordings

    @property
    def strategies(self) -> list[str]:
        """Of the tapes, as ``statistics().tape`` calls them."""
        return self._ledger.strategies

    @property
    def lines(self) -> list[Line]:
        return self._demand().lines

    @property
    def functions(self) -> list[Function]:
        return self._demand().functions

    @property
    def loops(self) -> list[Loop]:
        return self._demand().loops

    @property
    def whole(self) -> dict[str, Amount]:
        self._demand()
        return self._ledger.whole

    @property
    def total(self) -> Amount:
        self._demand()
        return self._ledger.total

    def text(self, format: str = "text", width: int | None = None) -> str:
        """Functions, loops and lines beside their source.

        Parameters
        ----------
        format : str
            'text', 'markdown' or 'latex' (for the package booktabs).
        width : int, optional
            Letters in a line of text; default is the terminal's, 80 without one.

        Returns
        -------
        str
        """
        self._demand()
        return text(self, format, width)

    def __str__(self):
        return self.text()

    def __repr__(self):
        if not self._complete:
            return "<codipy.Profile, not complete>"
        recordings = "1 recording" if self.recordings == 1 else f"{self.recordings} recordings"
        return f"<codipy.Profile of {recordings}, {len(self.lines)} lines, {self.total.used} bytes>"

    def _repr_html_(self):
        return framed(self.to_html())

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has."""
        return {"function": self.function, "recordings": self.recordings, "missed": self.missed, "inner": self.inner,
                "strategies": self.strategies, "total": self.total._asdict(),
                "whole": {title: amount._asdict() for title, amount in self.whole.items()},
                "lines": [line.to_dict() for line in self.lines],
                "functions": [function.to_dict() for function in self.functions],
                "loops": [loop.to_dict() for loop in self.loops]}

    def to_json(self) -> str:
        """The same as JSON text."""
        return json_text(self.to_dict())

    def to_html(self) -> str:
        """A page that needs nothing from elsewhere: the source with its heat, functions, loops."""
        self._demand()
        return page(self)

    def stacks(self):
        """(call path, Sums) of each spot; a path is a list of (function, file, line), the outermost first."""
        return self._demand().stacks()

    def collapsed(self, weight: str = "bytes") -> str:
        """Call paths with a number, one a line, as programs that draw flame graphs read them.

        Parameters
        ----------
        weight : str
            "bytes", or microseconds of "record" or "reverse".

        Raises
        ------
        ValueError
            Another weight.
        """
        self._demand()
        if weight not in WEIGHTS:
            raise ValueError(f"weight must be one of {', '.join(map(repr, WEIGHTS))}, got {weight!r}")
        return collapsed(self, weight)

    def to_speedscope(self) -> dict[str, Any]:
        """The same with all weights, as https://www.speedscope.app reads it once it is JSON text."""
        self._demand()
        return speedscope(self)


def _followed(problem, strategy):
    """The loops of a recording of its own, which takes so long that no time of it counts.

    It is by operation: by statement what an iteration wrote waits until the next one uses it, or the loop is over, and
    meanwhile what it is made of seems to be handed on."""
    found, rounds = Profile(), Rounds(_is_users)
    found._ledger.with_states = True
    with found:
        with rounds:
            kept = problem.record(unwatched(Tape, strategy=strategy, granularity="operation"))
        found._end(None, rounds)
    del kept
    return {(loop.file, loop.line): loop for loop in found.loops}


def _begin(tape):
    """Of any thread: only those that are profiled have a Profile."""
    found = _running.get(threading.get_ident())
    if found is not None:
        found._begin(tape)


def _is_users(code):
    """Whether a line of this code is one of the user's: not of codipy, nor of what is installed."""
    name = code.co_filename
    return not (is_ours(name) or name.startswith(("<frozen ", "<__array_function__")) or is_of_library(code))


def _references(tapes):
    tape = tapes.pop()
    return sys.getrefcount(tape)


_ALONE = _references([object()])      # references to a tape that only the profile has
