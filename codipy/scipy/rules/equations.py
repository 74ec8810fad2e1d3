# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.linalg's matrix equations: the derivative solves the equation that is linear, or made linear, again.

Sylvester's a x + x b = q has the adjoint a^T s + s b^T = x_bar. At a solution of Riccati's equation, with the feedback
k and the closed loop c = a - b k, a change of the data changes x by the solution of Lyapunov's equation of c (T.-C. Kao
and G. Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations", 2020). But for
Sylvester's, which has a complex derivative, they are written with conjugate transposes for complex matrices too.
"""

import functools

import numpy as np
import scipy.linalg

from codipy.numpy.allocation import as_numbers
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import cT, mT
from codipy.scipy.calls import kept, recorded

__all__ = ["FUNCTIONS"]


def _chosen(bars, argnums):
    return [bars[k] for k in argnums]


# ---- a x + x b = q ---------------------------------------------------------------------------------------------------
def _sylvester_vjp(g, out, args, kwargs, argnums):
    a, b = args[:2]
    s = solve_sylvester(mT(a), mT(b), g)
    return _chosen((-s @ mT(out), -mT(out) @ s, s), argnums)


def _sylvester_jvp(tangents, out, args, kwargs):
    right = tangents.get(2, 0.0)
    if 0 in tangents:
        right = right - tangents[0] @ out
    if 1 in tangents:
        right = right - out @ tangents[1]
    return solve_sylvester(args[0], args[1], right)


# ---- a x + x a^H = q; x = a x a^H + q --------------------------------------------------------------------------------
def _continuous_vjp(g, out, args, kwargs, argnums):
    s = solve_continuous_lyapunov(cT(args[0]), g)
    return _chosen((-(s @ cT(out) + cT(s) @ out), s), argnums)


def _continuous_jvp(tangents, out, args, kwargs):
    right = tangents.get(1, 0.0)
    if 0 in tangents:
        right = right - tangents[0] @ out - out @ cT(tangents[0])
    return solve_continuous_lyapunov(args[0], right)


def _discrete_vjp(g, out, args, kwargs, argnums):
    a = args[0]
    s = solve_discrete_lyapunov(cT(a), g, **kwargs)
    return _chosen((s @ a @ cT(out) + cT(s) @ a @ out, s), argnums)


def _discrete_jvp(tangents, out, args, kwargs):
    a, right = args[0], tangents.get(1, 0.0)
    if 0 in tangents:
        right = right + tangents[0] @ out @ cT(a) + a @ out @ cT(tangents[0])
    return solve_discrete_lyapunov(a, right, **kwargs)


# ---- Riccati's equations: q and r are Hermitian, so are their cotangents ---------------------------------------------
def _symmetric(bar):
    return (bar + cT(bar)) / 2


def _loop(out, args, discrete):
    """The feedback and the closed loop."""
    a, b, _, r = args
    x = cT(b) @ out
    k = np.linalg.solve(r + x @ b, x @ a) if discrete else np.linalg.solve(r, x)
    return k, a - b @ k


def _care_vjp(g, out, args, kwargs, argnums):
    k, c = _loop(out, args, False)
    s = -solve_continuous_lyapunov(c, g)
    both = s + cT(s)
    return _chosen((out @ both, -out @ both @ cT(k), _symmetric(s), _symmetric(k @ s @ cT(k))), argnums)


def _care_jvp(tangents, out, args, kwargs):
    k, c = _loop(out, args, False)
    right = _moved(tangents, out, k, np.eye(np.shape(out)[0]))
    return solve_continuous_lyapunov(cT(c), -right)


def _dare_vjp(g, out, args, kwargs, argnums):
    k, c = _loop(out, args, True)
    s = solve_discrete_lyapunov(c, g)
    turned = out @ c @ (s + cT(s))
    return _chosen((turned, -turned @ cT(k), _symmetric(s), _symmetric(k @ s @ cT(k))), argnums)


def _dare_jvp(tangents, out, args, kwargs):
    k, c = _loop(out, args, True)
    return solve_discrete_lyapunov(cT(c), _moved(tangents, out, k, c))


def _moved(tangents, x, k, c):
    """What tangents of a, b, q and r add to the equation at the solution; `c` stands right of x in it."""
    right = 0.0
    if 0 in tangents:
        part = cT(tangents[0]) @ x @ c
        right = right + part + cT(part)
    if 1 in tangents:
        part = cT(k) @ cT(tangents[1]) @ x @ c
        right = right - part - cT(part)
    if 2 in tangents:
        right = right + tangents[2]
    if 3 in tangents:
        right = right + cT(k) @ tangents[3] @ k
    return right


def _of(original, vjp, jvp, arrays, without=(), linear=()):
    primitive = kept(Primitive(f"scipy.linalg.{original.__name__}", original, vjp, jvp, linear=linear, located=True))
    return recorded(original, primitive, arrays, without=without)


def _of_matrices(function):
    """The function, which may get numbers for matrices, as SciPy takes them; the rules do not."""

    @functools.wraps(function)
    def of_any(a, b, q, r, *args, **kwargs):
        return function(*(np.atleast_2d(as_numbers(x)) for x in (a, b, q, r)), *args, **kwargs)

    return of_any


_LA = scipy.linalg
solve_sylvester = _of(_LA.solve_sylvester, _sylvester_vjp, _sylvester_jvp, 3, linear=(2,))
solve_continuous_lyapunov = _of(_LA.solve_continuous_lyapunov, _continuous_vjp, _continuous_jvp, 2, linear=(1,))
solve_discrete_lyapunov = _of(_LA.solve_discrete_lyapunov, _discrete_vjp, _discrete_jvp, 2, linear=(1,))
solve_continuous_are = _of_matrices(_of(_LA.solve_continuous_are, _care_vjp, _care_jvp, 4, ("e", "s")))
solve_discrete_are = _of_matrices(_of(_LA.solve_discrete_are, _dare_vjp, _dare_jvp, 4, ("e", "s")))

FUNCTIONS = {function.__name__: function for function in (
    solve_sylvester, solve_continuous_lyapunov, solve_discrete_lyapunov, solve_continuous_are, solve_discrete_are)}
FUNCTIONS["solve_lyapunov"] = solve_continuous_lyapunov
