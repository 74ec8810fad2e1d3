# SPDX-License-Identifier: Apache-2.0
"""A function in somebody's file, and the point to run it at: ``FILE.py:FUNCTION``."""
from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from codipy.tools.callee import name_of

__all__ = ["Found", "Target", "TargetError", "absolute", "find", "made_by", "positional", "takes"]

_NAME = "codipy_target"      # not that of the file: it may be that of a module that others need


class TargetError(ValueError):
    """The words on the command line name nothing that can be run."""


class Found(NamedTuple):
    """A function of a file.

    Attributes
    ----------
    function : callable
        With an object of its class, if it is a method.
    module : module
        What the file defines.
    path : Path
    name : str
        ``FUNCTION`` or ``CLASS.METHOD``.
    holders : tuple
        Where its point may be, the nearest first, and what each is called.
    """

    function: Callable[..., Any]
    module: ModuleType
    path: Path
    name: str
    holders: tuple

    def arguments(self, at=None, text=None):
        """The Target at a point: a variable of the file, a literal, or else the x0 of the function or the file.

        Raises
        ------
        TargetError
            If there is none, or it makes points and has no default for their size.
        """
        if text is not None:
            return Target(self.function, _arguments(self.function, _literal(text)), f"--x0 {text}")
        if at is not None:
            holder, place = self.module, at
            for name in at.split("."):
                if not hasattr(holder, name):
                    is_name = all(map(str.isidentifier, at.split(".")))
                    literal = "" if is_name else f"; a point itself is given by --x0, `--x0 {at}`"
                    raise TargetError(f"--at {at}: the file has no such name{literal}")
                holder = getattr(holder, name)
            point = holder
        else:
            point, place = self._x0()
            if callable(point):
                point, place = _alone(point, place), f"{place}()"
        return Target(self.function, _arguments(self.function, point), f"{place} of {self.path.name}")

    def made(self, size, steps=None):
        """The arguments that ``x0(size)`` makes, or ``x0(size, steps)``."""
        maker, place = self._x0()
        if not callable(maker):
            raise TargetError(f"{place} of {self.path.name} is one point: sizes need a function, def x0(n): ...")
        return _arguments(self.function, made_by(maker, self.function, size, steps))

    @property
    def place(self):
        """What holds the point, or makes it."""
        return self._x0()[1]

    def _x0(self):
        for holder, place in self.holders:
            if hasattr(holder, "x0"):
                return holder.x0, f"{place}x0"
        raise TargetError(f"no point to run at: set {self.name}.x0 or x0 in the file, or name a variable of it with "
                          "--at")


class Target(NamedTuple):
    """A function, its arguments, and where these come from."""

    function: Callable[..., Any]
    arguments: tuple
    place: str


def absolute(target):
    """The same target wherever the file's program changes the working directory to; one of no file as it is."""
    path, colon, name = target.rpartition(":")
    return f"{Path(path).absolute()}{colon}{name}" if Path(path).is_file() else target


def find(target):
    """The function that `target` names.

    Parameters
    ----------
    target : str
        ``FILE.py:FUNCTION`` or ``FILE.py:CLASS.METHOD``; the file is run as a module, its folder is importable as for a
        script, and so is the package that it is in. A method is that of an object that the class makes of nothing.

    Returns
    -------
    Found

    Raises
    ------
    TargetError
        Saying what is missing and what there is.
    Exception
        Whatever the file raises.
    """
    text, colon, name = target.rpartition(":")
    name = unicodedata.normalize("NFKC", name)      # as Python does with names
    path, parts = Path(text), name.split(".")
    if not colon or not all(part.isidentifier() for part in parts) or path.suffix != ".py":
        raise TargetError(f"{target!r} is not of the form FILE.py:FUNCTION")
    if not path.is_file():
        raise TargetError(f"there is no file {text}")
    module = _run(path)
    function, holders = module, [(module, "")]
    for depth, part in enumerate(parts):
        if inspect.isclass(function) and inspect.isfunction(inspect.getattr_static(function, part, None)):
            function = _made(function, name)
        if not hasattr(function, part):
            raise TargetError(f"{path.name} has no function {name!r}: there are {_there(module)}")
        function = getattr(function, part)
        holders.insert(0, (function, ".".join(parts[:depth + 1]) + "."))
    if not callable(function):
        raise TargetError(f"{path.name} has no function {name!r}: there are {_there(module)}")
    return Found(function, module, path, name, tuple(holders))


def made_by(maker, function, size, steps=None):
    """The point that ``maker(size)`` gives, or ``maker(size, steps)`` if it takes both.

    Raises
    ------
    TargetError
        If the maker takes no size, or neither it nor the function, as ``steps=``, the number of steps.
    """
    if not takes(maker, (size,)):
        raise TargetError(f"{name_of(maker)} takes no size: it needs one parameter, def x0(n): ...")
    if steps is None:
        return maker(size)
    if len(positional(maker)) > 1:
        return maker(size, steps)
    if "steps" not in inspect.signature(function).parameters:
        raise TargetError(f"nothing takes the number of steps: give {name_of(function)} a parameter steps=, or x0 a "
                          "second one")
    return maker(size)


def takes(function, arguments, unsaid=True):
    """Whether a function can be called with some arguments; `unsaid` where it is of C and does not say."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        return unsaid
    return True


def _alone(maker, place):
    """The point that a maker gives without a size, if it needs none."""
    if not takes(maker, (), unsaid=False):
        raise TargetError(f"{place} makes points of a size: say which, --size 10 (--sizes 10,100 of codipy study), or "
                          "one point: --x0, --at, or a default, def x0(n=10)")
    return maker()


def positional(function):
    """The parameters of a function that take positional arguments."""
    return [parameter for parameter in inspect.signature(function).parameters.values()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]


def _there(module):
    """The functions of a file, and the methods of its classes."""
    there = []
    for key, value in vars(module).items():
        if getattr(value, "__module__", None) == module.__name__:
            if inspect.isfunction(value):
                there.append(key)
            elif inspect.isclass(value):
                there += [f"{key}.{name}" for name, method in vars(value).items()
                          if isinstance(method, (staticmethod, classmethod)) or inspect.isfunction(method)
                          if not name.startswith("__") or name == "__call__"]
    return ", ".join(there) or "none"


def _made(cls, name):
    try:
        return cls()
    except TypeError as error:
        if error.__traceback__.tb_next is not None:      # raised inside, by the user's code
            raise
        raise TargetError(f"{name} is a method, and {cls.__name__}() cannot be made without arguments: write a "
                          "function that makes the object and calls it") from None


def _literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise TargetError(f"--x0 {text}: not a number, nor a list, tuple or dict of numbers, as Python writes them"
                          ) from None


def _run(path):
    folder = path.resolve().parent
    package, root = _package(folder)
    for place in (root, folder):      # the second is what a script has, and found first
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
    name = f"{package}.{_NAME}" if package else _NAME      # relative imports then find the package, and import it
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module      # dataclasses look a module up by its name
    try:
        spec.loader.exec_module(module)
    except SystemExit:
        raise TargetError(f"{path.name} called exit() while it was loaded: put what a script does under "
                          "if __name__ == '__main__'") from None
    return module


def _package(folder):
    """The package that the files of a folder belong to, '' if to none, and the folder that has it."""
    parts = []
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def _arguments(function, point):
    """The point as arguments: a tuple is several if the function requires several, else one."""
    if not isinstance(point, tuple):
        return (point,)
    required = [parameter for parameter in positional(function) if parameter.default is parameter.empty]
    return point if len(required) > 1 else (point,)
