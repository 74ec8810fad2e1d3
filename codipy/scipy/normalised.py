# SPDX-License-Identifier: Apache-2.0
"""``logsumexp``, ``softmax`` and ``log_softmax`` of `scipy.special`: SciPy computes the values, here are the rules.

They are Python functions that look for an array library first, and find none for an array of active values.
"""

from __future__ import annotations

import numpy as np
import scipy.special

from codipy.errors import ActiveError
from codipy.numpy.allocation import asarray
from codipy.numpy.rules.building import guarded, primitive, spread, unbroadcast
from codipy.scipy.calls import kept, of_active, run

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


def _softmax_both(g, out, a, *, axis=None):
    """The Jacobian is symmetric."""
    return out * (g - _summed(out * g, axis, True))


def _log_softmax_vjp(g, out, a, *, axis=None):
    return g - np.exp(out) * _summed(g, axis, True)


def _log_softmax_jvp(t, out, a, *, axis=None):
    return t - _summed(np.exp(out) * t, axis, True)


def _logsumexp(a, b=None, *, axis=None, keepdims=False):
    return scipy.special.logsumexp(a, axis=axis, b=b, keepdims=keepdims)


_LOGSUMEXP = kept(primitive("scipy.special.logsumexp", _logsumexp, {0: _logsumexp_vjp(0), 1: _logsumexp_vjp(1)},
                            {0: _logsumexp_jvp(0), 1: _logsumexp_jvp(1)}))  # fmt: skip
_SOFTMAX = kept(primitive("scipy.special.softmax", scipy.special.softmax, {0: _softmax_both}, {0: _softmax_both}))
_LOG_SOFTMAX = kept(primitive("scipy.special.log_softmax", scipy.special.log_softmax, {0: _log_softmax_vjp},
                              {0: _log_softmax_jvp}, keep_args=False))  # fmt: skip


@of_active(scipy.special.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """Of active values."""
    if return_sign:
        raise ActiveError("scipy.special.logsumexp: return_sign=True of active values is not supported: write "
                          "`np.log(np.abs(np.sum(b * np.exp(a))))`, and take the sign of the sum")  # fmt: skip
    operands = (asarray(a),) if b is None else (asarray(a), asarray(b))
    return run(_LOGSUMEXP, operands, {"axis": axis, "keepdims": bool(keepdims)})


@of_active(scipy.special.softmax)
def softmax(x, axis=None):
    """Of active values."""
    return run(_SOFTMAX, (asarray(x),), {"axis": axis})


@of_active(scipy.special.log_softmax)
def log_softmax(x, axis=None):
    """Of active values."""
    return run(_LOG_SOFTMAX, (asarray(x),), {"axis": axis})


FUNCTIONS = {"logsumexp": logsumexp, "softmax": softmax, "log_softmax": log_softmax}
