# SPDX-License-Identifier: Apache-2.0
"""What NumPy's generators draw with active parameters and move of Arrays: NumPy's own bits, and as many of them.

`normal`, `uniform`, `exponential` and `lognormal` are pathwise: the noise is drawn as NumPy draws it and is a constant,
the parameters scale and shift it. `shuffle`, `permutation`, `permuted` and `choice` move elements, to the places that
NumPy gives to numbers of the same shape. All other distributions refuse active parameters, and say how to write them.
"""

from __future__ import annotations

import math

import numpy as np

from codipy.active.array import Array, Real, call, is_complex_variable
from codipy.active.scalar.kinds import converted, type_of
from codipy.numpy.allocation import as_numbers, holds_movable
from codipy.numpy.arguments import PLAIN, assign, holds_active, refuse, value_tree
from codipy.numpy.elementary import elementwise_primitive
from codipy.numpy.standins import standin_float

__all__ = ["draw"]

_SMOOTH = {  # how the same distribution is written with noise that depends on nothing
    "gamma": "scale * rng.standard_gamma(codipy.value(shape), n)",
    "gumbel": "loc + scale * rng.gumbel(size=n)",
    "laplace": "loc + scale * rng.laplace(size=n)",
    "logistic": "loc + scale * rng.logistic(size=n)",
    "multivariate_normal": "mean + np.linalg.cholesky(cov) @ rng.standard_normal(len(mean))",
    "pareto": "np.expm1(rng.standard_exponential(n) / a)",
    "power": "rng.random(n) ** (1.0 / a)",
    "rayleigh": "scale * rng.rayleigh(size=n)",
    "weibull": "rng.standard_exponential(n) ** (1.0 / a)",
}
_WHOLE = frozenset({
    "binomial", "geometric", "hypergeometric", "integers", "logseries", "multinomial", "multivariate_hypergeometric",
    "negative_binomial", "poisson", "randint", "random_integers", "zipf"
})  # fmt: skip


def _rewrite(name):
    """What to do about active parameters of a distribution that has no rule."""
    if name == "choice":
        return "of active chances draws whole places, which have no derivative: take `codipy.value(p)`"
    if name == "gamma":
        return f"has no derivative in its shape, and in its scale if you write `{_SMOOTH[name]}`"
    if name in _SMOOTH:
        return f"of active parameters: write `{_SMOOTH[name]}`, whose noise depends on nothing"
    if name in _WHOLE:
        return ("draws whole numbers, which have no derivative in its parameters: take `codipy.value(x)` where none is "
                "wanted, or differentiate the expectation")  # fmt: skip
    return ("has no derivative in its parameters that codipy knows: take `codipy.value(x)` where none is wanted, or "
            "write the draw as a function of `rng.random(n)` or `rng.standard_normal(n)`")  # fmt: skip


# ---- distributions whose parameters scale and shift the noise


def _parameters(rng, name, given, size, wrong):
    """The parameters in float64, and the shape of what is drawn.

    Where NumPy would raise, another generator does, and nothing is drawn.
    """
    values = [np.asarray(x, float) for x in value_tree(given)]
    shape = np.broadcast_shapes(*map(np.shape, values))
    if wrong(*values) or (size is not None and not _fits(shape, size)):
        kind = np.random.RandomState if isinstance(rng, np.random.RandomState) else np.random.Generator
        getattr(kind(np.random.MT19937(0)), name)(*values, size)
    operands = [_doubles(x) for x in given]
    return operands, (None if size is None and not shape else shape if size is None else size)


