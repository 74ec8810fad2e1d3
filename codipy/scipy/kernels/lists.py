# SPDX-License-Identifier: Apache-2.0
"""Loops over the rows of LIL, which are lists of numbers: these may be Reals.

SciPy leaves out what is set to zero.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from scipy.sparse import _csparsetools as _compiled

from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.arguments import holds_variables
from codipy.numpy.modules import module_for
from codipy.scipy.calls import numbers
from codipy.scipy.kernels.dense import is_ours

__all__ = ["FUNCTIONS", "demand_no_zero", "insert"]


def demand_no_zero(what, value):
    """Refuse to set an element to an active zero, which SciPy leaves out."""
    if holds_variables((value,)) and not np.all(numbers(value)):
        raise ActiveError(refusal(f"{what}, which leaves out what is set to exactly 0,",
                                  "make the matrix of all values at once, scipy.sparse.coo_array((data, (i, j))), "
                                  "which keeps it, or set codipy.value(x) where it is 0 whatever the inputs are"))


def insert(high, wide, rows, values, i, j, x):
    """Set one element."""
    if not holds_variables((x,)) and not is_ours(x):
        return _compiled.lil_insert(high, wide, rows, values, i, j, x)
    demand_no_zero("A[i, j] = x of a LIL matrix", x)
    plain = np.asarray(numbers(x))[()].item()
    if not holds_variables((x,)):
        return _compiled.lil_insert(high, wide, rows, values, i, j, plain)
    _compiled.lil_insert(high, wide, rows, values, i, j, plain)  # where SciPy puts it
    i, j = int(i) % high, int(j) % wide
    values[i][bisect_left(rows[i], j)] = x[()] if is_ours(x) else x
    return None


def _fancy_set(high, wide, rows, values, i, j, x):
    if not is_ours(x):
        return _compiled.lil_fancy_set(high, wide, rows, values, i, j, x)
    for place in np.ndindex(x.shape):
        insert(high, wide, rows, values, i[place], j[place], x[place])
    return None


def _flatten(lists, target):
    if not is_ours(target):
        return _compiled.lil_flatten_to_array(lists, target)
    items = [x for row in lists for x in row]
    if items:
        target[...] = np.array([numbers(x) for x in items])
        for k, x in enumerate(items):
            if holds_variables((x,)):
                target[k] = x
    return None


FUNCTIONS = {"lil_insert": insert, "lil_fancy_set": _fancy_set, "lil_flatten_to_array": _flatten}
_csparsetools = module_for(_compiled, FUNCTIONS)
