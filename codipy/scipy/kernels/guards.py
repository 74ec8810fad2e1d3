# SPDX-License-Identifier: Apache-2.0
"""Methods of SciPy's sparse matrices that leave out zeros: what looks at their arguments before they run, rebuilt."""

from __future__ import annotations

import functools

import numpy as np
from scipy.sparse import _base, _bsr, _compressed, _coo, _data, _dia, _dok, _lil
from scipy.sparse import _csparsetools as _compiled

from codipy.active.array import Array, Real, is_complex_variable
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import fillable, holds_variables, value_tree
from codipy.numpy.sparse import from_left, from_right
from codipy.scipy.kernels.calls import active_at, demand_no_loss
from codipy.scipy.kernels.lists import demand_no_zero, insert
from codipy.scipy.kernels.whole import plain_copy, structure_of

__all__ = ["GUARDS"]

_OF_ROWS = {Real, int, float, bool, np.float64}


def _of_dense(rebuilt):
    """A sparse matrix of a dense one."""

    @functools.wraps(rebuilt)
    def method(self, arg1, *args, **kwargs):
        if not isinstance(arg1, tuple) and not hasattr(arg1, "tocsr") and holds_variables((arg1,)):
            dense = arg1 = _of_rows(arg1)
            dense = dense if is_complex_variable(dense) else as_numbers(dense)
            if hasattr(type(dense), "is_active") and np.any(active_at(dense)[dense.value == 0.0]):
                raise ActiveError(refusal(
                    "a scipy.sparse matrix of a dense one leaves out an element that is exactly 0, which",
                    "say which elements it has, `i, j = np.nonzero(codipy.value(a))` and "
                    "scipy.sparse.csr_array((a[i, j], (i, j)), shape=a.shape)"))  # fmt: skip
        return rebuilt(self, arg1, *args, **kwargs)

    return method


def _of_rows(rows):
    """Lists of Reals and numbers as an array in which the numbers are passive; anything else as it is."""
    is_table = isinstance(rows, list) and all(isinstance(row, (list, tuple)) for row in rows)
    if not is_table or not holds_variables((rows,)) or not all({*map(type, row)} <= _OF_ROWS for row in rows):
        return rows
    found = fillable(np.array(value_tree(rows), np.float64))
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            if type(x) is Real:
                found[i, j] = x
    return found


def _of_lists(rebuilt):
    """A sparse matrix of what may be a dense one, of which SciPy makes an array first."""

    @functools.wraps(rebuilt)
    def method(self, arg1, *args, **kwargs):
        return rebuilt(self, _of_rows(arg1), *args, **kwargs)

    return method


def _setting(rebuilt):
    """``A[...] = x`` of a dictionary of keys."""

    @functools.wraps(rebuilt)
    def method(self, *args):
        if self.format == "dok":      # the others keep zeros, or are asked elsewhere
            demand_no_zero("A[i, j] = x of a DOK matrix", args[-1])
        return rebuilt(self, *args)

    return method


def _setting_lists(rebuilt):
    """``A[i, j] = x`` of rows in lists: SciPy makes a number of the matrix's dtype of x first."""

    @functools.wraps(rebuilt)
    def method(self, key, x):
        is_element = isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, (int, np.integer)) for k in key)
        is_dropped = is_complex_variable(x) and self.dtype.kind != "c"
        if not is_element or np.ndim(x) or not holds_variables((x,)) or is_dropped:
            return rebuilt(self, key, x)
        return insert(*self.shape, self.rows, self.data, *key, x)

    return method


def _element(rebuilt):
    """``A[i, j]`` of rows in lists."""

    @functools.wraps(rebuilt)
    def method(self, row, col):
        found = _compiled.lil_get1(*self.shape, self.rows, self.data, row, col)
        return found if type(found) is Real or is_complex_variable(found) else rebuilt(self, row, col)

    return method


def _of_diagonals(rebuilt):
    """Diagonals to another format: SciPy up to 1.16 leaves zeros out in Python code, later ones in a loop."""

    @functools.wraps(rebuilt)
    def method(self, *args, **kwargs):
        if holds_variables((self.data,)):
            inside = structure_of(self).inside
            demand_no_loss("a conversion of diagonals", self.data,
                           (self.data.value == 0.0) & np.reshape(inside, self.data.shape))  # fmt: skip
        return rebuilt(self, *args, **kwargs)

    return method


def _extreme(rebuilt):
    @functools.wraps(rebuilt)
    def method(self, *args, **kwargs):
        if holds_variables((getattr(self, "data", None),)):
            raise ActiveError(refusal("A.max(axis) or A.min(axis) of scipy.sparse, which leaves out zeros,",
                                      "take A.toarray().max(axis)"))  # fmt: skip
        return rebuilt(self, *args, **kwargs)

    return method


def _product(multiply):
    """A product with a passive matrix is linear: it is recorded without the matrix's values."""

    def guard(rebuilt):
        @functools.wraps(rebuilt)
        def method(self, other):
            is_array = type(other) is Array or is_complex_variable(other) and np.ndim(other) > 0
            is_linear = is_array and self.ndim == 2 and other.ndim in (1, 2) and holds_variables((other,))
            if is_linear and self.format in _LINEAR and not holds_variables((self.data,)):
                return multiply(plain_copy(self), other)
            return rebuilt(self, other)

        return method

    return guard


_LINEAR = ("csr", "csc", "coo", "bsr", "dia")
GUARDS = [
    (_base._spbase._matmul_dispatch, _product(from_left)),
    (_base._spbase._rmatmul_dispatch, _product(lambda matrix, x: from_right(x, matrix))),
    (_lil._lil_base.__setitem__, _setting_lists),
    (_lil._lil_base._get_intXint, _element),
    (_coo._coo_base.__init__, _of_dense),
    *((kind.__init__, _of_lists) for kind in (_bsr._bsr_base, _compressed._cs_matrix, _dia._dia_base, _dok._dok_base,
                                              _lil._lil_base)),
    (_dok._dok_base._set_intXint, _setting),
    (_dok._dok_base._set_arrayXarray, _setting),
    (_dok._dok_base.__setitem__, _setting),
    (_data._minmax_mixin._min_or_max_axis, _extreme),
    *((method, _of_diagonals) for name, method in vars(_dia._dia_base).items() if name in ("tocsc", "tocoo")),
]
