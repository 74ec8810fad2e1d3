# SPDX-License-Identifier: Apache-2.0
"""Where the function of a study comes from, so that every process of the study can have it and its points."""
from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import runpy
import sys
import types
from pathlib import Path

from codipy.tools.callee import name_of, title_of
from codipy.tools.console.target import TargetError, absolute, find, made_by

__all__ = ["FromFile", "Given", "as_steps"]


class FromFile:
    """A function of a file; every process runs the file.

    Attributes
    ----------
    name : str
        What tables call the function.
    target : str
        ``FILE.py:FUNCTION``
    """

    def __init__(self, target):
        self.target = absolute(target)
        self._found = None

    @property
    def name(self):
        return self.target.rpartition(":")[2]

    def __getstate__(self):
        return {"target": self.target, "_found": None}

    def load(self, point):
        """The function and its arguments at a point; TargetError where there is none."""
        if self._found is None:
            self._found = find(self.target)
        found = self._found
        if point.size is not None:
            return as_steps(found.function, point), found.made(point.size, point.steps)
        return as_steps(found.function, point), found.arguments(at=point.at, text=point.text).arguments

    def content(self):
        """A hash of the file, so that a study does not go on with another function."""
        return _hash(Path(self.target.rpartition(":")[0]).read_bytes())

    def place(self, point):
        """Where a point comes from, None if its label says that."""
        if point.at is not None or point.text is not None:
            return None
        return self._found.place + f" of {self._found.path.name}"

    def is_portable(self):
        """Whether another process can have it: files always."""
        return True


class Given:
    """A function that the caller has, and its points.

    Parameters
    ----------
    f : callable
    points : dict, callable or None
        Tuples of arguments by label; or what makes the arguments of a size, ``f.x0`` if it is None.
    """

    target = ""      # of no file that anybody named

    def __init__(self, f, points):
        self.f, self.points = f, points
        self.name = title_of(f)

    def load(self, point):
        """The function and its arguments at a point."""
        if point.size is None:
            return as_steps(self.f, point), self.points[point.label]
        made = made_by(self.points or self.f.x0, self.f, point.size, point.steps)
        return as_steps(self.f, point), made if isinstance(made, tuple) else (made,)

    def content(self):
        """A hash of the function's text and its points, None where one of them is not to be had."""
        made = [part for part in (self.points, getattr(self.f, "x0", None)) if callable(part)]
        try:
            texts = [inspect.getsource(part) for part in (self.f, *made)]
            return _hash(repr(texts).encode() + pickle.dumps(None if callable(self.points) else self.points))
        except Exception:      # no source, or what the user's objects raise when they are pickled
            return None

    def place(self, point):
        """Nothing to say: the caller passed it."""

    def __getstate__(self):
        main = sys.modules.get("__main__")
        path = getattr(main, "__file__", None)
        # Scripts run again under another name, as multiprocessing does it, so that `__main__.f` is found.
        return {"main": path, "path": list(sys.path), "name": self.name, "inner": pickle.dumps((self.f, self.points))}

    def __setstate__(self, state):
        self.name, sys.path[:] = state["name"], state["path"]
        if b"__main__" in state["inner"]:
            module = types.ModuleType("__mp_main__")
            module.__dict__.update(runpy.run_path(state["main"], run_name="__mp_main__"))
            sys.modules["__main__"] = sys.modules["__mp_main__"] = module
        self.f, self.points = pickle.loads(state["inner"])

    def is_portable(self):
        """Whether a fresh process can find it: functions of modules and scripts, no lambdas, no closures."""
        main = sys.modules.get("__main__")
        try:
            inner = self.__getstate__()["inner"]
        except Exception:      # pickle raises what the user's objects raise
            return False
        return b"__main__" not in inner or str(getattr(main, "__file__", "")).endswith(".py")


def _hash(content):
    return hashlib.sha256(content).hexdigest()[:16]


def as_steps(function, point):
    """The function with its own ``steps=``; itself where what makes points of a size takes their number.

    Parameters
    ----------
    function : callable
    point : Point
        Or what has its ``size`` and ``steps``.

    Raises
    ------
    TargetError
        If nothing takes the number of steps.
    """
    if point.steps is None:
        return function
    if "steps" in inspect.signature(function).parameters:
        return functools.partial(function, steps=point.steps)
    if point.size is None:
        raise TargetError(f"nothing takes the number of steps: give {name_of(function)} a parameter steps=")
    return function
