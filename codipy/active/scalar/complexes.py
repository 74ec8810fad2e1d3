# SPDX-License-Identifier: Apache-2.0
"""Complex numbers beside Reals and Arrays: a layer above has their classes."""

from __future__ import annotations

from codipy.active.doors import door

AS_COMPLEX = "write codipy.Complex(x, y) or x + 1j * y, or say codipy.value(x) where the derivative is not wanted"

__all__ = ["AS_COMPLEX", "combine", "power"]

_NAMES = frozenset({"add", "subtract", "multiply", "divide", "power"})


def combine(name, x, y):
    """An operator of a Real or Array and a complex number."""
    return door("complexes")().combine(name, x, y) if name in _NAMES else NotImplemented


def power(x, y):
    """``x ** y`` where that is complex: of a negative number of Python's and one that is not integral."""
    made = door("complexes")()
    return made.combine("power", *(made.number(complex, z) for z in (x, y)))
