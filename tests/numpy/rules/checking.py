# SPDX-License-Identifier: Apache-2.0
"""Checks the two rules of a primitive: forward against differences of NumPy's values, reverse against forward.

And what the tests of rules feed them with: arrays of given kinds, and one cotangent.
"""

import numpy as np

from codipy.numpy.registry import PRIMITIVES

STENCIL = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))  # fourth order: rounding and truncation near 1e-12


def check(primitive, args, kwargs=None, argnums=None, rtol=1e-7, step=1e-3, seed=20, settled=None):
    """Raise unless the rules of a primitive agree with its values and with each other.

    Parameters
    ----------
    primitive : Primitive
        One operation. Real and complex arguments and results; a complex cotangent is dL/dRe + i dL/dIm.
    args, kwargs : sequence, dict
        A call of `primitive.forward`, away from kinks by more than ``2 * step``.
    argnums : sequence of int, optional
        The active arguments; all floating-point ones by default. Each is tried alone and all together.
    rtol : float
        Allowed error, relative to the largest element.
    step : float
        Of the differences.
    seed : int
        Of the random directions.
    settled : callable, optional
        ``settled(g, values)`` makes of cotangents of all results such as a loss has.
    """
    kwargs = {} if kwargs is None else kwargs
    args = tuple(frozen(a) for a in args)
    argnums = tuple(i for i, a in enumerate(args) if floating(a)) if argnums is None else tuple(argnums)
    assert argnums != (), "nothing to differentiate"
    rng = np.random.default_rng(seed)
    result = primitive.forward(*args, **kwargs)
    kept_args, kept_out = kept(primitive, args, result)
    for chosen in {argnums, *((i,) for i in argnums)}:
        tangents = {i: direction(rng, args[i]) for i in chosen}
        slope = differences(primitive, args, kwargs, tangents, step)
        if primitive.jvp is not None:
            found = several(primitive.jvp(tangents, kept_out, kept_args, kwargs))
            assert len(found) == len(slope), "jvp: one tangent for each result"
            for got, expected, value in zip(found, slope, several(result)):
                if floating(value):
                    noise = 1e-15 / step * largest(value)
                    close(got, expected, rtol, noise, f"jvp of {primitive.name} for arguments {chosen}")
            slope = found
        check_reverse(primitive, kept_args, kept_out, kwargs, result, chosen, tangents, slope, rtol, rng, settled)


def check_reverse(primitive, args, out, kwargs, result, chosen, tangents, slope, rtol, rng, settled=None):
    """Raise unless the reverse rule is the transpose of the forward slope, for all results and for each alone."""
    values = several(result)
    live = [k for k, value in enumerate(values) if floating(value)]
    for on in {tuple(live), *((k,) for k in live)}:
        g = tuple(cotangent(rng, value, k in on) for k, value in enumerate(values))
        g = g if settled is None else settled(g, values)
        found = primitive.vjp(g if isinstance(result, tuple) else g[0], out, args, kwargs, chosen)
        assert len(found) == len(chosen), "vjp: one cotangent for each argument asked for"
        expected, got, scale = sum(dot(g[k], slope[k]) for k in live), 0.0, 0.0
        for i, bar in zip(chosen, found):
            if bar is None:
                continue
            assert np.shape(bar) == np.shape(args[i]), f"{primitive.name}: cotangent {i} has shape {np.shape(bar)}"
            assert np.iscomplexobj(args[i]) or not np.iscomplexobj(bar), f"{primitive.name}: complex cotangent {i}"
            got += dot(bar, tangents[i])
            scale += float(np.sum(np.abs(bar) * np.abs(tangents[i])))
        assert np.isfinite(got), f"vjp of {primitive.name} for arguments {chosen}: {got}"
        assert abs(got - expected) <= rtol * max(scale, abs(expected)), (
            f"vjp of {primitive.name} for arguments {chosen}, results {on}: {got}, not {expected}"
        )
    check_zero(primitive, args, out, kwargs, result, chosen)


def check_zero(primitive, args, out, kwargs, result, chosen):
    """Raise unless a zero cotangent propagates nothing."""
    g = tuple(np.zeros(np.shape(v), np.asarray(v).dtype) if floating(v) else None for v in several(result))
    for bar in primitive.vjp(g if isinstance(result, tuple) else g[0], out, args, kwargs, chosen):
        assert bar is None or not np.any(bar), f"{primitive.name}: a zero cotangent propagates {bar}"


def differences(primitive, args, kwargs, tangents, step):
    """The slope of every result along the tangents; None for results without derivative."""
    sums = None
    for factor, weight in STENCIL:
        moved = [a + factor * step * tangents[i] if i in tangents else a for i, a in enumerate(args)]
        values = several(primitive.forward(*moved, **kwargs))
        terms = [np.asarray(v) * (weight / step) if floating(v) else None for v in values]
        sums = terms if sums is None else [None if t is None else s + t for s, t in zip(sums, terms)]
    return sums


def kept(primitive, args, result):
    """What the tape hands to the rules: plain tuples, and zeros of no memory for what it was told not to keep."""
    out = tuple(frozen(v) for v in several(result))
    if not primitive.keep_args:
        args = tuple(forgotten(a) for a in args)
    if not primitive.keep_out:
        out = tuple(forgotten(v) for v in out)
    return args, out if isinstance(result, tuple) else out[0]


def frozen(value):
    """A read-only copy of an array, with the memory layout kept; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    value = value.copy(order="K")
    value.flags.writeable = False
    return value


def forgotten(value):
    return np.broadcast_to(np.zeros((), value.dtype), value.shape) if isinstance(value, np.ndarray) else value


def floating(value):
    return isinstance(value, float | complex | np.ndarray | np.generic) and np.asarray(value).dtype.kind in "fc"


def several(result):
    return tuple(result) if isinstance(result, tuple) else (result,)


def direction(rng, like):
    d = rng.standard_normal(np.shape(like))
    return np.asarray(d + 1j * rng.standard_normal(np.shape(like)) if np.iscomplexobj(like) else d)


def cotangent(rng, value, live):
    if not floating(value):
        return None
    return direction(rng, value) if live else np.zeros(np.shape(value), np.asarray(value).dtype)


def dot(g, slope):
    """The real inner product: complex numbers are pairs of reals."""
    return float(np.sum(np.real(np.conj(g) * slope))) if slope is not None else 0.0


def largest(values):
    return float(np.max(np.abs(values), initial=0.0))


def close(got, expected, rtol, noise, what):
    assert np.shape(got) == np.shape(expected), f"{what}: shape {np.shape(got)}, not {np.shape(expected)}"
    atol = max(rtol * largest(expected), noise)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=what)


def normal(*shape, seed=0):
    """Numbers of the standard normal distribution."""
    return np.random.default_rng(seed).standard_normal(shape)


def reverse(name, g, *args, **kwargs):
    """The cotangent of a primitive's first argument, for one of the result."""
    primitive = PRIMITIVES[name]
    return primitive.vjp(g, primitive.forward(*args, **kwargs), args, kwargs, (0,))[0]
