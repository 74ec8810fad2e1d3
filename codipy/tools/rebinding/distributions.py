# SPDX-License-Identifier: Apache-2.0
"""``scipy.stats`` of `codipy.scipy`: SciPy's own methods of distributions and functions of samples, rebuilt one by one.

A distribution's `logpdf` makes arrays of its arguments, looks which are inside of the support and calls the `_logpdf`
of its class, in NumPy's functions and those of `scipy.special`. Rejected: to rebuild the module, or the class of a
distribution, which takes seconds, since all refer to all; and rules for each distribution, of which SciPy has 130.
"""

from __future__ import annotations

import functools
import inspect

import numpy as np
import scipy.stats
from scipy.stats import _distn_infrastructure
from scipy.stats._distn_infrastructure import rv_continuous_frozen, rv_discrete_frozen, rv_generic, rv_sample

from codipy.active.array import call, is_active, plain
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.decisions import is_replayed
from codipy.numpy.elementary import elementwise_primitive
from codipy.numpy.modules import module_for
from codipy.numpy.solved import LESS_VALUE, SOLVED, Solver
from codipy.scipy import samples
from codipy.tools.orders import orders
from codipy.tools.rebinding.multivariate import MULTIVARIATE
from codipy.tools.rebinding.multivariate import STANDINS as FROZEN
from codipy.tools.rebinding.rebuilt import Rebuilt, translated
from codipy.tools.rebinding.single import functions_of

__all__ = ["FUNCTIONS", "STANDINS", "stats"]

CONTINUOUS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
DISCRETE = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
# What is asked of a distribution alone, after so many other arguments.
STEPS = ("interval", "median")  # of functions of whole numbers
MOMENTS = {"mean": 0, "var": 0, "std": 0, "median": 0, "stats": 0, "entropy": 0, "moment": 1, "interval": 1}
# Shapes, by their number, and values of them near which SciPy has a formula without them.
SPECIAL: dict[str, dict] = {
    "genextreme": {0: (0.0,)}, "genpareto": {0: (0.0,)}, "kappa4": {0: (0.0,), 1: (0.0,)}, "ncf": {2: (0.0,)},
    "nct": {1: (0.0,)}, "ncx2": {1: (0.0,)}, "pearson3": {0: (0.0,)}, "rice": {0: (0.0,)}, "skewnorm": {0: (0.0,)},
    "triang": {0: (0.0, 1.0)}, "trapezoid": {0: (0.0, 1.0), 1: (0.0, 1.0)}, "tukeylambda": {0: (0.0,)},
    "vonmises": {0: (0.0,)}, "vonmises_line": {0: (0.0,)},
}  # fmt: skip
INTEGRATED = {"geninvgauss"}  # by functions of their own, which say so nowhere
_NEAR = 2e-5  # the widest of these, of pearson3


def _of_each(function, args):
    """A function of numbers, which are of double precision, of all elements of some arrays."""
    if not args:
        return function()
    arrays = [x.astype(float) for x in np.broadcast_arrays(*map(as_numbers, args))]
    found = [function(*items) for items in zip(*(np.reshape(x, -1) for x in arrays))]
    return np.reshape(np.stack([as_numbers(x) for x in found]), np.shape(arrays[0])) if found else np.zeros(0)


class _Moments(Rebuilt):
    """What SciPy has as `numpy.vectorize` of methods."""

    def vecentropy(self, *args):
        return _of_each(self._entropy, args)

    def generic_moment(self, n, *args):
        original = self._original
        if isinstance(original, scipy.stats.rv_discrete):
            moment = functools.partial(translated(_distn_infrastructure._drv2_moment), self)
        else:
            moment = self._mom1_sc if original.moment_type else self._mom0_sc
        return _of_each(lambda *shapes: moment(n, *shapes), args)


class _Continuous(_Moments):
    """What SciPy computes by quadrature or by a search for a root has a derivative of another kind."""

    def _cdfvec(self, x, *args):
        original = self._original
        if holds_active(args):
            refuse(f"scipy.stats.{original.name}.cdf", "SciPy integrates the density, so that there is a derivative by "
                   "x, loc and scale: say `codipy.value` of the shapes")  # fmt: skip
        integrate = original._cdf if original.name in INTEGRATED else original._cdfvec
        rule = elementwise_primitive(f"scipy.stats.{original.name}.cdf", integrate,
                                     [lambda *given: self._pdf(*given[:-1]), *[None] * len(args)])  # fmt: skip
        return call(rule, (as_numbers(x), *map(np.asarray, value_tree(args))))

    def __getattr__(self, name):
        if name == "_cdf" and self._original.name in INTEGRATED:
            return self._cdfvec
        return super().__getattr__(name)

    def _ppfvec(self, q, *args):
        if not holds_active((q, args)):
            return self._original._ppfvec(*value_tree((q, *args)))
        given = tuple(as_numbers(x) for x in (q, *args))
        found = _Quantile(self._original, given)
        x, scale = found.recorded()
        for _ in range(orders()):
            step = (self._cdf(x, *given[1:]) - given[0]) * scale
            x = x - call(LESS_VALUE, (step,)) if is_active(step) else x
        return x


