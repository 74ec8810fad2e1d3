# SPDX-License-Identifier: Apache-2.0
"""Where the values of a sparse matrix stand: rows and columns in the order of its data, and what stands where."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from codipy.scipy.kernels.frozen import frozen

__all__ = ["Blocks", "Compressed", "Coordinates", "Diagonals", "Filled", "located", "meetings"]


class _Structure:
    """A sparse matrix without its values.

    Attributes
    ----------
    shape : tuple of int
    rows, columns : ndarray of int
        For each value, in the order of the data.
    inside : ndarray of bool, or None
        Which values are in the matrix; None: all of them. SciPy's diagonals reach over its edges.
    """

    inside = None

    def matrix(self, data):
        """SciPy's sparse array of plain values."""
        raise NotImplementedError

    def keys(self):
        """A number for each place, in the order of C; -1 outside."""
        found = self.rows.astype(np.int64) * self.shape[1] + self.columns
        return found if self.inside is None else np.where(self.inside, found, -1)


class Compressed(_Structure):
    """CSR, or CSC where `by_rows` is False; `shape` is that of the matrix."""

    def __init__(self, shape, indptr, indices, by_rows=True):
        self.shape, self._by_rows = (int(shape[0]), int(shape[1])), by_rows
        self.indptr, self.indices = frozen(indptr), frozen(indices)[: indptr[-1]]

    def _lines(self):
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @property
    def rows(self):
        return self._lines() if self._by_rows else self.indices

    @property
    def columns(self):
        return self.indices if self._by_rows else self._lines()

    def matrix(self, data):
        kind = scipy.sparse.csr_array if self._by_rows else scipy.sparse.csc_array
        return kind((data, self.indices, self.indptr), shape=self.shape)


class Coordinates(_Structure):
    """COO."""

    def __init__(self, shape, rows, columns):
        self.shape = int(shape[0]), int(shape[1])
        self.rows, self.columns = frozen(rows), frozen(columns)

    def matrix(self, data):
        return scipy.sparse.coo_array((data, (self.rows, self.columns)), shape=self.shape)


class Blocks(_Structure):
    """BSR, with blocks of R rows and C columns."""

    def __init__(self, shape, blocksize, indptr, indices):
        self.shape = int(shape[0]), int(shape[1])
        self._size = int(blocksize[0]), int(blocksize[1])
        self.indptr, self.indices = frozen(indptr), frozen(indices)[: indptr[-1]]

    def _of_blocks(self, first, steps):
        return (first[:, None, None] + np.broadcast_to(steps, (len(first), *self._size))).ravel()

    @property
    def rows(self):
        lines = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        return self._of_blocks(lines * self._size[0], np.arange(self._size[0])[:, None])

    @property
    def columns(self):
        return self._of_blocks(self.indices.astype(np.int64) * self._size[1], np.arange(self._size[1])[None])

    def matrix(self, data):
        blocks = np.reshape(data, (-1, *self._size))
        return scipy.sparse.bsr_array((blocks, self.indices, self.indptr), shape=self.shape)


class Diagonals(_Structure):
    """DIA, of diagonals of `length` values."""

    def __init__(self, shape, offsets, length):
        self.shape, self._length = (int(shape[0]), int(shape[1])), int(length)
        self.offsets = frozen(offsets)

    @property
    def columns(self):
        return np.tile(np.arange(self._length), len(self.offsets))

    @property
    def rows(self):
        return self.columns - np.repeat(self.offsets.astype(np.int64), self._length)

    @property
    def inside(self):
        rows = self.rows
        return (rows >= 0) & (rows < self.shape[0]) & (self.columns < self.shape[1])

    def matrix(self, data):
        diagonals = np.reshape(data, (len(self.offsets), self._length))
        return scipy.sparse.dia_array((diagonals, self.offsets), shape=self.shape)


class Filled(_Structure):
    """An array, of which all elements are values, in this order: products with it are those of its lines in memory."""

    def __init__(self, shape, order):
        self.shape, self._order = (int(shape[0]), int(shape[1])), order

    @property
    def rows(self):
        return np.indices(self.shape)[0].ravel(self._order)

    @property
    def columns(self):
        return np.indices(self.shape)[1].ravel(self._order)

    def matrix(self, data):
        return np.reshape(data, self.shape, self._order)


def located(wanted, keys):
    """For each key that is wanted its position in `keys`, which are all different; -1 where it is not among them."""
    if not len(keys):
        return np.full(len(wanted), -1)
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    found = order[at]
    return np.where((keys[found] == wanted) & (wanted >= 0), found, -1)


def meetings(left, right):
    """All pairs (i, j) with ``left[i] == right[j]``, by i and then by j."""
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    first = np.searchsorted(ranked, left, "left")
    count = np.searchsorted(ranked, left, "right") - first
    i = np.repeat(np.arange(len(left)), count)
    within = np.arange(len(i)) - np.repeat(np.cumsum(count) - count, count)
    return i, order[np.repeat(first, count) + within]
