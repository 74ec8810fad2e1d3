# SPDX-License-Identifier: Apache-2.0
"""Functions whose variables are parameters: those that they close over are found, and others can stand for them.

A solver calls the user's function thousands of times for values alone. What it closes over may be active, and then each
of these calls would go through active arrays. So the function is made once more, with the values in its cells; and a
sweep, which comes after the recording, makes it with variables of its own.
"""

from __future__ import annotations

import dis
import functools
import inspect
import types

import numpy as np

from codipy.active.array import is_active, plain
from codipy.implicit.places import Slots
from codipy.numpy.arguments import PLAIN
from codipy.tools.driver import Driver
from codipy.tools.rebinding.diverted import way_of
from codipy.tools.rebinding.unit import EMPTY, contents

__all__ = ["Opened", "may_read_variables"]

_MOST = 2000      # objects that are looked at
# Modules of its objects, and of what stands for some.
_OF_SCIPY = "scipy.", "codipy.scipy.", "codipy.tools.rebinding.distributions."


class Opened:
    """A function with what it closes over.

    Cells and default values are looked into, also those of functions that stand in them, or that drivers there
    differentiate (``codipy.grad(f)``), and lists, tuples and dictionaries. A variable that the function itself assigns
    to (``nonlocal``) stays where it is, and so does what an object of the user's has in its attributes; objects of
    SciPy's are looked into as lists are.

    Parameters
    ----------
    f : callable
        The user's function.

    Attributes
    ----------
    variables : list of Array and Real
        The active ones that were found, each once.
    has_containers : bool
        Whether some stand in lists, tuples and dictionaries, of which there are copies then.
    """

    def __init__(self, f):
        self._f, self.variables, self.has_containers = f, [], False
        found = {}

        def seen(x):
            if id(x) not in found:
                found[id(x)] = x
                self.variables.append(x)
            return x

        copier = _Copier(seen)
        copier.copy(f)
        self.has_containers = copier.has_containers

    def with_values(self, values):
        """The function with other values, or variables, in the places of its variables."""
        instead = {id(x): new for x, new in zip(self.variables, values)}
        return _Copier(lambda x: instead.get(id(x), x)).copy(self._f) if instead else self._f

    def passive(self):
        """The function with the values of its variables."""
        return self.with_values([plain(x) for x in self.variables])


class _Copier:
    """Copies functions where a leaf changes; what does not change stays itself."""

    def __init__(self, leaf):
        self._leaf, self._made, self._depth, self.has_containers = leaf, {}, 0, False

    def copy(self, x):
        if is_active(x):
            self.has_containers = self.has_containers or self._depth > 0
            return self._leaf(x)
        kind = type(x)
        if id(x) in self._made:      # it may stand in itself
            return self._made[id(x)][1]
        if kind is types.FunctionType:
            return self._function(x)
        if kind in (list, tuple, dict):
            self._made[id(x)] = x, x
            self._depth += 1
            self._made[id(x)] = x, (made := self._container(x, kind))
            self._depth -= 1
            return made
        if kind is functools.partial:
            parts = x.func, x.args, x.keywords
            f, args, named = copied = self.copy(parts)
            return x if copied is parts else functools.partial(f, *args, **named)
        if isinstance(x, Driver):
            f, options = self.copy(x.f), self.copy(x.options)
            return x if f is x.f and options is x.options else x.maker(f, **options)
        if kind is types.MethodType:
            owner = self.copy(x.__self__)
            return x if owner is x.__self__ else types.MethodType(x.__func__, owner)
        return self._object(x, kind) if f"{kind.__module__}.".startswith(_OF_SCIPY) else x

    def _object(self, x, kind):
        """A spline, a sparse matrix, a distribution of SciPy's: nobody sees whether a copy is asked or itself."""
        if isinstance(x, type):
            return x
        self._made[id(x)] = x, x
        old = attributes_of(x)
        if (new := self._container(old, dict)) is old:
            return x
        made = kind.__new__(kind)
        self._made[id(x)] = x, made
        for name, each in new.items():
            object.__setattr__(made, name, each)
        return made

    def _container(self, x, kind):
        if kind is dict:
            items = {key: self.copy(item) for key, item in x.items()}
            return x if all(map(_is, items.values(), x.values())) else items
        if PLAIN.issuperset(map(type, x)):
            return x
        items = [self.copy(item) for item in x]
        return x if all(map(_is, items, x)) else kind(items)

    def _function(self, found):
        f = way_of(found)
        if f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None:
            return f
        assigned = _assigned(f.__code__)
        cells = [cell if name in assigned or contents(cell) is EMPTY else types.CellType()
                 for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ())]
        made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, tuple(cells))
        self._made[id(found)] = found, made      # it may stand in its own cell
        is_same = True
        for old, new in zip(f.__closure__ or (), cells):
            if new is not old:
                new.cell_contents = self.copy(old.cell_contents)
                is_same &= new.cell_contents is old.cell_contents or new.cell_contents is made
        functools.update_wrapper(made, f)
        del made.__wrapped__
        made.__defaults__, made.__kwdefaults__ = self.copy(f.__defaults__), self.copy(f.__kwdefaults__)
        if is_same and made.__defaults__ is f.__defaults__ and made.__kwdefaults__ is f.__kwdefaults__:
            self._made[id(found)] = found, f
            return f
        return made


def _is(a, b):
    return a is b


def attributes_of(x):
    """What an object has in its attributes and slots, by name."""
    return Slots.of(x) | getattr(x, "__dict__", {})


@functools.lru_cache(256)
def _assigned(code):
    """The names of an enclosing function's variables that the code, or that of a function in it, assigns to."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_DEREF", "DELETE_DEREF")}
    for constant in code.co_consts:
        if inspect.iscode(constant):
            found |= _assigned(constant)
    return frozenset(found)


def may_read_variables(*given):
    """Whether functions, or what they are given, lead to something active: by cells, defaults, globals, attributes.

    A comparison leaves no trace on a tape, so what a function has read cannot be told from its recording.
    """
    waiting, seen = list(given), {}
    while waiting and len(seen) < _MOST:
        x = waiting.pop()
        if is_active(x):
            return True
        if id(x) in seen or type(x) in PLAIN or isinstance(x, (type, types.ModuleType, str, bytes)):
            continue
        seen[id(x)] = x
        if isinstance(x, types.FunctionType):
            cells = map(contents, x.__closure__ or ())
            named = (x.__globals__.get(name) for name in x.__code__.co_names)
            waiting += [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values(),
                        *(each for each in named if is_active(each) or isinstance(each, _HELD))]
        elif isinstance(x, types.MethodType):
            waiting += [x.__func__, x.__self__]
        elif isinstance(x, functools.partial):
            waiting += [x.func, x.args, x.keywords]
        elif isinstance(x, dict):
            waiting += x.values()
        elif isinstance(x, (list, tuple, set, frozenset)):
            waiting += x
        elif isinstance(x, np.ndarray):
            waiting += x.flat if x.dtype == object else ()
        else:
            waiting += attributes_of(x).values()
            waiting += [vars(kind)["__call__"] for kind in type(x).__mro__ if "__call__" in vars(kind)]
    return bool(waiting)


_HELD = (list, tuple, dict, types.FunctionType)
