# SPDX-License-Identifier: Apache-2.0
"""Differences, numerical gradients, trapezoids, convolutions and unwrapped phases of sampled functions.

`gradient` and `trapezoid` are composites: the very operations of NumPy, in its order, on whatever arrays come in, so
that spacings may be active too.
"""

import functools

import numpy as np

from codipy.numpy.rules import patterns
from codipy.numpy.rules.building import dense, in_memory, primitive

__all__ = ["COMPOSITES", "PRIMITIVES"]


def _edge(value, a, axis):
    """What numpy.diff puts before or behind `a`: None if nothing, a slice of length 1 for a number."""
    if value is None or value is np._NoValue:
        return None
    value = np.asarray(value) if not hasattr(value, "ndim") else value
    shape = list(a.shape)
    shape[axis] = 1
    return np.broadcast_to(value, shape) if value.ndim == 0 else value


def _diff_adjoint(g, a, n, axis, prepend, append):
    """Cotangents of what stood before `a`, of `a`, and of what stood behind it."""
    for _ in range(n):
        g = -np.diff(g, axis=axis, prepend=0.0, append=0.0)
    before, behind = (0 if e is None else e.shape[axis] for e in (prepend, append))
    return np.split(g, (before, g.shape[axis] - behind), axis)


def _diff_vjp(part, g, out, a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:  # the array itself: what would stand at its ends is not looked at
        return g if part == 1 else np.zeros(np.shape((prepend, a, append)[part]))
    edges = _edge(prepend, a, axis), _edge(append, a, axis)
    if n >= a.shape[axis] + sum(e.shape[axis] for e in edges if e is not None):
        found = [np.zeros(np.shape(v)) for v in (edges[0], a, edges[1])][part]
    else:
        found = _diff_adjoint(g, a, n, axis, *edges)[part]
    given = (prepend, a, append)[part]
    return np.sum(found) if np.ndim(given) == 0 else found


def _diff_jvp(part, t, out, a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return t if part == 1 else np.zeros(np.shape(a))
    parts = [_edge(prepend, a, axis), a, _edge(append, a, axis)]
    parts = [None if p is None else np.zeros(p.shape) for p in parts]
    parts[part] = _edge(t, a, axis)
    return np.diff(np.concatenate([p for p in parts if p is not None], axis), n, axis)


def _diff_rules(rule):
    def of(part):
        return lambda g, *args, **kwargs: rule(part, g, *args, **kwargs)

    return {0: of(1), 3: of(0), 4: of(2)}


def _ediff1d_parts(g, ary, to_end, to_begin):
    first = 0 if to_begin is None else np.size(to_begin)
    last = 0 if to_end is None else np.size(to_end)
    return g[:first], g[first : g.size - last], g[g.size - last :]


def _ediff1d_vjp(g, out, ary, to_end=None, to_begin=None):
    if ary.size == 0:
        return np.zeros(ary.shape)
    _, middle, _ = _ediff1d_parts(g, ary, to_end, to_begin)
    return np.reshape(-np.diff(middle, prepend=0.0, append=0.0), ary.shape)


def _ediff1d_end_vjp(g, out, ary, to_end=None, to_begin=None):
    return np.reshape(_ediff1d_parts(g, ary, to_end, to_begin)[2], np.shape(to_end))


def _ediff1d_begin_vjp(g, out, ary, to_end=None, to_begin=None):
    return np.reshape(_ediff1d_parts(g, ary, to_end, to_begin)[0], np.shape(to_begin))


def _ediff1d_jvp(part, t, out, ary, to_end=None, to_begin=None):
    first, _, last = _ediff1d_parts(np.zeros(np.shape(out)), ary, to_end, to_begin)
    middle = np.zeros(max(ary.size - 1, 0))
    flat = np.reshape(t, -1)
    pieces = [flat if part == 0 else first, np.diff(flat) if part == 1 else middle, flat if part == 2 else last]
    return np.concatenate(pieces)


def gradient(f, *varargs, axis=None, edge_order=1):
    """`numpy.gradient` of active values and spacings."""
    f = dense(f)
    axes = tuple(range(f.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, f.ndim)
    if len(varargs) not in (0, 1, len(axes)) or len(varargs) == 1 != len(axes) and np.ndim(varargs[0]) != 0:
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' must be 1 or 2")
    if len(varargs) == 0:
        spacings = (1.0,) * len(axes)
    elif len(varargs) == 1:
        spacings = varargs * len(axes)
    else:
        spacings = varargs
    order = in_memory(f)  # NumPy's results are laid out as f is
    found = [
        _gradient_along(f, spacing, k, edge_order)
        if order == sorted(order)
        else np.transpose(
            _gradient_along(np.transpose(f, order), spacing, order.index(k), edge_order), np.argsort(order)
        ).copy(order="K")
        for k, spacing in zip(axes, spacings)
    ]
    return found[0] if len(axes) == 1 else tuple(found)


def _gradient_along(f, spacing, axis, edge_order):
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError(f"gradient needs at least {edge_order + 1} elements along axis {axis}, not {n}")

    def part(start, stop):
        return f[(slice(None),) * axis + (slice(start, stop),)]

    h = spacing if np.ndim(spacing) == 0 else dense(spacing)  # a Python float leaves float32 what it is
    if np.ndim(h) == 1:
        if len(h) != n:
            raise ValueError(f"{len(h)} coordinates for the {n} elements along axis {axis}")
        h = h.astype(float) if h.dtype.kind in "iu" else h
        h = np.diff(h)
        if np.all(h == h[0]):
            h = h[0]
    elif np.ndim(h) > 1:
        raise ValueError("distances must be either scalars or 1d")
    uniform = np.ndim(h) == 0
    if uniform:
        interior = (part(2, None) - part(None, -2)) / (2.0 * h)
    else:
        shape = tuple(-1 if k == axis else 1 for k in range(f.ndim))
        a, b, c = (np.reshape(w, shape) for w in _interior_weights(h[:-1], h[1:]))
        interior = a * part(None, -2) + b * part(1, -1) + c * part(2, None)
    if edge_order == 1:
        first = (part(1, 2) - part(0, 1)) / (h if uniform else h[0])
        last = (part(n - 1, n) - part(n - 2, n - 1)) / (h if uniform else h[-1])
    else:
        a, b, c = (-1.5 / h, 2.0 / h, -0.5 / h) if uniform else _first_weights(h[0], h[1])
        first = a * part(0, 1) + b * part(1, 2) + c * part(2, 3)
        a, b, c = (0.5 / h, -2.0 / h, 1.5 / h) if uniform else _last_weights(h[-2], h[-1])
        last = a * part(n - 3, n - 2) + b * part(n - 2, n - 1) + c * part(n - 1, n)
    found = np.concatenate((first, interior, last), axis=axis)
    if f.dtype != found.dtype and f.dtype in (np.float32, np.complex64):
        found = found.astype(f.dtype)
    result = np.empty_like(f, dtype=found.dtype)  # NumPy fills one that is laid out as the values are
    if result.strides == found.strides:
        return found
    result[...] = found
    return result


def _interior_weights(h1, h2):
    return -(h2) / (h1 * (h1 + h2)), (h2 - h1) / (h1 * h2), h1 / (h2 * (h1 + h2))


def _first_weights(h1, h2):
    return -(2.0 * h1 + h2) / (h1 * (h1 + h2)), (h1 + h2) / (h1 * h2), -h1 / (h2 * (h1 + h2))


def _last_weights(h1, h2):
    return h2 / (h1 * (h1 + h2)), -(h2 + h1) / (h1 * h2), (2.0 * h2 + h1) / (h2 * (h1 + h2))


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """`numpy.trapezoid` of active values and coordinates."""
    y = dense(y)
    if x is None:
        width = dx
    else:
        x = dense(x)
        if x.ndim == 1:
            width = np.reshape(np.diff(x), tuple(-1 if k == axis % y.ndim else 1 for k in range(y.ndim)))
        else:
            width = np.diff(x, axis=axis)
    lead = (slice(None),) * (axis % y.ndim)
    later, earlier = (*lead, slice(1, None)), (*lead, slice(None, -1))
    return np.sum(width * (y[later] + y[earlier]) / 2.0, axis=axis)


def _whole(g, a, v, mode, swapped):
    """The cotangent of the full convolution, of which the modes same and valid return a middle part."""
    long, short = max(a.size, v.size), min(a.size, v.size)
    mode = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)
    if mode.startswith("f"):
        return g
    # Both functions put the longer argument first; correlate turns the result round when that swaps them.
    before = short - 1 if mode.startswith("v") else (short // 2 if swapped else (short - 1) // 2)
    behind = long + short - 1 - before - g.size
    return np.concatenate((np.zeros(before), g, np.zeros(behind)))


def _convolve_rules():
    def left(g, out, a, v, mode="full"):
        return np.reshape(np.correlate(_whole(g, a, v, mode, False), np.reshape(v, -1), "valid"), a.shape)

    def right(g, out, a, v, mode="full"):
        return np.reshape(np.correlate(_whole(g, a, v, mode, False), np.reshape(a, -1), "valid"), v.shape)

    return {0: left, 1: right}


def _correlate_rules():
    def whole(g, a, v, mode):
        return _whole(g, a, v, mode, v.size > a.size)

    def left(g, out, a, v, mode="valid"):
        return np.reshape(np.convolve(whole(g, a, v, mode), np.reshape(v, -1), "valid"), a.shape)

    def right(g, out, a, v, mode="valid"):
        return np.reshape(np.flip(np.correlate(whole(g, a, v, mode), np.reshape(a, -1), "valid")), v.shape)

    return {0: left, 1: right}


def _both_sides(f):
    return {
        0: lambda t, out, a, v, *mode, **kwargs: f(t, v, *mode, **kwargs),
        1: lambda t, out, a, v, *mode, **kwargs: f(a, t, *mode, **kwargs),
    }


def _same(g, out, p, *args, **kwargs):
    """The corrections of unwrap are whole periods: constant."""
    return g


PRIMITIVES = {
    p.name: p
    for p in (
        primitive("diff", np.diff, _diff_rules(_diff_vjp), _diff_rules(_diff_jvp), keep_args=False, keep_out=False,
                  pattern=patterns.differences),
        primitive(
            "ediff1d", np.ediff1d, {0: _ediff1d_vjp, 1: _ediff1d_end_vjp, 2: _ediff1d_begin_vjp},
            {k: functools.partial(_ediff1d_jvp, p) for k, p in ((0, 1), (1, 2), (2, 0))},
            keep_args=False, keep_out=False,
        ),
        primitive("convolve", np.convolve, _convolve_rules(), _both_sides(np.convolve), keep_out=False,
                  pattern=patterns.sliding(False), linear=(0, 1)),
        primitive("correlate", np.correlate, _correlate_rules(), _both_sides(np.correlate), keep_out=False,
                  pattern=patterns.sliding(True), linear=(0, 1)),
        primitive("unwrap", np.unwrap, {0: _same}, {0: _same}, keep_args=False, keep_out=False,
                  pattern=patterns.same(0)),
    )
}  # fmt: skip

COMPOSITES = {"gradient": gradient, "trapezoid": trapezoid}
