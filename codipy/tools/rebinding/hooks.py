# SPDX-License-Identifier: Apache-2.0
"""The built-ins of rebuilt functions: `float` and its like, and those that would lead back to the originals."""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import sys
import types

import numpy as np

from codipy.active.array_type import Array
from codipy.active.scalar.real import Real
from codipy.errors import ActiveError
from codipy.numpy.allocation import holds_movable, objects_as_type
from codipy.numpy.modules import module_for
from codipy.numpy.standins import StandIn
from codipy.tools.rebinding.ancestry import base_of, bases_of, mro_method_of, mro_of, origin_of, original_of_class
from codipy.tools.rebinding.attributes import attribute_of, class_of, has_attribute, names_of_attributes
from codipy.tools.rebinding.code import scan
from codipy.tools.rebinding.containers import origin_of_view
from codipy.tools.rebinding.exchange import (
    held_item,
    held_parameter,
    hold_attribute,
    hold_cell,
    hold_global,
    hold_item,
    hold_items,
    hold_result,
    is_plain,
    popped,
    taken,
)
from codipy.tools.rebinding.made import made, made_items
from codipy.tools.rebinding.matching import Matching
from codipy.tools.rebinding.operands import array_of, operate
from codipy.tools.rebinding.own import own_attribute
from codipy.tools.rebinding.patterns import MATCHING, without_class_patterns
from codipy.tools.rebinding.replacements import BUILTINS, MODULES, replacement
from codipy.tools.rebinding.unanswered import unanswered
from codipy.tools.rebinding.unit import views_of
from codipy.tools.rebinding.wrapping import (
    ATTRIBUTE_OF,
    BASE_OF,
    BASES_OF,
    CLASS_OF,
    DICT_OF,
    HELD_ITEM,
    HELD_PARAMETER,
    HOLD_ATTRIBUTE,
    HOLD_CELL,
    HOLD_GLOBAL,
    HOLD_ITEM,
    HOLD_ITEMS,
    HOLD_RESULT,
    IS_PLAIN,
    IS_SAME,
    MADE,
    MADE_ITEMS,
    METHOD_OF,
    MODULES_OF,
    MRO_METHOD_OF,
    MRO_OF,
    OPERATE,
    POPPED,
    SOLVE_OF,
    TAKEN,
)

__all__ = ["LOOKING_UP", "ModuleProxy", "gives_plain", "make_builtins"]

# By these a function finds others whose names no code object tells, or sets them, or asks what a value is.
LOOKING_UP = frozenset((
    "__import__", "delattr", "dir", "eval", "exec", "getattr", "globals", "hasattr", "setattr", "vars",
))  # fmt: skip
MODULES["builtins"] = module_for(builtins, {**BUILTINS, "getattr": attribute_of, "hasattr": has_attribute})
_FUTURE = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
_STANDARD = vars(builtins)
_PROXIES = type((lambda: sys._getframe().f_locals)()) if sys.version_info >= (3, 13) else None
_own_dict = vars(types.ModuleType)["__dict__"].__get__


def _is_same(rebinder, one, other):
    """``one is other``: a class, its stand-in and its twin are one, as where a field of a dataclass says its type.

    So are a function and its rebuilt one, and an instance and what is seen of it through its twin: who finds them in
    what is opaque has them as they are.
    """
    if one is other:
        return True
    kind, other_kind = type(one), type(other)
    if kind is types.FunctionType and other_kind is types.FunctionType:
        return rebinder.original_of(one) is rebinder.original_of(other)
    if issubclass(kind, type) and issubclass(other_kind, type):
        return original_of_class(one) is original_of_class(other)
    if kind is other_kind or origin_of(kind) is not origin_of(other_kind):
        return False
    return rebinder.twins.original_of(one) is rebinder.twins.original_of(other)


def _dict_of(rebinder, value):
    """``value.__dict__``: a twin has its methods alone, and shows those and all else that its original has."""
    origin = original_of_class(value)
    if origin is value:
        return rebinder.as_it_is(value.__dict__)
    if isinstance(value, StandIn):
        return origin.__dict__
    return types.MappingProxyType({name: vars(value).get(name, member) for name, member in vars(origin).items()})


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


def _solve_of(value):
    """``value.solve``, which of the factors that SciPy has of a sparse matrix takes what is active."""
    if "scipy.sparse.linalg" not in sys.modules:
        return value.solve
    from codipy.scipy.factored import method_of  # here: few programs have any

    return method_of(value)


