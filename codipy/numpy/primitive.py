# SPDX-License-Identifier: Apache-2.0
"""What a tape must know of an operation that is not elementwise: its value and its derivative rules."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

__all__ = ["Primitive"]


@dataclass(frozen=True, slots=True)
class Primitive:
    """An opaque operation: NumPy computes the value, two rules the derivatives.

    Rules see plain arrays, to which they do not write, and use NumPy functions only. A zero cotangent propagates
    nothing, also where the partial is infinite. `codipy.active.array.call(primitive, args)` records it.

    Parameters
    ----------
    name : str
        What messages and statistics call it.
    forward : callable
        ``forward(*args, **kwargs)`` returns an array, a number, or a tuple of them. What is a view of an argument is
        that view of the variable, and no rule is asked.
    vjp : callable
        ``vjp(g, out, args, kwargs, argnums)`` returns one cotangent for each of `argnums`, of the shape of that
        argument, or None where it is zero. `g` has the shape of `out`; of several outputs it is a tuple, with None
        for outputs that have no derivative.
    jvp : callable or None
        ``jvp(tangents, out, args, kwargs)`` returns the tangent of `out`; `tangents` maps positions to arrays.
    keep_args, keep_out : bool
        Whether the rules read the values of the arguments and of the result. If not, the tape does not keep them, and
        rules get arrays of zeros of the same shape that take no memory.
    places : callable or None
        ``places(out, *args, **kwargs)`` says which elements the result is made of, as flat positions in the order of
        C in the first argument: each takes an equal share of the cotangent that stands where it does in the result, or
        of the only one. None: `vjp` knows. It is asked first where the first argument alone is active.
    product : bool
        Whether it is the product of its two arguments where these are matrices or vectors, as `numpy.matmul` has it: of
        small ones the sweep then adds the cotangents, which are products as well, without `vjp`.
    gemm : callable or None
        Of a product: ``gemm()`` is the address of ``cblas_dgemm`` for integers of 64 bits, or 0. It is asked once.
    into : callable or None
        ``into(g, out, args, kwargs, argnum, bar)`` writes the cotangent of one argument into `bar`, an array of its
        shape, or does nothing and returns False. It is asked before `vjp` for large arguments whose adjoints are zero.
    located : bool
        Whether the rules may find that there is no derivative, which depends on values: each record then knows the line
        of its call, which the error names.
    vjp_batch, jvp_batch : callable or None
        The rules for several directions at once, which are asked first where a sweep carries them: as `vjp` and `jvp`,
        but each cotangent and tangent, taken and returned, has one axis more, the first, for the directions. If one
        returns None, the directions are left to the other rule, one by one. None: likewise, always.
    pattern : callable or None
        ``pattern(args, kwargs, argnums, shapes)`` says for each of `argnums` on which of its elements those of the
        result may depend, as one of `codipy.numpy.links`, or a list of these for several results, of the given shapes;
        None for all on all, as without it. What it leaves out must have no derivative, whatever the values are.
    linear : tuple of int
        The arguments in each of which it is linear while the others stay. Where the rules read no values it is linear
        in all together.
    version : int
        What a tape file says beside the name: a file of another version is refused. Count it up when the rules ask for
        other arguments than before.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> from codipy.active.array import call
    >>> cube = codipy.Primitive(
    ...     "cube",
    ...     lambda x: x**3,
    ...     vjp=lambda g, out, args, kwargs, argnums: [3.0 * args[0] ** 2 * g],
    ...     jvp=lambda tangents, out, args, kwargs: 3.0 * args[0] ** 2 * tangents[0],
    ...     keep_out=False,
    ... )
    >>> codipy.grad(lambda x: call(cube, (x,)).sum())(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """

    name: str
    forward: Callable
    vjp: Callable
    jvp: Callable | None = None
    keep_args: bool = True
    keep_out: bool = True
    places: Callable | None = None
    product: bool = False
    gemm: Callable | None = None
    into: Callable | None = None
    located: bool = False
    vjp_batch: Callable | None = None
    jvp_batch: Callable | None = None
    pattern: Callable | None = None
    linear: tuple = ()
    version: int = 1

    def at_caller(self):
        """The same primitive for one call, whose errors name the line that called."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
            frame = frame.f_back
        place = frame.f_code.co_filename, frame.f_lineno
        rules = {name: getattr(self, name) for name in ("vjp", "jvp", "vjp_batch", "jvp_batch")}
        return replace(self, **{name: rule and partial(_at, place, rule) for name, rule in rules.items()})


_OURS = ("codipy", "numpy")


def _at(place, rule, *args):
    """Run a rule; an error of NumPy's says where the operation was called."""
    try:
        return rule(*args)
    except np.linalg.LinAlgError as error:
        line = linecache.getline(*place).strip()
        raise type(error)(f"{error} [called in {place[0]}, line {place[1]}{': ' if line else ''}{line}]") from error
