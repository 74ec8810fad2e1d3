# SPDX-License-Identifier: Apache-2.0
"""The ufuncs of NumPy that the operations table has, that give what is passive, and that active arrays cannot enter."""

from __future__ import annotations

import numpy as np

from codipy.operations import TABLE

__all__ = ["PASSIVE", "REFUSED", "STEPS", "TABLE_NAMES"]

TABLE_NAMES = {getattr(np, name): row.name for row in TABLE for name in row.numpy if hasattr(np, name)}
del TABLE_NAMES[np.float_power]  # of other bits than power

# Truth, steps, and whole numbers.
PASSIVE = {
    getattr(np, name)
    for name in [
        "floor", "ceil", "trunc", "rint", "sign", "signbit", "isnan", "isfinite", "isinf", "floor_divide",
        "spacing", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
        "logical_and", "logical_or", "logical_xor", "logical_not"
    ]
}  # fmt: skip

# Of these what was recorded may depend on; truth is a condition of the user's.
STEPS = {np.floor, np.ceil, np.trunc, np.rint, np.sign, np.floor_divide, np.spacing}

_INTEGERS = [
    "bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "gcd", "lcm"
]  # fmt: skip
REFUSED = dict.fromkeys(_INTEGERS, "only whole numbers have it: take `codipy.value(x).astype(...)`")
REFUSED |= {"isnat": "only dates have it"}
