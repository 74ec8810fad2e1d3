# SPDX-License-Identifier: Apache-2.0
"""``scipy.fft`` as `codipy.scipy` and rebound code have it: SciPy computes the values, here are the transposed maps.

All transforms are linear. Those of complex numbers, or whose result is complex, are recorded by the layer of complex
arrays, with the rules of numpy.fft on SciPy's functions. Of sines and cosines the transposed map of type 2 is that of
type 3 and the other way round, of types 1 and 4 the map itself, but for the weights of the first and the last element,
which ``orthogonalize`` takes away. The Hankel transform is the product with a symmetric matrix.
"""

from __future__ import annotations

import functools
import inspect
import operator
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import scipy.fft

from codipy.active.array import Array, Real, call, is_complex_variable
from codipy.active.doors import door
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import fillable, holds_variables, is_of_objects, rebuilt, refuse, value_leaf
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.fft import fit, reverses
from codipy.numpy.rules.patterns import along
from codipy.scipy.calls import kept, refused

__all__ = ["FUNCTIONS", "PASSIVE", "REAL", "REFUSED", "REVERSES", "fft"]

PASSIVE = {"fftfreq", "rfftfreq", "next_fast_len", "prev_fast_len", "set_backend", "skip_backend", "set_global_backend",
           "register_backend", "get_workers", "set_workers"}  # fmt: skip
REFUSED = {"fhtoffset": "its rule would need the derivatives of the gamma function of complex numbers"}


# ---- what is given ---------------------------------------------------------------------------------------------------
def _is_ours(x):
    return type(x) in (Array, Real) or is_complex_variable(x)


def _any_of_ours(tree):
    if isinstance(tree, (list, tuple)):
        return any(map(_any_of_ours, tree))
    return _is_ours(tree) or isinstance(tree, np.ndarray) and tree.dtype == object and any(map(_is_ours, tree.flat))


def _plain(x):
    """A leaf without its derivative; a copy, which SciPy may overwrite."""
    return np.array(x.value)[()] if _is_ours(x) else value_leaf(x)


def _numbers(value):
    """One number or several, as a tape keeps them."""
    return operator.index(value) if np.ndim(value) == 0 else tuple(map(operator.index, value))


def _several(value):
    return tuple(map(operator.index, np.atleast_1d(value)))


_SETTLED = {"n": _numbers, "axis": _numbers, "s": _several, "axes": _several}


def _settled(given):
    """The options that say something, as the rules take them; whether x may be overwritten is no matter here."""
    return {key: _SETTLED[key](value) if key in _SETTLED else value
            for key, value in given.items() if value is not None and key != "overwrite_x"}  # fmt: skip


def _entered(name, record):
    """SciPy's function, with variables left to ``record(name, x, options)``."""
    original = getattr(scipy.fft, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def function(*args, **kwargs):
        if not _any_of_ours([*args, *kwargs.values()]):
            return original(*args, **kwargs)
        if len(args) == 1:      # as most write it, and welch for each of its segments
            given, options = args[0], _settled(kwargs)
        else:
            (_, given), *others = signature.bind(*args, **kwargs).arguments.items()
            options = _settled(dict(others))
        if holds_variables(options):
            refuse(f"scipy.fft.{name}", "it has derivatives by its array alone: say codipy.value(x) of the others")
        options = rebuilt(options, _plain)
        x = as_numbers(given)
        if is_of_objects(x):
            refuse(f"scipy.fft.{name}", "its array holds objects that are no numbers: keep these in one of their own")
        if not holds_variables(x):
            return fillable(original(_plain(x), **options))
        axes = options.get("axes", options.get("s"))
        if type(axes) is tuple and not axes and name not in _OF_REAL | _TO_REAL:
            return x  # along no axis, of which SciPy makes nothing else
        return record(name, x, options)

    return function


# ---- transforms of complex numbers, or whose result is complex -------------------------------------------------------
_OF_REAL = {"rfft", "rfft2", "rfftn", "ihfft", "ihfft2", "ihfftn"}
_TO_REAL = {"irfft", "irfft2", "irfftn", "hfft", "hfft2", "hfftn"}


def _recorded(name, x, options):
    if name in _OF_REAL and is_complex_variable(x):
        raise TypeError("x must be a real sequence")
    return door("complexes")().recorded(f"scipy.fft.{name}", (x,), options)


def _by_workers(reverse):
    """The transposed map by as many threads as the transform."""

    def transposed(g, a, *args, workers=None, **options):
        with nullcontext() if workers is None else scipy.fft.set_workers(workers):
            return reverse(g, a, *args, **options)

    return transposed


_OURS = SimpleNamespace()  # what takes variables too, since derivatives may be nested
REVERSES = {name: _by_workers(reverse) for name, reverse in reverses(_OURS).items()}
FUNCTIONS = {name: _entered(name, _recorded) for name in REVERSES}
vars(_OURS).update(FUNCTIONS)


# ---- sines and cosines -----------------------------------------------------------------------------------------------
_TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}
# By the transform that is computed, the weights of the first and the last element, before and after the transform of
# the transposed type; those between have 1.
_BEFORE = {("c", 1): (2.0, 2.0), ("c", 2): (2.0, 1.0), ("s", 2): (1.0, 2.0)}
_AFTER = {("c", 1): (0.5, 0.5), ("c", 3): (0.5, 1.0), ("s", 3): (1.0, 0.5)}


