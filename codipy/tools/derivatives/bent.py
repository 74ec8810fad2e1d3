# SPDX-License-Identifier: Apache-2.0
"""How the rules of primitives bend: what they give for cotangents that stay, when their arguments move."""

from __future__ import annotations

import numpy as np

from codipy.nested.program import traced
from codipy.tools.arguments.choice import Choice
from codipy.tools.runs.run import Run

__all__ = ["BentRules"]


class BentRules:
    """The rules of the calls of one recording, each run once on variables: see `codipy.tape.second`."""

    def __init__(self):
        self._pushes = {}

    def __call__(self, key, primitive, args, kwargs, argnums, out, bars, tangents, moved):
        if getattr(primitive, "product", False) and not kwargs and len(args) == 2:
            return _of_product(primitive, args, argnums, out, bars[0], tangents)
        if key not in self._pushes:
            self._pushes[key] = _linearized(primitive, args, kwargs, argnums, out, bars)
        dots = [dot if dot.ndim else float(dot) for dot in (*tangents, *moved) if dot is not None]
        return self._pushes[key](*dots)


def _of_product(primitive, args, argnums, out, bar, tangents):
    """A product is linear in each of its operands, and so is its rule."""
    dots = dict(zip(argnums, tangents))
    moved = tuple(dots.get(k, np.zeros(np.shape(x))) for k, x in enumerate(args))
    with np.errstate(all="ignore"):
        return primitive.vjp(bar, out, moved, {}, argnums)


def _linearized(primitive, args, kwargs, argnums, out, bars):
    """The rule as a map of tangents, of the arguments and of the results: what it does not read may be anything."""
    several = isinstance(out, tuple)
    outs = out if several else (out,)
    bars = tuple(None if bar is None else bar.copy()[()] for bar in bars)
    varied = [k for k, bar in enumerate(bars) if bar is not None]

    def rule(*moving):
        given, results = list(args), list(outs)
        for k, x in zip(argnums, moving):
            given[k] = x
        for k, x in zip(varied, moving[len(argnums):]):
            results[k] = x
        with np.errstate(all="ignore"):
            back = traced(primitive, primitive.vjp, bars if several else bars[0],
                          tuple(results) if several else results[0], tuple(given), kwargs, argnums)
        return [0.0 if bar is None else bar for bar in back]

    points = [_of_numpy(x) for x in (*(args[k] for k in argnums), *(outs[k] for k in varied))]
    with np.errstate(all="ignore"):
        run = Run(rule, rule, Choice(tuple(range(len(points))), None), points, {}, False, ("auto", None))
    return lambda *tangents: run.push(tangents)


def _of_numpy(x):
    """A number as one of NumPy's, whose arithmetic knows infinities; what a tape has not kept as its own array."""
    if not isinstance(x, np.ndarray):
        return np.float64(x)
    return np.ascontiguousarray(x) if 0 in x.strides else x
