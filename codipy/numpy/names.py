# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions by their names below `np.`: tables may name what only later versions of NumPy have."""

from __future__ import annotations

from functools import reduce

import numpy as np

__all__ = ["of_name", "there"]


def of_name(name):
    """What NumPy has of a name below `np.`, or None where this NumPy does not have it."""
    return reduce(lambda where, part: getattr(where, part, None), name.split("."), np)


def there(table):
    """The part of a table that is about names which this NumPy has."""
    return {name: value for name, value in table.items() if of_name(name) is not None}
