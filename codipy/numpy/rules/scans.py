# SPDX-License-Identifier: Apache-2.0
"""Running sums and products, and reduce, accumulate and reduceat of ufuncs, all as one linear recurrence.

With ``w[k] = f(w[k-1], a[k])`` the tangents obey ``dw[k] = p[k] dw[k-1] + q[k] da[k]``, where p and q are the partials
of f. The recurrence is solved by doubling in log2(n) array operations: no quotient, so zeros are exact. Only running
products that are far from 0 and from overflow take the quotient, which is one pass.
"""

import numpy as np

from codipy.errors import ActiveError
from codipy.numpy.names import of_name
from codipy.numpy.rules import patterns
from codipy.numpy.rules.building import axes_of, counted, is_plain, primitive, selected
from codipy.numpy.rules.order import PRIMITIVES as ORDER
from codipy.numpy.rules.reductions import PRIMITIVES as REDUCTIONS
from codipy.tape.records.loops import shares_of_logs

__all__ = ["PRIMITIVES", "UFUNC_PARTIALS"]

FEW = 512  # elements: below, a loop takes less than the calls of NumPy


def _second_wins(w, x, y):
    """1 where the value came from the second argument: a tie goes to the first."""
    return ((w != x) & ~(np.isnan(w) & np.isnan(x))) * 1.0


def _choice(w, x, y):
    second = _second_wins(w, x, y)
    return 1.0 - second, second


def _share(difference):
    return 1.0 / (1.0 + np.exp(-np.where(np.isnan(difference), 0.0, difference)))


def _hypot_x(x, y, w):
    """``hypot_x`` of the operations table: also where w overflows, or an argument is infinite."""
    halved = 0.25 * x / np.hypot(0.25 * x, 0.25 * y)
    beyond = np.where(np.isinf(x), np.where(np.isinf(y), np.nan, np.sign(x)), np.where(np.isinf(y), 0.0, halved))
    return np.where(w == 0, 0.0, np.where(np.isinf(w), beyond, x / w))


# Partials of w = f(x, y) in x and in y.
UFUNC_PARTIALS = {
    np.add: lambda w, x, y: (np.ones(w.shape), np.ones(w.shape)),
    np.subtract: lambda w, x, y: (np.ones(w.shape), -np.ones(w.shape)),
    np.multiply: lambda w, x, y: (y, x),
    np.divide: lambda w, x, y: (1.0 / y, -w / y),
    np.maximum: _choice,
    np.minimum: _choice,
    np.fmax: _choice,
    np.fmin: _choice,
    np.logaddexp: lambda w, x, y: (_share(x - y), _share(y - x)),
    np.logaddexp2: lambda w, x, y: (_share((x - y) * np.log(2.0)), _share((y - x) * np.log(2.0))),
    np.hypot: lambda w, x, y: (_hypot_x(x, y, w), _hypot_x(y, x, w)),
}


def _recur(source, factor):
    """Solve ``s[k] = source[k] + factor[k] * s[k-1]`` along the last axis; ``factor[0]`` is not read."""
    n = source.shape[-1]
    step = 1
    while step < n:
        carried = selected(source[..., :-step], factor[..., step:])
        source = np.concatenate((source[..., :step], source[..., step:] + carried), -1)
        factor = np.concatenate((factor[..., :step], factor[..., step:] * factor[..., :-step]), -1)
        step *= 2
    return source


def _recur_back(source, factor):
    """The transpose of `_recur`: ``s[k] = source[k] + factor[k+1] * s[k+1]``."""
    shifted = np.concatenate((factor[..., 1:], factor[..., :1]), -1)
    return np.flip(_recur(np.flip(source, -1), np.flip(shifted, -1)), -1)


def _partials(ufunc, a, out, restart=None):
    """The factors p and q along the last axis, with p = 0 and q = 1 where a scan starts."""
    before = np.concatenate((a[..., :1], out[..., :-1]), -1)
    p, q = UFUNC_PARTIALS[ufunc](out, before, a)
    start = np.arange(a.shape[-1]) == 0 if restart is None else restart
    return np.where(start, 0.0, p), np.where(start, 1.0, q)