def _method_of(value, name):
    """``value.dot`` or its like, which of a plain array takes what is active: NumPy's asks that for plain numbers."""
    if type(value) is not np.ndarray:
        return own_attribute(value, name)
    if name == "astype":
        return functools.partial(objects_as_type, value) if holds_movable(value) else value.astype
    if name == "clip":
        return functools.partial(_clip, value.clip)
    function = getattr(np, name)
    return functools.partial(replacement(function, function), value)


def _clip(clip, *args, **kwargs):
    """``value.clip`` of a plain array, which asks arrays what they are, and no lists."""
    return clip(*map(array_of, args), **{name: array_of(x) for name, x in kwargs.items()})


def _eval(source, globals=None, locals=None, /):
    """``eval`` with the caller's names, which are those of rebound code."""
    frame = sys._getframe(1)
    return _run(eval, source.lstrip(" \t") if isinstance(source, str) else source, globals, locals, {}, frame)


def _exec(source, globals=None, locals=None, /, **options):
    """``exec``, see `_eval`."""
    return _run(exec, source, globals, locals, options, sys._getframe(1))


def _run(by, source, globals, locals, options, frame):
    variables = origin_of_view(globals)
    given = None if globals is None else variables.get("__builtins__", _STANDARD)
    is_own = given is None or (not views_of(variables) and given in (_STANDARD, builtins))
    code = _compiled(source, by.__name__, frame, frame.f_globals if globals is None else variables, is_own)
    places = _namespaces(code, globals, locals, frame)
    if globals is not None and is_own and places[0] is variables:
        variables["__builtins__"] = frame.f_builtins
    try:
        return by(code, *places, **options)
    finally:
        if globals is not None and is_own and places[0] is variables:
            variables["__builtins__"] = given  # what the plain run leaves
        _follow(places[0], frame)


def _follow(variables, frame):
    """Let the views of globals in which code ran show what it set there."""
    view = frame.f_builtins.get("__rebound__")
    if view is not None and variables is not frame.f_globals:
        view.rebinder.follow(variables)


