# SPDX-License-Identifier: Apache-2.0
"""What the user's function or file raised: its traceback, and what may be wrong with the point."""
from __future__ import annotations

import contextlib
import inspect
import traceback
from pathlib import Path

from codipy.active.messages.callers import is_ours
from codipy.tools.callee import name_of
from codipy.tools.console.target import positional, takes

__all__ = ["hinting", "hints", "is_of_file", "traceback_of", "user_traceback"]


@contextlib.contextmanager
def hinting(function, arguments):
    """What the function raises inside of this has `hints` for `user_traceback`."""
    try:
        yield
    except Exception as error:
        error.codipy_hints = hints(function, arguments, error)
        raise


def hints(function, arguments, error):
    """What may be wrong with a point at which the function raised an exception, as sentences.

    Parameters
    ----------
    function : callable
    arguments : tuple
        What `Target` holds.
    error : Exception

    Returns
    -------
    list of str
    """
    if (unbound := _unbound(function, arguments)) is not None:
        return [unbound]
    found = []
    if len(arguments) == 1 and isinstance(arguments[0], tuple) and len(positional(function)) > 1:
        optional = [parameter.name for parameter in positional(function) if parameter.default is not parameter.empty]
        found.append(f"The point is a tuple, and {name_of(function)} got it as one argument, because only one has no "
                     f"default. A tuple is several arguments of a function that requires several: take the default of "
                     f"{' or '.join(optional)} away, or name a function with exactly these arguments.")
    numbers = [k for k, argument in enumerate(arguments) if type(argument) is int]
    if numbers and isinstance(error, (TypeError, IndexError)):
        which = " and ".join(str(k) for k in numbers)
        found.append(f"The point has a whole number, argument {which}, which became a float, because a function is "
                     "differentiated by all numbers of its point. A number that counts, as of steps, belongs into a "
                     "default of the function and not into the point.")
    lists = [k for k, argument in enumerate(arguments) if type(argument) is list]
    if lists and isinstance(error, (AttributeError, TypeError)) and _raised_inside(function, error):
        which = " and ".join(map(str, lists))
        found.append(f"The point has a list, argument {which}, and the function gets it as a list. Where it wants an "
                     "array, name one of the file: x0 = np.array(...), or --at NAME.")
    return found


def _unbound(function, arguments):
    """Why a function cannot be called with these arguments, as a sentence; None where it can, or does not say."""
    if takes(function, arguments):
        return None
    parameters = inspect.signature(function).parameters.values()
    required = [each.name for each in parameters if each.default is each.empty]
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name in required]
    taken, name = positional(function), name_of(function)
    if by_name:
        return (f"{name} requires {' and '.join(by_name)} by name, which no point gives: set a default, or name a "
                f"function that calls {name} with it.")
    if len(taken) < len(arguments):
        return (f"The point is {_several(len(arguments))}, and {name} takes {_several(len(taken))}. A function is "
                "differentiated by what it is called with.")
    return (f"{name} requires {' and '.join(required)}, and the point is {_several(len(arguments))}. A tuple is "
            "several arguments: x0 = (1.0, [2.0, 3.0]), or --x0 '(1.0, [2.0, 3.0])'.")


def _several(count):
    return f"{count or 'no'} argument{'' if count == 1 else 's'}"


def _raised_inside(function, error):
    """Whether an exception came out of the function, and not of what looked at its arguments or at its result."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return True
    if hasattr(error, "codipy_traceback"):      # raised in another process
        return f"in {code.co_name}\n" in error.codipy_traceback
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    return code.co_name in names


def user_traceback(error, target):
    """The text of an exception as `traceback_of` gives it, and what may be wrong with the point."""
    text = getattr(error, "codipy_traceback", None) or traceback_of(error, target)      # raised in another process
    return text + "".join(f"codipy: {line}\n" for line in getattr(error, "codipy_hints", ()))


def traceback_of(error, target):
    """The text of an exception from the first line of the user's file on, without the frames of codipy's in between."""
    said = traceback.TracebackException(type(error), error, _frames(error, target))
    _leave_out_ours(said)
    return "".join(said.format() if said.stack else said.format_exception_only())


def is_of_file(error, target):
    """Whether an exception came out of the user's file, here or in another process."""
    return hasattr(error, "codipy_traceback") or _frames(error, target) is not None


def _frames(error, target):
    """The traceback from the first line of the user's file on; None where that is not in it."""
    path = str(Path(target.rpartition(":")[0]).resolve())
    frames = error.__traceback__
    while frames is not None and str(Path(frames.tb_frame.f_code.co_filename).resolve()) != path:
        frames = frames.tb_next
    return frames


def _leave_out_ours(said):
    """Take codipy's frames out; exceptions before, of which nothing else is left, were codipy's own affair."""
    said.stack[:] = [frame for frame in said.stack if not is_ours(frame.filename)]
    for other in getattr(said, "exceptions", None) or ():
        _leave_out_ours(other)
    for link in ("__cause__", "__context__"):
        before = getattr(said, link)
        if before is not None:
            _leave_out_ours(before)
            if not before.stack:
                setattr(said, link, None)
