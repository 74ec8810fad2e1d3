# SPDX-License-Identifier: Apache-2.0
"""From sums by spot to lines, functions, loops and call paths."""
from __future__ import annotations

import ast
import functools
import linecache
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field

import numpy as np

__all__ = ["Function", "Line", "Loop", "OUTSIDE", "Sums", "Tables", "key_of", "loops_of"]

OUTSIDE = "outside of your code"      # of what no line of the user's called, as the inputs that the command registers


@dataclass
class Sums:
    """
    What belongs to a line, a function or a loop.

    Attributes
    ----------
    statements, arguments : int
        How many are on the tape; statements of arrays among them.
    streams : dict
        Bytes of each data stream.
    objects, values : int
        Bytes of array statements, with Python's objects around them, and of the values that they keep.
    record, reverse : float
        Seconds.
    live : int
        Identifiers that were still in use at the end.
    """

    statements: int = 0
    arguments: int = 0
    streams: dict = field(default_factory=dict)
    objects: int = 0
    values: int = 0
    record: float = 0.0
    reverse: float = 0.0
    live: int = 0

    @property
    def bytes(self) -> int:
        """Of all kinds."""
        return sum(self.streams.values()) + self.objects + self.values

    def add(self, other):
        """Add what belongs to another."""
        for name in ("statements", "arguments", "objects", "values", "record", "reverse", "live"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for title, size in other.streams.items():
            self.streams[title] = self.streams.get(title, 0) + size

    def to_dict(self):
        """In types that JSON has."""
        return {**{k: v for k, v in asdict(self).items() if k != "streams"}, "streams": dict(self.streams),
                "bytes": self.bytes}


@dataclass
class Line:
    """A line of the user's code; number 0 of no file is what no line called."""

    file: str
    line: int
    function: str
    sums: Sums

    @property
    def source(self) -> str:
        """Its text, where the file is there."""
        return linecache.getline(self.file, self.line).rstrip("\n") if self.line else ""

    def to_dict(self):
        """In types that JSON has."""
        return {"file": self.file, "line": self.line, "function": self.function, **self.sums.to_dict()}


@dataclass
class Function:
    """A function of the user's: what it wrote itself, and with what it called.

    `calls` is None where nobody counted, and of what was called before."""

    name: str
    file: str
    line: int
    calls: int | None
    own: Sums
    whole: Sums

    def to_dict(self):
        """In types that JSON has."""
        return {"name": self.name, "file": self.file, "line": self.line, "calls": self.calls,
                "own": self.own.to_dict(), "whole": self.whole.to_dict()}


@dataclass
class Loop:
    """
    A loop of the user's, with what is called in it.

    Attributes
    ----------
    iterations : int
        Of all its runs, whoever called. Where the lines were not followed (see `Rounds`): how often most of the
        operations of its body, or calls in it, ran.
    sums : Sums
        Of all iterations.
    record_share : float
        Its share of the time of recording.
    state : int or None
        Bytes of the active numbers that an iteration hands on to the next, of the largest: see `States`. Plain numbers
        that change with the iterations are not known to a tape.
    unknown : str
        Why there is no `state`.
    """

    file: str
    line: int
    last: int
    function: str
    iterations: int
    sums: Sums
    record_share: float
    state: int | None = None
    unknown: str = ""

    @property
    def each(self) -> float:
        """Bytes that an iteration puts on the tape."""
        return self.sums.bytes / self.iterations

    @property
    def runs(self) -> float:
        """Recordings in all, if a checkpoint were kept of each iteration: the loop is recorded once more."""
        return 1.0 + self.record_share

    @property
    def checkpointed(self) -> float | None:
        """Bytes with a checkpoint for each iteration, and one iteration on the tape."""
        return None if self.state is None else self.each + self.iterations * self.state

    def to_dict(self):
        """In types that JSON has."""
        return {"file": self.file, "line": self.line, "last": self.last, "function": self.function,
                "iterations": self.iterations, "each": self.each,
                "state": self.state, "unknown": self.unknown,
                "checkpointed": {"bytes": self.checkpointed, "runs": self.runs}, **self.sums.to_dict()}


class Tables:
    """Lines, functions, loops and call paths of a Ledger.

    Parameters
    ----------
    ledger : Ledger
    nodes, spots, elapsed
        As `Spots.table` gives them.
    calls : Calls or None
    rounds : Rounds or None
        Of the same recording.
    followed : dict
        (file, line) -> Loop, of another recording of the same run that was followed.
    """

    def __init__(self, ledger, nodes, spots, elapsed, calls=None, rounds=None, followed=None):
        self._nodes, self._spots, self._calls, self._rounds, self._ledger = nodes, spots, calls, rounds, ledger
        self._followed = followed or {}
        self._by_spot = self._sums(ledger, elapsed)
        self._names = {code: _name(code) for code, _ in nodes[1:]}
        self.lines = self._lines()
        self.functions = self._functions()
        self.loops = self._loops()

    def _sums(self, ledger, elapsed):
        count = len(self._spots)
        column = functools.partial(ledger.column, count=count)
        record, first = np.zeros(count), set()
        for spot, (_, _, row, _) in enumerate(self._spots):
            if row not in first:      # the time is that of a line, which several spots share
                first.add(row)
                record[spot] = elapsed[row] * 1e-9
        record[0] = 0.0      # before, after and between recordings
        numbers = [column(name).astype(np.int64).tolist()
                   for name in ("statements", "arguments", "objects", "values", "live")]
        streams = {title: column(title).astype(np.int64).tolist() for title in ledger.streams}
        reverse = (column("reverse") * 1e-9).tolist()
        return [Sums(statements, arguments, {title: sizes[k] for title, sizes in streams.items() if sizes[k]}, objects,
                     values, float(record[k]), reverse[k], live)
                for k, (statements, arguments, objects, values, live) in enumerate(zip(*numbers))]

    def _code(self, spot):
        return self._nodes[self._spots[spot][0]][0]

    def path(self, spot):
        """The spots that led to one, the outermost first, and itself."""
        found = []
        while spot > 0:
            found.append(spot)
            spot = self._nodes[self._spots[spot][0]][1]
        return found[::-1]

    def stacks(self):
        """For each spot that has something: the call path as (function, file, line), and its Sums."""
        for spot, sums in enumerate(self._by_spot):
            frames = [(self._names[self._code(k)], self._code(k).co_filename, self._spots[k][1])
                      for k in self.path(spot)]
            yield frames or [(OUTSIDE, "", 0)], sums

    def _lines(self):
        found = {}
        for spot, sums in enumerate(self._by_spot):
            code = self._code(spot)
            key = (code.co_filename, self._spots[spot][1]) if code else ("", 0)
            line = found.setdefault(key, Line(*key, self._names[code] if code else OUTSIDE, Sums()))
            line.sums.add(sums)
        return [found[key] for key in sorted(found) if _has(found[key].sums)]

    def _functions(self):
        found = {}
        for code, _ in self._nodes[1:]:
            key = key_of(code)
            if key not in found:
                calls = None if self._calls is None else self._calls.functions[key] or None
                found[key] = Function(self._names[code], code.co_filename, code.co_firstlineno, calls, Sums(), Sums())
        for spot, sums in enumerate(self._by_spot):
            path = [key_of(self._code(k)) for k in self.path(spot)]
            if path:
                found[path[-1]].own.add(sums)
            for key in set(path):
                found[key].whole.add(sums)
        return sorted((function for function in found.values() if _has(function.whole)),
                      key=lambda function: -function.whole.bytes)

    def _loops(self):
        """Those of the files whose text is there."""
        total = sum(sums.record for sums in self._by_spot) or 1.0
        loops, ran, spots = {}, defaultdict(lambda: defaultdict(list)), defaultdict(list)
        for spot in range(1, len(self._spots)):
            if (loop := self._body(spot)) is not None:
                ran[loop][self._spots[spot][0]] += self._ran(spot)
        for spot, sums in enumerate(self._by_spot):
            inside = {}
            for k in self.path(spot):
                for loop in _around(self._code(k), self._spots[k][1]):
                    inside[loop] = k
            for loop, k in inside.items():
                loops.setdefault(loop, (self._code(k), Sums()))[1].add(sums)
                spots[loop].append(spot)
        found = []
        for loop, (code, sums) in loops.items():
            key = code.co_filename, loop.lineno
            known = self._followed.get(key) or (self._rounds and self._rounds.courses.get(key))
            # Else of each path to the function the most frequent number.
            iterations = known.iterations if known else sum(_mode(numbers) for numbers in ran[loop].values() if numbers)
            if iterations and sums.bytes:
                state, unknown = self._state(known, spots[loop])
                found.append(Loop(code.co_filename, loop.lineno, loop.end_lineno, self._names[code], iterations, sums,
                                  sums.record / total, state, unknown))
        return sorted(found, key=lambda loop: (-loop.sums.bytes, loop.iterations))

    def _state(self, known, spots):
        """What a loop hands on from iteration to iteration, or why nobody knows."""
        ledger = self._ledger
        if isinstance(known, Loop):
            return known.state, known.unknown
        if self._rounds is None or not ledger.with_states:
            return None, "a block looks for it with calls=True"
        if ledger.recordings > 1:
            return None, "there are several recordings"
        if ledger.states is None:
            return None, "a record of yours does not say what it reads"
        if known is None or not known.iterations:
            return None, "where its iterations begin was not seen"
        if known.runs > 1:
            return None, "the loop runs more than once"
        if known.iterations < 3:
            return None, "it takes three iterations to see"
        return ledger.states.largest(spots, known.begins, known.ends), ""

    def _body(self, spot):
        """The innermost loop of which a spot is in the body."""
        _, line, _, _ = self._spots[spot]
        loop = (_around(self._code(spot), line) or [None])[-1]
        return loop if loop is not None and line >= loop.body[0].lineno else None

    def _ran(self, spot):
        """How often a spot ran: by its operations, by calls that were counted, or by what it called and that did."""
        _, line, _, hits = self._spots[spot]
        if hits:
            return [hits]
        called = [node for node, (_, caller) in enumerate(self._nodes) if caller == spot]
        if self._calls is not None:
            return [self._calls.sites[key_of(self._code(spot)), line, key_of(self._nodes[node][0])] for node in called]
        return [count for node in called for inner, (of, *_) in enumerate(self._spots)
                if of == node and self._body(inner) is None for count in self._ran(inner)]


def _has(sums):
    return bool(sums.bytes or sums.statements or sums.live or sums.reverse or sums.record)


def _mode(numbers):
    """The most frequent number, of several the largest: operations under an `if` run less often."""
    counts = Counter(numbers)
    return max(counts, key=lambda number: (counts[number], number))


def key_of(code):
    """What tells a function, also of one that was rebuilt: file, first line and name."""
    return code.co_filename, code.co_firstlineno, code.co_name


@functools.lru_cache(maxsize=256)
def _tree(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):      # not Python as it stands: a cell of a notebook with its own commands
        return ast.Module([], [])


def _text(code):
    return "".join(linecache.getlines(code.co_filename))


@functools.lru_cache(maxsize=1024)
def _all_loops(text):
    return [node for node in ast.walk(_tree(text)) if isinstance(node, (ast.For, ast.While, ast.AsyncFor))]


def loops_of(code):
    """The loops that are statements of a code object."""
    return [loop for loop in _all_loops(_text(code)) if code.co_firstlineno <= loop.lineno and _is_of(loop, code)]


@functools.lru_cache(maxsize=65536)
def _around(code, line):
    """The loops of a function around one of its lines, the outermost first."""
    return sorted((loop for loop in _all_loops(_text(code))
                   if code.co_firstlineno <= loop.lineno <= line <= loop.end_lineno and _is_of(loop, code)),
                  key=lambda loop: loop.lineno)


@functools.lru_cache(maxsize=65536)
def _is_of(loop, code):
    """Whether a loop is a statement of this code and not of a function inside or around it."""
    if code.co_name.startswith("<") and code.co_name != "<module>":      # lambdas and comprehensions have none
        return False
    return any(number == loop.lineno for _, _, number in code.co_lines())


def _name(code):
    """As ``__qualname__`` says it; code knows that from Python 3.11 on."""
    if hasattr(code, "co_qualname"):
        return code.co_qualname
    return _qualified(_text(code)).get((code.co_firstlineno, code.co_name), code.co_name)


@functools.lru_cache(maxsize=256)
def _qualified(text):
    """(first line, name) -> qualified name, of all functions of a text."""
    found = {}

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                found[first, child.name] = prefix + child.name
                inner = f"{prefix}{child.name}.<locals>."
            elif isinstance(child, ast.ClassDef):
                inner = f"{prefix}{child.name}."
            elif isinstance(child, ast.Lambda):
                found[child.lineno, "<lambda>"] = f"{prefix}<lambda>"
            visit(child, inner)

    visit(_tree(text), "")
    return found
