# SPDX-License-Identifier: Apache-2.0
"""``logsumexp``, ``softmax`` and ``log_softmax`` of `scipy.special`: SciPy computes the values, here are the rules.

They are Python functions that look for an array library first, and find none for an array of active values.
"""

from __future__ import annotations

import numpy as np
import scipy.special

from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.rules.building import guarded, primitive, spread, unbroadcast
from codipy.scipy.calls import is_complex, kept, of_active, run

__all__ = ["FUNCTIONS"]


def _share(out, a, b=1.0, *, axis=None, keepdims=False):
    """The derivative of ``logsumexp`` by each element, `b` left out of it where it is asked for by `b`."""
    return b * np.exp(a - spread(out, np.broadcast_shapes(np.shape(a), np.shape(b)), axis, keepdims))


def _summed(x, axis, keepdims):
    return np.sum(x, axis=axis if axis is None else tuple(np.atleast_1d(axis)), keepdims=keepdims)


def _logsumexp_vjp(k):
    def vjp(g, out, a, b=1.0, *, axis=None, keepdims=False):
        share = _share(out, a, *([b] if k == 0 else [np.ones(np.shape(b))]), axis=axis, keepdims=keepdims)
        return unbroadcast(guarded(spread(g, share.shape, axis, keepdims), share), np.shape((a, b)[k]))

    return vjp


def _logsumexp_jvp(k):
    def jvp(t, out, a, b=1.0, *, axis=None, keepdims=False):
        share = _share(out, a, *([b] if k == 0 else [np.ones(np.shape(b))]), axis=axis, keepdims=keepdims)
        return _summed(guarded(t, share), axis, keepdims)

    return jvp


def _sign(out, a, b=1.0, *, axis=None, keepdims=False):
    """That of the sum of exponentials, which is constant but where the sum is 0."""
    return np.sign(_summed(_share(out, a, b, axis=axis, keepdims=keepdims), axis, keepdims))


def _size_vjp(k):
    return lambda g, out, *operands, **options: _logsumexp_vjp(k)(g * _sign(out, *operands, **options), out, *operands,
                                                                  **options)  # fmt: skip


def _size_jvp(k):
    return lambda t, out, *operands, **options: _logsumexp_jvp(k)(t, out, *operands, **options) * _sign(
        out, *operands, **options)  # fmt: skip


def _none_vjp(k):
    return lambda g, out, *operands, **options: np.zeros(np.shape(operands[k]))


def _none_jvp(t, out, *operands, **options):
    return np.zeros(np.shape(out))


def _softmax_both(g, out, a, *, axis=None):
    """The Jacobian is symmetric."""
    return out * (g - _summed(out * g, axis, True))


def _log_softmax_vjp(g, out, a, *, axis=None):
    return g - np.exp(out) * _summed(g, axis, True)


def _log_softmax_jvp(t, out, a, *, axis=None):
    return t - _summed(np.exp(out) * t, axis, True)


def _signed(a, b=None, *, axis=None, keepdims=False):
    return scipy.special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)


def _logsumexp(a, b=None, *, axis=None, keepdims=False):
    return scipy.special.logsumexp(a, axis=axis, b=b, keepdims=keepdims)


_LOGSUMEXP = kept(primitive("scipy.special.logsumexp", _logsumexp, {0: _logsumexp_vjp(0), 1: _logsumexp_vjp(1)},
                            {0: _logsumexp_jvp(0), 1: _logsumexp_jvp(1)}))  # fmt: skip
# Of ``return_sign=True``, both results.
_SIZE = kept(primitive(
    "scipy.special.logsumexp, size", lambda a, b=None, **options: _signed(a, b, **options)[0],
    {k: _size_vjp(k) for k in (0, 1)}, {k: _size_jvp(k) for k in (0, 1)}))  # fmt: skip
_SIGN = kept(primitive("scipy.special.logsumexp, sign", lambda a, b=None, **options: _signed(a, b, **options)[1],
                       {k: _none_vjp(k) for k in (0, 1)}, dict.fromkeys((0, 1), _none_jvp)))  # fmt: skip
_SOFTMAX = kept(primitive("scipy.special.softmax", scipy.special.softmax, {0: _softmax_both}, {0: _softmax_both}))
_LOG_SOFTMAX = kept(primitive("scipy.special.log_softmax", scipy.special.log_softmax, {0: _log_softmax_vjp},
                              {0: _log_softmax_jvp}, keep_args=False))  # fmt: skip


@of_active(scipy.special.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """Of active values."""
    operands = (as_numbers(a),) if b is None else (as_numbers(a), as_numbers(b))
    options = {"axis": axis, "keepdims": bool(keepdims)}
    if not return_sign:
        return run(_LOGSUMEXP, operands, options)
    if any(map(is_complex, operands)):
        raise ActiveError("scipy.special.logsumexp: return_sign=True of complex active values is not supported: write "
                          "`np.log(np.abs(s))` and `s / np.abs(s)` of `s = np.sum(b * np.exp(a))`")  # fmt: skip
    return run(_SIZE, operands, options), run(_SIGN, operands, options)


@of_active(scipy.special.softmax)
def softmax(x, axis=None):
    """Of active values."""
    return run(_SOFTMAX, (as_numbers(x),), {"axis": axis})


@of_active(scipy.special.log_softmax)
def log_softmax(x, axis=None):
    """Of active values."""
    return run(_LOG_SOFTMAX, (as_numbers(x),), {"axis": axis})


FUNCTIONS = {"logsumexp": logsumexp, "softmax": softmax, "log_softmax": log_softmax}
