# SPDX-License-Identifier: Apache-2.0
"""`eigsh`, `svds`, `lsqr` and `lsmr` of a `LinearOperator` whose functions use active values.

There is no matrix by whose values they could be differentiated, so one product with the vectors that SciPy found is
recorded: ``w' = v^T (A' v)`` and ``v' = -pinv(A - w I) (A' v)``, for which one equation is solved with products. What
least squares find is the solution of the normal equations, as any equation with an operator has one.
"""

from __future__ import annotations

import functools
import types

import numpy as np
import scipy.sparse.linalg

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.active.doors import door
from codipy.active.messages.callers import refusal
from codipy.active.recordings.status import recording
from codipy.errors import ActiveError, TapeError, UndifferentiableError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import copied, fillable, holds_active, holds_variables
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.exact import with_values_of
from codipy.scipy.kernels.whole import plain_operator

__all__ = ["effects_of", "least_squares", "norms_of", "pairs", "triples", "uses_variables"]

_NEAR = 1e-6  # how large the rest of an equation of the derivative may be beside its right-hand side
_FAR = 1e-3  # how far SciPy's solution of least squares may be from that of the normal equations

_FOUND = {
    "eigsh": ("eigenvectors", "let matvec be the product with a symmetric matrix"),
    "svds": ("singular vectors", "let matvec and rmatvec return a new array each time, as SciPy reads several products "
                                 "at once, and rmatvec be the product with the transpose"),
}  # fmt: skip


def uses_variables(operator):
    """Whether the products of a `LinearOperator` are active."""
    return recording() is not None and holds_variables((operator.matvec(np.ones(operator.shape[1])),))


def effects_of(given):
    """What the functions in a dict of arguments keep on the side, as a context; outside of recordings nobody looks."""
    return door("effects")(given if recording() is not None else {})


def _product(multiply, vector):
    """A product as a vector of its own: a user's function may fill one array, and return it each time."""
    return np.reshape(as_numbers(copied(multiply(vector))), -1)


def _columns(multiply, vectors):
    """Products with the columns of a plain matrix, as an array, of one product each: users say `matvec` alone."""
    return as_numbers(np.stack([_product(multiply, v.copy()) for v in vectors.T], axis=1))


def _beside(multiply, value, vector, right, name):
    """``pinv(A - w I) right``, of what is orthogonal to the eigenvector, by products with a symmetric A."""
    def across(x):
        return x - vector * (vector @ x)

    size, strength, right = len(vector), np.linalg.norm(right), across(right)
    operator = scipy.sparse.linalg.LinearOperator(
        (size, size), lambda x: across(multiply(across(np.reshape(x, -1))) - value * across(np.reshape(x, -1))),
        dtype=float)
    found = across(scipy.sparse.linalg.minres(operator, right, rtol=1e-13, maxiter=20 * size + 100)[0])
    if not np.linalg.norm(operator @ found - right) <= _NEAR * strength:
        raise np.linalg.LinAlgError(f"scipy.sparse.linalg.{name} of a LinearOperator: the equations of the derivative "
                                    "of a vector were not solved, as where its value is repeated: take that of the "
                                    "values alone, or give the matrix")
    return found


def _numbers(name, *arrays):
    if holds_active(arrays):
        raise UndifferentiableError(f"scipy.sparse.linalg.{name} has derivatives of first order: take np.linalg.eigh "
                                    "or svd of the whole matrix for higher ones")
    return [np.asarray(x) for x in arrays]


def _demand_found(name, operator, products, expected):
    """Raise where the products with vectors that SciPy found are not these vectors times its values."""
    probe = np.cos(np.arange(operator.shape[1]))
    with door("undone")(operator):
        strength = np.linalg.norm(value_of(_product(operator.matvec, probe))) / np.linalg.norm(probe)
    for product, vectors in zip(products, expected):
        size = max(strength, np.max(np.linalg.norm(vectors, axis=0), initial=0.0))
        if not np.max(np.linalg.norm(value_of(product) - vectors, axis=0), initial=0.0) <= _FAR * size:
            what, other = _FOUND[name]
            raise ArithmeticError(f"scipy.sparse.linalg.{name} of a LinearOperator has not found {what} within {_FAR} "
                                  f"by its products with them, so there is no derivative: {other}; say a smaller tol=")


