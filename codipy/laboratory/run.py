# SPDX-License-Identifier: Apache-2.0
"""Making a study: every combination in turn, each in its own process, kept as soon as it is there."""
from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codipy.laboratory.environment import environment
from codipy.laboratory.errors import StudyError
from codipy.laboratory.measurement import Measurement
from codipy.laboratory.plan import Combination, Point, combinations, whole_numbers
from codipy.laboratory.process import ProcessError, measured
from codipy.laboratory.result import Study
from codipy.laboratory.source import FromFile, Given
from codipy.laboratory.worker import RUNNING
from codipy.tools.callee import check_function
from codipy.tools.comparison.measuring import clock
from codipy.tools.comparison.verdict import Differences, Verdict
from codipy.tools.console.json_text import json_text
from codipy.tools.console.raised import hints
from codipy.tools.runs.problem import Problem

__all__ = ["Progress", "sourced", "study"]

_KEPT = ".measured"      # the folder of what is done, inside of that of the study
_ROWS = "rows.jsonl"

Progress = Callable[[int, int, str], object]


def study(f: Callable[..., Any] | str, *x: Any, sizes: int | Sequence[int] | None = None,
          steps: int | Sequence[int] | None = None, at: str | Sequence[str] | None = None, x0: str | None = None,
          strategies: str | Sequence[str] | None = None, granularities: str | Sequence[str] | None = None,
          chunk_sizes: int | Sequence[int] | None = None, widths: int | Sequence[int] | None = None,
          repeat: int = 7, rtol: float = 1e-8, save: str | Path | None = None, resume: bool = False,
          progress: Progress | None = None, rebind: bool = True) -> Study:
    """Measure every way to record a function, over its sizes, each in a process of its own.

    A combination is recorded once cold, which gives its peak memory, and then repeatedly in turns with the plain run,
    which gives its times. Where the function is one that another process can find, in a module or a script, processes
    are fresh ones; else (lambdas, closures, notebooks) each is a copy of this one.

    Parameters
    ----------
    f : callable or str
        Plain Python and NumPy; returns one real number. Or ``FILE.py:FUNCTION``.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments, all of which are differentiated by; with `sizes` instead one function that makes them, or none if
        ``f.x0`` does. Of a file the point is ``FUNCTION.x0`` or ``x0``.
    sizes : int or sequence of int, optional
        Points are ``x0(size)``.
    steps : int or sequence of int, optional
        Beside each size: handed to ``x0(size, steps)`` or to the function's parameter ``steps``.
    at : str or sequence of str, optional
        Names of points in the file.
    x0 : str, optional
        The point as a literal, for a function of a file.
    strategies, granularities : str or sequence of str, optional
        Default is all there is, 'auto' and 'forward' among them.
    chunk_sizes, widths : int or sequence of int, optional
        Of the tapes, and directions of a sweep; default is codipy's chunk size and width 1.
    repeat : int
        Measurements of each time.
    rtol : float
        Gradients that differ by more, relative to the largest component, disagree.
    save : str or Path, optional
        The folder where each combination is kept as soon as it is there, and where `Study.save` writes at the end.
    resume : bool
        Go on with what `save` has kept of the same study.
    progress : callable, optional
        Called with (combinations done, in all, what runs now) now and then.
    rebind : bool
        Record `codipy.rebind(f)`; the plain run is that of `f`.

    Returns
    -------
    Study
        Printable; after Ctrl-C with what is done until then, and ``header["finished"]`` false. Of nothing nothing is
        saved.

    Raises
    ------
    TypeError, ValueError
        An option that is none, an argument that is no real number or array of floats, or a result that is no number.
    StudyError
        The folder holds a study and `resume` is false, or it is another study, or nobody can tell; or the file is
        changed while it is studied; or this is called while a process of a study imports the script.
    StatefulError
        `f` returns another value the second time it is called at one point.
    Exception
        Whatever the plain run raises.

    Examples
    --------
    >>> import codipy
    >>> chosen = {"strategies": "jacobian", "granularities": "statement", "repeat": 2}
    >>> found = codipy.study(lambda x: x[0] * x[1], [2.0, 3.0], **chosen)
    >>> [(row.combination.strategy, row.statements) for row in found.rows], found.agree
    ([('plain', 0), ('jacobian', 4)], True)
    """
    if os.environ.get(RUNNING):
        raise StudyError("codipy.study was called by a process of a study, which imports this script: put the call "
                         "under if __name__ == '__main__':")
    if isinstance(repeat, bool) or not isinstance(repeat, int):
        raise TypeError(f"repeat must be an int, got {type(repeat).__name__}")
    if repeat < 1:
        raise ValueError(f"repeat must be at least 1, got {repeat}")
    if save is not None and not os.fspath(save):
        raise ValueError("save must name a folder, got an empty text")
    save = None if save is None else Path(save).absolute()      # what is imported may change the working directory
    source, points = sourced(f, x, sizes, steps, at, x0)
    chunk_sizes = None if chunk_sizes is None else whole_numbers("chunk_sizes", chunk_sizes)
    widths = None if widths is None else whole_numbers("widths", widths)
    plan = combinations(points, strategies, granularities, chunk_sizes, widths)
    header = {**environment(), "function": source.name, "repeat": repeat, "rebind": rebind,
              "points": {point.label: source.place(point) for point in points}, "clock": clock()[1],
              "content": source.content(), "chunk sizes": chunk_sizes, "widths": widths}
    with tempfile.TemporaryDirectory() as temporary:
        kept = _Kept(save / _KEPT if save is not None else Path(temporary), header, resume)
        run = _Run(source, plan, kept, {"repeat": repeat, "rebind": rebind}, progress, header["content"])
        try:
            header["finished"] = run.all()
        except BaseException:
            kept.leave()
            raise
        if not kept.rows:      # stopped before the first
            kept.leave()
        made = Study(source.name, header, run.rows(), *run.compared(rtol))
    if save is not None and made.rows:
        made.save(save)
    return made


