# SPDX-License-Identifier: Apache-2.0
"""Least squares and triangular equations of sparse matrices: `lsqr`, `lsmr`, `spsolve_triangular`.

SciPy computes the values; derivatives are those of the equations, which are solved by factors: of least squares those
of ``[I A; A^T -damp^2 I] [r; x] = [b; 0]`` for the rest r and the solution x (A. Bjorck, "Numerical methods for least
squares problems", 1996), and of fewer equations than unknowns those of the shortest solution.
"""

from __future__ import annotations

import functools
import inspect

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import fillable, holds_active, holds_variables, value_tree
from codipy.scipy.kernels.calls import demand_real
from codipy.scipy.kernels.exact import with_values_of
from codipy.scipy.kernels.places import Compressed
from codipy.scipy.kernels.products import multiplied
from codipy.scipy.kernels.whole import (
    is_active_array,
    is_active_matrix,
    is_operator,
    matrix_of,
    parts_of,
    plain_matrix,
    structure_of,
)
from codipy.scipy.products import effects_of, least_squares, norms_of, uses_variables
from codipy.scipy.solved import Equations

__all__ = ["FUNCTIONS"]

_NEAR = 1e-3  # how far SciPy's solution may be from that of the equations


def _parts(A):
    """Where the values of a matrix stand, these, active or not, and the function that makes SciPy's matrix of them."""
    if is_active_matrix(A) or is_active_array(A):
        if getattr(A, "format", "") in ("csr", "csc") and not A.has_canonical_format:
            A = A.copy()
            A.sum_duplicates()
        structure, values = parts_of(A)
        return structure, np.reshape(values, -1), lambda values: structure.matrix(np.array(values))
    plain = value_tree((plain_matrix(A),))[0].copy()
    rows = scipy.sparse.csr_array(plain, copy=True)
    rows.sum_duplicates()
    return structure_of(rows), rows.data.astype(float), lambda values: plain.copy()


def _solved(rows, columns, values, right):
    """Of a square matrix of triplets, which are all at other places."""
    size = len(value_of(right))
    order = scipy.sparse.csc_array((np.arange(1.0, len(rows) + 1), (rows, columns)), shape=(size, size))
    order.sort_indices()
    if order.nnz != len(rows):
        raise ActiveError(refusal("a sparse matrix with two values at one place", "take A.tocsr()"))
    places = order.data.astype(int) - 1
    structure = Compressed((size, size), order.indptr, order.indices, False)
    return Equations(structure, False, {}).solve(values[places], right)


def _smallest(structure, values, b, damp):
    """The solution and the rest of least squares."""
    m, n = structure.shape
    rows, columns = structure.rows, structure.columns
    if structure.inside is not None:
        rows, columns, values = rows[structure.inside], columns[structure.inside], values[structure.inside]
    is_long = m >= n or damp != 0.0
    first, second = (rows, m + columns) if is_long else (columns, n + rows)
    count = m if is_long else n
    diagonal = np.arange(count)
    low = m + np.arange(n) if damp else np.zeros(0, int)
    parts = [np.ones(count), values, values, np.full(len(low), -damp * damp)]
    right = np.concatenate([b, np.zeros(n)] if is_long else [np.zeros(n), b])
    found = _solved(np.concatenate([diagonal, first, second, low]), np.concatenate([diagonal, second, first, low]),
                    np.concatenate(parts), right)  # fmt: skip
    x = found[m:] if is_long else found[:n]
    return x, b - multiplied(structure, values, x)


