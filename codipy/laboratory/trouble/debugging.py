# SPDX-License-Identifier: Apache-2.0
"""`codipy.debug`: look on while code runs, or run a function and follow what it turns into plain numbers."""
from __future__ import annotations

import sys

import numpy as np

from codipy.active import Tape
from codipy.laboratory.trouble.follow import follow
from codipy.laboratory.trouble.report import Finding, Troubles
from codipy.laboratory.trouble.watch import Watcher
from codipy.tape.display.dump import brief
from codipy.tape.provenance.watching import watched_by
from codipy.tools.arguments.trees import labelled
from codipy.tools.runs.problem import Problem, Weighted

__all__ = ["debug"]

_ROUNDING = 1e-6


def debug(f=None, *x, rebind=True, show=True):
    """Find what goes wrong: where numbers stop being finite, where derivatives are lost, where digits are.

    Two forms: ``with codipy.debug() as report:`` looks at all that the block records, with drivers or with tapes, and
    ``codipy.debug(f, *x)`` runs a function and returns the report.

    Parameters
    ----------
    f : callable, optional
        Plain Python and NumPy; returns numbers and arrays in any form.
    *x : number, ndarray, list, tuple, dict or dataclass
        Its arguments; all are differentiated by.
    rebind : bool
        Whether `f` runs as ``codipy.rebind(f)``.
    show : bool
        Of the block: whether the report is printed to standard error at its end, if anything was found.

    Returns
    -------
    Troubles, or a context manager that gives one
        With ``findings``, ``notes``, ``ok``, ``text()``, ``to_dict()`` and ``to_json()``.

    Raises
    ------
    TypeError
        `f` is no function, or its arguments or results are no numbers.
    Exception
        Whatever `f` raises, unless something was found before; then the report has its text.

    Notes
    -----
    What is looked for:

    * the first value, and the first adjoint, that is not finite: the line, the operation, its operands;
    * inputs that no output depends on, and outputs that depend on no input, element by element. A dependence counts
      where the operations have one, also if its derivative is 0 at this point;
    * active values that were turned into plain ones (``x.value``, ``codipy.value(x)``) and reach the result.
      ``codipy.debug(f, *x)`` runs the function again for each such line, with the plain values changed by one
      millionth, and sees whether the result changes by more than rounding does. The block cannot run its code again,
      nor can a function run plainly that says ``x.value`` of all it gets: there plain values are found that stand in
      another statement just as they were;
    * as hints, arrays that were written to in place while they were registered, and adjoints of which the terms cancel:
      the sum of their magnitudes over the magnitude of their sum is 1e8 or more, and the rounding of so large terms is
      that much of the derivative by an input too. So a root that has converged is no hint: the adjoints of its last
      steps cancel, and nothing depends on them. What the elements of one array's statement give to one number comes as
      one term, and a sum that is exactly 0 is no hint.

    Tapes that are made inside are of strategy 'primal', by operation and with an identifier for each value, whatever
    they were asked to be; what they compute is the same up to rounding. They are slow and large, as every line is
    traced: take a small problem. Other tracers (debuggers, coverage) see nothing of the block. A tape of strategy
    'forward', one that was made before, other threads, sweeps between two positions, and what another
    ``codipy.debug`` inside looks at itself are not looked at; the report says so.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> def model(p):
    ...     return np.sqrt(p[0] - p[0]) + p[0]
    >>> report = codipy.debug(model, np.array([1.0, 2.0]))
    >>> [finding.kind for finding in report.findings]
    ['input', 'adjoint']
    >>> report.ok
    False
    """
    return _Block(show) if f is None else _run(f, x, rebind)


class _Block:
    """What ``with codipy.debug()`` enters."""

    def __init__(self, show):
        self._show, self.report = show, Troubles()

    def __enter__(self):
        self._watcher = Watcher(self.report)
        self._before = _instead_of(self._watcher)
        self._watcher.start(sys._getframe(1))
        return self.report

    def __exit__(self, *exception):
        self._watcher.stop()
        watched_by(self._before)
        if self._show and self.report.findings:
            print(self.report, file=sys.stderr)
        return False


def _instead_of(watcher):
    """Look on in the place of whoever does, who says so; returns that."""
    before = watched_by(watcher)
    if isinstance(before, Watcher):
        before.report.note("what ran inside of another codipy.debug, which reports it itself")
    return before


def _run(f, x, rebind):
    if not callable(f):
        raise TypeError(f"f must be a function, got {type(f).__name__}: say codipy.debug(f, x)")
    report, failed, ended = Troubles(), None, None
    try:
        problem = Weighted(f, x, rebind)
    except Exception as error:      # of the plain run: what stands before it is looked for all the same
        problem, failed = Problem(f, x, rebind), error
    names = [path for position, tree in enumerate(x) for path, _ in labelled(tree, f"argument {position}")]
    watcher = Watcher(report, names, again=failed is None)
    before = _instead_of(watcher)
    watcher.start(sys._getframe(2))
    try:
        tape = Tape()
        recording = problem.record(tape)
        if failed is not None:
            raise failed
        recording.reverse(tape.new_adjoints(), problem.weights)
    except Exception as error:
        ended = error
    finally:
        watcher.stop()
        watched_by(before)
    if ended is not None:
        if not report.findings:
            raise ended if failed is None else failed      # with the causes that it has
        report.note(f"what came after: the run ended in {type(ended).__name__}: {ended}")
        return report
    if not _repeats(problem, recording.value):
        report.note("whether other runs go as this one: the function returned something else when it ran plainly "
                    "before, with the same arguments. Seed its random numbers, and keep nothing between calls")
    for y, (path, leaf) in zip(recording.outputs, labelled(recording.value, "result")):
        if y is None:
            report.add(Finding("output", f"{path} is {brief(leaf)}, whatever the inputs are"))
    follow(report, watcher.plain_lines, problem)
    return report


def _repeats(problem, result):
    """Whether the recording's result is that of the plain run, but for rounding, which a long run makes larger."""
    plain, recorded = problem.values(problem.result), problem.values(result)
    size = np.abs(plain[np.isfinite(plain)]).max(initial=0.0)
    return plain.shape == recorded.shape and np.allclose(plain, recorded, rtol=0.0, atol=_ROUNDING * size,
                                                         equal_nan=True)