def sourced(f, x=(), sizes=None, steps=None, at=None, text=None):
    """What other processes get the function from, and the points; the parameters are those of `study`."""
    sizes = [None] if sizes is None else whole_numbers("sizes", sizes)
    steps = [None] if steps is None else whole_numbers("steps", steps)
    named = [at] if at is None or isinstance(at, str) else list(dict.fromkeys(at))
    if isinstance(f, str):
        if x:
            raise TypeError("a function of a file takes its arguments from there: pass sizes, at or x0")
        source = FromFile(f)
    else:
        check_function(f, "study")
        if at is not None or text is not None:
            raise TypeError("at and x0 are for a function of a file, 'FILE.py:FUNCTION': pass the arguments")
        source = _given(f, x, sizes != [None])
    if (sizes != [None]) + (at is not None) + (text is not None) > 1:
        raise TypeError("sizes, at and x0 exclude one another")
    points = [Point(_label(size, count, name, text), size, count, name, text)
              for size in sizes for name in named for count in steps]
    for point in points:      # what is wrong with a point is said before anything runs
        source.load(point)
    return source, points


def _label(size, steps, name, text):
    parts = [*([f"n={size}"] if size is not None else []), *([name] if name is not None else []),
             *([" ".join(text.split())] if text is not None else []),
             *([f"steps={steps}"] if steps is not None else [])]
    return " ".join(parts) or "x0"


def _given(f, x, sized):
    if not sized:
        if not x:
            raise TypeError("study needs the arguments of the function, or sizes")
        return Given(f, dict.fromkeys(["x0"], x))
    maker = x[0] if x else getattr(f, "x0", None)
    if len(x) > 1 or not callable(maker):
        raise TypeError("sizes need one function that makes the arguments of a size, after f or as f.x0")
    return Given(f, x[0] if x else None)      # a fresh process finds f.x0 itself, be it a lambda


