# SPDX-License-Identifier: Apache-2.0
"""Jacobians by complex numbers and of complex results: that of real and imaginary parts, put together.

Of a complex result by a complex argument it is the complex derivative, which there is where the equations of Cauchy
and Riemann hold; both parts of each result by both of each argument are found, so that they can be looked at.
"""

from __future__ import annotations

import math

import numpy as np

from codipy.active.array import plain
from codipy.tools.arguments.leaves import SINGLE, shape_of, stack
from codipy.tools.arguments.trees import labelled
from codipy.tools.runs.columns import columns_of, is_reverse

__all__ = ["complex_blocks"]

_ROUNDING = {True: 1e-4, False: 1e-8}      # by whether the argument is of single precision


def complex_blocks(recording, leaves, mode, width, name):
    """For each leaf of the result, for each of the argument, the derivatives: the shape of the one, then the other.

    Parameters
    ----------
    recording : Recording
        Of the function.
    leaves : list
        Numbers and arrays that are differentiated by, real or complex.
    mode, width : str, int
        As of `codipy.jacobian`.
    name : str
        Of the function, for messages.

    Raises
    ------
    ValueError
        If a complex result has no complex derivative by a complex argument.
    """
    results = [plain(leaf) for _, leaf in labelled(recording.value, "result")]
    matrix = _of_parts(recording, results, leaves, mode, width)
    rows, row = [], 0
    for result in results:
        shape, blocks, column = _shape_of_parts(result), [], 0
        size = math.prod(shape)
        for leaf in leaves:
            given = _shape_of_parts(leaf)
            part = matrix[row:row + size, column:column + math.prod(given)].reshape(shape + given)
            blocks.append(_folded(part, result, leaf, name))
            column += math.prod(given)
        rows.append(blocks)
        row += size
    return rows


def _shape_of_parts(x):
    return (*shape_of(x), 2) if np.iscomplexobj(x) else shape_of(x)


def _of_parts(recording, results, leaves, mode, width):
    """The real matrix: a row for each number of the result, two for a complex one; columns likewise."""
    outputs, inputs = [_shape_of_parts(x) for x in results], [_shape_of_parts(x) for x in leaves]
    rows, columns = (sum(map(math.prod, shapes)) for shapes in (outputs, inputs))
    if not rows * columns or all(output is None for output in recording.outputs):
        return np.zeros((rows, columns))
    if hasattr(recording, "tangents"):
        return stack([_parts(x, like) for x, like in zip(recording.tangents, results)], columns)
    if is_reverse(mode, rows, columns):
        return columns_of(recording, _on_parts(recording.reverse, results, leaves), outputs, rows, columns, width).T
    return columns_of(recording, _on_parts(recording.forward, leaves, results), inputs, columns, rows, width)


def _on_parts(sweep, seeded, read):
    """A sweep that takes `Units` of real numbers and gives numbers, with an axis behind those of an array for parts."""

    def swept(adjoints, seeds):
        numbers = [_number(seed, x, adjoints.width) for seed, x in zip(seeds, seeded)]
        return [_parts(found, x) for found, x in zip(sweep(adjoints, numbers), read)]

    return swept


def _number(units, like, width):
    """The seed of a leaf; one of complex numbers as an array of these."""
    if units is None or not np.iscomplexobj(like):
        return units
    axis, seed = len(shape_of(like)), units.as_array(_shape_of_parts(like), width)
    return np.take(seed, 0, axis) + 1j * np.take(seed, 1, axis)


def _parts(found, like):
    if not np.iscomplexobj(like):
        return found
    return np.stack([np.real(found), np.imag(found)], axis=len(shape_of(like)))


def _folded(part, result, leaf, name):
    """What the parts of a block are as numbers."""
    single = getattr(leaf, "dtype", None) in (SINGLE, np.dtype(np.complex64))
    split = len(_shape_of_parts(result))
    if np.iscomplexobj(result) and np.iscomplexobj(leaf):
        real, imag = (np.take(np.take(part, 0, -1), k, split - 1) for k in (0, 1))
        by_imag = [np.take(np.take(part, 1, -1), k, split - 1) for k in (0, 1)]
        apart = np.maximum(np.abs(by_imag[1] - real), np.abs(by_imag[0] + imag))
        if np.any(apart > _ROUNDING[single] * np.max(np.abs(part), initial=0.0)):
            raise ValueError(f"{name} has no complex derivative, it is not holomorphic: differentiate by the real and "
                             "the imaginary part, f(a + 1j * b), or return z.real and z.imag")
        found = real + 1j * imag
    elif np.iscomplexobj(result):
        found = np.take(part, 0, split - 1) + 1j * np.take(part, 1, split - 1)
    else:
        found = np.take(part, 0, -1) + 1j * np.take(part, 1, -1) if np.iscomplexobj(leaf) else part
    if not (np.ndim(found) or isinstance(leaf, np.ndarray)):
        return found.item()
    found = np.asarray(found)
    return found.astype(np.complex64 if np.iscomplexobj(found) else SINGLE) if single else found.copy()