def _rule(name, operator, products, found, move):
    """The Primitive from recorded products to what SciPy found: `move` gives its tangents for theirs, and is linear.

    Parameters
    ----------
    operator : LinearOperator
        The user's, with which `move` multiplies.
    products : sequence of ndarray
    found : ndarray or tuple of ndarray
    move : pair of callable
        From tangents of the products to those of what was found, and from cotangents back; None is zero.
    """
    known = [x.tobytes() for x in products]
    forth, back = move

    def forward(*values):
        if [np.asarray(x).tobytes() for x in values] != known:
            raise TapeError(f"evaluate_primal() cannot call scipy.sparse.linalg.{name} anew, of a LinearOperator: "
                            "record again at these inputs")
        return tuple(x.copy() for x in found) if isinstance(found, tuple) else found.copy()

    def vjp(g, out, args, kwargs, argnums):
        bars = [None if x is None else _numbers(name, x)[0] for x in (g if isinstance(found, tuple) else (g,))]
        _numbers(name, *args)
        with door("undone")(operator):
            shares = back(*bars)
        return [shares[k] for k in argnums]

    def jvp(tangents, out, args, kwargs):
        _numbers(name, *args)
        given = [_numbers(name, tangents[k])[0] if k in tangents else np.zeros(x.shape) for k, x in enumerate(products)]
        with door("undone")(operator):
            moved = forth(*given)
        return moved if isinstance(found, tuple) else moved[0]

    return Primitive(f"{name} of an operator", forward, vjp, jvp)


def _solved(A, plain, solve, with_vectors, given, effects):
    """What SciPy finds for an operator, and what it finds with vectors; `given` are its other arguments."""
    effects.begin()
    found = solve(plain, with_vectors)
    effects.solved()
    if with_vectors:
        return found, found
    with door("undone")(A, given):
        return found, solve(plain, True)


def pairs(A, solve, with_vectors, given, effects):
    """`eigsh` of an operator that uses active values; ``solve(operator, with_vectors)`` is SciPy's."""
    plain = plain_operator(A, True)
    found, (w, v) = _solved(A, plain, solve, with_vectors, given, effects)
    if not with_vectors:
        order = np.argsort(np.argsort(found, kind="stable"), kind="stable")
        w, v = (x[..., np.argsort(w, kind="stable")][..., order] for x in (w, v))
    recorded = _columns(effects.fresh(A.matvec, A), v)
    effects.run_within(A.matvec, v[:, 0])
    _demand_found("eigsh", A, (recorded,), (v * w,))

    def forth(moved):
        w_dot = np.sum(v * moved, axis=0)
        if not with_vectors:
            return (w_dot,)
        return w_dot, np.stack([-_beside(plain.matvec, w[k], v[:, k], moved[:, k], "eigsh") for k in range(len(w))],
                               axis=1)

    def back(g_w, g_v=None):
        bar = np.zeros(v.shape) if g_w is None else v * g_w
        for k in range(len(w)) if g_v is not None else ():
            if np.any(g_v[:, k]):
                bar[:, k] -= _beside(plain.matvec, w[k], v[:, k], g_v[:, k], "eigsh")
        return (bar,)

    return call(_rule("eigsh", A, (np.array(value_of(recorded)),), found, (forth, back)), (recorded,))


def triples(A, solve, with_vectors, given, effects):
    """`svds` of an operator that uses active values; ``solve(operator, with_vectors)`` is SciPy's."""
    plain, m = plain_operator(A, True), A.shape[0]
    found, (u, s, vt) = _solved(A, plain, solve, with_vectors, given, effects)
    if not with_vectors:
        order = np.argsort(s, kind="stable")[np.argsort(np.argsort(found, kind="stable"), kind="stable")]
        u, s, vt = u[:, order], s[order], vt[order]
    recorded = (_columns(effects.fresh(A.matvec, A), np.ascontiguousarray(vt.T)),
                _columns(effects.fresh(A.rmatvec, A), u))
    effects.run_within(A.matvec, vt[0])
    effects.run_within(A.rmatvec, u[:, 0])
    _demand_found("svds", A, recorded, (u * s, vt.T * s))

    def multiply(x):
        return np.concatenate([_product(plain.matvec, x[m:]), _product(plain.rmatvec, x[:m])])

    def beside(k, right):
        return _beside(multiply, s[k], np.concatenate([u[:, k], vt[k]]) / np.sqrt(2.0), right, "svds")

    def forth(moved, turned):
        s_dot = np.sum(u * moved, axis=0)
        if not with_vectors:
            return (s_dot,)
        both = np.stack([-beside(k, np.concatenate([moved[:, k], turned[:, k]])) for k in range(len(s))], axis=1)
        return both[:m], s_dot, both[m:].T

    def back(*bars):
        g_u, g_s, g_v = bars if with_vectors else (None, bars[0], None)
        bar, turned = np.zeros(u.shape) if g_s is None else u * g_s, np.zeros(vt.T.shape)
        for k in range(len(s)) if g_u is not None or g_v is not None else ():
            right = np.concatenate([np.zeros(m) if g_u is None else g_u[:, k],
                                    np.zeros(vt.shape[1]) if g_v is None else g_v[k]])
            if np.any(right):
                both = beside(k, right)
                bar[:, k] -= both[:m]
                turned[:, k] -= both[m:]
        return bar, turned

    return call(_rule("svds", A, [np.array(value_of(x)) for x in recorded], found, (forth, back)), recorded)