def _doubles(x):
    """NumPy draws with doubles, also where a parameter is float32."""
    if type(x) is Real:
        return converted(x, np.float64) if type_of(x) is np.float32 else x
    if type(x) in (float, int):
        return x
    x = as_numbers(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def _fits(shape, size):
    size = tuple(np.atleast_1d(size))
    try:
        return np.broadcast_shapes(shape, size) == size
    except ValueError:
        return False


def _is_negative(*values):
    """Whether the last parameter, a scale, has a sign."""
    return np.any(np.signbit(values[-1]) & ~np.isnan(values[-1]))


def _is_no_range(low, high):
    with np.errstate(all="ignore"):
        return not np.all(np.isfinite(high - low)) or np.any(np.signbit(high - low))


def normal(rng, loc=0.0, scale=1.0, size=None):
    (loc, scale), shape = _parameters(rng, "normal", [loc, scale], size, _is_negative)
    return loc + scale * rng.standard_normal(shape)


def uniform(rng, low=0.0, high=1.0, size=None):
    (low, high), shape = _parameters(rng, "uniform", [low, high], size, _is_no_range)
    return low + (high - low) * rng.random(shape)


def exponential(rng, scale=1.0, size=None):
    (scale,), shape = _parameters(rng, "exponential", [scale], size, _is_negative)
    return scale * rng.standard_exponential(shape)


def _exp(x):
    """The exponential of C's library, with which NumPy's generators compute; `np.exp` has other bits."""
    return np.array([_exp_of(t) for t in np.ravel(x).tolist()]).reshape(np.shape(x))[()]


def _exp_of(t):
    try:
        return math.exp(t)
    except OverflowError:
        return math.inf


_EXP = elementwise_primitive("lognormal", _exp, (lambda x, w: w,))


def lognormal(rng, mean=0.0, sigma=1.0, size=None):
    (mean, sigma), shape = _parameters(rng, "lognormal", [mean, sigma], size, _is_negative)
    return call(_EXP, (mean + sigma * rng.standard_normal(shape),))


# ---- movement


def _elements(x):
    """An Array of what is to be moved."""
    return x if type(x) is Array else as_numbers(x)


def shuffle(rng, x, axis=0):
    if type(x) is not Array and not (is_complex_variable(x) and hasattr(x, "pairs")):
        return rng.shuffle(x, axis) if axis else rng.shuffle(x)
    if axis and isinstance(rng, np.random.RandomState):
        raise TypeError("shuffle() got an unexpected argument 'axis', which numpy.random.Generator has")
    if x.ndim == 0:
        raise TypeError("len() of unsized object")
    places = np.arange(x.shape[axis])
    rng.shuffle(places)
    x[...] = np.take(x, places, axis)
    return None


def permutation(rng, x, axis=0):
    x = _elements(x)
    if x.ndim == 0:
        if isinstance(rng, np.random.Generator):
            raise np.exceptions.AxisError(axis, 0)
        raise IndexError("x must be an integer or at least 1-dimensional")
    if axis and isinstance(rng, np.random.RandomState):
        raise TypeError("permutation() got an unexpected argument 'axis', which numpy.random.Generator has")
    index = [slice(None)] * x.ndim
    index[axis] = rng.permutation(x.shape[axis])
    return x[tuple(index)]  # which lies otherwise than what `np.take` gives


def permuted(rng, x, *, axis=None, out=None):
    x = _elements(x)
    places = np.empty_like(x.value, np.intp)  # without an axis NumPy goes through the memory
    places[...] = np.arange(x.size).reshape(x.shape)
    places = rng.permuted(places, axis=axis)
    moved = np.reshape(x, -1)[places.reshape(-1)].reshape(x.shape)
    if out is None:
        out = x.copy("K")
    return assign(moved, out)


def choice(rng, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    if holds_active(p):
        refuse("random.choice", _rewrite("choice"))
    a, p = _elements(a), value_tree(p)
    if isinstance(rng, np.random.RandomState):
        if a.ndim != 1:
            raise ValueError("a must be 1-dimensional")
        return a[rng.choice(a.shape[0], size, replace, p)]
    if a.ndim == 0:
        raise ValueError("a must be a sequence or an integer, not a number")
    return np.take(a, rng.choice(a.shape[axis], size, replace, p, shuffle=shuffle), axis)


_SHIFTED = {"exponential": exponential, "lognormal": lognormal, "normal": normal, "uniform": uniform}
_MOVED = {"choice": choice, "permutation": permutation, "permuted": permuted, "shuffle": shuffle}


def draw(rng, name, args, kwargs):
    """One call of a method of NumPy's generator `rng`, whose arguments may be active or Arrays."""
    if PLAIN.issuperset(map(type, args)) and PLAIN.issuperset(map(type, kwargs.values())):
        return getattr(rng, name)(*args, **kwargs)
    if name in _MOVED and holds_movable(args[0] if args else kwargs.get("a" if name == "choice" else "x")):
        return _MOVED[name](rng, *args, **kwargs)
    if holds_active(args) or holds_active(kwargs):
        if name not in _SHIFTED:
            refuse(f"random.{name}", _rewrite(name))
        drawn = _SHIFTED[name](rng, *args, **kwargs)
        return standin_float(drawn) if type(drawn) is Real else drawn
    out = kwargs.get("out")
    if type(out) is not Array:
        return getattr(rng, name)(*value_tree(args), **value_tree(kwargs))
    drawn = np.empty(out.shape, out.dtype)
    getattr(rng, name)(*value_tree(args), **value_tree(kwargs) | {"out": drawn})
    out[...] = drawn
    return out
