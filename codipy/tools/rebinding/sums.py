# SPDX-License-Identifier: Apache-2.0
"""Python's `sum` in rebound code: compensated where the Python that runs compensates sums of floats, from 3.12 on."""

from __future__ import annotations

import builtins
import math
import struct

from codipy.active import Real
from codipy.active.scalar.kinds import type_of
from codipy.tape import active_tape

__all__ = ["COMPENSATED", "compensated_sum"]

COMPENSATED = builtins.sum([1e16, 1.0, -1e16]) == 1.0
_BITS = 8 * struct.calcsize("l") - 1
_LONG = range(-(2**_BITS), 2**_BITS)  # the integers that are added to a sum of floats without an end to it


def _is_float(x):
    """Whether x is, in the plain run, exactly a float: those of NumPy are added plainly."""
    return type(x) is float or (type(x) is Real and type_of(x) is float)


def _value(x):
    return x.value if type(x) is Real else x


def compensated_sum(iterable, /, start=0):
    """``sum`` of Python 3.12: the running error of a sum of floats is added at its end.

    A list without a Real that stands for a float is Python's own affair. Else the steps are those of Python's `sum`.
    The error has no derivative, since it is that of rounding: a constant is added, but on a tape that computes values
    again, which records how it comes about.
    """
    items = list(iterable)
    if not any(type(x) is Real and type_of(x) is float for x in (start, *items)):
        return builtins.sum(items, start)
    rest, total = iter(items), start
    if type(start) is int:  # floats that come after an integer which C does not hold are added plainly
        if start not in _LONG:
            return _plainly(total, rest)
        for x in rest:
            total = total + x
            if type(total) is not int:
                break
            if total not in _LONG or x not in _LONG:
                return _plainly(total, rest)
    return _compensated(total, rest) if _is_float(total) else _plainly(total, rest)


def _plainly(total, rest):
    for x in rest:
        total = total + x
    return total


def _compensated(total, rest):
    tape = active_tape()
    exact = tape is not None and tape.keeps_values
    error = 0.0
    for x in rest:
        if _is_float(x):
            new = total + x
            a, b, c = (total, x, new) if exact else (_value(total), _value(x), _value(new))
            error = error + ((a - c) + b if abs(a) >= abs(b) else (b - c) + a)
            total = new
        elif isinstance(x, int) and x in _LONG:
            total = total + float(x)
        else:
            return _plainly(_corrected(total, error, exact) + x, rest)
    return _corrected(total, error, exact)


def _corrected(total, error, exact):
    if not error or not math.isfinite(_value(error)):
        return total
    return total + error
