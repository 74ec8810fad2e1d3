# SPDX-License-Identifier: Apache-2.0
"""Primitives by name: codipy's own, and those that whoever saves and loads a tape names."""

from __future__ import annotations

import importlib
from dataclasses import replace
from math import prod

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
    if found is None and name.startswith(("scipy.", *_MAKERS)):
        found = _of_scipy(name)
    if found is None and name.startswith("complex "):
        importlib.import_module("codipy.cmath" if name.startswith("complex cmath.") else "codipy.complexes.doors")
        found = importlib.import_module("codipy.complexes.record").named(name)
    return found


# Which modules of codipy make the primitives of a library, by how their names begin; the longest beginning counts.
_MAKERS = {
    "scipy.": ("scipy.algebra",),
    "scipy.fft.": ("scipy.transforms",),
    "scipy.integrate.quad": ("implicit.quadrature",),
    "scipy.integrate.solve_ivp": ("implicit.steps",),
    "scipy.interpolate": tuple(f"scipy.kernels.{name}" for name in (
        "fitpack", "grids", "knots", "polynomials", "radial", "scattered")),
    "scipy.ndimage.": ("scipy.kernels.images",),
    "scipy.optimize.": ("implicit.fits", "implicit.vertices", "scipy.solvers"),
    "scipy.signal.": ("scipy.signals",),
    "scipy.spatial": ("scipy.distances", "scipy.trees"),
    "scipy.spatial.transform": ("scipy.rotations",),
    "scipy.special.": ("scipy.functions",),
    "the solution of a differential equation": ("implicit.continuous",),
}  # fmt: skip


def _of_scipy(name):
    library, _, function = name.rpartition(".")
    try:
        special = importlib.import_module("scipy.special")
        if library == "scipy.special" and function in NAMES:
            return primitive_of(ufunc_of(function, special))
        for module in _MAKERS[max((start for start in _MAKERS if name.startswith(start)), key=len)]:
            importlib.import_module(f"codipy.{module}")
    except ImportError:
        raise TapeFormatError(f"it has {name}, and SciPy is not installed: pip install scipy") from None
    return importlib.import_module("codipy.scipy.calls").PRIMITIVES.get(name) or decisions.PRIMITIVES.get(name)


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
    """Whose a primitive is, its name and its version; None if it is neither codipy's own nor among those given."""
    name = primitive.name
    if _is(primitive, given.get(name)):
        return ["given", name, primitive.version]
    if _is(primitive, own(name)):
        return ["codipy", name, primitive.version]
    return None


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
        raise TapeFormatError("it breaks the rule: a primitive has a name and a version")
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
_KWARGS = {"vjp": 3, "jvp": 3, "into": 3, "vjp_batch": 3, "jvp_batch": 3, "pattern": 1}  # where rules get them
# What a rule says of numbers, which may come with any replay, and of the machine. All else is of its arguments.
_OF_NUMBERS = (FloatingPointError, RecursionError, TapeError, TapeFormatError, UndifferentiableError, Warning,
               np.linalg.LinAlgError)  # fmt: skip
_ROOM = 1 << 20  # elements that any rule may ask for, and for each pair of those that its call has: ...
_EACH = 64


class _Refused(ActiveError, TapeFormatError):
    """A rule that knows no derivative: the recording that was saved may say the same, or the file is wrong."""


def _of_file(primitive):
    """The same primitive, which says that the file is wrong where its rules cannot read the arguments."""
    records = []
    rules = {kind: getattr(primitive, kind) for kind in _RULES}
    return replace(
        primitive, **{kind: rule and _Rule(primitive.name, kind, rule, records) for kind, rule in rules.items()}
    )


def demand_call(number, primitive, args, kwargs, out):
    """Verify what a call of a file says of sizes, before a rule makes an array of that size.

    Parameters
    ----------
    number : int
        Of the record, which errors of the rules name.
    primitive : Primitive
    args, kwargs, out
        As in `Calling`.

    Raises
    ------
    TapeFormatError
        If a transform has more points than its result, or a matrix does not fit to what it is multiplied by.
    """
    if isinstance(primitive.forward, _Rule):
        primitive.forward.records.append((number, kwargs))
    matrix = kwargs.get("matrix")
    if primitive.name == sparse.PRODUCT.name and args and np.ndim(matrix) == 2 and np.ndim(args[0]) and np.ndim(out):
        x, y = np.shape(args[0]), np.shape(out)
        ends = (y[0], x[0]) if kwargs.get("is_left") else (x[-1], y[-1])
        _demand(tuple(matrix.shape) == ends, number, primitive, "a matrix fits to what it is multiplied by")
    elif "fft." in primitive.name:
        for size in _integers([kwargs.get("n"), kwargs.get("s")]):
            _demand(size <= 2 * np.size(out), number, primitive, "a transform has no more points than its result")


def _integers(tree):
    if isinstance(tree, (list, tuple)):
        return [n for item in tree for n in _integers(item)]
    return [tree] if isinstance(tree, (int, np.integer)) else []


def _demand(holds, number, primitive, what):
    if not holds:
        raise TapeFormatError(f"it breaks the rule: {what}, in a call of {primitive.name}, at record {number}")


class _Rule:
    """A rule that is called with what a file says.

    `records` are numbers of the calls of its primitive, and the options of each: these tell which of them it is.
    """

    __slots__ = ("kind", "name", "of_file", "records")

    def __init__(self, name, kind, rule, records):
        self.name, self.kind, self.of_file, self.records = name, kind, rule, records

    def __call__(self, *args, **kwargs):
        try:
            found = self.of_file(*args, **kwargs)
            if found is not None:
                self._compare(found, *args)
        except ActiveError as error:
            raise _Refused(f"{self._which(args)} has no derivative with the arguments of its file: {error}") from error
        except _OF_NUMBERS:
            raise
        except MemoryError as error:
            if not _is_absurd(error, (args, kwargs)):
                raise
            raise self._wrong(args, error) from error
        except Exception as error:
            raise self._wrong(args, error) from error
        return found

    def _wrong(self, args, error):
        return TapeFormatError(
            "the tape file was damaged or made by other means: "
            f"{self._which(args)} has arguments that its rules cannot read ({error})"
        )

    def _which(self, args):
        at = _KWARGS.get(self.kind)
        numbers = [n for n, options in self.records if at is not None and at < len(args) and options is args[at]]
        numbers = numbers or [n for n, _ in self.records]
        which = f"one of the records {', '.join(map(str, numbers[:9]))}" if len(numbers) > 1 else f"record {numbers[0]}"
        return f"{which}, a call of {self.name},"

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


def _is_absurd(error, call):
    """Whether the memory that is missing has nothing to do with the sizes of a call."""
    known = _elements(call) + 1
    return prod(getattr(error, "shape", ())) > _ROOM + _EACH * known * known


def _elements(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(map(_elements, tree))
    return tree.size if isinstance(tree, np.ndarray) else 1