class _Quantile(Solver):
    """The numbers at which a distribution function has some values, and one over the density there."""

    def __init__(self, distribution, given):
        super().__init__(f"scipy.stats.{distribution.name}.ppf")
        self._distribution, self._given = distribution, given

    def solve(self, values):
        values = tuple(np.asarray(x) for x in values)
        x = self._distribution._ppfvec(*values)
        return x, 1.0 / self._distribution._pdf(x, *values[1:])

    def recorded(self):
        """Both, for what a tape has."""
        known = tuple(np.array(plain(x)) for x in self._given)
        found = self.solve(known)
        if not is_replayed():
            return found
        return call(SOLVED, self._given, {"solver": self, "given": known, "found": tuple(map(np.array, found))})


class _Discrete(_Moments):
    """The functions of whole numbers."""

    def _ppf(self, q, *args):
        return self._original._ppf(*value_tree((q, *args)))      # a step

    def _cdfvec(self, k, *args):
        if not holds_active(args):
            return self._original._cdfvec(*value_tree((k, *args)))
        k, *args = np.broadcast_arrays(value_tree(k), *map(as_numbers, args))
        low = self._original._get_support(*map(plain, args))[0]
        sums = [np.sum(self._pmf(np.arange(int(first), int(last) + 1), *shapes), axis=0)
                for last, first, *shapes in zip(np.ravel(k), np.ravel(np.broadcast_to(low, k.shape)),
                                                *(np.ravel(x) for x in args))]  # fmt: skip
        return np.reshape(np.stack(sums), k.shape)


class Distribution:
    """What stands for a distribution of SciPy: itself where nothing is active."""

    def __init__(self, original):
        self._original = original
        self._is_discrete = isinstance(original, scipy.stats.rv_discrete)
        self._rebuilt = (_Discrete if self._is_discrete else _Continuous)(original)

    @property  # type: ignore[misc]
    def __class__(self):
        return type(self._original)

    def __getattr__(self, name):
        return getattr(self._rebuilt if name.startswith("_") else self._original, name)  # methods call one another's

    def __call__(self, *args, **kwds):
        return Frozen(self, args, kwds)

    freeze = __call__

    def _called(self, name, args, kwds):
        original = getattr(self._original, name)
        if not (holds_active(args) or holds_active(kwds)):
            return original(*value_tree(args), **value_tree(kwds))
        self._demand_smooth(name, args, kwds)
        try:
            if self._is_discrete and (name not in MOMENTS or name in STEPS):
                return self._of_whole_numbers(name, args, kwds)
            return getattr(self._rebuilt, name)(*args, **kwds)
        except (ActiveError, TypeError, ValueError) as error:
            what = f"scipy.stats.{self._original.name}.{name}"
            if what in str(error):
                raise
            raise ActiveError(f"{what} has no derivative by what is active here: {error}") from error

    def _demand_smooth(self, name, args, kwds):
        """Refuse a shape at which SciPy takes a formula without it."""
        others = {key: x for key, x in kwds.items() if key not in ("x", "q", "k", "moments", "order", "confidence")}
        shapes, loc, _ = self._original._parse_args(*args[MOMENTS.get(name, 1):], **others)
        if name == "moment" and holds_active((loc,)) and np.any(np.asarray(value_tree(loc)) == 0.0):
            refuse(f"scipy.stats.{self._original.name}.moment", "where loc is 0 SciPy has a formula without it: "
                   "say `codipy.value` of it, or take loc=1e-9")  # fmt: skip
        for k, x in enumerate(shapes):
            for point in SPECIAL.get(self._original.name, {}).get(k, ()) if holds_active((x,)) else ():
                if np.any(np.abs(np.asarray(value_tree(x)) - point) <= _NEAR):
                    refuse(f"scipy.stats.{self._original.name}.{name}",
                           f"where shape {k + 1} is {point} SciPy has a formula of its own, without that shape: say "
                           "`codipy.value` of it, or take another value")  # fmt: skip

    def _of_whole_numbers(self, name, args, kwds):
        first = MOMENTS.get(name, 1)
        places = args[:first], args[self._original.numargs + first:], kwds.get("k"), kwds.get("loc")
        if name in ("ppf", "isf") or name in STEPS and not holds_active(places):
            return getattr(self._original, name)(*value_tree(args), **value_tree(kwds))
        if holds_active(places):
            refuse(f"scipy.stats.{self._original.name}.{name}", "it is a function of whole numbers: by k and loc there "
                   "is no derivative, say codipy.value(k)")  # fmt: skip
        return getattr(self._rebuilt, name)(*args, **kwds)


