# SPDX-License-Identifier: Apache-2.0
"""The built-ins of rebuilt functions: `float` and its like, and those that would lead back to the originals."""

from __future__ import annotations

import sys
import types

from codipy.tools.rebinding.replacements import BUILTINS, replacement

__all__ = ["ModuleProxy", "make_builtins", "origin_of"]


def origin_of(cls):
    """The user's class of which `cls` is the twin, or `cls` itself."""
    return vars(cls).get("__codipy_origin__", cls) if isinstance(cls, type) else cls


def _super(*args):
    """``super``: a twin stands before its original in the order of methods, and the next after that is meant."""
    if args:
        return super(origin_of(args[0]), *args[1:])
    frame = sys._getframe(1)
    if not frame.f_code.co_argcount:
        raise RuntimeError("super(): no arguments")
    variables = frame.f_locals
    if "__class__" not in variables:
        raise RuntimeError("super(): __class__ cell not found")
    return super(variables["__class__"], variables[frame.f_code.co_varnames[0]])


def make_builtins(view, mapping):
    """A copy of a dict of built-ins, for the functions of one view."""
    made = {name: replacement(value, value) if name in BUILTINS else value for name, value in mapping.items()}
    rebinder, import_ = view.rebinder, mapping.get("__import__")

    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        return rebinder.at_run_time(import_(name, globals, locals, fromlist, level))

    def globals():
        return view.origin

    made["__rebound__"] = True  # how a rebuilt function is known
    for name, hook in (("__import__", __import__), ("globals", globals), ("super", _super)):
        if name in mapping:
            made[name] = hook
    return made


class ModuleProxy(types.ModuleType):
    """A module of the user, as rebound code sees it: its functions are rebuilt, all else is the module's own."""

    def __init__(self, view, module):
        super().__init__(module.__name__)
        vars(self).clear()
        vars(self).update(_view=view, _module=module)

    def __getattr__(self, name):
        value, view = getattr(self._module, name), self._view
        if name not in view.origin:
            return view.rebinder.at_run_time(value)
        with view.rebinder.lock:
            view.use((name,))      # from now on it is looked at when rebound code is entered
            new = view.fast.get(name)
            if new is value or name in view.volatile:
                value = view.rebinder.at_run_time(value)
                if new is not value or name in view.volatile or type(value) is not types.FunctionType:
                    return value      # may be something else the next time
            vars(self)[name] = new
        return new

    def __setattr__(self, name, value):
        setattr(self._module, name, value)
        self._forget(name)

    def __delattr__(self, name):
        delattr(self._module, name)
        self._forget(name)

    def _forget(self, name):
        vars(self).pop(name, None)
        self._view.update(name)

    def __dir__(self):
        return dir(self._module)