def _compiled(source, mode, frame, variables, is_own):
    """Code as the caller would compile it, with its ``from __future__ import``."""
    code, flags = source, frame.f_code.co_flags & _FUTURE
    if not isinstance(source, types.CodeType):
        code = compile(source, "<string>", mode, flags, dont_inherit=True)
        if is_own and scan(code).matches:
            tree = compile(source, "<string>", mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
            code = compile(without_class_patterns(tree), "<string>", mode, flags, dont_inherit=True)
    message = unanswered(code, variables) if scan(code).matches else None
    if message is not None:
        raise ActiveError(message)
    return code


def _locals_of(frame):
    """What ``locals()`` is there: from Python 3.13 on a function's ``f_locals`` is no copy, and sets its variables."""
    variables = frame.f_locals
    return dict(variables) if type(variables) is _PROXIES else variables


def _namespaces(code, globals, locals, frame):
    """The dicts in which code runs: a view of one is none for the interpreter, which would look into it."""
    if globals is None:
        return frame.f_globals, _locals_of(frame) if locals is None else origin_of_view(locals)
    origin = origin_of_view(globals)
    if locals is None or locals is globals:
        return origin, origin
    own = getattr(frame.f_builtins.get("__rebound__"), "origin", None)  # what runs there stores nothing but by `global`
    return frame.f_globals if own is origin and not scan(code).stores else origin, origin_of_view(locals)


_PLAIN = {"__array__": (Array, np.asarray), "__float__": (Real, float)}


def gives_plain(name, method):
    """A method of the user's that the interpreter or NumPy calls, whose result must be an ndarray or a float.

    They would raise an error of their own for what is active, which a fallback of the user's may be meant for; here it
    is codipy's. `codipy.numpy.asarray` and its like call the method itself.
    """
    if name not in _PLAIN or type(method) is not types.FunctionType:
        return method
    kind, convert = _PLAIN[name]

    @functools.wraps(method)
    def give(self, *args, **kwargs):
        made = method(self, *args, **kwargs)
        return convert(made) if isinstance(made, kind) else made  # or the reason why not

    give.__codipy_gives__ = method  # type: ignore[attr-defined]
    return give


def make_builtins(view, mapping):
    """A copy of a dict of built-ins, for the functions of one view."""
    found = {name: replacement(value, value) if name in BUILTINS else value for name, value in mapping.items()}
    rebinder, import_, build = view.rebinder, mapping.get("__import__"), mapping.get("__build_class__")

    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        return rebinder.at_run_time(import_(name, globals, locals, fromlist, level))

    def globals():
        return rebinder.container(view.origin, always=True)

    def vars_(*args):
        if not args:
            return _locals_of(sys._getframe(1))
        if original_of_class(*args) is not args[0]:
            return _dict_of(rebinder, args[0])
        variables = vars(*args)
        is_users = type(args[0]) is types.ModuleType and rebinder.scope.owns_module(args[0])
        return rebinder.container(variables, always=True) if is_users else rebinder.as_it_is(variables)

    def getattr_(value, name, *default):
        found = attribute_of(value, name, *default)
        return rebinder.as_it_is(found) if name == "__dict__" else found

    def setattr_(*args):
        setattr(*args)
        if type(args[0]) is types.ModuleType:
            rebinder.follow(_own_dict(args[0]), args[1:2])

    def delattr_(*args):
        delattr(*args)
        if type(args[0]) is types.ModuleType:
            rebinder.follow(_own_dict(args[0]), args[1:2])

    def modules_of(modules):
        return rebinder.container(modules, always=True) if modules is sys.modules else modules

    def __build_class__(function, name, /, *bases, **options):
        cls = build(function, name, *bases, **options)
        for name in _PLAIN.keys() & vars(cls).keys() if isinstance(cls, type) else ():
            setattr(cls, name, gives_plain(name, vars(cls)[name]))
        return cls

    found["__rebound__"] = view  # how a rebuilt function is known
    found |= {MRO_OF: mro_of, MRO_METHOD_OF: mro_method_of, BASES_OF: bases_of, BASE_OF: base_of}
    found |= {CLASS_OF: class_of, ATTRIBUTE_OF: own_attribute}
    found |= {MADE: made, MADE_ITEMS: made_items, TAKEN: taken, POPPED: popped}
    found |= {METHOD_OF: _method_of, SOLVE_OF: _solve_of, IS_PLAIN: is_plain, HELD_PARAMETER: held_parameter}
    found |= {HELD_ITEM: held_item, HOLD_ITEM: hold_item, HOLD_ITEMS: hold_items, OPERATE: operate}
    found |= {HOLD_RESULT: hold_result, MATCHING: Matching, MODULES_OF: modules_of}
    found |= {IS_SAME: functools.partial(_is_same, rebinder), DICT_OF: functools.partial(_dict_of, rebinder)}
    found |= {HOLD_ATTRIBUTE: hold_attribute, HOLD_CELL: hold_cell, HOLD_GLOBAL: functools.partial(hold_global, view)}
    hooks = {"__import__": __import__, "globals": globals, "super": _super, "eval": _eval, "exec": _exec}
    hooks |= {"__build_class__": __build_class__, "vars": vars_, "setattr": setattr_, "delattr": delattr_}
    hooks |= {"dir": names_of_attributes, "getattr": getattr_, "hasattr": has_attribute}
    for name, hook in hooks.items():
        if name in mapping:
            found[name] = hook
    return found


_PROXY = frozenset(("_view", "_module"))


class ModuleProxy(types.ModuleType):
    """A module of the user, as rebound code sees it: its functions are rebuilt, all else is the module's own."""

    def __init__(self, view, module):
        super().__init__(module.__name__)
        own = _own_dict(self)
        own.clear()
        own.update(_view=view, _module=module)
        view.proxies.add(self)

    @property
    def __dict__(self):
        """The module's own, and functions are rebuilt that are found in it."""
        return self._view.rebinder.container(self._view.origin, always=True)

    def __getattr__(self, name):
        value, view = getattr(self._module, name), self._view
        if name not in view.origin:
            return view.rebinder.at_run_time(value)
        with view.rebinder.lock:
            view.use((name,))      # from now on it is looked at when rebound code is entered
            if not view.knows(name, value):  # set by somebody else since rebound code was entered
                view.update(name)
            new = view.fast.get(name)
            if new is value or name in view.volatile:
                value = view.rebinder.at_run_time(value)
                if new is not value or name in view.volatile or type(value) is not types.FunctionType:
                    return value      # may be something else the next time
            _own_dict(self)[name] = new
        return new

    def __setattr__(self, name, value):
        setattr(self._module, name, self._view.rebinder.original_of(value))
        self._forget(name)

    def __delattr__(self, name):
        delattr(self._module, name)
        self._forget(name)

    def _forget(self, name):
        self._drop(name)
        self._view.rebinder.follow(self._view.origin, (name,))

    def _drop(self, name):
        if name not in _PROXY:
            _own_dict(self).pop(name, None)

    def __dir__(self):
        return dir(self._module)
