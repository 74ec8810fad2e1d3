# SPDX-License-Identifier: Apache-2.0
"""Functions of installed libraries that ask ``type(v)``: they are rebuilt, although nobody named the library.

``type(v) is float`` reads a field of the object, which for a variable says `Real`: another branch than in the plain
run, and no error. So does ``partial(isinstance, v)(float)``. Other questions are answered, see `ClassOf`. So where
rebuilt code meets a library, its functions and methods are looked through, and those that ask so lead to rebuilt ones
while a recording runs, as what is opaque does (`diverted.pyx`). They alone: the rest of it runs as it stands.

A library is looked through once, and again when more of its modules are there: 0.1 to 0.6 seconds for 1500 functions.
Rejected: to ask at each operation of a Real whose code it is, which all programs would pay, and which finds only who
goes on with the value.
"""

from __future__ import annotations

import functools
import sys
import weakref
from types import FunctionType, ModuleType

from codipy.active.scalar.asking import asks_in_vain
from codipy.tools.rebinding.caches import LRU
from codipy.tools.rebinding.diverted import begin, code_of, divert, is_new_here, is_recorded
from codipy.tools.rebinding.scope import module_of
from codipy.tools.rebinding.unit import Unit, contents

__all__ = ["Libraries"]

# These refuse what is active, or are called with nothing that is.
_APART = frozenset((
    "IPython", "_pytest", "codipy", "hypothesis", "jax", "jaxlib", "matplotlib", "numpy", "pandas", "pytest", "scipy",
    "sympy", "tensorflow", "torch",
)) | sys.stdlib_module_names  # fmt: skip
_asking: dict = {}  # by name, what `_looked_through` has found


class Libraries:
    """The libraries that one rebinder has met.

    Parameters
    ----------
    rebinder : Rebinder
        Who rebuilds the functions that are found, when they are called.

    Attributes
    ----------
    functions : dict
        By the addresses of functions that ask so, weak references to them, and what is called in their place.
    """

    def __init__(self, rebinder):
        self._rebinder, self._met, self.functions = rebinder, {}, {}

    def meet(self, value):
        """Have the functions that ask ``type(v)`` diverted of the library that something is of.

        Parameters
        ----------
        value : object
            A module, function, class or object.

        Returns
        -------
        bool
            Whether there are any.
        """
        top = _library_of(value)
        if top is None or top in _APART or self._rebinder.scope.owns_library(top):
            return False
        asks = False
        for library in _all_from(top):
            count, functions, _ = _looked_through(library)
            if self._met.get(library) != count:
                self._met[library] = count
                self._divert([f for reference in functions if (f := reference()) is not None])
            asks = asks or bool(functions)
        if asks and is_recorded() and is_new_here(self._rebinder.opaque):
            begin(self._rebinder.opaque)
        return asks

    def _divert(self, functions):
        rebinder, opaque = self._rebinder, self._rebinder.opaque
        for f in functions:
            rebinder.asking[f] = rebinder.led[f] = True
            self.functions[id(f)] = weakref.ref(f), self._later(f)
            if is_recorded() and not is_new_here(opaque):
                divert(opaque, f, self.functions[id(f)][1])
        opaque.is_empty = opaque.is_empty and not functions

    def _later(self, f):
        """What has a function rebuilt when it is called first: a library has many that are not."""
        rebinder, reference, unit, called = self._rebinder, weakref.ref(f), None, None

        def rebuilt(*args, **kwargs):
            nonlocal unit, called
            if unit is None or not unit.is_current():
                f = reference()
                rebinder.at_run_time(f)
                unit = rebinder.known(f) or Unit(f)
                called = _plain(f) if unit.called is f else unit.called
            return called(*args, **kwargs)

        return rebuilt


def _plain(f):
    """A function with the original code, where there is nothing to rebuild."""
    plain = FunctionType(code_of(f), f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    plain.__kwdefaults__ = f.__kwdefaults__
    return plain


def _library_of(value):
    """The name of the package that a module, function or class is of, or the class of an object."""
    kind = type(value)
    if issubclass(kind, ModuleType):
        name = value.__name__
    elif kind is FunctionType:
        name = value.__globals__.get("__name__")
    else:
        name = module_of(value if issubclass(kind, type) else kind)
    return name.partition(".")[0] if isinstance(name, str) else None


def _all_from(top):
    """A library, and those whose modules, functions and classes it has in its modules."""
    found = [top]
    for library in found:
        found += [other for other in _looked_through(library)[2] if other not in found]
    return found


def _looked_through(library):
    """How many modules of a library there are, references to functions that ask so, the names of libraries it has."""
    loaded = [module for name, module in list(sys.modules.items())
              if (name == library or name.startswith(library + ".")) and type(module) is ModuleType]  # fmt: skip
    known = _asking.get(library)
    if known is None or known[0] != len(loaded):
        functions, others = {}, set()
        for module in loaded:
            for value in list(vars(module).values()):
                if type(value) is LRU:
                    value = value.__wrapped__
                if issubclass(type(value), (ModuleType, FunctionType, type)):
                    other = _library_of(value)
                    if other == library:
                        functions.update((id(f), f) for f in _functions_of(value))
                    elif other is not None and other not in _APART:
                        others.add(other)
        of_modules: dict = {}
        asking = [weakref.ref(f) for f in functions.values() if asks_in_vain(code_of(f), _names_of(f, of_modules))]
        known = _asking[library] = len(loaded), asking, others
    return known


def _names_of(f, of_modules):
    """The names of `type` and `isinstance` in a function: those of the module, of its cells and its parameters."""
    variables = f.__globals__
    names = of_modules.get(id(variables))
    if names is None:
        names = of_modules[id(variables)] = _asking_among({"isinstance": isinstance, "type": type} | variables)
    if f.__closure__ or f.__defaults__ or f.__kwdefaults__:
        code = code_of(f)
        own = dict(zip(reversed(code.co_varnames[:code.co_argcount]), reversed(f.__defaults__ or ())))
        own |= dict(zip(code.co_freevars, map(contents, f.__closure__ or ()))) | (f.__kwdefaults__ or {})
        names = {name: what for name, what in names.items() if name not in own} | _asking_among(own)
    return names


def _asking_among(variables):
    return {name: what for name, value in list(variables.items()) if (what := _what_asks(value)) is not None}


def _what_asks(value):
    if value is type or value is isinstance:
        return value.__name__
    return "either" if type(value) is functools.partial and _what_asks(value.func) is not None else None


def _functions_of(value):
    """A function with those that it wraps, the methods of a class."""
    members = list(vars(value).values()) if issubclass(type(value), type) else [value]
    waiting = [part for member in members for part in (
        (member.fget, member.fset, member.fdel) if type(member) is property else
        (getattr(member, "func", None),) if not isinstance(member, type) and hasattr(type(member), "func") else
        (member.__func__,) if type(member) in (staticmethod, classmethod) else (member,))]  # fmt: skip
    seen = set()
    while waiting:
        f = waiting.pop()
        if type(f) is FunctionType and id(f) not in seen:
            seen.add(id(f))
            waiting += map(contents, f.__closure__ or ())
            yield f
