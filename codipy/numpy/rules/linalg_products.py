# SPDX-License-Identifier: Apache-2.0
"""The products that numpy.linalg offers under its own names, made of those of numpy."""

import numpy as np

from codipy.numpy.allocation import asarray

__all__ = ["COMPOSITES"]


def matmul(x1, x2, /):
    return np.matmul(x1, x2)


def tensordot(x1, x2, /, *, axes=2):
    return np.tensordot(x1, x2, axes=axes)


def vecdot(x1, x2, /, *, axis=-1):
    return np.vecdot(x1, x2, axis=axis)


def outer(x1, x2, /):
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {np.ndim(x1)}-D and {np.ndim(x2)}-D.")
    return np.outer(x1, x2)


def multi_dot(arrays, *, out=None):
    """Multiply in NumPy's order, for its rounding too."""
    arrays = [asarray(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return np.dot(arrays[0], arrays[1], out=out)
    first, *inner, last = arrays
    rows, columns = np.ndim(first) == 1, np.ndim(last) == 1
    first = np.reshape(first, (1, -1)) if rows else first
    last = np.reshape(last, (-1, 1)) if columns else last
    arrays = [first, *inner, last]
    if any(np.ndim(a) != 2 for a in arrays):
        raise np.linalg.LinAlgError("multi_dot: arrays must be two-dimensional, the first and the last may be vectors")
    result = _product(arrays, _splits(arrays), 0, len(arrays) - 1, out)
    if rows and columns:
        return result[0, 0]
    return np.reshape(result, (-1,)) if rows or columns else result


def _splits(arrays):
    """Where the cheapest way to multiply the arrays i to j splits them, for each (i, j)."""
    n = len(arrays)
    p = [*(np.shape(a)[0] for a in arrays), np.shape(arrays[-1])[1]]
    cost, split = {(i, i): 0.0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs = {k: cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1] for k in range(i, j)}
            split[i, j] = min(costs, key=costs.get)  # of equal ones the first, as NumPy
            cost[i, j] = costs[split[i, j]]
    return split


def _product(arrays, split, i, j, out=None):
    if i == j:
        return arrays[i]
    k = split[i, j]
    return np.dot(_product(arrays, split, i, k), _product(arrays, split, k + 1, j), out=out)


COMPOSITES = {f"linalg.{function.__name__}": function for function in (matmul, tensordot, vecdot, outer, multi_dot)}
