# SPDX-License-Identifier: Apache-2.0
"""Grids between active end points: linspace, logspace with an active base too, geomspace."""

import numpy as np

from codipy.numpy.rules.building import guarded, primitive, unbroadcast

__all__ = ["PRIMITIVES"]


def _share(grid, num, endpoint, axis):
    """How far along each point is, shaped to broadcast with the grid; and the number of steps."""
    steps = num - 1 if endpoint else num
    share = np.arange(num) / steps if steps > 0 else np.zeros(num)
    return np.reshape(share, tuple(num if k == axis % grid.ndim else 1 for k in range(grid.ndim))), steps


def _along(value, grid, axis):
    """An end point, or its tangent, shaped to broadcast with the grid."""
    batch = tuple(np.delete(grid.shape, axis))
    return np.expand_dims(np.broadcast_to(value, batch), axis)


def _linspace(grid, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, device=None):
    share, _ = _share(grid, num, endpoint, axis)
    return axis, {0: 1.0 - share, 1: share}


def _logspace(grid, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    share, _ = _share(grid, num, endpoint, axis)
    start, stop, base = (_along(v, grid, axis) for v in (start, stop, base))
    slope = grid * np.log(base)
    exponent = (1.0 - share) * start + share * stop
    return axis, {0: slope * (1.0 - share), 1: slope * share, 4: grid * exponent / base}


def _geomspace(grid, start, stop, num=50, endpoint=True, dtype=None, axis=0):
    share, _ = _share(grid, num, endpoint, axis)
    return axis, {0: grid * (1.0 - share) / _along(start, grid, axis), 1: grid * share / _along(stop, grid, axis)}


def _rules(partials, k):
    """The rules of argument `k` from the partials of every point of the grid."""

    def vjp(g, out, *args, **kwargs):
        axis, slopes = partials(out, *args, **kwargs)
        shape = np.shape(args[k] if k < len(args) else kwargs["base"])
        return unbroadcast(np.sum(guarded(g, slopes[k]), axis=axis), shape)

    def jvp(t, out, *args, **kwargs):
        axis, slopes = partials(out, *args, **kwargs)
        return guarded(_along(t, out, axis), np.broadcast_to(slopes[k], out.shape))

    return vjp, jvp


def _stepped(rule, k, backward):
    """The rule of linspace, which may return its step as a second result."""

    def stepped(g, out, start, stop, num=50, endpoint=True, retstep=False, *args, **kwargs):
        if not retstep:
            return rule(g, out, start, stop, num, endpoint, retstep, *args, **kwargs)
        steps = num - 1 if endpoint else num
        factor = (-1.0, 1.0)[k] / steps if steps > 0 else 0.0
        if backward:
            found = rule(g[0], out[0], start, stop, num, endpoint, retstep, *args, **kwargs)
            return found + unbroadcast(g[1] * factor, np.shape(found))
        tangent = rule(g, out[0], start, stop, num, endpoint, retstep, *args, **kwargs)
        return tangent, np.broadcast_to(g, np.shape(out[1])) * factor

    return stepped


def _grid(name, forward, partials, positions, keep):
    rules = {k: _rules(partials, k) for k in positions}
    if partials is _linspace:
        rules = {k: (_stepped(vjp, k, True), _stepped(jvp, k, False)) for k, (vjp, jvp) in rules.items()}
    vjps, jvps = ({k: pair[i] for k, pair in rules.items()} for i in (0, 1))
    return primitive(name, forward, vjps, jvps, keep_args=keep, keep_out=keep)


PRIMITIVES = {
    "linspace": _grid("linspace", np.linspace, _linspace, (0, 1), False),
    "logspace": _grid("logspace", np.logspace, _logspace, (0, 1, 4), True),
    "geomspace": _grid("geomspace", np.geomspace, _geomspace, (0, 1), True),
}
