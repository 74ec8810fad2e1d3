# SPDX-License-Identifier: Apache-2.0
"""What active complex numbers and arrays share: functions that stand above them, and comparisons of values."""

from __future__ import annotations

import operator

from codipy.active.doors import door

__all__ = ["ComparedByValue", "doors"]

_DOORS: list = []


def doors():
    """The module of what works on both, which needs them."""
    if not _DOORS:
        _DOORS.append(door("complexes")())
    return _DOORS[0]


class ComparedByValue:
    """Comparisons, which depend on values alone and are passive."""

    __slots__ = ()

    def __eq__(self, other):
        return operator.eq(self.value, doors().plain(other))

    def __ne__(self, other):
        return operator.ne(self.value, doors().plain(other))

    def __lt__(self, other):
        return operator.lt(self.value, doors().plain(other))

    def __le__(self, other):
        return operator.le(self.value, doors().plain(other))

    def __gt__(self, other):
        return operator.gt(self.value, doors().plain(other))

    def __ge__(self, other):
        return operator.ge(self.value, doors().plain(other))
