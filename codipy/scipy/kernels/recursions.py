# SPDX-License-Identifier: Apache-2.0
"""SciPy's compiled recursive filters, `lfilter` and `sosfilt`, by coefficients, signals and initial states.

With a[0] = 1 a filter of N values and K coefficients solves ``sum_k a[k] y[n - k] = f[n]``, where f is b convolved with
x, and the initial state added to its first K - 1 values; the final state is what is left in the last K - 1 equations.
Its transpose runs the same recursion backwards in time, from the flow into the final state; that of complex numbers has
the conjugates of coefficients and values. See A. V. Oppenheim, R. W. Schafer, Discrete-Time Signal Processing, on
direct and transposed forms.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import _sigtools as _compiled
from scipy.signal import _sosfilt as _sections

from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_variables
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import conj
from codipy.scipy.calls import kept, run
from codipy.scipy.kernels.calls import on_values, refused_loop, write

__all__ = ["FUNCTIONS", "OF_COMPLEX"]


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


def _is_nothing(flow):
    return flow is None or type(flow) is np.ndarray and not np.any(flow)


def _backwards(c, a, g):
    """The filter run backwards in time, along the last axis."""
    return _linear_filter(c, a, g[..., ::-1], -1)[..., ::-1]


def _flows(g, final, a):
    """The flows into what the recursion is given, along the last axis; the coefficients have a[0] = 1."""
    if _is_nothing(final):
        return np.concatenate([_backwards(np.ones(1), a, g), np.zeros((*g.shape[:-1], len(a) - 1))], axis=-1)
    late = np.concatenate([np.zeros(g.shape), final], axis=-1)
    return np.concatenate([_backwards(np.ones(1), a, g - _swept(late, a, g.shape[-1])), final], axis=-1)


def _vjp(g, out, args, kwargs, argnums):
    b, a, x = map(conj, args[:3])
    axis, has_state = kwargs["axis"], len(args) > 3
    g, final = g if has_state else (g, None)
    out = out[0] if has_state else out
    g = _last(np.zeros(np.shape(x)) if g is None else g, axis)
    normal_b, normal_a = _normal(b, a)
    count, length = len(normal_a), g.shape[-1]
    if tuple(argnums) == (2,) and _is_nothing(final):
        return [np.moveaxis(_backwards(normal_b, normal_a, g), -1, axis)]
    flows = _flows(g, None if final is None else _last(final, axis), normal_a)

    def by_b():
        return _sums(_last(x, axis), flows, count)

    def by_a():
        slopes = np.concatenate([np.zeros(1), -_sums(conj(_last(out, axis)), flows, count)[1:]])
        first = -(np.sum(by_b() * normal_b) + np.sum(slopes * normal_a))
        return np.concatenate([np.reshape(first, 1), slopes[1:len(a)]])

    bars = {0: lambda: by_b()[:len(b)] / a[0], 1: lambda: by_a() / a[0],
            2: lambda: np.moveaxis(_swept(flows, normal_b, length), -1, axis),
            3: lambda: np.moveaxis(flows[..., :count - 1], -1, axis)}  # fmt: skip
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


def _cascade(sos, x, zi):
    """All sections, whose coefficients are passive."""
    kind = np.result_type(sos, x, zi)
    sections, made, states = (np.array(each, kind, order="C") for each in (sos, x, zi))
    _sections._sosfilt(sections, made, states)
    return made, states


def _cascaded(sos, x, zi):
    """The cascade of tangents, recorded if they are active."""
    args = np.asarray(_plain(sos)), x, zi
    return run(_CASCADE, args, {}) if holds_variables((x, zi)) else _cascade(*args)


def _cascade_vjp(g, out, args, kwargs, argnums):
    (sos, x, zi), (g, final) = args, g
    sos = conj(sos)
    g, states = np.zeros(np.shape(x)) if g is None else g, []
    if tuple(argnums) == (1,) and _is_nothing(final):  # of filters that stand in a row the order is no matter
        return [_cascaded(sos, g[..., ::-1], np.zeros(np.shape(zi)))[0][..., ::-1]]
    for k in reversed(range(len(sos))):
        flows = _flows(g, None if final is None else final[:, k], sos[k, 3:])
        states.append(flows[..., :2])
        g = _swept(flows, sos[k, :3], g.shape[-1])
    return [np.stack(states[::-1], axis=1) if k == 2 else g for k in argnums]


def _cascade_jvp(tangents, out, args, kwargs):
    sos, x, zi = args
    return _cascaded(sos, tangents.get(1, np.zeros(np.shape(x))), tangents.get(2, np.zeros(np.shape(zi))))


_CASCADE = kept(Primitive("scipy.signal.sosfilt of passive sections", _cascade, _cascade_vjp, _cascade_jvp,
                          keep_out=False))  # fmt: skip
_PLAINLY = kept(Primitive("scipy.signal.lfilter", _values, _vjp, _jvp))
_WITH_STATE = kept(Primitive("scipy.signal.lfilter with a state", _values, _vjp, _jvp))
_SECTION = kept(Primitive("scipy.signal.sosfilt", _section, _vjp, _jvp))
OF_COMPLEX = {_PLAINLY: "a", _WITH_STATE: "aa", _CASCADE: "aa", _SECTION: "aa"}  # and which results are arrays then


def _plain(x):
    """Values, real or complex."""
    return x.value if hasattr(type(x), "is_active") else value_of(x)


def _linear_filter(b, a, x, axis=-1, zi=None):
    """What stands for SciPy's of this name."""
    args = (b, a, x) if zi is None else (b, a, x, zi)
    if not holds_variables(args):
        plain = [_plain(x) for x in args]
        return _compiled._linear_filter(*plain[:3], axis, *plain[3:])
    b, a, x, *state = map(as_numbers, args)
    if not state:
        return run(_PLAINLY, (b, a, x), {"axis": int(axis)})
    shape = list(x.shape)
    shape[axis] = max(len(b), len(a)) - 1
    if state[0].shape != tuple(shape):
        state = [np.broadcast_to(state[0], shape)]
    return run(_WITH_STATE, (b, a, x, state[0]), {"axis": int(axis)})


def _sosfilt(sos, x, zi):
    """What stands for SciPy's of this name: signals and states are overwritten."""
    if not holds_variables((sos, x, zi)):
        on_values(_sections._sosfilt, (sos, x, zi))
        return
    if not holds_variables((sos,)):
        values, states = run(_CASCADE, (np.array(_plain(sos)), as_numbers(x), as_numbers(zi)), {})
        write(x, values)
        write(zi, states)
        return
    values, states = x.copy(), []
    for k in range(len(sos)):
        b, a = sos[k, :3], np.concatenate([np.ones(1), sos[k, 4:]])
        values, state = run(_SECTION, tuple(map(as_numbers, (b, a, values, zi[:, k]))), {"axis": -1})
        states.append(state)
    write(x, values)
    write(zi, np.stack(states, axis=1))


_OTHERS = {name: refused_loop(name, getattr(_compiled, name), "of signals", "take the functions of codipy.scipy.signal")
           for name in ("_convolve2d", "_correlateND", "_medfilt2d")}  # fmt: skip
FUNCTIONS = {"_linear_filter": _linear_filter, "_sosfilt": _sosfilt, **_OTHERS}
_sigtools = module_for(_compiled, FUNCTIONS)