def norms_of(x, rest, damp, places):
    """The norms of the rest, of all that is minimal and of the solution, by their places in what SciPy returns."""
    whole = np.linalg.norm(rest) if not damp else np.sqrt(np.sum(rest**2) + damp**2 * np.sum(x**2))
    found = zip(places, (np.linalg.norm(rest), whole, np.linalg.norm(x)))
    return {place: norm for place, norm in found if place is not None}


def least_squares(name, A, b, solve, damp, places, effects):
    """What `lsqr` or `lsmr` return for an operator, of which ``solve(operator, b)`` is SciPy's."""
    if A.shape[0] < A.shape[1] and not damp:
        raise ActiveError(refusal(f"scipy.sparse.linalg.{name} of a LinearOperator with fewer rows than columns",
                                  "write `A.rmatvec(cg(A @ A.T, b)[0])`, say damp=, or give the sparse matrix itself"))
    plain, right = plain_operator(A, True), as_numbers(b)
    right = right.ravel() if right.ndim == 2 else right
    effects.begin()
    found = solve(plain, np.array(value_of(right)))
    effects.solved()

    def normal(operator, x):
        x = np.reshape(x, -1)
        there = _product(operator.rmatvec, _product(operator.matvec, x))
        return there + damp * damp * x if damp else there

    def further(matrix, right, is_turned):
        size = float(np.linalg.norm(right))
        if size == 0.0:
            return np.zeros(len(right))
        most = 20 * len(right) + 100
        with door("undone")(A):
            solved = scipy.sparse.linalg.cg(matrix, right / size, rtol=1e-13, atol=0.0, maxiter=most)[0]
            is_near = np.linalg.norm(matrix @ solved - right / size) <= _NEAR
        if not is_near:
            raise ArithmeticError(f"scipy.sparse.linalg.{name} of a LinearOperator: the normal equations of the "
                                  "derivative were not solved: give the sparse matrix itself, or say damp= where "
                                  "columns depend on each other")
        return solved * size

    whole = scipy.sparse.linalg.LinearOperator((A.shape[1],) * 2, functools.partial(normal, plain), dtype=float)
    with door("undone")(A):
        normal_right = _product(plain.rmatvec, np.array(value_of(right)))
    apart = further(whole, normal_right, False) - found[0]
    if not np.linalg.norm(apart) <= _FAR * max(np.linalg.norm(found[0]), 1e-300):
        raise ArithmeticError(f"scipy.sparse.linalg.{name} has not found the solution within {_FAR}, so there is no "
                              "derivative: say atol= and btol=")
    turned = _product(effects.fresh(A.rmatvec, A), right)
    known, again = value_of(turned).tobytes(), f"evaluate_primal() cannot call scipy.sparse.linalg.{name} anew, of a "

    def first(turned):
        if turned.tobytes() != known:
            raise TapeError(again + "LinearOperator: record again at these inputs")
        return found[0].copy()

    products = types.SimpleNamespace(matvec=functools.partial(normal, A), dtype=np.dtype(float))
    x = door("by operator")(name, products, turned, first, further, effects)
    rest = right - _product(effects.fresh(A.matvec, A), x)
    # At other inputs a replay has raised before.
    made = {place: with_values_of(f"{name} of an operator", lambda _, place=place: found[place], (x,), formula)
            for place, formula in norms_of(x, rest, damp, places).items()}  # fmt: skip
    made[0] = fillable(x)
    return tuple(made.get(place, part if place < 3 else None) for place, part in enumerate(found))
