# SPDX-License-Identifier: Apache-2.0
"""Results that were computed before and of which the Jacobian is known, as one array statement."""
from __future__ import annotations

import math
import threading

import numpy as np

from codipy.active.array import call, is_active
from codipy.errors import TapeError, UndifferentiableError

from .primitive import Primitive

__all__ = ["PRIMITIVE", "by_jacobian"]


class _Computed(threading.local):
    """The values of the call that is being recorded, which are computed already; at all other times there are none."""

    def __init__(self):
        self.waiting = []


_computed = _Computed()


def _value(*args, matrix):
    if not _computed.waiting:
        raise TapeError("a preaccumulated function cannot be computed again, of its steps only the Jacobian was kept: "
                        "record again")
    return _computed.waiting.pop()       # so that nobody else has the arrays, which otherwise are copied


def _pull(g, out, args, kwargs, argnums):
    rows = np.concatenate([_vector(y, getattr(value, "shape", ()), 0) for y, value in zip(g, out)])
    return _cut(_product(rows[None], kwargs["matrix"])[0], [np.shape(x) for x in args])


def _pull_batch(g, out, args, kwargs, argnums):
    lanes = next(len(y) for y in g if y is not None)
    rows = np.concatenate([_vector(y, getattr(value, "shape", ()), lanes) for y, value in zip(g, out)], axis=1)
    return _cut(_product(rows, kwargs["matrix"]), [np.shape(x) for x in args])


def _push(tangents, out, args, kwargs):
    columns = np.concatenate([_vector(tangents.get(k), np.shape(x), 0) for k, x in enumerate(args)])
    return tuple(_cut(_product(columns[None], kwargs["matrix"].T)[0], [np.shape(y) for y in out]))


def _push_batch(tangents, out, args, kwargs):
    lanes = len(next(iter(tangents.values())))
    columns = np.concatenate([_vector(tangents.get(k), np.shape(x), lanes) for k, x in enumerate(args)], axis=1)
    return tuple(_cut(_product(columns, kwargs["matrix"].T), [np.shape(y) for y in out]))


def _vector(x, shape, lanes):
    """The numbers of a cotangent or tangent in one axis, behind that of the directions; zeros for None."""
    if is_active(x):
        raise UndifferentiableError("the Jacobian of a preaccumulated function is made of numbers and cannot be "
                                    "differentiated: call f instead of codipy.preaccumulate(f)")
    leading = (lanes,) if lanes else ()
    return np.zeros((*leading, math.prod(shape))) if x is None else np.reshape(x, (*leading, math.prod(shape)))


def _product(rows, matrix):
    """rows @ matrix, where zero times anything is zero."""
    with np.errstate(all="ignore"):
        found = rows @ matrix
        if not np.isfinite(found).all():
            for lane, row in enumerate(rows[:, :, None]):
                found[lane] = np.where((row == 0.0) | (matrix == 0.0), 0.0, row * matrix).sum(axis=0)
    return found


def _cut(vectors, shapes):
    """The last axis shared out among some shapes."""
    parts, start = [], 0
    for shape in shapes:
        stop = start + math.prod(shape)
        parts.append(vectors[..., start:stop].reshape(vectors.shape[:-1] + shape))
        start = stop
    return parts


PRIMITIVE = Primitive("preaccumulated", _value, _pull, _push, keep_args=False, keep_out=False,
                      vjp_batch=_pull_batch, jvp_batch=_push_batch)


def by_jacobian(values, arguments, matrix):
    """Results that were computed before, as those of one array statement.

    Parameters
    ----------
    values : list of number or ndarray
        Which nobody else has; it is empty afterwards.
    arguments : sequence of Real or Array
    matrix : ndarray
        The derivatives: a row for each number of the results, a column for each of the arguments.

    Returns
    -------
    list of Real or Array
    """
    _computed.waiting.append(tuple(values))
    values.clear()
    try:
        return list(call(PRIMITIVE, arguments, {"matrix": matrix}))
    finally:
        _computed.waiting.clear()
