# SPDX-License-Identifier: Apache-2.0
"""Functions with a complex derivative whose rules for real arrays say it already.

Such a rule gives the transposed Jacobian times g, and reads its arguments as numbers, not as real ones. Then the
cotangent of z is the conjugate of what the rule makes of the conjugate of g; tangents are the rule's own. A product
that takes the conjugate of its first argument is that of the conjugate argument.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codipy.complexes.record import recorded_once, rule
from codipy.numpy import registry
from codipy.numpy.names import of_name
from codipy.numpy.primitive import Primitive

__all__ = ["FUNCTIONS", "UFUNCS", "lift", "recorded_as_lifted"]


def _conjugate(x):
    return x if x is None else tuple(map(_conjugate, x)) if isinstance(x, tuple) else np.conjugate(x)


def lifted_rule(name, primitive, conjugated=()):
    """The primitive on complex arrays.

    Of the arguments in `conjugated`, which may be a function of the options, the function takes the conjugate.
    """

    def vjp(g, out, args, kwargs, argnums):
        others = conjugated(kwargs) if callable(conjugated) else conjugated
        turned = [np.conjugate(x) if k in others else x for k, x in enumerate(args)]
        bars = primitive.vjp(_conjugate(g), out, turned, kwargs, argnums)
        return [bar if k in others else _conjugate(bar) for k, bar in zip(argnums, bars)]

    return Primitive(name, primitive.forward, vjp, primitive.jvp, keep_args=primitive.keep_args,
                     keep_out=primitive.keep_out, located=primitive.located)  # fmt: skip


def lift(name, primitive, conjugated=(), results="c"):
    """Enter the rule on complex arrays; see `lifted_rule`."""
    return rule(lifted_rule(name, primitive, conjugated), results)


def recorded_as_lifted(primitive, args, kwargs=None):
    """Record a primitive with a complex derivative that was made for this call."""
    return recorded_once(lifted_rule(primitive.name, primitive), args, kwargs)


def _sliding(name, primitive, conjugated=()):
    """convolve and correlate, whose rules are made of one another; of complex arrays correlate takes the conjugate."""

    def vjp(g, out, args, kwargs, argnums):
        bars = primitive.vjp(g, out, args, kwargs, argnums)
        return [np.conjugate(bar) if k in conjugated else bar for k, bar in zip(argnums, bars)]

    rule(Primitive(name, primitive.forward, vjp, primitive.jvp, keep_out=False))


def _coefficients(zeros):
    return np.poly(zeros) + 0j  # which NumPy gives as real numbers where zeros are conjugate


_CONJUGATED = {"vdot": (0,), "vecdot": (0,), "vecmat": (0,)}
_NAMES = [
    "add.accumulate",
    "add.reduce",
    "add.reduceat",
    "cross",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "dot",
    "ediff1d",
    "einsum",
    "geomspace",
    "inner",
    "interp",
    "kron",
    "linalg.cross",
    "linalg.det",
    "linalg.inv",
    "linalg.matrix_power",
    "linalg.solve",
    "linalg.tensorinv",
    "linalg.trace",
    "logspace",
    "matmul",
    "matvec",
    "mean",
    "multiply.accumulate",
    "multiply.reduce",
    "multiply.reduceat",
    "nancumprod",
    "nancumsum",
    "nanmean",
    "nanprod",
    "nansum",
    "outer",
    "prod",
    "sinc",
    "subtract.accumulate",
    "subtract.reduce",
    "sum",
    "vander",
    "vdot",
    "vecdot",
    "vecmat",
]
UFUNCS = frozenset(filter(of_name, ("matmul", "matvec", "vecdot", "vecmat")))

for _name in filter(of_name, _NAMES):
    lift(_name, registry.PRIMITIVES[_name], _CONJUGATED.get(_name, ()))
_ARRAYS = ["linalg.tensorsolve", "tensordot"]  # of no dimensions too
for _name in _ARRAYS:
    lift(_name, registry.PRIMITIVES[_name], results="a")
lift("linspace", registry.PRIMITIVES["linspace"], results=lambda options: "ac" if options["retstep"] else "a")
lift("average", registry.PRIMITIVES["average"], results=lambda options: "cc" if options.get("returned") else "c")
lift("poly", replace(registry.PRIMITIVES["poly"], forward=_coefficients))
_sliding("convolve", registry.PRIMITIVES["convolve"])
_sliding("correlate", registry.PRIMITIVES["correlate"], (1,))

FUNCTIONS = frozenset(
    name
    for name in filter(of_name, [*_NAMES, *_ARRAYS, "average", "convolve", "correlate"])
    if name not in UFUNCS and not name.startswith(("add.", "multiply.", "subtract."))
)
