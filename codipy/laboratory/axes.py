# SPDX-License-Identifier: Apache-2.0
"""Round numbers on axes of bytes, seconds and counts, and how they are said."""
from __future__ import annotations

import math

__all__ = ["said", "ticks"]

_BYTES = ("B", "KB", "MB", "GB", "TB")


def ticks(low, high, axis, log):
    """Round numbers from low to high; of bytes they are round in the unit that they are said in.

    Parameters
    ----------
    low, high : float
    axis : str
        What it shows; a last word 'bytes' chooses the units.
    log : bool

    Returns
    -------
    list of float

    Examples
    --------
    >>> ticks(0, 4096, "used bytes", False)
    [0.0, 1024.0, 2048.0, 3072.0, 4096.0]
    >>> ticks(50, 20000, "size", True)
    [100.0, 1000.0, 10000.0]
    """
    is_bytes = axis.endswith("bytes")
    if log:
        decades = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        if is_bytes:
            decades = [1024.0**unit * 10.0**k for unit in range(len(_BYTES)) for k in range(3)]
        inside = [value for value in decades if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        return inside if len(inside) > 1 else [low, high]
    unit = 1024.0 ** _unit(max(abs(low), abs(high)), 1024) if is_bytes else 1.0
    span = (high - low) / unit
    step = 10.0 ** math.floor(math.log10(span / 3))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (factor * step) <= 6)
    first, last = math.ceil(low / unit / step - 1e-9), math.floor(high / unit / step + 1e-9)
    return [step * unit * k for k in range(first, last + 1)]


def said(value, axis):
    """A number as the axis has it.

    Examples
    --------
    >>> said(1536, "used bytes"), said(0.0015, "seconds"), said(250000, "size")
    ('1.5 KB', '1.5 ms', '250k')
    """
    if axis.endswith("bytes"):
        unit = _unit(abs(value), 1024)
        return f"{value / 1024**unit:.3g} {_BYTES[unit]}"
    if axis.endswith("seconds"):
        if value == 0:
            return "0"
        unit, factor = ("s", 1) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("us", 1e6)
        return f"{value * factor:.3g} {unit}"
    unit = _unit(abs(value), 1000) if abs(value) >= 1e5 else 0
    return f"{value / 1000**unit:.3g}" + ("", "k", "M", "G", "T")[unit] if unit else f"{value:.5g}"


def _unit(value, base):
    """How many times a number can be divided by the base."""
    return max(0, min(len(_BYTES) - 1, math.floor(math.log(value, base) + 1e-9))) if value >= 1 else 0