def _method(name):
    def method(self, *args, **kwds):
        return self._called(name, args, kwds)

    method.__name__ = name
    return method


for _name in {*CONTINUOUS, *DISCRETE, *MOMENTS}:
    setattr(Distribution, _name, _method(_name))


class Frozen:
    """What stands for a distribution with its parameters."""

    def __init__(self, dist, args, kwds):
        self.dist, self.args, self.kwds = dist, args, kwds

    @property  # type: ignore[misc]
    def __class__(self):
        return rv_discrete_frozen if self.dist._is_discrete else rv_continuous_frozen

    def __getattr__(self, name):
        if holds_active(self.args) or holds_active(self.kwds):
            if name == "expect":
                instead = ("np.sum(func(k) * dist.pmf(k)) over whole numbers k" if self.dist._is_discrete else
                           "scipy.integrate.quad(lambda t: func(t) * dist.pdf(t), lb, ub)[0]")
                refuse(f"scipy.stats.{self.dist.name}(...).expect", f"write {instead}, dist being this distribution")
            methods = (*(DISCRETE if self.dist._is_discrete else CONTINUOUS), *MOMENTS)
            refuse(f"scipy.stats.{self.dist.name}(...).{name}", f"of active parameters there are {', '.join(methods)}: "
                   "say codipy.value of them")  # fmt: skip
        return getattr(self.dist._original(*value_tree(self.args), **value_tree(self.kwds)), name)

    def rvs(self, size=None, random_state=None):
        """Random numbers, which move with the location and stretch with the scale."""
        return self.dist.rvs(*self.args, **{**self.kwds, "size": size, "random_state": random_state})

    def _called(self, name, args, kwds):
        if name == "stats" and args:
            args, kwds = args[1:], {"moments": args[0], **kwds}
        return self.dist._called(name, (*args, *self.args), {**kwds, **self.kwds})


for _name in {*CONTINUOUS, *DISCRETE, *MOMENTS}:
    setattr(Frozen, _name, _method(_name))


def _thawed(frozen):
    """The stand-in of a distribution that the program had frozen before."""
    return Frozen(_of(frozen.dist), frozen.args, frozen.kwds)


@functools.lru_cache(maxsize=512)
def _standing_for(original):
    return Distribution(original)


def _of(dist):
    """That of SciPy's own instance: a frozen distribution has a copy."""
    known = getattr(scipy.stats, dist.name or "", None)
    return _standing_for(known if type(known) is type(dist) else dist)


class Density(Rebuilt):
    """What stands for ``gaussian_kde``: its own methods, and loops that take active values."""

    def __init__(self, dataset, bw_method=None, weights=None):
        super().__init__(_Kde.__new__(_Kde))
        translated(_Kde.__init__)(self, dataset, bw_method, weights)

    @classmethod
    def of(cls, made):
        """Of an estimate that SciPy has made."""
        new = cls.__new__(cls)
        vars(new).update(vars(made), _original=_Kde.__new__(_Kde))
        return new

    def __getattr__(self, name):
        found = inspect.getattr_static(_Kde, name, None)
        if isinstance(found, property):
            return translated(found.fget)(self)
        if name == "_original":  # while it is copied
            raise AttributeError(name)
        return super().__getattr__(name)

    def __call__(self, points):
        return self.evaluate(points)


_Kde = scipy.stats.gaussian_kde


# SciPy has complex numbers on its way to this logarithm of Phi(b) - Phi(a).
_log_mass = scipy.stats._continuous_distns._log_gauss_mass
_MASS = elementwise_primitive("scipy.stats.truncnorm, the logarithm of the mass", _log_mass, [
    lambda a, b, w: -np.exp(-a * a / 2 - w) / np.sqrt(2 * np.pi),
    lambda a, b, w: np.exp(-b * b / 2 - w) / np.sqrt(2 * np.pi),
])  # fmt: skip


@functools.wraps(_log_mass)
def _log_gauss_mass(a, b):
    return call(_MASS, (as_numbers(a), as_numbers(b))) if holds_active((a, b)) else _log_mass(*value_tree((a, b)))


FUNCTIONS = {name: _standing_for(value) for name, value in vars(scipy.stats).items()
             if isinstance(value, rv_generic) and not isinstance(value, rv_sample)}  # fmt: skip
FUNCTIONS |= functions_of(scipy.stats, samples, translated, (ActiveError, TypeError, ValueError))
FUNCTIONS |= MULTIVARIATE
FUNCTIONS["_log_gauss_mass"] = _log_gauss_mass
FUNCTIONS["gaussian_kde"] = Density
STANDINS = {rv_continuous_frozen: _thawed, rv_discrete_frozen: _thawed, _Kde: Density.of, **FROZEN}
stats = module_for(scipy.stats, {name: new for name, new in FUNCTIONS.items() if hasattr(scipy.stats, name)})
