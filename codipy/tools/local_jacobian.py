# SPDX-License-Identifier: Apache-2.0
"""Results of which the local Jacobian is known as numbers, on a tape: a statement for each, or one array statement."""
from __future__ import annotations

import math
import threading

import numpy as np

from codipy.active.array import Array, Real, call, is_active
from codipy.active.scalar.kinds import type_of
from codipy.errors import TapeError, UndifferentiableError
from codipy.numpy.primitive import Primitive
from codipy.tools.leaves import shape_of

__all__ = ["BYTES_OF_ENTRY", "WIDEST", "as_passive", "by_matrix", "by_statements", "bytes_of_matrix",
           "bytes_of_statements"]

WIDEST = 254         # arguments of a statement, as a Jacobian tape has them
BYTES_OF_ENTRY = 12  # the number and an identifier
_OF_CALL = 600       # bytes of an array statement beside its matrix, about ...
_OF_RESULT = 200     # ... and more for each result


def bytes_of_statements(matrix):
    """What statements take of which these are the Jacobians, a row each."""
    return BYTES_OF_ENTRY * int(np.count_nonzero(matrix)) + len(matrix)


def bytes_of_matrix(matrix, outputs):
    """About what one array statement takes."""
    return 8 * matrix.size + _OF_CALL + _OF_RESULT * len(outputs)


def as_passive(output):
    """A result that depends on nothing."""
    return _number(output) if type(output) is Real else Array(np.array(output.value))


def _number(output):
    """The value of a Real, as the number of the plain run that it stands for."""
    return type_of(output)(output.value)


def by_statements(tape, outputs, parts):
    """A statement for each output, with those Jacobians that are not zero.

    Parameters
    ----------
    tape : Tape
        That records.
    outputs : list of Real
        Which have the values.
    parts : list of (Real or Array, ndarray of int, ndarray)
        Variables of the tape, which of their elements the columns are of, and the columns: a row for each number.

    Returns
    -------
    list of Real
    """
    arguments = [variable if type(variable) is Real else variable[int(k)]
                 for variable, places, _ in parts for k in places]
    matrix = np.concatenate([block for _, _, block in parts], axis=1)
    results = []
    for output, row in zip(outputs, matrix):
        some = np.flatnonzero(row)
        results.append(tape.push_statement(_number(output), [arguments[k] for k in some], row[some].tolist()))
    return results


def by_matrix(tape, outputs, parts):
    """The same, of Reals and Arrays, as one array statement with a matrix."""
    arguments, blocks = zip(*[_covered(*part) for part in parts])
    matrix = np.concatenate(blocks, axis=1)
    if tape.parameters["skip_invalid_jacobians"]:
        matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    _computed.waiting.append(tuple(_number(y) if type(y) is Real else np.array(y.value) for y in outputs))
    try:
        return list(call(_LINEAR, arguments, {"matrix": matrix}))
    finally:
        _computed.waiting.clear()


def _covered(variable, places, block):
    """An argument of an array statement, and its columns: a view where it has few elements more than are needed."""
    if type(variable) is Real:
        return variable, block
    low, high = int(places[0]), int(places[-1]) + 1
    if high - low > 2 * len(places):
        return variable[places], block
    wide = np.zeros((len(block), high - low))
    wide[:, places - low] = block
    return variable[low:high], wide


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
    rows = np.concatenate([_vector(y, shape_of(value), 0) for y, value in zip(g, out)])
    return _cut(_product(rows[None], kwargs["matrix"])[0], [np.shape(x) for x in args])


def _pull_batch(g, out, args, kwargs, argnums):
    lanes = next(len(y) for y in g if y is not None)
    rows = np.concatenate([_vector(y, shape_of(value), lanes) for y, value in zip(g, out)], axis=1)
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


_LINEAR = Primitive("preaccumulated", _value, _pull, _push, keep_args=False, keep_out=False,
                    vjp_batch=_pull_batch, jvp_batch=_push_batch)
