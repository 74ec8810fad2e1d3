# SPDX-License-Identifier: Apache-2.0
"""Some eigenvalues and eigenvectors of a sparse symmetric matrix with active values: `eigsh`.

``w' = v^T A' v``, and ``v' = -pinv(A - w I) A' v``, for which one sparse equation is solved with each vector.
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
from codipy.scipy.kernels.calls import demand_real
from codipy.scipy.kernels.products import by_values, multiplied
from codipy.scipy.kernels.whole import (
    is_active_array,
    is_active_matrix,
    is_operator,
    matrix_of,
    parts_of,
    plain_matrix,
    plain_operator,
)
from codipy.scipy.products import effects_of, pairs, uses_variables

__all__ = ["FUNCTIONS", "beside"]

_ORIGINAL = scipy.sparse.linalg.eigsh


def beside(matrix, value, vector, right, name="eigsh"):
    """``pinv(A - w I) right``, of what is orthogonal to the eigenvector: A - w I with that as its border."""
    n = len(vector)
    shifted = (scipy.sparse.csc_array(matrix) - value * scipy.sparse.eye_array(n))
    bordered = scipy.sparse.block_array([[shifted, vector[:, None]], [vector[None], None]], format="csc")
    try:
        found = scipy.sparse.linalg.spsolve(bordered, np.append(right - vector * (vector @ right), 0.0))[:n]
    except RuntimeError:
        found = np.full(n, np.nan)
    if not np.all(np.isfinite(found)) or np.max(np.abs(found)) > 1e12 * max(np.max(np.abs(right)), 1e-300):
        raise np.linalg.LinAlgError(f"scipy.sparse.linalg.{name}: a value is repeated, so its vectors have no "
                                    "derivative: take that of the values alone")  # fmt: skip
    return found


def _rule(structure, options, with_vectors):
    def plain(*arrays):
        if holds_active(arrays):
            raise UndifferentiableError("scipy.sparse.linalg.eigsh has derivatives of first order: take np.linalg.eigh "
                                        "of A.toarray() for higher ones")  # fmt: skip
        return [np.asarray(x) for x in arrays]

    def forward(values):
        return _ORIGINAL(structure.matrix(np.array(values)), **options, return_eigenvectors=with_vectors)

    def pairs(values, out):
        if with_vectors:
            return out
        w, v = _ORIGINAL(structure.matrix(values), **options, return_eigenvectors=True)
        order = np.empty(len(w), int)
        order[np.argsort(out, kind="stable")] = np.argsort(w, kind="stable")
        return out, v[:, order]

    def vjp(g, out, args, kwargs, argnums):
        values = plain(args[0])[0]
        g_w, g_v = g if with_vectors else (g, None)
        w, v = pairs(values, out)
        if g_w is not None:
            (g_w,) = plain(g_w)
        bar = np.zeros(np.size(values))
        for k in range(len(w)):
            if g_w is not None and g_w[k]:
                bar += g_w[k] * by_values(structure, v[:, k], v[:, k])
            if g_v is not None:
                (cotangent,) = plain(g_v[:, k])
                if np.any(cotangent):
                    bar -= by_values(structure, beside(structure.matrix(values), w[k], v[:, k], cotangent), v[:, k])
        return [np.reshape(bar, np.shape(values))]

    def jvp(tangents, out, args, kwargs):
        values, tangent = plain(args[0], tangents[0])
        w, v = pairs(values, out)
        moved = multiplied(structure, np.reshape(tangent, -1), np.ascontiguousarray(v))
        w_dot = np.sum(v * moved, axis=0)
        if not with_vectors:
            return w_dot
        return w_dot, np.stack([-beside(structure.matrix(values), w[k], v[:, k], moved[:, k])
                                for k in range(len(w))], axis=1)  # fmt: skip

    return Primitive("sparse eigsh", forward, vjp, jvp)


@functools.wraps(_ORIGINAL)
def eigsh(A, *args, **kwargs):
    """Of active values too."""
    A = matrix_of(A)
    bound = inspect.signature(_ORIGINAL).bind(A, *args, **kwargs)
    given = {key: x for key, x in bound.arguments.items() if key != "A"}
    if any(is_active_matrix(x) for x in given.values()) or holds_active(given):
        raise ActiveError(refusal("scipy.sparse.linalg.eigsh with active arguments beside A",
                                  "take scipy.linalg.eigh(A.toarray(), M.toarray())"))  # fmt: skip
    options = {key: plain_operator(x, True) if key == "OPinv" and is_operator(x) else value_tree((plain_matrix(x),))[0]
               for key, x in given.items()}  # fmt: skip
    with effects_of({"A": A, **given}) as effects:
        return _found(A, options, given, effects)


def _found(A, options, given, effects):
    is_free = is_operator(A) and uses_variables(A)
    if not is_free and not is_active_matrix(A) and not is_active_array(A):
        effects.begin()
        found = _ORIGINAL(value_tree((plain_matrix(A),))[0], **options)
        effects.solved()
        return found
    if options.get("M") is not None or options.get("mode", "normal") != "normal":
        raise ActiveError(refusal("scipy.sparse.linalg.eigsh of active values with M= or mode=",
                                  "take scipy.linalg.eigh(A.toarray(), M.toarray())"))  # fmt: skip
    demand_real("scipy.sparse.linalg.eigsh", A, instead="take np.linalg.eigh(A.toarray())")
    with_vectors = options.pop("return_eigenvectors", True)
    if is_free:
        return pairs(A, lambda A, wanted: _ORIGINAL(A, **options, return_eigenvectors=wanted), with_vectors,
                     given, effects)  # fmt: skip
    structure, values = parts_of(A)
    return call(_rule(structure, options, with_vectors), (values,))


FUNCTIONS = {"eigsh": eigsh}