class _Kept:
    """What is done, in a folder: a line of JSON for each combination, and the gradients."""

    MUST_BE_EQUAL = ("codipy", "python", "numpy", "processor", "function", "content", "repeat", "rebind")

    def __init__(self, folder, header, resume):
        self.folder, self.rows, self._header = folder, {}, header
        self._path = folder / _ROWS
        self._made = [one for one in (folder, folder.parent) if not one.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._path.touch()
        except OSError as error:
            raise StudyError(f"cannot write {folder.parent}: {error.strerror}") from None
        if self._path.stat().st_size:
            if header["content"] is None:
                raise StudyError(f"{folder.parent} holds a study, and nobody can tell whether it is of this function "
                                 "at this point: put it into a file, or save into another folder")
            if not resume:
                raise StudyError(f"{folder.parent} holds a study: resume it (--resume), or save into another folder "
                                 "(--save DIR)")
            self._read(header)

    def _read(self, header):
        first, *lines = self._path.read_text(encoding="utf-8").split("\n")
        try:
            before = dict(json.loads(first))
        except (TypeError, ValueError):
            raise StudyError(f"{self._path} is damaged: choose another folder, or remove that file") from None
        other = [name for name in self.MUST_BE_EQUAL if before.get(name) != header[name]]
        if other:
            raise StudyError(f"{self.folder.parent} holds another study, of another {', '.join(other)}: choose another "
                             "folder, or begin anew without resume")
        whole = []
        for line in lines:
            try:
                row = Measurement.of(json.loads(line))
            except (KeyError, TypeError, ValueError):      # the line that a kill has cut
                break
            whole.append(line)
            self.rows[row.combination.key] = row
        self._path.write_text("\n".join([first, *whole, ""]), encoding="utf-8")

    def gradient(self, combination):
        """The file of a gradient."""
        return self.folder / (hashlib.sha256(combination.key.encode()).hexdigest()[:16] + ".npy")

    def differences(self, combination):
        """The file of the finite differences at the point of a combination."""
        point = Combination(combination.point, "differences")
        return self.gradient(point).with_suffix(".npz")

    def add(self, row):
        """Keep a measurement."""
        self.rows[row.combination.key] = row
        with open(self._path, "a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(json_text(self._header, None) + "\n")
            file.write(json_text(row.to_dict(), None) + "\n")

    def leave(self):
        """Leave no folder behind that holds nothing and would stand in the way of the next study."""
        if self._path.stat().st_size == 0:
            for path in [self._path] if self.folder not in self._made else list(self.folder.iterdir()):
                path.unlink()
            for folder in self._made:
                folder.rmdir()


class _Run:
    """The combinations of a plan, one after the other."""

    def __init__(self, source, plan, kept, options, progress, content):
        self.source, self.plan, self.kept, self.options, self.progress = source, plan, kept, options, progress
        self.content = content

    def all(self):
        """Measure what is not there yet; False after Ctrl-C."""
        try:
            for done, combination in enumerate(self.plan):
                tick = self._tick(done, combination)
                tick()
                row = self.kept.rows.get(combination.key)
                if row is None or row.error is not None:
                    self.kept.add(self._measure(combination, tick))
            self._tick(len(self.plan), None)()
        except KeyboardInterrupt:
            return False
        return True

    def _tick(self, done, combination):
        def tick():
            if self.progress is not None:
                self.progress(done, len(self.plan), "" if combination is None else combination.title)

        return tick

    def _measure(self, combination, tick):
        request = {"source": self.source, "combination": combination, **self.options,
                   "gradient": str(self.kept.gradient(combination))}
        row = Measurement(combination)
        try:
            found = measured(request, tick)
            self._demand_the_same_program()
        except ProcessError as error:
            if row.is_plain:
                raise StudyError(str(error)) from None
            return Measurement(combination, str(error))
        if "error" in found:
            if row.is_plain:      # what cannot be run cannot be studied
                found["error"].codipy_hints = hints(*self.source.load(combination.point), found["error"])
                raise found["error"] from ProcessError("in another process:\n" + found["traceback"])
            return Measurement(combination, f"{type(found['error']).__name__}: {found['error']}")
        if row.is_plain:
            np.savez(self.kept.differences(combination), **found.pop("differences").arrays())
        return Measurement(combination, **found)

    def _demand_the_same_program(self):
        """Raise if the file is another one now: rows of two programs are no study."""
        if not self.source.is_portable():      # copies of this process have what this one has
            return
        try:
            same = self.source.content() == self.content
        except OSError:
            same = False
        if not same:
            raise StudyError(f"the file of {self.source.name} was changed while it was studied: what was measured "
                             "before is kept, and --resume goes on with it once the file is again what it was")

    def rows(self):
        """The measurements that are there, in the order of the plan."""
        return [self.kept.rows[one.key] for one in self.plan if one.key in self.kept.rows]

    def compared(self, rtol):
        """Compare the gradients of each point, note how far each is off.

        Returns
        -------
        lines, notes : list of str
            What does not agree; what is no number.
        """
        lines, notes = [], []
        measured_here = [row for row in self.rows() if row.error is None]
        for plain in [row for row in measured_here if row.is_plain]:
            taped = [row for row in measured_here
                     if row.combination.point == plain.combination.point and not row.is_plain]
            if not taped:
                continue
            # No pickle: a folder that is resumed may be somebody else's.
            with np.load(self.kept.differences(plain.combination)) as arrays:
                names = Problem(*self.source.load(plain.combination.point), rebind=False).names
                differences = Differences.of(dict(arrays), names)
            gradients = [self._gradient(row) for row in taped]
            verdict = Verdict(gradients, differences, rtol)
            for row, gradient in zip(taped, gradients):
                title = row.combination.title
                if gradient is not None:
                    row.gradient_difference, row.finite_difference = verdict.distances(gradient)
                elif row.tangent is not None and (line := verdict.wrong_tangent(title, row.tangent)):
                    lines.append(line)
                if not _same(row.value, plain.value):
                    lines.append(f"{title}: the value is {row.value!r}, not {plain.value!r} as in the plain run")
            lines += verdict.lines([row.combination.title for row in taped])
            if (note := verdict.missing()) is not None:
                notes.append(f"{plain.combination.point.label}: {note}")
        return lines, notes

    def _gradient(self, row):
        path = self.kept.gradient(row.combination)
        return np.load(path) if path.exists() else None


def _same(a, b):
    return a == b or (a != a and b != b)
