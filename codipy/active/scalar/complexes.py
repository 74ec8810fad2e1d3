# SPDX-License-Identifier: Apache-2.0
"""Complex numbers beside Reals and Arrays: a layer above has their classes."""

from __future__ import annotations

from codipy.active.doors import door

AS_COMPLEX = "write codipy.Complex(x, y) or x + 1j * y, or say codipy.value(x) where the derivative is not wanted"

__all__ = ["AS_COMPLEX", "combine"]

_NAMES = frozenset({"add", "subtract", "multiply", "divide", "power"})


def combine(name, x, y):
    """An operator of a Real or Array and a complex number."""
    return door("complexes")().combine(name, x, y) if name in _NAMES else NotImplemented