def _invertible(ufunc, out):
    """Whether quotients of running products are harmless: no zero, no underflow, no overflow."""
    if ufunc is not np.multiply:
        return False
    size = np.abs(out)
    return bool(np.all((size > 1e-250) & (size < 1e250)))


def _scan_vjp(ufunc, g, out, a):
    if a.shape[-1] == 0:
        return np.zeros(a.shape)
    if _invertible(ufunc, out):
        return _sum_vjp(ufunc, g * out, out, a) / a
    p, q = _partials(ufunc, a, out)
    return selected(_recur_back(g, p), q)


def _scan_jvp(ufunc, t, out, a):
    if a.shape[-1] == 0:
        return np.zeros(a.shape)
    if _invertible(ufunc, out):
        return np.cumsum(t / a, axis=-1) * out
    p, q = _partials(ufunc, a, out)
    return _recur(selected(t, q), p)


def _along(rule, ufunc, g, out, a, axis):
    """A rule for the last axis, applied along `axis`; what has fewer than two axes is one row."""
    if a.ndim < 2:
        return rule(ufunc, np.reshape(g, -1), np.reshape(out, -1), np.reshape(a, -1))
    g, out, a = (np.moveaxis(v, axis, -1) for v in (g, out, a))
    return np.moveaxis(rule(ufunc, g, out, a), -1, axis)


def _accumulate(ufunc, rule):
    def along(g, out, a, axis=0, dtype=None, out_=None):
        return _along(rule, ufunc, g, out, a, axis)

    return {0: along}


def _sum_vjp(ufunc, g, out, a):
    return np.flip(np.cumsum(np.flip(g, -1), axis=-1), -1)


def _summed_behind(g, shape, axis):
    """The same along an axis, or over all elements."""
    if axis is None:
        return np.reshape(np.cumsum(g[::-1])[::-1], shape)
    if not shape:
        return np.reshape(g, shape)
    backwards = (slice(None),) * (axis % len(shape)) + (slice(None, None, -1),)
    return np.cumsum(g[backwards], axis=axis)[backwards]


def _sum_jvp(ufunc, t, out, a):
    return np.cumsum(t, axis=-1)


def _scans(ufunc):
    """The two rules of ``ufunc.accumulate`` along the last axis."""
    return (_sum_vjp, _sum_jvp) if ufunc is np.add else (_scan_vjp, _scan_jvp)


def _cumulative(ufunc, skip=None):
    """Rules of numpy.cumsum and numpy.cumprod; with `skip`, NaN counts as that number and gets no derivative."""
    backward, forward = _scans(ufunc)
    linear = ufunc is np.add and skip is None

    def run(rule, g, out, a, axis):
        values = a if skip is None else np.where(np.isnan(a), skip, a)
        if axis is None:
            return rule(ufunc, np.reshape(g, -1), np.reshape(out, -1), np.reshape(values, -1))
        return _along(rule, ufunc, g, out, values, axis)

    def present(g, a):
        return g if skip is None else np.where(np.isnan(a), 0.0, g)

    def vjp(g, out, a, axis=None, dtype=None, out_=None):
        if linear and is_plain(g):
            return _summed_behind(g, a.shape, axis)
        return present(np.reshape(run(backward, g, out, a, axis), a.shape), a)

    def jvp(t, out, a, axis=None, dtype=None, out_=None):
        return run(forward, present(t, a), out, a, axis)

    return {0: vjp}, {0: jvp}


def _array_api(ufunc):
    """Rules of numpy.cumulative_sum and numpy.cumulative_prod."""
    backward, forward = _scans(ufunc)

    def vjp(g, out, a, axis=None, dtype=None, out_=None, include_initial=False):
        axis = 0 if axis is None else axis
        if include_initial:
            rest = (slice(None),) * (axis % max(a.ndim, 1)) + (slice(1, None),)
            g, out = g[rest], out[rest]
        return np.reshape(_along(backward, ufunc, g, out, a, axis), a.shape)

    def jvp(t, out, a, axis=None, dtype=None, out_=None, include_initial=False):
        axis = 0 if axis is None else axis
        if not include_initial:
            return _along(forward, ufunc, t, out, a, axis)
        first, rest = ((slice(None),) * (axis % max(a.ndim, 1)) + (part,) for part in (slice(0, 1), slice(1, None)))
        tangent = _along(forward, ufunc, t, out[rest], a, axis)
        return np.concatenate((np.zeros(out[first].shape), tangent), axis)

    return {0: vjp}, {0: jvp}


