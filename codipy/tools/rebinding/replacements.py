# SPDX-License-Identifier: Apache-2.0
"""What rebound code sees in the place of NumPy, SciPy, `math` and some built-ins."""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import sys
import types

import numpy as np

import codipy.math
import codipy.numpy
import codipy.scipy
from codipy.numpy import namespace
from codipy.numpy.lists import (
    FFT,
    LINALG,
    POLYNOMIAL,
    SCIMATH,
    STRIDED,
    lib,
    scimath,
    standing,
    stands_for_ufunc,
    stride_tricks,
)
from codipy.numpy.modules import module_for
from codipy.numpy.standins import STANDINS, isinstance_, pass_for
from codipy.scipy import namespace as scipy_namespace
from codipy.tools.rebinding.caches import cache, lru_cache
from codipy.tools.rebinding.containers import VIEWS
from codipy.tools.rebinding.dispatching import singledispatch, singledispatchmethod
from codipy.tools.rebinding.operands import divmod_, pow_
from codipy.tools.rebinding.sums import COMPENSATED, compensated_sum
from codipy.tools.rebinding.together import plain_of

__all__ = ["BUILTINS", "MODULES", "guarded", "replacement"]


def import_module(name, package=None):
    """``importlib.import_module``, which gives rebound code what an ``import`` statement gives it."""
    module = importlib.import_module(name, package)
    view = sys._getframe(1).f_builtins.get("__rebound__")
    return module if view is None else view.rebinder.at_run_time(module)


def _id(x, /):
    """``id``: of an array of the user's for which an Array stands, that of the array."""
    return id(plain_of(x)) if type(x) is codipy.Array else id(x)


# With the names of this Python's, of which code asks whether they are there.
_OF_MATH = standing(math, {name: getattr(codipy.math, name, old) if callable(old) else old
                           for name, old in vars(math).items()})  # fmt: skip
_MATH = types.ModuleType("math")
vars(_MATH).update(_OF_MATH)
_FUNCTOOLS = standing(functools, {"lru_cache": lru_cache, "cache": cache, "singledispatch": singledispatch,
                                  "singledispatchmethod": singledispatchmethod})  # fmt: skip
_SUM = {"sum": compensated_sum} if COMPENSATED else {}
_BUILTINS = standing(builtins, {"isinstance": isinstance_, "id": _id, "divmod": divmod_, "pow": pow_} | _SUM)
_IMPORTLIB = standing(importlib, {"import_module": import_module})
MODULES = {"numpy": codipy.numpy, "numpy.linalg": codipy.numpy.linalg}
MODULES |= {"numpy.fft": codipy.numpy.fft, "math": _MATH, "scipy": codipy.scipy}
MODULES["importlib"] = module_for(importlib, _IMPORTLIB)
MODULES |= {"numpy.lib": lib, "numpy.lib.stride_tricks": stride_tricks, "numpy.lib.scimath": scimath}
MODULES |= {"functools": module_for(functools, _FUNCTOOLS)}


def _pairs():
    for name, new in namespace.OWN.items():
        yield getattr(np, name), new
    for name, new in LINALG.items():
        yield getattr(np.linalg, name), new
    for name, new in FFT.items():
        yield getattr(np.fft, name), new
    for name, new in SCIMATH.items():
        yield getattr(np.lib.scimath, name), new
    for name, new in POLYNOMIAL.items():
        yield getattr(np.polynomial.polynomial, name), new
    for name, new in STRIDED.items():
        yield getattr(np.lib.stride_tricks, name), new
    yield from STANDINS.items()
    for module, functions in ((builtins, _BUILTINS), (importlib, _IMPORTLIB), (functools, _FUNCTOOLS)):
        for name, new in functions.items():
            yield getattr(module, name), new
    for name, old in vars(math).items():
        if callable(old) and _OF_MATH[name] is not old:
            yield old, _OF_MATH[name]


for _kind, _view in VIEWS.items():
    pass_for(_view, _kind)
_OBJECTS = {id(old): (old, new) for old, new in _pairs()}

# The built-ins that make a function worth rebuilding.
BUILTINS = {name: new for name, old in vars(builtins).items() for _, new in [_OBJECTS.get(id(old), (0, None))] if new}


namespace.LATER["polynomial"] = "codipy.tools.rebinding.library"
vars(codipy.numpy).pop("polynomial", None)  # somebody may have asked for it before

scipy_namespace.LATER["integrate"] = "codipy.tools.rebinding.integration"
scipy_namespace.LATER["interpolate"] = "codipy.tools.rebinding.interpolation"
scipy_namespace.LATER["sparse"] = "codipy.tools.rebinding.sparse"
scipy_namespace.LATER["optimize"] = "codipy.implicit.solvers"
scipy_namespace.LATER["ndimage"] = "codipy.tools.rebinding.images"
scipy_namespace.LATER["signal"] = "codipy.tools.rebinding.signals"
scipy_namespace.LATER["stats"] = "codipy.tools.rebinding.distributions"
for _name in ("integrate", "interpolate", "sparse", "ndimage", "optimize", "signal", "stats"):
    vars(codipy.scipy).pop(_name, None)

