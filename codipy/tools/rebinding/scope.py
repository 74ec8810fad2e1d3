# SPDX-License-Identifier: Apache-2.0
"""Whose functions are rebuilt: those of the user, not of installed libraries, not of Python, never of codipy."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from pathlib import Path
from types import FunctionType, ModuleType

from codipy.active.messages.instead import is_rebuilt_anyhow

__all__ = ["Scope", "home_of", "module_of"]

_NEVER = {"codipy", "numpy"}
_CALLED = _NEVER | {"scipy"}
_INSTALLED = {"site-packages", "dist-packages"}
_STDLIB = Path(os.__file__).parent


@functools.lru_cache(maxsize=4096)
def _is_installed(name, file):
    """Whether a module came with Python or with an installer, and not with the user."""
    top = name.partition(".")[0]
    if top in _NEVER:
        return True
    if file is None:
        return top in sys.stdlib_module_names and top != "__main__"
    path = Path(file)
    if not _INSTALLED.isdisjoint(path.parts) or _STDLIB in path.parents:
        return True
    # `pip install --target` puts a library where the user likes, and its list of files beside it. An egg-info says
    # nothing: it stands beside what its own author is working on.
    depth = name.count(".") + (path.stem == "__init__")
    return len(path.parents) > depth and top in _recorded(path.parents[depth])


@functools.lru_cache(maxsize=256)
def _recorded(folder):
    """The top-level modules that an installer put into a folder."""
    found = set()
    for record in folder.glob("*.dist-info/RECORD"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            files = (line.partition(",")[0].strip('"') for line in record.read_text(encoding="utf-8").splitlines())
            found.update(re.split(r"[/.]", file)[0] for file in files if file.endswith((".py", ".so", ".pyd")))
    return frozenset(found)


def home_of(f):
    """The top-level package of a callable, if that is an installed one: its own author may rebind it."""
    module = getattr(f, "__module__", None)
    top = module.partition(".")[0] if isinstance(module, str) else ""
    module = sys.modules.get(top)
    if top in sys.stdlib_module_names or top in _NEVER or module is None:
        return None
    return top if _is_installed(top, getattr(module, "__file__", None)) else None


def module_of(cls):
    """The name of the module of a class; where it has a descriptor for that, that of its functions; else None."""
    name = cls.__module__
    if isinstance(name, str):
        return name
    for member in vars(cls).values():
        member = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if type(member) is FunctionType and isinstance(name := member.__globals__.get("__name__"), str):
            return name
    return None


class Scope:
    """The modules whose functions are rebuilt.

    Parameters
    ----------
    home : str or None
        A package that is the user's although it is installed.
    modules : tuple of str
        Modules and packages that are rebuilt although they are not the user's.

    Attributes
    ----------
    writes : bool
        Whether a function was rebuilt that may write into an array.
    names : tuple of str
        Those modules, and the package.
    """

    def __init__(self, home, modules):
        self.writes, self._found = False, {}
        self.names = (*modules, *(() if home is None else (home,)))

    def owns_name(self, name, file):
        found = self._found.get((name, file))
        if found is None:
            found = self._found[name, file] = self._owns_name(name, file)
        return found

    def _owns_name(self, name, file):
        if name is None:
            return True  # made by exec
        if is_rebuilt_anyhow(name):
            return True
        if name.partition(".")[0] in _NEVER:
            return False
        if any(name == own or name.startswith(own + ".") for own in self.names):
            return True
        return not _is_installed(name, file)

    def owns_globals(self, variables):
        """Whether functions with these globals are rebuilt; those that already were are not once more."""
        builtins = variables.get("__builtins__")
        if type(builtins) is dict and "__rebound__" in builtins:
            return False
        name = variables.get("__name__")
        if isinstance(name, str) and name.partition(".")[0] in _NEVER and not is_rebuilt_anyhow(name):
            return vars(sys.modules.get(name, sys)) is not variables  # examples in a docstring run under its name
        return self.owns_name(name if isinstance(name, str) else None, variables.get("__file__"))

    def wraps(self, f):
        """Whether a function of a library may be rebuilt for what it has in its closure: it is a user's decorator."""
        builtins, name = f.__globals__.get("__builtins__"), f.__globals__.get("__name__", "")
        is_rebound = type(builtins) is dict and "__rebound__" in builtins
        return f.__closure__ is not None and not is_rebound and name.partition(".")[0] not in _NEVER

    def owns_class(self, cls):
        name = module_of(cls)
        if name is None or name == "builtins":
            return False
        return self.owns_name(name, getattr(sys.modules.get(name), "__file__", None))

    def owns_module(self, module):
        return type(module) is ModuleType and self.owns_name(module.__name__, getattr(module, "__file__", None))

    def owns_outright(self, name):
        """Whether a module is the user's, or of a library that was named: codipy itself calls SciPy's own functions."""
        return isinstance(name, str) and name.partition(".")[0] not in _CALLED

    def owns_library(self, name):
        """Whether the modules of a package are all rebuilt anyhow."""
        module = sys.modules.get(name)
        return name in self.names or module is None or self.owns_name(name, getattr(module, "__file__", None))

    def asked_for(self, name):
        return any(name == own or name.startswith(own + ".") for own in self.names)