def _shares(g, out, a, axis, keepdims):
    """The cotangent of ``logaddexp.reduce``; None where a sum is not finite."""
    if a.size <= FEW and (axis is not None or a.ndim == 1):
        return shares_of_logs(g, out, a, 0 if axis is None else axis % a.ndim)
    kept = ... if keepdims or axis is None else (slice(None),) * (axis % a.ndim) + (None,)
    total = out[kept]
    return np.exp(a - total) * g[kept] if np.isfinite(total).all() else None


def _reduce(ufunc, rule):
    """Rules of ``ufunc.reduce`` through the scan whose last value it is."""

    def along(g, out, a, axis=0, dtype=None, out_=None, keepdims=False, initial=None, where=True):
        if initial is not None or where is not True:
            raise ActiveError(f"{ufunc.__name__}.reduce: no derivative is known with initial or where")
        if ufunc is np.logaddexp and rule is _scan_vjp and not isinstance(axis, tuple) and a.ndim and is_plain(g, a):
            found = _shares(g, np.asarray(out), a, axis, keepdims)
            if found is not None:
                return found
        axes = axes_of(a.ndim, axis)
        if all(a.shape[k] == 1 for k in axes):  # elements as they are, or their sizes, of np.hypot
            found = np.reshape(g, a.shape)
            if ufunc is np.hypot:
                flipped = np.signbit(np.reshape(out, a.shape)) != np.signbit(a)
                found = np.where(flipped & (a != 0.0), -found, found)
            return found if rule is _scan_vjp else np.reshape(found, np.shape(out))
        if len(axes) > 1:
            rows = np.moveaxis(a, axes, range(-len(axes), 0))
            rows = np.reshape(rows, rows.shape[: a.ndim - len(axes)] + (-1,))
        else:
            rows = np.moveaxis(a, axes[0], -1)
        if rows.shape[-1] == 0:
            return np.zeros(a.shape) if rule is _scan_vjp else np.zeros(np.shape(out))
        scanned = ufunc.accumulate(rows, axis=-1)
        if rule is _scan_jvp:
            moved = np.reshape(np.moveaxis(g, axes, range(-len(axes), 0)), rows.shape)
            return np.reshape(_scan_jvp(ufunc, moved, scanned, rows)[..., -1], np.shape(out))
        last = np.reshape(g, rows.shape[:-1] + (1,))
        source = np.concatenate((np.zeros(rows.shape[:-1] + (rows.shape[-1] - 1,)), last), -1)
        kept = tuple(k for k in range(a.ndim) if k not in axes)
        found = np.reshape(_scan_vjp(ufunc, source, scanned, rows), tuple(a.shape[k] for k in kept + axes))
        return np.transpose(found, tuple(np.argsort(kept + axes)))

    return {0: along}


def _segments(n, indices):
    """The elements that each segment of ``reduceat`` reads, one segment after the other: segment and element."""
    start = np.asarray(indices)
    stop = np.append(start[1:], n)
    length = np.where(stop > start, stop - start, 1)
    segment = np.repeat(np.arange(start.size), length)
    offset = np.cumsum(length) - length
    return segment, np.arange(segment.size) - offset[segment] + start[segment], offset


def _reduceat_parts(ufunc, a, indices):
    segment, element, offset = _segments(a.shape[-1], indices)
    rows = a[..., element]
    ends = np.append(offset[1:], segment.size)
    scanned = np.concatenate([ufunc.accumulate(rows[..., i:j], axis=-1) for i, j in zip(offset, ends)], -1)
    p, q = _partials(ufunc, rows, scanned, np.isin(np.arange(segment.size), offset))
    return element, ends - 1, p, q


