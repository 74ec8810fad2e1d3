# SPDX-License-Identifier: Apache-2.0
"""Errors of codipy that somebody caught: the run took another branch than the plain one.

An error says that a derivative would be lost. Code that catches all there is, because a solver may fail, catches this
too and goes on with its fallback, whose derivative is then right and of no use. So each error that is raised in the
recording of a driver is kept until the function ends. If it returns although an error was caught, the driver raises
that. If it ends in an error of a library's internals, the driver says what came before: compiled code that is refused a
number has words of its own for it.

Who caught an error is the first frame of its traceback. What codipy, NumPy and Python's library catch are probes, after
which they do what they would have done with the plain value, or raise an error of their own.
"""

from __future__ import annotations

import contextlib
import sys
import weakref

from codipy import errors
from codipy.active.array import is_active
from codipy.active.messages.callers import is_users, place, top
from codipy.errors import ActiveError, TapeError
from codipy.tape.activity import active_tape

__all__ = ["demand_none_swallowed", "forget", "raised", "refused_json", "said_before", "unnoticed", "watch"]

_watched: weakref.WeakSet = weakref.WeakSet()  # the drivers' tapes
raised: list = []  # of (reference to the tape, error), of recordings that run
_MANY = 64
_KNOWN = {"ActiveError", "TapeError"}  # who names these knows what is caught


def watch(tape):
    """Keep what is raised while `tape` records; `demand_none_swallowed` or `forget` must follow each recording."""
    _watched.add(tape)
    return tape


def _note(error, tape=None):
    tape = active_tape() if tape is None else tape
    if tape is not None and tape in _watched:
        if len(raised) >= _MANY:
            # Without the probes. What has no traceback is on its way.
            raised[:] = [entry for entry in raised if entry[1].__traceback__ is None or _caught_in(entry[1])]
        if len(raised) < _MANY:
            raised.append((weakref.ref(tape), error))


errors.listeners.append(_note)


def demand_none_swallowed(tape):
    """Raise what the function that was recorded has caught; called when it has returned."""
    if not raised:
        return
    for error in _taken(tape):
        found = _caught_in(error)
        if found is not None:
            where = place(found.tb_frame, found.tb_lineno)
            raise _kind(error)(f"an error of codipy was caught ({where}), and another branch was taken than in the "
                               f"plain run: {error}") from error  # fmt: skip


def said_before(tape, error):
    """What to raise for an error that the function ended in: that itself, or what a library was refused before."""
    found, users, raiser = _taken(tape) if raised else [], None, None
    entry = error.__traceback__
    while entry is not None:
        if top(entry.tb_frame) != "codipy":
            raiser = entry
            users = entry if is_users(entry.tb_frame) else users
        entry = entry.tb_next
    if isinstance(error, (ActiveError, TapeError)):
        _note(error)  # of an inner driver: who called that may catch it
        return error
    if users is None:
        return error
    gave_up = type(error) is TypeError and str(error).startswith("unsupported operand type")  # an operator caught it
    if found and (raiser is not users or gave_up):
        return _kind(found[-1])(str(found[-1]))
    where = place(users.tb_frame, users.tb_lineno)
    if type(error) is TypeError and str(error).endswith("is not JSON serializable") and (
            top(raiser.tb_frame) == "json" and is_active(raiser.tb_frame.f_locals.get("o"))):
        return refused_json(where)
    if type(error) is TypeError and "codipy.active." in str(error):
        return ActiveError(f"compiled code was given an array or number of codipy's ({where}): {error}. Write it with "
                           "NumPy's functions, or say codipy.value(x) where nothing is active or none is wanted")
    return error


def refused_json(where):
    """The error of `json` that is given variables at a place."""
    return ActiveError(f"json was given an active number or array of codipy's ({where}): say codipy.value(x), and "
                       ".tolist() of an array, or json.dumps(..., default=codipy.value) for numbers among others")


def _kind(error):
    return TapeError if isinstance(error, TapeError) else ActiveError


def _caught_in(error):
    """The entry of a traceback for where the error was caught, if that is code whose branches count."""
    found = error.__traceback__
    if found is None:
        return None
    frame = found.tb_frame
    probes = {"codipy", "numpy", *sys.stdlib_module_names} - {"threading"}  # a thread dies of what it does not catch
    if not is_users(frame) and top(frame) in probes or not _KNOWN.isdisjoint(frame.f_code.co_names):
        return None
    return found


def forget(tape):
    """Drop what was kept of a recording that ended in an error."""
    if raised:
        _taken(tape)


@contextlib.contextmanager
def unnoticed():
    """A context in which errors are tried for: who catches one outside of it takes no other branch of the user's."""
    before = list(raised)
    try:
        yield
    finally:
        raised[:] = before


def _taken(tape):
    found = [error for reference, error in raised if reference() is tape]
    raised[:] = [entry for entry in raised if entry[0]() not in (None, tape)]
    return found
