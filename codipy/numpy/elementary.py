# SPDX-License-Identifier: Apache-2.0
"""Primitives that act element by element, made from their partials: for what the operations table does not have."""

from __future__ import annotations

import numpy as np

from codipy.errors import UndifferentiableError

from .primitive import Primitive
from .rules.building import guarded, unbroadcast, widened
from .rules.patterns import elementwise

__all__ = ["elementwise_primitive", "not_differentiated"]


def not_differentiated(what):
    """A partial that refuses: of what is known as numbers only, as the slope of a function by its order.

    Parameters
    ----------
    what : str
        Says the function and the parameter.
    """

    def partial(*_):
        raise UndifferentiableError(f"{what} cannot be differentiated by it once more: take differences, "
                                    "(g(a + h) - g(a - h)) / (2 * h), of the derivative g that is one order lower")

    return partial


def _of_numpy(x):
    """Python's float as NumPy's, which divides by zero."""
    return np.float64(x) if type(x) is float else widened(x)


def elementwise_primitive(name, ufunc, partials, several=False):
    """A primitive of broadcasting operands.

    Parameters
    ----------
    name : str
        What messages call it.
    ufunc : callable
        Gives the value.
    partials : sequence
        For each argument ``partial(*args, out)``, or None where there is no derivative. With `several` outputs, for
        each output such a sequence; `out` is then the tuple of outputs.
    several : bool
        Whether the result is a tuple.
    """
    rows = partials if several else (partials,)

    def slope(row, k, args, out):
        if rows[row][k] is None:
            raise TypeError(f"{name} has no derivative in argument {k}: pass `codipy.value` of it")
        with np.errstate(all="ignore"):
            return rows[row][k](*map(_of_numpy, args), tuple(map(_of_numpy, out)) if several else _of_numpy(out))

    def times(factor, row, k, args, out):
        with np.errstate(all="ignore"):
            return guarded(factor, slope(row, k, args, out))

    def vjp(g, out, args, kwargs, argnums):
        gs = [(row, part) for row, part in enumerate(g if several else (g,)) if part is not None]
        bars = (sum(times(part, row, k, args, out) for row, part in gs) for k in argnums)
        return [unbroadcast(bar, np.shape(args[k])) for k, bar in zip(argnums, bars)]

    def jvp(tangents, out, args, kwargs):
        dots = [
            sum(times(dot, row, k, args, out) for k, dot in tangents.items()) + np.zeros(np.shape(one))
            for row, one in enumerate(out if several else (out,))
        ]
        return tuple(dots) if several else dots[0]

    return Primitive(name, ufunc, vjp, jvp, pattern=elementwise)
