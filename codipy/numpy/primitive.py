# SPDX-License-Identifier: Apache-2.0
"""What a tape must know of an operation that is not elementwise: its value and its derivative rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Primitive"]


@dataclass(frozen=True)
class Primitive:
    """An opaque operation: NumPy computes the value, two rules the derivatives.

    Rules see plain arrays and use NumPy functions only. A zero cotangent propagates nothing, also where the partial is
    infinite.

    Attributes
    ----------
    name : str
        What messages and statistics call it.
    forward : callable
        ``forward(*args, **kwargs)`` returns an array, a number, or a tuple of them.
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
    """

    name: str
    forward: Callable
    vjp: Callable
    jvp: Callable | None = None
    keep_args: bool = True
    keep_out: bool = True
    places: Callable | None = None
