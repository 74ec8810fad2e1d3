# SPDX-License-Identifier: Apache-2.0
"""Complex numbers beside Reals and Arrays: plain results while nothing is active, and one refusal else."""

from __future__ import annotations

import operator

from codipy.active.recordings import status
from codipy.errors import ActiveError

NO_COMPLEX = (
    "complex numbers cannot be active: compute with the real and the imaginary part, as two real numbers or arrays, or "
    "say codipy.value(x) where the derivative is not wanted"
)

__all__ = ["NO_COMPLEX", "combine", "refuse_complex"]

_OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow,
}  # fmt: skip


def refuse_complex(what):
    """Raise for what would make a complex number of an active one."""
    raise ActiveError(f"{what}: {NO_COMPLEX}")


def combine(name, x, y):
    """An operator of a Real or Array and a complex number."""
    function = _OPERATORS.get(name)
    if function is None:
        return NotImplemented
    for operand in (x, y):
        if getattr(operand, "is_active", False) and not status.may_be_plain(operand):
            refuse_complex(f"{name} of an active {type(operand).__name__} and a complex number")
    return function(_plain(x), _plain(y))


def _plain(operand):
    return operand.value if hasattr(operand, "is_active") else operand