def _reduceat_rules(ufunc):
    def vjp(g, out, a, indices, axis=0, dtype=None, out_=None):
        axis = 0 if axis is None else axis
        g, a = np.moveaxis(g, axis, -1), np.moveaxis(a, axis, -1)
        element, last, p, q = _reduceat_parts(ufunc, a, indices)
        at = np.zeros(element.size, int)
        at[last] = np.arange(1, last.size + 1)
        source = np.where(at > 0, g[..., at - 1], 0.0)
        rows = selected(_recur_back(source, p), q)
        n = a.shape[-1]
        flat = np.arange(int(np.prod(a.shape[:-1], dtype=int)))[:, None] * n + element
        found = counted(np.reshape(flat, -1), np.reshape(rows, -1), a.size)
        return np.moveaxis(np.reshape(found, a.shape), -1, axis)

    def jvp(t, out, a, indices, axis=0, dtype=None, out_=None):
        axis = 0 if axis is None else axis
        t, a = np.moveaxis(t, axis, -1), np.moveaxis(a, axis, -1)
        element, last, p, q = _reduceat_parts(ufunc, a, indices)
        return np.moveaxis(_recur(selected(t[..., element], q), p)[..., last], -1, axis)

    return {0: vjp}, {0: jvp}


def _ufunc_reduce(name, ufunc, known):
    """``ufunc.reduce`` by the rules of the function that does the same, but along axis 0 unless told otherwise."""

    def vjp(g, out, args, kwargs, argnums):
        return known.vjp(g, out, *_by_function(args, kwargs), argnums)

    def jvp(tangents, out, args, kwargs):
        return known.jvp(tangents, out, *_by_function(args, kwargs))

    extreme = ufunc in (np.maximum, np.minimum)

    def _by_function(args, kwargs):
        names = ("axis", "dtype", "out", "keepdims", "initial", "where")
        kwargs = {**dict(zip(names, args[1:])), **kwargs}
        kwargs = {"axis": kwargs.get("axis", 0)} | {k: v for k, v in kwargs.items() if k not in ("axis", "out")}
        if extreme:
            kwargs.pop("dtype", None)
        if kwargs.get("initial", 0) is None:
            kwargs.pop("initial")
        return args[:1], kwargs

    return type(known)(name, ufunc.reduce, vjp, jvp, keep_args=known.keep_args, keep_out=known.keep_out,
                       pattern=patterns.reduced(1, 0))


def _methods(ufunc):
    name = ufunc.__name__
    known = {
        np.add: REDUCTIONS["sum"], np.multiply: REDUCTIONS["prod"],
        np.maximum: ORDER["max"], np.minimum: ORDER["min"], np.fmax: ORDER["nanmax"], np.fmin: ORDER["nanmin"],
    }.get(ufunc)  # fmt: skip
    if known is None:
        yield primitive(f"{name}.reduce", ufunc.reduce, _reduce(ufunc, _scan_vjp), _reduce(ufunc, _scan_jvp),
                        pattern=patterns.reduced(1, 0))
    else:
        yield _ufunc_reduce(f"{name}.reduce", ufunc, known)
    linear = ufunc is np.add
    rules = [_accumulate(ufunc, rule) for rule in _scans(ufunc)]
    yield primitive(f"{name}.accumulate", ufunc.accumulate, *rules, keep_args=not linear, keep_out=not linear,
                    pattern=patterns.scanned(1, 0))
    yield primitive(f"{name}.reduceat", ufunc.reduceat, *_reduceat_rules(ufunc), keep_out=False)


def _cumulative_primitive(f, ufunc, skip=None):
    return primitive(
        f.__name__, f, *_cumulative(ufunc, skip),
        keep_args=ufunc is not np.add or skip is not None, keep_out=ufunc is not np.add,
        pattern=patterns.scanned(),
    )  # fmt: skip


PRIMITIVES = {
    p.name: p
    for p in (
        _cumulative_primitive(np.cumsum, np.add),
        _cumulative_primitive(np.cumprod, np.multiply),
        _cumulative_primitive(np.nancumsum, np.add, 0.0),
        _cumulative_primitive(np.nancumprod, np.multiply, 1.0),
        primitive("cumulative_sum", of_name("cumulative_sum"), *_array_api(np.add), keep_args=False, keep_out=False,
                  pattern=patterns.scanned()),
        primitive("cumulative_prod", of_name("cumulative_prod"), *_array_api(np.multiply),
                  pattern=patterns.scanned()),
        *(method for ufunc in UFUNC_PARTIALS for method in _methods(ufunc)),
    )
    if p.forward is not None
}