def _squares(name, norms):
    """`lsqr` or `lsmr`: at which places of the result are the norms of the rest, and of all that is minimal."""
    original = getattr(scipy.sparse.linalg, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def function(A, b, *args, **kwargs):
        A = matrix_of(A)
        given = dict(list(signature.bind(A, b, *args, **kwargs).arguments.items())[2:])
        with effects_of({"A": A, "b": b, **given}) as effects:
            return found_of(A, b, given, effects)

    def found_of(A, b, given, effects):
        if is_active_matrix(A) or holds_variables((A, b, given)) or is_operator(A) and uses_variables(A):
            demand_real(f"scipy.sparse.linalg.{name}", A, b, instead="take np.linalg.lstsq(A.toarray(), b)")
        else:
            effects.begin()
            found = original(*value_tree((plain_matrix(A), b)), **value_tree(given))
            effects.solved()
            return found
        if holds_active(given):
            raise ActiveError(refusal(
                f"scipy.sparse.linalg.{name} with active options",
                "write an active damp into the equations, `sparse.vstack([A, damp * sparse.eye(n)])` and zeros in b; "
                "codipy.value(...) of the others"))  # fmt: skip
        options = value_tree(given)
        damp = float(options.get("damp", 0.0))
        if is_operator(A):
            return least_squares(name, A, b, lambda A, b: original(A, b, **options), damp, norms, effects)
        structure, values, matrix = _parts(A)
        b = as_numbers(b)
        b = b.ravel() if b.ndim == 2 else b
        if options.get("x0") is not None and (damp or structure.shape[0] < structure.shape[1]):
            raise ActiveError(refusal(f"scipy.sparse.linalg.{name} with x0=, on which the solution depends here,",
                                      "leave x0= out"))  # fmt: skip

        def run(values, b):
            return original(matrix(values), np.array(b), **options)

        found = run(*(np.array(value_of(x)) for x in (values, b)))
        try:
            x, rest = _smallest(structure, values, b, damp)
            is_near = np.linalg.norm(value_of(x) - found[0]) <= _NEAR * max(np.linalg.norm(found[0]), 1e-300)
        except RuntimeError:
            is_near = False
        if not is_near:
            raise ArithmeticError(f"scipy.sparse.linalg.{name} has not found the one solution within {_NEAR}, so there "
                                  "is no derivative: say atol= and btol=, or damp= where columns depend on each other")
        made = {0: x, **norms_of(x, rest, damp, norms)}
        made = {place: with_values_of(f"sparse {name}", lambda values, b, place=place: run(values, b)[place],
                                      (values, b), formula) for place, formula in made.items()}  # fmt: skip
        made[0] = fillable(made[0])
        return tuple(made.get(place, part if place < 3 else None) for place, part in enumerate(found))

    return function


@functools.wraps(scipy.sparse.linalg.spsolve_triangular)
def _spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    original = scipy.sparse.linalg.spsolve_triangular
    if is_active_matrix(A) or holds_variables((b,)):
        demand_real("scipy.sparse.linalg.spsolve_triangular", A, b, instead="take spsolve(A, b)")
    else:
        copied = [x.copy() if hasattr(x, "copy") else x for x in value_tree((plain_matrix(A), b))]
        return original(*copied, lower, unit_diagonal=unit_diagonal)
    if unit_diagonal and is_active_matrix(A):
        raise ActiveError(refusal("spsolve_triangular of an active matrix with unit_diagonal=True",
                                  "write the ones into the matrix, or take spsolve(A, b)"))  # fmt: skip
    if unit_diagonal:
        A = scipy.sparse.lil_array(value_tree((plain_matrix(A),))[0])
        A.setdiag(1.0)
        A = A.tocsr()
    structure, values, matrix = _parts(A)
    b = as_numbers(b)

    def run(values, b):
        return original(matrix(values), np.array(b), lower)

    run(*(np.array(value_of(x)) for x in (values, b)))  # raises what SciPy does
    formula = _solved(structure.rows, structure.columns, values, b)
    return fillable(with_values_of("sparse triangular solve", run, (values, b), formula))


FUNCTIONS = {"lsqr": _squares("lsqr", (3, 4, 8)), "lsmr": _squares("lsmr", (None, 3, 7)),
             "spsolve_triangular": _spsolve_triangular}  # fmt: skip
