# SPDX-License-Identifier: Apache-2.0
"""Loops that move the values of a sparse matrix: they are run on numbers that say which value is which.

So SciPy itself says where each value goes, and the active ones are gathered as by NumPy's fancy indices. Zeros that
are left out on the way would take their derivatives along: that is refused.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import _sparsetools as loops

from codipy.errors import ActiveError
from codipy.numpy.arguments import holds_variables
from codipy.scipy.kernels.calls import demand_no_loss, on_values, write
from codipy.scipy.kernels.places import Diagonals

__all__ = ["LOOPS"]

# The places of the values that are moved and of those that are filled; sorting does both in place.
_MOVING = {
    "coo_tocsr": (5, 8),
    "csr_tocsc": (4, 7),
    "csr_tobsr": (6, 9),
    "bsr_tocsr": (6, 9),
    "bsr_transpose": (6, 9),
    "csr_row_index": (4, 6),
    "csr_row_slice": (5, 7),
    "csr_column_index2": (4, 6),
    "csr_hstack": (5, 8),
    "csr_sort_indices": (3, 3),
    "bsr_sort_indices": (6, 6),
}


def _numbered(x):
    return np.arange(1.0, x.size + 1.0).reshape(x.shape)


def _gathered(target, numbers, x):
    """Write the values that have these numbers, from 1 on; places with 0 are left as they are."""
    places = np.reshape(numbers, np.shape(target))
    flat = np.reshape(x, -1)
    if np.all(places):
        write(target, flat[places.astype(np.intp) - 1])
    elif np.any(places):
        at = np.nonzero(places)
        target[at] = flat[places[at].astype(np.intp) - 1]


def _moving(name, source, filled):
    original = getattr(loops, name)

    def loop(*args):
        x, target = args[source], args[filled]
        if not holds_variables((x,)):
            return on_values(original, args)
        numbers = list(args)
        numbers[source] = _numbered(x)
        numbers[filled] = numbers[source] if source == filled else np.zeros(np.shape(target))
        original(*numbers)
        if np.count_nonzero(numbers[filled]) != x.size and name == "csr_tobsr":
            raise ActiveError("scipy.sparse: entries at equal places would be added: say A.sum_duplicates() before "
                              "A.tobsr()")  # fmt: skip
        _gathered(target, numbers[filled], x)
        return None

    return loop


def _submatrix(*args):
    x = args[4]
    if not hasattr(type(x), "is_active"):
        return loops.get_csr_submatrix(*args)
    if not holds_variables((x,)):
        return on_values(loops.get_csr_submatrix, args)
    indptr, indices, numbers = loops.get_csr_submatrix(*args[:4], _numbered(x), *args[5:])
    return indptr, indices, x[numbers.astype(np.intp) - 1]


def _diagonals_to_rows(*args):
    rows, columns, _, length, offsets, x, order, target, indices, indptr = args
    if not holds_variables((x,)):
        return on_values(loops.dia_tocsr, args)
    is_lost = (x.value == 0.0) & Diagonals((rows, columns), offsets, length).inside.reshape(x.shape)
    demand_no_loss("the conversion of diagonals (scipy.sparse.diags, A.tocsr())", x, is_lost)
    numbers, found = np.where(x.value == 0.0, 0.0, _numbered(x)), np.zeros(np.shape(target))
    count = loops.dia_tocsr(*args[:5], numbers, order, found, indices, indptr)
    _gathered(target[:count], found[:count], x)
    return count


def _without_zeros(*args):
    x = args[4]
    if not holds_variables((x,)):
        return on_values(loops.csr_eliminate_zeros, args)
    is_zero = x.value == 0.0
    demand_no_loss("A.eliminate_zeros()", x, is_zero)
    numbers = np.where(is_zero, 0.0, _numbered(x))
    loops.csr_eliminate_zeros(*args[:4], numbers)
    count = int(args[2][-1])
    _gathered(x[:count], numbers[:count], x)
    return None


LOOPS = {name: _moving(name, *places) for name, places in _MOVING.items()}
LOOPS |= {"get_csr_submatrix": _submatrix, "dia_tocsr": _diagonals_to_rows, "csr_eliminate_zeros": _without_zeros}
