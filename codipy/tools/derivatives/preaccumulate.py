# SPDX-License-Identifier: Apache-2.0
"""Preaccumulation: of what a function records only the Jacobian of its results stays on the tape.

Code that computes few numbers from few numbers by many steps has a Jacobian smaller than its recording (Griewank and
Walther, "Evaluating Derivatives", 2008, section 10.2). The function is recorded on a tape of its own, inside of the
enclosing recording, which lends it the variables that it reads: so these are known, wherever the function found them.
That tape is swept for each result, or for each variable, whichever are fewer, and dropped.

Rejected: to record on the enclosing tape and to reset it to where the function began. Statements of before that were
pushed inside would go as well, adjoints that are seeded would be cleared, and results would have to be told from what
the function left elsewhere. Rejected too: a `with` block. It would have to be told which of its variables are used
after it, and one that was forgotten could be found at its next use only; a function returns them.
"""
from __future__ import annotations

from typing import NamedTuple

from codipy.active.recordings.status import in_passive
from codipy.tape import active_tape
from codipy.tools.callee import check_function, rebound
from codipy.tools.driver import Driver
from codipy.tools.runs.apart import Apart
from codipy.tools.runs.local_jacobian import (
    WIDEST,
    as_passive,
    by_matrix,
    by_statements,
    bytes_of_matrix,
    bytes_of_statements,
)

__all__ = ["Preaccumulated", "Preaccumulation", "preaccumulate"]

_SMALL = 1 << 20     # bytes of a matrix that is computed to see how many of its numbers are zero


class Preaccumulation(NamedTuple):
    """What became of one call of a preaccumulated function.

    Attributes
    ----------
    replaced : bool
        Whether the Jacobian is on the tape, and not the steps of the function.
    reason : str
        Why not; empty if it is.
    inputs, outputs : int
        Numbers of outside that the results depend on, and numbers of the results.
    recorded : int
        Bytes of the steps: of scalar statements what a Jacobian strategy would store, 12 an argument and one each.
    kept : int
        Bytes of the Jacobian: 12 a number of those that are not zero and one a statement; as a matrix 8 a number, and
        what an array statement takes besides. 0 if it was not computed.
    """

    replaced: bool
    reason: str
    inputs: int = 0
    outputs: int = 0
    recorded: int = 0
    kept: int = 0


def preaccumulate(f, *, rebind=True):
    """A function that leaves nothing on the tape but the derivatives of its results; also a decorator.

    While a tape records, `f` runs in a recording of its own. At its end that is swept and dropped, and each number of
    the results is one statement with its local Jacobian; arrays are one array statement with a matrix. Gradients are
    those without, up to rounding. It pays where `f` takes many steps from few numbers to few numbers.

    Parameters
    ----------
    f : callable
        Returns numbers and arrays, in lists, tuples, dicts and dataclasses. What it reads may be variables, arguments
        or not: all that its results depend on is found.
    rebind : bool
        See `grad`.

    Returns
    -------
    Preaccumulated
        Callable as `f` is, in any function that is differentiated, and with plain numbers. ``last`` is a
        `Preaccumulation` of the last call that was recorded, with the bytes of both.

    Raises
    ------
    TypeError
        At once: `f` is not callable. From the returned function: it returned something else than numbers and arrays.
    TapeError
        From the returned function: an array that it returned is read-only, and others have it, too. And later, from
        whatever uses a variable that `f` computed and left elsewhere than in its result, as in a list, an attribute or
        an array of the caller: its statements are gone.

    Notes
    -----
    The steps stay, and ``last.reason`` says why, where the Jacobian would take more bytes; in recordings that are
    differentiated themselves (second derivatives, patterns, Taylor coefficients, calls inside of another preaccumulated
    function), which the numbers of a Jacobian do not allow; and under strategy ``"forward"``. Where the bytes decide,
    `f` does not run again: its operations are repeated on the tape. ``tape.evaluate_primal()`` refuses a tape with a
    Jacobian of numbers, as after ``tape.push_statement``.

    What `f` raises comes through, and the tape has none of its steps. An array, list, dict or dataclass that it returns
    and that others have, too, as one that it fills each time, is that object here as in the plain run.

    An array of the caller that was written to element by element is packed when `f` reads it, once in each call, which
    takes a statement with all its elements: pass the elements, or a copy of the part that is read.

    Examples
    --------
    >>> import codipy
    >>> @codipy.preaccumulate
    ... def root(a):
    ...     x = a
    ...     for _ in range(20):
    ...         x = 0.5 * (x + a / x)
    ...     return x
    >>> codipy.grad(lambda a: a * root(a))(4.0)
    3.0
    >>> root.last.replaced, root.last.inputs, root.last.outputs, root.last.kept
    (True, 1, 1, 13)
    """
    check_function(f, "preaccumulate")
    return Preaccumulated(f, {"rebind": rebind})


class Preaccumulated(Driver):
    """What `preaccumulate` returns."""

    def __init__(self, f, options):
        super().__init__(preaccumulate, f, options, getattr(f, "__doc__", None) or "")
        self._last = self._run = None

    @property
    def last(self):
        """What became of the last call that was recorded, a `Preaccumulation`; None before it."""
        return self._last

    def __call__(self, *args, **kwargs):
        tape = active_tape()
        if tape is None and not in_passive():
            return self.f(*args, **kwargs)
        if self._run is None:
            self._run = rebound(self.f) if self.options["rebind"] else self.f
        reason = "" if tape is None else _reason(tape)
        if tape is None or reason:
            self._last = Preaccumulation(False, reason) if reason else self._last
            return self._run(*args, **kwargs)
        with Apart(self._run, self.f, args, kwargs) as apart:
            return self._on(tape, apart)

    def _on(self, tape, apart):
        """The result of a call that was recorded apart, as variables of the enclosing tape."""
        recorded, matrix = apart.nbytes(), None
        columns, kept, record = len(apart.at), 0, None
        if 8 * apart.rows * columns <= max(recorded, _SMALL) or not apart.can_be_left:
            matrix = apart.matrix()
            used = (matrix != 0.0).any(axis=0)      # NaN is not zero
            matrix, at = matrix[:, used], apart.at[used]
            columns, widest = len(at), (matrix != 0.0).sum(axis=1).max(initial=0)
            if apart.is_scalar and widest <= WIDEST:
                kept, record = bytes_of_statements(matrix), by_statements
            else:
                kept, record = bytes_of_matrix(matrix, apart.outputs), by_matrix
        if apart.can_be_left and (record is None or kept > recorded):
            self._last = Preaccumulation(False, "the Jacobian would take more bytes than the steps", columns,
                                         apart.rows, recorded, kept)
            return apart.repeated()
        self._last = Preaccumulation(True, "", columns, apart.rows, recorded, kept)
        parts = apart.inputs(at, matrix)
        return apart.with_results(record(tape, apart.outputs, parts) if parts else list(map(as_passive, apart.outputs)))


def _reason(tape):
    """Why what is recorded on a tape has to stay there; empty where it has not."""
    if not tape.can_sweep:
        return "strategy='forward' keeps nothing"
    if tape.loans is not None or tape.twice:
        return "this recording is differentiated itself, or preaccumulated, by a driver around it"
    return ""
