# SPDX-License-Identifier: Apache-2.0
"""Some singular values and vectors of a sparse matrix with active values: `svds`.

They are eigenvalues and eigenvectors of ``[0 A; A^T 0]``: ``s' = u^T A' v``, and vectors move as those of `eigsh` do.
"""

from __future__ import annotations

import functools
import inspect

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.array import call
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError, UndifferentiableError
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.primitive import Primitive
from codipy.scipy.eigenpairs import beside
from codipy.scipy.kernels.calls import demand_real
from codipy.scipy.kernels.products import by_values, multiplied
from codipy.scipy.kernels.whole import is_active_array, is_active_matrix, is_operator, matrix_of, parts_of, plain_matrix
from codipy.scipy.products import effects_of, triples, uses_variables

__all__ = ["FUNCTIONS"]

_ORIGINAL = scipy.sparse.linalg.svds


def _plain(*arrays):
    if holds_active(arrays):
        raise UndifferentiableError("scipy.sparse.linalg.svds has derivatives of first order: take np.linalg.svd of "
                                    "A.toarray() for higher ones")  # fmt: skip
    return [np.asarray(x) for x in arrays]


def _rule(structure, options, with_vectors):
    m = structure.shape[0]

    def run(values, vectors):
        return _ORIGINAL(structure.matrix(np.array(values)), **options, return_singular_vectors=vectors)

    def both(values):
        matrix = scipy.sparse.csr_array(structure.matrix(values))
        return scipy.sparse.block_array([[None, matrix], [matrix.T, None]], format="csr")

    def triples(values, out):
        if with_vectors:
            return out
        u, s, vt = run(values, True)
        order = np.empty(len(s), int)
        order[np.argsort(out, kind="stable")] = np.argsort(s, kind="stable")
        return u[:, order], out, vt[order]

    def vjp(g, out, args, kwargs, argnums):
        values = _plain(args[0])[0]
        g_u, g_s, g_v = g if with_vectors else (None, g, None)
        u, s, vt = triples(values, out)
        bar = np.zeros(np.size(values))
        for k in range(len(s)):
            if g_s is not None:
                bar += _plain(g_s)[0][k] * by_values(structure, u[:, k], vt[k])
            if g_u is None and g_v is None:
                continue
            cotangent = np.concatenate(_plain(np.zeros(m) if g_u is None else g_u[:, k],
                                              np.zeros(vt.shape[1]) if g_v is None else g_v[k]))  # fmt: skip
            if np.any(cotangent):
                vector = np.concatenate([u[:, k], vt[k]]) / np.sqrt(2.0)
                moved = beside(both(values), s[k], vector, cotangent, "svds")
                bar -= by_values(structure, moved[:m], vt[k]) + by_values(structure, u[:, k], moved[m:])
        return [np.reshape(bar, np.shape(values))]

    def jvp(tangents, out, args, kwargs):
        values, tangent = _plain(args[0], np.reshape(tangents[0], -1))
        u, s, vt = triples(values, out)
        forth = multiplied(structure, tangent, np.ascontiguousarray(vt.T))
        s_dot = np.sum(u * forth, axis=0)
        if not with_vectors:
            return s_dot
        back = multiplied(structure, tangent, np.ascontiguousarray(u), True)
        moved = np.stack([-beside(both(values), s[k], np.concatenate([u[:, k], vt[k]]) / np.sqrt(2.0),
                                  np.concatenate([forth[:, k], back[:, k]]), "svds") for k in range(len(s))], axis=1)
        return moved[:m], s_dot, moved[m:].T

    return Primitive("sparse svds", lambda values: run(values, with_vectors), vjp, jvp)


@functools.wraps(_ORIGINAL)
def svds(A, *args, **kwargs):
    """Of active values too."""
    A = matrix_of(A)
    given = {key: x for key, x in inspect.signature(_ORIGINAL).bind(A, *args, **kwargs).arguments.items() if key != "A"}
    given.update(given.pop("kwargs", {}))
    if holds_active(given):
        raise ActiveError(refusal("scipy.sparse.linalg.svds with active arguments beside A", "say codipy.value(x)"))
    options = {key: value_tree((x,))[0] for key, x in given.items()}
    with effects_of({"A": A, **given}) as effects:
        return _found(A, options, given, effects)


def _found(A, options, given, effects):
    is_free = is_operator(A) and uses_variables(A)
    if not is_free and not is_active_matrix(A) and not is_active_array(A):
        effects.begin()
        found = _ORIGINAL(value_tree((plain_matrix(A),))[0], **options)
        effects.solved()
        return found
    demand_real("scipy.sparse.linalg.svds", A, instead="take np.linalg.svd(A.toarray(), full_matrices=False)")
    with_vectors = options.pop("return_singular_vectors", True)
    if isinstance(with_vectors, str):
        raise ActiveError(refusal("scipy.sparse.linalg.svds with vectors of one side alone",
                                  "say return_singular_vectors=True"))  # fmt: skip
    if is_free:
        return triples(A, lambda A, wanted: _ORIGINAL(A, **options, return_singular_vectors=wanted), bool(with_vectors),
                       given, effects)  # fmt: skip
    structure, values = parts_of(A)
    return call(_rule(structure, options, bool(with_vectors)), (values,))


FUNCTIONS = {"svds": svds}
