# SPDX-License-Identifier: Apache-2.0
"""``scipy.sparse.csgraph`` as `codipy.scipy` and rebound code have it: graphs of plain weights.

Its loops are compiled, and read the memory of a matrix.
"""

from __future__ import annotations

import functools

import scipy.sparse.csgraph

from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.scipy.kernels.whole import is_active_matrix, plain_matrix

__all__ = ["FUNCTIONS", "instead_of"]

_PATHS = ("take the predecessors of codipy.value(weights), return_predecessors=True, and add up the weights along the "
          "path")  # fmt: skip
_INSTEAD = {
    **dict.fromkeys(("shortest_path", "floyd_warshall", "dijkstra", "bellman_ford", "johnson", "yen"), _PATHS),
    "minimum_spanning_tree": "take the edges of the tree of codipy.value(weights), and their weights A[i, j]",
    "min_weight_full_bipartite_matching": "take the matching of codipy.value(weights), and its weights A[i, j]",
    "laplacian": "write np.diag(np.ravel(A.sum(axis=0))) - A of an array, A = A.toarray()",
}


def instead_of(name):
    """What to write in the place of a function."""
    return _INSTEAD.get(name, "it tells of numbers of nodes: say codipy.value(weights)")


def _of_plain_weights(name, original):
    @functools.wraps(original)
    def function(*args, **kwargs):
        given = (*args, *kwargs.values())
        if holds_active(given) or any(map(is_active_matrix, given)):
            refuse(f"scipy.sparse.csgraph.{name}", f"of active weights there is no derivative: {instead_of(name)}")
        args, named = value_tree([plain_matrix(x) for x in args]), {key: plain_matrix(x) for key, x in kwargs.items()}
        return original(*args, **value_tree(named))

    return function


FUNCTIONS = {name: _of_plain_weights(name, getattr(scipy.sparse.csgraph, name)) for name in scipy.sparse.csgraph.__all__
             if not isinstance(getattr(scipy.sparse.csgraph, name), type)}  # fmt: skip