_REBUILT = ("integrate", "interpolate", "sparse")  # by each rebinder for itself
# Modules that are imported when they are asked for, and what stands for them.
_LATER = {f"numpy.{name}": place for name, place in namespace.LATER.items() if name != "polynomial"}
_LATER |= {f"scipy.{name}": place for name, place in scipy_namespace.LATER.items() if name not in _REBUILT}
_LATER |= {
    "json": "codipy.tools.rebinding.texts",
    "operator": "codipy.tools.rebinding.getters",
    "statistics": "codipy.tools.rebinding.averages",
    "cmath": "codipy.tools.rebinding.phases",
    "numpy.polynomial.polyutils": "codipy.tools.rebinding.series",
    "scipy.sparse._sparsetools": "codipy.scipy.kernels.table",
    "scipy.sparse._csparsetools": "codipy.scipy.kernels.lists",
    "scipy.sparse._sputils": "codipy.scipy.kernels.dense",
    "scipy.sparse.linalg._expm_multiply": "codipy.scipy.kernels.norms",
    "scipy.interpolate._ppoly": "codipy.scipy.kernels.polynomials",
    "scipy.interpolate._bspl": "codipy.scipy.kernels.bsplines",  # in SciPy 1.15
    "scipy.interpolate._dierckx": "codipy.scipy.kernels.bsplines",
    "scipy.interpolate._bsplines": "codipy.scipy.kernels.nearest",
    "scipy.interpolate._dfitpack": "codipy.scipy.kernels.fitpack",
    "scipy.interpolate._fitpack": "codipy.scipy.kernels.fitpack",
    "scipy.interpolate._fitpack2": "codipy.scipy.kernels.fitpack",  # in Python from SciPy 1.18 on
    "scipy.interpolate._interpnd": "codipy.scipy.kernels.scattered",
    "scipy.interpolate._ndgriddata": "codipy.scipy.kernels.scattered",
    "scipy.interpolate._rbfinterp_pythran": "codipy.scipy.kernels.radial",
    "scipy.linalg.lapack": "codipy.scipy.kernels.banded",
    "scipy.interpolate._rbfinterp_np": "codipy.scipy.kernels.banded",  # LAPACK of wide integers, from SciPy 1.18 on
    "scipy.interpolate._rgi_cython": "codipy.scipy.kernels.grids",
    "scipy._lib._array_api": "codipy.scipy.kernels.standard",
    "scipy._lib.array_api_compat.numpy.linalg": "codipy.scipy.kernels.standard",
    "scipy._external.array_api_compat.numpy.linalg": "codipy.scipy.kernels.standard",  # from SciPy 1.18 on
    "scipy.ndimage._nd_image": "codipy.scipy.kernels.images",
    "scipy.ndimage._rank_filter_1d": "codipy.scipy.kernels.ranks",
    "scipy.signal._sigtools": "codipy.scipy.kernels.recursions",
    "scipy.signal._sosfilt": "codipy.scipy.kernels.recursions",
    "scipy.stats._stats": "codipy.scipy.kernels.densities",
    "scipy.stats._continuous_distns": "codipy.tools.rebinding.distributions",
    "scipy.stats._multivariate": "codipy.tools.rebinding.multivariate",
    "scipy.sparse._base": "codipy.scipy.kernels.guards",
    "scipy.integrate": "codipy.implicit.integrals",
}
_MADE: dict = {np.ufunc: stands_for_ufunc}  # by type, what makes the stand-in of an instance
_GUARDS: dict = {}  # by the address of a method: itself, and what looks at its arguments before it runs, rebuilt


def _meet():
    """Learn the stand-ins of modules that somebody has imported by now."""
    for name in [name for name in _LATER if name in sys.modules]:
        ours = importlib.import_module(_LATER.pop(name))
        if (module := getattr(ours, name.rpartition(".")[2], None)) is not None:
            MODULES[name] = module
        _OBJECTS.update((id(old), (old, new)) for key, new in getattr(ours, "FUNCTIONS", {}).items()
                        for old in [getattr(sys.modules[name], key, new)])  # fmt: skip
        _MADE.update(getattr(ours, "STANDINS", {}))
        _GUARDS.update((id(old), (old, guard)) for old, guard in getattr(ours, "GUARDS", ()))


def replacement(value, default=None):
    """What stands for `value` in rebound code, `default` if nothing does."""
    if not _LATER.keys().isdisjoint(sys.modules.keys()):
        _meet()
    found = _OBJECTS.get(id(value))
    if found is not None:
        return found[1]
    made = _MADE.get(type(value))
    if made is not None and (new := made(value)) is not None:
        return new
    if type(value) is type(sys) and sys.modules.get(value.__name__) is value:
        return MODULES.get(value.__name__, default)
    return default


def guarded(method, rebuilt):
    """A rebuilt method, with what looks at its arguments first."""
    found = _GUARDS.get(id(method))
    return rebuilt if found is None else found[1](rebuilt)
