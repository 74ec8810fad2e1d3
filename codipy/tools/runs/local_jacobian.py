# SPDX-License-Identifier: Apache-2.0
"""Results of which the local Jacobian is known as numbers, on a tape: a statement for each, or one array statement."""
from __future__ import annotations

import numpy as np

from codipy.active.array import Array, Real
from codipy.active.scalar.kinds import type_of
from codipy.numpy.jacobian import by_jacobian

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
    return by_jacobian([_number(y) if type(y) is Real else np.array(y.value) for y in outputs], arguments, matrix)


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
