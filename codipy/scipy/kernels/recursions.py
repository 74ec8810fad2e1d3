# SPDX-License-Identifier: Apache-2.0
"""SciPy's compiled recursive filters, `lfilter` and `sosfilt`, by coefficients, signals and initial states.

With a[0] = 1 a filter of N values and K coefficients solves ``sum_k a[k] y[n - k] = f[n]``, where f is b convolved with
x, and the initial state added to its first K - 1 values; the final state is what is left in the last K - 1 equations.
Its transpose runs the same recursion backwards in time, from the flow into the final state. See A. V. Oppenheim, R. W.
Schafer, Discrete-Time Signal Processing, on direct and transposed forms.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import _sigtools as _compiled
from scipy.signal import _sosfilt as _sections

from codipy.active.array import call, is_complex_variable
from codipy.active.array import plain as value_of
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, refuse
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy.calls import kept
from codipy.scipy.kernels.calls import on_values, refused_loop, write

__all__ = ["FUNCTIONS"]

_COMPLEX = "of complex arrays it has no derivative: filter their real and imaginary parts"


def _padded(c, count):
    return np.concatenate([c, np.zeros(count - len(c))]) if len(c) < count else c


def _normal(b, a):
    """Both of one length, over a[0]."""
    count = max(len(b), len(a))
    return _padded(b, count) / a[0], _padded(a, count) / a[0]


def _swept(flows, c, count):
    """``sum_k c[k] flows[n + k]`` for the first values n."""
    return sum(c[k] * flows[..., k:k + count] for k in range(len(c)))


def _sums(values, flows, count):
    """``sum_n values[n] flows[n + k]`` for all lines together, for each k."""
    length = values.shape[-1]
    return np.stack([np.sum(values * flows[..., k:k + length]) for k in range(count)])


def _last(x, axis):
    return np.moveaxis(x, axis, -1)


def _slopes(g, final, b, a, x, y):
    """The flows into b and a over a[0], x and the initial state; axes are the last."""
    count, length = len(a), x.shape[-1]
    if final is None:
        final = np.zeros((*x.shape[:-1], count - 1))
        rest = g
    else:
        rest = g - _swept(np.concatenate([np.zeros(x.shape), final], axis=-1), a, length)
    back = _linear_filter(np.ones(1), a, rest[..., ::-1], -1)[..., ::-1]
    flows = np.concatenate([back, final], axis=-1)
    by_a = -_sums(y, flows, count)
    return _sums(x, flows, count), by_a, _swept(flows, b, length), flows[..., :count - 1]


def _vjp(g, out, args, kwargs, argnums):
    b, a, x = args[:3]
    axis, has_state = kwargs["axis"], len(args) > 3
    g, final = g if has_state else (g, None)
    out = out[0] if has_state else out
    g = np.zeros(np.shape(x)) if g is None else g
    if has_state and final is None:
        final = np.zeros(np.shape(args[3]))
    normal_b, normal_a = _normal(b, a)
    flow = _slopes(_last(g, axis), None if final is None else _last(final, axis), normal_b, normal_a,
                   _last(x, axis), _last(out, axis))  # fmt: skip
    by_b, by_a = flow[0], np.concatenate([np.zeros(1), flow[1][1:]])
    first = -(np.sum(by_b * normal_b) + np.sum(by_a * normal_a))
    bars = {0: lambda: by_b[:len(b)] / a[0],
            1: lambda: np.concatenate([np.reshape(first, 1), by_a[1:len(a)]]) / a[0],
            2: lambda: np.moveaxis(flow[2], -1, axis), 3: lambda: np.moveaxis(flow[3], -1, axis)}  # fmt: skip
    return [bars[k]() for k in argnums]


def _jvp(tangents, out, args, kwargs):
    b, a, x = args[:3]
    axis, has_state = kwargs["axis"], len(args) > 3
    y = out[0] if has_state else out
    normal_b, normal_a = _normal(b, a)
    count = len(normal_a)

    def filtered(c, values, state=None):
        if not has_state:
            return (_linear_filter(c, normal_a, values, axis),)
        return _linear_filter(c, normal_a, values, axis, np.zeros(np.shape(args[3])) if state is None else state)

    parts = []
    if 2 in tangents or 3 in tangents:
        values = tangents[2] if 2 in tangents else np.zeros(np.shape(x))
        parts.append(filtered(normal_b, values, tangents.get(3)))
    moved = _padded(tangents[1], count) if 1 in tangents else None
    by_b = _padded(tangents[0], count) / a[0] if 0 in tangents else 0.0
    if moved is not None:
        by_b = by_b - normal_b * (moved[0] / a[0])
        by_a = (moved - normal_a * moved[0]) / a[0]
        parts.append([-part for part in filtered(np.concatenate([np.zeros(1), by_a[1:]]), y)])
    if 0 in tangents or moved is not None:
        parts.append(filtered(by_b, x))
    found = [sum(each) for each in zip(*parts)]
    return tuple(found) if has_state else found[0]


def _values(b, a, x, *state, axis):
    return _compiled._linear_filter(b, a, x, axis, *state)


def _section(b, a, x, zi, axis):
    """One section of `sosfilt`, of which a[0] is 1."""
    coefficients = np.concatenate([b, a])[None].astype(x.dtype)
    made, state = np.array(x, order="C"), np.array(zi[:, None], x.dtype, order="C")
    _sections._sosfilt(coefficients, made, state)
    return made, state[:, 0]


_PLAINLY = kept(Primitive("scipy.signal.lfilter", _values, _vjp, _jvp))
_WITH_STATE = kept(Primitive("scipy.signal.lfilter with a state", _values, _vjp, _jvp))
_SECTION = kept(Primitive("scipy.signal.sosfilt", _section, _vjp, _jvp))


def _is_active(name, args):
    """Whether an argument is; complex ones beside it are refused."""
    is_complex = any(is_complex_variable(x) and x.is_active for x in args)
    if is_complex or holds_active(args) and any(np.iscomplexobj(value_of(x)) for x in args):
        refuse(f"scipy.signal.{name}", _COMPLEX)
    return holds_active(args)


def _linear_filter(b, a, x, axis=-1, zi=None):
    """What stands for SciPy's of this name."""
    args = (b, a, x) if zi is None else (b, a, x, zi)
    if not _is_active("lfilter", args):
        plain = [value_of(each) for each in args]
        return _compiled._linear_filter(*plain[:3], axis, *plain[3:])
    b, a, x, *state = map(asarray, args)
    if not state:
        return call(_PLAINLY, (b, a, x), {"axis": int(axis)})
    shape = list(x.shape)
    shape[axis] = max(len(b), len(a)) - 1
    if state[0].shape != tuple(shape):
        state = [np.broadcast_to(state[0], shape)]
    return call(_WITH_STATE, (b, a, x, state[0]), {"axis": int(axis)})


def _sosfilt(sos, x, zi):
    """What stands for SciPy's of this name: signals and states are overwritten."""
    if not _is_active("sosfilt", (sos, x, zi)):
        on_values(_sections._sosfilt, (sos, x, zi))
        return
    values, states = x.copy(), []
    for k in range(len(sos)):
        b, a = sos[k, :3], np.concatenate([np.ones(1), sos[k, 4:]])
        values, state = call(_SECTION, (*map(asarray, (b, a, values, zi[:, k])),), {"axis": -1})
        states.append(state)
    write(x, values)
    write(zi, np.stack(states, axis=1))


_OTHERS = {name: refused_loop(name, getattr(_compiled, name), "of signals", "take the functions of codipy.scipy.signal")
           for name in ("_convolve2d", "_correlateND", "_medfilt2d")}  # fmt: skip
FUNCTIONS = {"_linear_filter": _linear_filter, "_sosfilt": _sosfilt, **_OTHERS}
_sigtools = module_for(_compiled, FUNCTIONS)