def _weighted(a, axis, ends):
    if ends is None:
        return a
    weights = np.ones([np.shape(a)[axis] if k == axis % np.ndim(a) else 1 for k in range(np.ndim(a))])
    weights.flat[0], weights.flat[-1] = ends[0] * weights.flat[0], ends[1]
    if weights.size == 1:
        weights.flat[0] = ends[0] * ends[1]
    return a * weights.astype(np.zeros(0, a.dtype).real.dtype)


def _of_waves(name):
    """The Primitive of a transform into sines or cosines: it takes its array, and the options by name."""
    forward, several = getattr(scipy.fft, name), name.endswith("n")
    letter = "s" if "s" in name else "c"

    def reverse(g, a, *, type=2, n=None, axis=-1, s=None, axes=None, norm=None, workers=None, orthogonalize=None):
        if not several:
            axes = (axis,)
        elif axes is None:
            axes = tuple(range(-np.ndim(a) if s is None else -len(s), 0))
        is_complex = np.iscomplexobj(a)
        # SciPy does not tell transforms of complex numbers of `orthogonalize`.
        orthogonal = norm == "ortho" if orthogonalize is None or is_complex else orthogonalize
        own = (letter, _TRANSPOSED[type] if name.startswith("i") else type)
        bar = g
        if not orthogonal:
            for k in axes:
                bar = _weighted(bar, k, _BEFORE.get(own))
        where = {"axes": axes} if several else {"axis": axis}
        bar = FUNCTIONS[name](bar, _TRANSPOSED[type], norm=norm, workers=workers, orthogonalize=orthogonalize, **where)
        if not orthogonal:
            for k in axes:
                bar = _weighted(bar, k, _AFTER.get(own))
        for k in axes:
            bar = fit(bar, k, np.shape(a)[k])
        return bar

    def vjp(g, out, args, kwargs, argnums):
        return [reverse(g, args[0], **kwargs)]

    def jvp(tangents, out, args, kwargs):
        return FUNCTIONS[name](tangents[0], **kwargs)

    pattern = along(2, None, "axes") if several else along(2)
    return kept(Primitive(f"scipy.fft.{name}", forward, vjp, jvp, keep_args=False, keep_out=False, pattern=pattern))


# ---- the Hankel transform --------------------------------------------------------------------------------------------
def _of_hankel(name):
    def vjp(g, out, args, kwargs, argnums):
        return [FUNCTIONS[name](g, **kwargs)]

    def jvp(tangents, out, args, kwargs):
        return FUNCTIONS[name](tangents[0], **kwargs)

    return kept(Primitive(f"scipy.fft.{name}", getattr(scipy.fft, name), vjp, jvp, keep_args=False, keep_out=False,
                          pattern=along(2)))  # fmt: skip


# Real maps, each of which is applied to the real and the imaginary parts of complex numbers.
REAL = {name: _of_waves(name) for name in ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn")}
_HANKEL = {name: _of_hankel(name) for name in ("fht", "ifht")}


def _recorded_real(name, x, options):
    if not is_complex_variable(x):
        return call({**REAL, **_HANKEL}[name], (x,), options)
    if name in _HANKEL:
        raise TypeError("x must be a real sequence")
    return door("complexes")().recorded(f"scipy.fft.{name}", (x,), options)


FUNCTIONS |= {name: _entered(name, _recorded_real) for name in (*REAL, *_HANKEL)}


# ---- the rest --------------------------------------------------------------------------------------------------------
def _moved(name):
    original, movement = getattr(scipy.fft, name), getattr(np.fft, name)

    @functools.wraps(original)
    def function(x, axes=None):
        return movement(as_numbers(x), axes) if _any_of_ours([x]) else original(x, axes)

    return function


FUNCTIONS |= {name: _moved(name) for name in ("fftshift", "ifftshift")}
FUNCTIONS |= {name: refused(getattr(scipy.fft, name), f"scipy.fft.{name}", why) for name, why in REFUSED.items()}
fft = module_for(scipy.fft, FUNCTIONS)
