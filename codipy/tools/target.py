# SPDX-License-Identifier: Apache-2.0
"""A function in somebody's file, and the point to run it at: ``FILE.py:FUNCTION``."""
from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path

__all__ = ["TargetError", "load", "user_traceback"]

_NAME = "codipy_target"      # not that of the file: it may be that of a module that others need


class TargetError(ValueError):
    """The words on the command line name nothing that can be run."""


def load(target, at=None):
    """The function that `target` names, and its arguments.

    Parameters
    ----------
    target : str
        ``FILE.py:FUNCTION``; the file is run as a module, its folder is importable as for a script.
    at : str, optional
        Name of the point in the file; default is ``FUNCTION.x0``, else ``x0``.

    Returns
    -------
    tuple
        The function and the tuple of its arguments: the point is one argument, a tuple several if the function
        requires several.

    Raises
    ------
    TargetError
        Saying what is missing and what there is.
    Exception
        Whatever the file raises.
    """
    text, colon, name = target.rpartition(":")
    path = Path(text)
    if not colon or not name.isidentifier() or path.suffix != ".py":
        raise TargetError(f"{target!r} is not of the form FILE.py:FUNCTION")
    if not path.is_file():
        raise TargetError(f"there is no file {text}")
    module = _run(path)
    function = getattr(module, name, None)
    if not callable(function):
        there = [key for key, value in vars(module).items()
                 if inspect.isfunction(value) and value.__module__ == module.__name__]
        raise TargetError(f"{path.name} has no function {name!r}: there are {', '.join(there) or 'none'}")
    return function, _arguments(function, _point(module, function, name, at))


def _run(path):
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(_NAME, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module      # dataclasses look a module up by its name
    try:
        spec.loader.exec_module(module)
    except SystemExit:
        raise TargetError(f"{path.name} called exit() while it was loaded: put what a script does under "
                          "if __name__ == '__main__'") from None
    return module


def _point(module, function, name, at):
    if at is not None:
        if not hasattr(module, at):
            raise TargetError(f"--at {at}: the file has no such name")
        return getattr(module, at)
    for holder in (function, module):
        if hasattr(holder, "x0"):
            return holder.x0
    raise TargetError(f"no point to run at: set {name}.x0 or x0 in the file, or name a variable of it with --at")


def _arguments(function, point):
    if not isinstance(point, tuple):
        return (point,)
    required = [parameter for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty
                and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    return point if len(required) > 1 else (point,)


def user_traceback(error, target):
    """The text of an exception, from the first line of the user's file on."""
    path = str(Path(target.rpartition(":")[0]).resolve())
    frames = error.__traceback__
    while frames is not None and str(Path(frames.tb_frame.f_code.co_filename).resolve()) != path:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))
