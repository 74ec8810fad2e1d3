# SPDX-License-Identifier: Apache-2.0
"""Primitives by name: codipy's own, and those that whoever saves and loads a tape names."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np

from codipy.errors import ActiveError, TapeError, TapeFormatError, UndifferentiableError
from codipy.numpy import composite, decisions, jacobian, registry, sparse, ufunc_methods, ufuncs
from codipy.numpy.primitive import Primitive
from codipy.numpy.solved import LESS_VALUE, SOLVED
from codipy.numpy.special import NAMES, primitive_of, ufunc_of


def own(name):
    """codipy's primitive of a name, or None."""
    if name in registry.PRIMITIVES:
        return registry.PRIMITIVES[name]
    others = [composite.PROGRESSION, jacobian.PRIMITIVE, sparse.PRODUCT, LESS_VALUE, SOLVED]
    others += [*decisions.PRIMITIVES.values(), *ufunc_methods.AT.values(), *ufuncs.PRIMITIVES.values()]
    found = next((primitive for primitive in others if primitive.name == name), None)
    if found is None and name.startswith("scipy."):
        found = _of_scipy(name)
    if found is None and name.startswith("complex "):
        importlib.import_module("codipy.cmath" if name.startswith("complex cmath.") else "codipy.complexes.doors")
        found = importlib.import_module("codipy.complexes.record").named(name)
    return found


_MODULES = {"scipy.linalg": "codipy.scipy.algebra", "scipy.fft": "codipy.scipy.transforms",
            "scipy.special": "codipy.scipy.functions", "scipy.signal": "codipy.scipy.signals",
            "scipy.ndimage": "codipy.scipy.kernels.images"}  # fmt: skip


def _of_scipy(name):
    module, _, function = name.rpartition(".")
    module = module if module in _MODULES else "scipy.linalg"
    try:
        library = importlib.import_module(module)
    except ImportError:
        raise TapeFormatError(f"it has {name}, and SciPy is not installed: pip install scipy") from None
    if module == "scipy.special" and function in NAMES:
        return primitive_of(ufunc_of(function, library))
    importlib.import_module(_MODULES[module])
    return importlib.import_module("codipy.scipy.calls").PRIMITIVES.get(name)


def by_name(primitives):
    """Primitives that were given, by their names.

    Parameters
    ----------
    primitives : iterable of Primitive

    Raises
    ------
    TypeError, ValueError
        If one is no Primitive, or two have a name.
    """
    found = {}
    for primitive in primitives:
        if not isinstance(primitive, Primitive):
            raise TypeError(f"primitives must be codipy.Primitive objects, got {type(primitive).__name__}")
        if primitive.name in found:
            raise ValueError(f"two of the primitives are called {primitive.name!r}")
        found[primitive.name] = primitive
    return found


def described(primitive, given):
    """Whose a primitive is, its name and its version.

    Raises
    ------
    TapeError
        If it is neither codipy's own nor among those given.
    """
    name = primitive.name
    if _is(primitive, given.get(name)):
        return ["given", name, primitive.version]
    if _is(primitive, own(name)):
        return ["codipy", name, primitive.version]
    raise TapeError(
        f"the primitive {name!r} cannot be found by its name when the file is loaded: if it is a "
        "codipy.Primitive of yours, say tape.save(path, primitives=[...]); functions made for one call, of "
        "codipy.implicit and of codipy.primitive say, are not saved"
    )


def _is(primitive, known):
    # One that knows the line of its call, and one of a file, is another with the same function.
    if known is None or isinstance(primitive.forward, _Rule):
        return known is not None and known.forward is primitive.forward.of_file
    return known is primitive or known.located and known.forward is primitive.forward


def found(whose, name, version, given):
    """The primitive of such a description.

    Raises
    ------
    TapeFormatError
        If there is none, or it is of another version.
    """
    if type(name) is not str or type(version) is not int or whose not in ("given", "codipy"):
        raise TapeFormatError("a primitive has a name and a version")
    primitive = given.get(name) if whose == "given" else own(name)
    if primitive is None:
        hint = "give it: load_tape(path, primitives=[...])" if whose == "given" else "take a newer codipy"
        raise TapeFormatError(f"it has the primitive {name!r}, version {version}, which is not known here: {hint}")
    if primitive.version != version:
        raise TapeFormatError(
            f"it has the primitive {name!r} of version {version}, and here is version {primitive.version}"
        )
    return primitive if whose == "given" else _of_file(primitive)


_RULES = ("forward", "vjp", "jvp", "places", "into", "vjp_batch", "jvp_batch", "pattern")
# What NumPy, and rules written with it, raise of arguments that do not fit to one another. Numbers for which there is
# no derivative are another thing: they may come with any replay.
_DISAGREE = (TypeError, ValueError, LookupError, AttributeError)
_OF_NUMBERS = (ActiveError, TapeError, TapeFormatError, UndifferentiableError, np.linalg.LinAlgError)


def _of_file(primitive):
    """The same primitive, which says that the file is wrong where its rules cannot read the arguments."""
    rules = {kind: getattr(primitive, kind) for kind in _RULES}
    return replace(primitive, **{kind: rule and _Rule(primitive.name, kind, rule) for kind, rule in rules.items()})


class _Rule:
    """A rule that is called with what a file says."""

    __slots__ = ("kind", "name", "of_file")

    def __init__(self, name, kind, rule):
        self.name, self.kind, self.of_file = name, kind, rule

    def __call__(self, *args, **kwargs):
        try:
            found = self.of_file(*args, **kwargs)
            if found is not None:
                self._compare(found, *args)
        except _OF_NUMBERS:
            raise
        except _DISAGREE as error:
            raise TapeFormatError(
                f"the tape file was damaged or made by other means: a call of {self.name} has arguments that its rules "
                f"cannot read ({error})"
            ) from error
        return found

    def _compare(self, found, *args):
        """Cotangents have the shapes of arguments, and tangents of results."""
        lanes = self.kind.endswith("_batch")
        if self.kind.startswith("vjp"):
            _, _, given, _, argnums = args
            for k, bar in zip(argnums, found, strict=True):
                _demand_shape(bar, given[k], lanes)
        elif self.kind.startswith("jvp"):
            _, out, _, _ = args
            several = isinstance(out, tuple)
            for dot, value in zip(found if several else [found], out if several else [out]):
                _demand_shape(dot, value, lanes)


def _demand_shape(x, like, lanes):
    if x is not None and np.shape(x)[lanes:] != np.shape(like):
        raise ValueError(f"a shape {np.shape(x)[lanes:]} where {np.shape(like)} is expected")
