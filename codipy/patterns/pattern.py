# SPDX-License-Identifier: Apache-2.0
"""Sparsity patterns and colourings, which can be kept, pickled and looked at."""

from __future__ import annotations

import math

import numpy as np

from codipy.data.plain import pooled_array
from codipy.patterns.colouring import distance_two, lone, star, transposed, weights

__all__ = ["Colouring", "Sparsity"]

_MOST = 2**31 - 1       # rows and columns: their numbers are int32
_KEPT = 1 << 22         # numbers of the seeds, or of what they give, that are looked at once


class Sparsity:
    """Which elements of a Jacobian or a Hessian can be other than zero.

    `codipy.sparsity` and `codipy.hessian_sparsity` find it; `Sparsity(matrix)` takes it from a matrix.

    Parameters
    ----------
    matrix : sparse array or matrix of SciPy, or array_like
        What is stored, be it zero, or what is not zero, is an element. A row for each number of the result, a column
        for each of the argument, in the order in which `codipy.jacobian` has them.
    symmetric : bool
        Whether it is that of a Hessian: it must be symmetric.

    Attributes
    ----------
    shape : tuple of int
    indptr, indices : ndarray of int
        The elements in compressed rows, sorted; no attribute can be set, nor written to.
    symmetric : bool

    Raises
    ------
    TypeError
        If it is an array of something else than numbers.
    ValueError
        If the matrix has not two axes, names an element twice or one outside of it, has row ends that do not fit its
        elements, or is not symmetric where that is said.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> pattern = codipy.sparsity(lambda x: x[1:] * x[:-1], np.ones(4))
    >>> pattern
    <Sparsity of 3 x 4, 6 elements>
    >>> pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    >>> pattern.colouring()
    <Colouring of the columns of 3 x 4, 2 colours>
    """

    def __init__(self, matrix, symmetric=False):
        if isinstance(matrix, Sparsity):
            shape, ends, indices = matrix.shape, matrix.indptr, matrix.indices
        elif hasattr(matrix, "tocsr"):
            if getattr(matrix, "format", "csr") != "csr" and hasattr(matrix, "check_format"):
                matrix.check_format(full_check=True)     # SciPy converts without a look
            matrix = matrix.tocsr()
            shape, ends, indices = matrix.shape, matrix.indptr, matrix.indices
            if len(ends) and 0 <= ends[-1] <= len(indices):
                indices = indices[:ends[-1]]             # it may keep room for more
        else:
            matrix = np.asarray(matrix)
            if matrix.dtype.kind not in "biufc":
                raise TypeError(f"a sparsity pattern is a matrix of numbers or bools, got dtype {matrix.dtype}")
            if matrix.ndim != 2:
                raise ValueError(f"a sparsity pattern has rows and columns, got an array of shape {matrix.shape}")
            rows, indices = np.nonzero(matrix)
            shape, ends = matrix.shape, np.searchsorted(rows, np.arange(matrix.shape[0] + 1))
        self._set(shape, ends, indices, symmetric)

    def _set(self, shape, ends, indices, symmetric):
        self._shape = shape = _checked_shape(shape)
        ends, indices = _checked_rows(shape, ends, indices)
        by_columns = transposed(ends, indices, shape[1])
        self._indptr, self._indices = map(frozen, transposed(*by_columns, shape[0]))
        again = self.indices[1:] == self.indices[:-1]
        if np.any(again & (np.searchsorted(self.indptr, np.arange(1, len(indices)), "right") ==
                           np.searchsorted(self.indptr, np.arange(0, len(indices) - 1), "right"))):
            raise ValueError("a sparsity pattern names each element once: call matrix.sum_duplicates() first")
        self._symmetric = bool(symmetric)
        if symmetric and not (np.array_equal(by_columns[0], self.indptr) and
                              np.array_equal(by_columns[1], self.indices)):
            raise ValueError("the sparsity pattern of a Hessian is symmetric, and this one is not")
        self._colourings, self._template = {}, None

    @classmethod
    def _of(cls, shape, ends, indices, symmetric=False):
        new = cls.__new__(cls)
        new._set(shape, ends, indices, symmetric)
        return new

    @property
    def shape(self):
        """The numbers of rows and columns."""
        return self._shape

    @property
    def indptr(self):
        """Where each row begins and ends among the elements."""
        return self._indptr

    @property
    def indices(self):
        """The column of each element."""
        return self._indices

    @property
    def symmetric(self):
        """Whether it is the pattern of a Hessian."""
        return self._symmetric

    @property
    def nnz(self):
        """The number of elements."""
        return len(self.indices)

    @property
    def T(self):
        """The pattern of the transpose."""
        ends, rows = transposed(self.indptr, self.indices, self.shape[1])
        return Sparsity._of(self.shape[::-1], ends, rows, self.symmetric)

    def rows(self):
        """The row of each element."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.indptr))

    def toarray(self):
        """An array of bools."""
        found = np.zeros(self.shape, bool)
        found[self.rows(), self.indices] = True
        return found

    def tocsr(self):
        """A sparse array of SciPy, of bools."""
        return csr(np.ones(self.nnz, bool), self)

    def __or__(self, other):
        """The pattern of what has the elements of both: that of a function at several points."""
        if not isinstance(other, Sparsity):
            return NotImplemented
        if self.shape != other.shape:
            raise ValueError(f"patterns of {self.shape} and {other.shape} cannot be joined")
        keys = np.union1d(self._keys(), other._keys())
        rows, columns = np.divmod(keys, max(self.shape[1], 1))
        ends = np.searchsorted(rows, np.arange(self.shape[0] + 1))
        return Sparsity._of(self.shape, ends, columns, self.symmetric and other.symmetric)

    def missing(self, other):
        """The elements that `other` has and this pattern does not, as an array of rows and columns."""
        keys = np.setdiff1d(other._keys(), self._keys())
        return np.stack(np.divmod(keys, max(self.shape[1], 1)), axis=1)

    def _keys(self):
        return self.rows().astype(np.int64) * self.shape[1] + self.indices

    def __eq__(self, other):
        if not isinstance(other, Sparsity):
            return NotImplemented
        return (self.shape == other.shape and self.symmetric == other.symmetric and
                np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        kind = "symmetric " if self.symmetric else ""
        return f"<Sparsity of {kind}{self.shape[0]} x {self.shape[1]}, {self.nnz} elements>"

    def __getstate__(self):
        return self.shape, self.indptr, self.indices, self.symmetric

    def __setstate__(self, state):
        if not isinstance(state, tuple) or len(state) != 4:
            raise ValueError("this is not the state of a sparsity pattern")
        self._set(*state)

    def colouring(self, by="auto"):
        """Groups of columns, or of rows, that one direction each is enough for; found once and kept.

        Parameters
        ----------
        by : str
            ``"columns"``: no two of one colour share a row (for sweeps forward); ``"rows"``: no two share a column (for
            sweeps in reverse); ``"star"``: of a symmetric pattern, each element can be read off by its row or by its
            column; ``"auto"``: star for symmetric patterns, else columns or rows, what needs fewer colours.

        Returns
        -------
        Colouring
        """
        if by not in ("auto", "columns", "rows", "star"):
            raise ValueError(f"unknown colouring {by!r}: choose one of 'auto', 'columns', 'rows', 'star'")
        if by == "star" and not self.symmetric:
            raise ValueError("a star colouring is one of a symmetric pattern: say Sparsity(matrix, symmetric=True)")
        if by not in self._colourings:
            self._colourings[by] = (
                self._auto() if by == "auto" else Colouring._of(self, by, *_star(self)) if by == "star" else
                Colouring._of(self, by, *_one_sided(self if by == "columns" else self.T, None)))
        return self._colourings[by]

    def _auto(self):
        if self.symmetric:
            return self.colouring("star")
        # A full row needs a colour for each column: the side with the lower bound goes first.
        counts = {"columns": np.diff(self.indptr).max(initial=0),
                  "rows": np.bincount(self.indices, minlength=1).max(initial=0)}
        first, second = sorted(counts, key=counts.get)
        found = self.colouring(first)
        if counts[second] < found.count:
            other = _one_sided(self if second == "columns" else self.T, found.count - 1)
            if other is not None:
                self._colourings[second] = found = Colouring._of(self, second, *other)
        return found

    def plot(self, ax=None, **options):
        """Draw the elements; needs matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Where; default is a new figure.
        **options
            For ``ax.scatter``.

        Returns
        -------
        Axes
        """
        return _drawn(self, ax, {"color": "black", **options})


class Colouring:
    """Groups of the columns or rows of a pattern; `Sparsity.colouring` makes it.

    Attributes
    ----------
    pattern : Sparsity
        What it is a colouring of.
    by : str
        ``"columns"``, ``"rows"`` or ``"star"``.
    colours : ndarray of int
        The colour of each column, or row, from 0 on; no attribute can be set, nor written to.
    count : int
        The number of colours: so many directions show all elements.
    """

    @classmethod
    def _of(cls, pattern, by, colours, count):
        new = cls.__new__(cls)
        new._set(pattern, by, colours, count)
        return new

    def _set(self, pattern, by, colours, count):
        self._pattern, self._by, self._colours, self._count = pattern, by, frozen(colours), int(count)
        self._alone = self._direction = self._seeds = self._unused = self._spread = None

    @property
    def pattern(self):
        """What it is a colouring of."""
        return self._pattern

    @property
    def by(self):
        """``"columns"``, ``"rows"`` or ``"star"``."""
        return self._by

    @property
    def colours(self):
        """The colour of each column, or row."""
        return self._colours

    @property
    def count(self):
        """The number of colours."""
        return self._count

    def __repr__(self):
        kind = "stars" if self.by == "star" else f"the {self.by}"
        return f"<Colouring of {kind} of {self.pattern.shape[0]} x {self.pattern.shape[1]}, {self.count} colours>"

    def __eq__(self, other):
        if not isinstance(other, Colouring):
            return NotImplemented
        return self.by == other.by and self.pattern == other.pattern and np.array_equal(self.colours, other.colours)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self):
        return self.pattern, self.by, self.colours, self.count

    def __setstate__(self, state):
        if not isinstance(state, tuple) or len(state) != 4 or not isinstance(state[0], Sparsity):
            raise ValueError("this is not the state of a colouring")
        self._set(state[0], state[1], _checked_colours(*state), state[3])

    def alone(self):
        """Of stars, for each element whether it is read off by its row, as its colour is alone there; else None."""
        if self._alone is None and self.by == "star":
            self._alone = lone(self.pattern.indptr, self.pattern.indices, self.colours, self.count)
        return self._alone

    def direction(self):
        """Numbers between 1 and 2, the same each time, that tell a matrix from one with other elements."""
        if self._direction is None:
            self._direction = np.random.default_rng(len(self.colours)).uniform(1.0, 2.0, len(self.colours))
        return self._direction

    def seeds(self, start, stop):
        """A row for each colour from `start` on, 1 for what has it; that after the last is `direction`."""
        n = len(self.colours)
        if self._seeds is None and (self.count + 1) * n <= _KEPT:
            self._seeds = np.zeros((self.count + 1, n))
            self._seeds[self.colours, np.arange(n)] = 1.0
            self._seeds[-1] = self.direction()
        if self._seeds is not None:
            return self._seeds[start:stop]
        found = np.zeros((stop - start, n))
        mine = np.flatnonzero((self.colours >= start) & (self.colours < stop))
        found[self.colours[mine] - start, mine] = 1.0
        if stop > self.count:
            found[-1] = self.direction()
        return found

    def unused(self):
        """Colours and places of the numbers that the colours' directions give and that are 0, without an element."""
        if self._unused is not None:
            return self._unused
        pattern, rows = self.pattern, self.pattern.rows()
        found = np.ones((self.count, pattern.shape[self.by == "rows"]), bool)
        if self.by == "rows":
            found[self.colours[rows], pattern.indices] = False
        else:
            found[self.colours[pattern.indices], rows] = False
        found = np.nonzero(found)
        if self.count * len(self.colours) <= _KEPT:
            self._unused = found
        return found

    def scaled(self, largest):
        """Positive numbers for a direction, each about 1 / the largest element of its column, or row: see `read_off`.

        About is up to a factor of 1000, so that two columns of one size differ. A column without elements gets a larger
        number than the others.
        """
        if self._spread is None:
            self._spread = 10.0 ** (6.0 * self.direction() - 9.0)
        return weights(largest, self._spread)

    def plot(self, ax=None, **options):
        """Draw the elements, those of one group in one colour; see `Sparsity.plot`."""
        pattern = self.pattern
        colours = self.colours[pattern.rows() if self.by == "rows" else pattern.indices]
        return _drawn(pattern, ax, {"c": colours, "cmap": "tab20", **options})


def frozen(numbers):
    """A copy that nobody can write to, nor make writeable: compiled code relies on the numbers."""
    return np.frombuffer(numbers.tobytes(), numbers.dtype) if numbers.size else np.broadcast_to(numbers, (0,))


def _checked_shape(shape):
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(isinstance(n, (int, np.integer)) for n in shape):
        raise ValueError(f"a sparsity pattern has rows and columns, got the shape {shape!r}")
    if not all(0 <= n < _MOST for n in shape):
        raise ValueError(f"a sparsity pattern has from 0 to {_MOST - 1} rows and columns, got {shape}")
    return int(shape[0]), int(shape[1])


def _whole(numbers, name):
    numbers = np.asarray(numbers)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" and numbers.size:
        raise ValueError(f"{name} are whole numbers in one axis, got dtype {numbers.dtype}, shape {numbers.shape}")
    return numbers


def _checked_rows(shape, ends, indices):
    """Compressed rows as int64 and int32; ValueError where they are not those of a matrix of this shape."""
    ends, indices = _whole(ends, "indptr"), _whole(indices, "indices")
    if len(ends) != shape[0] + 1 or ends[0] != 0 or ends[-1] != len(indices) or np.any(ends[1:] < ends[:-1]):
        raise ValueError(f"the row ends of a sparsity pattern, indptr, are {shape[0] + 1} numbers that begin with 0, "
                         f"never fall and end with the number of elements, {len(indices)}")
    if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
        raise ValueError(f"a sparsity pattern of {shape[1]} columns has an element in column "
                         f"{indices.min() if indices.min() < 0 else indices.max()}")
    return np.ascontiguousarray(ends, np.int64), np.ascontiguousarray(indices, np.int32)


def _checked_colours(pattern, by, colours, count):
    """The colours; ValueError where elements of the pattern cannot be read off."""
    if by not in ("columns", "rows", "star") or by == "star" and not pattern.symmetric:
        raise ValueError(f"there is no colouring {by!r} of {pattern}")
    colours, size = _whole(colours, "colours"), pattern.shape[by != "rows"]
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= max(size, 1):
        raise ValueError(f"a colouring of {size} columns or rows has from 1 to {max(size, 1)} colours, got {count!r}")
    if len(colours) != size or size and (colours.min() < 0 or colours.max() >= count):
        raise ValueError(f"a colouring in {count} colours has {size} numbers from 0 to {count - 1}")
    colours = np.ascontiguousarray(colours, np.int32)
    of = pattern.T if by == "rows" else pattern
    alone = lone(of.indptr, of.indices, colours, int(count))
    if by == "star":
        alone |= alone[np.argsort(of.indices, kind="stable")]
    if not alone.all():
        raise ValueError("the colouring has too few colours for its pattern: elements cannot be told apart")
    return colours


def _one_sided(pattern, most):
    """Colours of the columns; None where there would be more than `most`."""
    ends, indices = pattern.indptr, pattern.indices
    by_columns = transposed(ends, indices, pattern.shape[1])
    counts, columns = np.diff(ends), pattern.shape[1]
    if most is None and int(counts.max(initial=0)) == columns:       # a full row: each column is by itself
        return np.arange(columns, dtype=np.int32), max(columns, 1)
    orders = np.arange(columns, dtype=np.int64), np.argsort(-np.diff(by_columns[0]), kind="stable").astype(np.int64)
    best = None
    for order in orders:
        limit = math.inf if best is None and most is None else best[1] - 1 if best is not None else most
        found = distance_two(ends, indices, *by_columns, order, columns + 1 if limit == math.inf else limit)
        best = found if found is not None else best
        if best is not None and best[1] == counts.max(initial=1):
            break                        # it cannot be better
    return best


def _star(pattern):
    ends, indices, n = pattern.indptr, pattern.indices, pattern.shape[0]
    orders = np.argsort(-np.diff(ends), kind="stable").astype(np.int64), np.arange(n, dtype=np.int64)
    return min((star(ends, indices, order) for order in orders), key=lambda found: found[1])


def csr(data, pattern):
    """A sparse array of SciPy with the elements of a pattern."""
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise ImportError("sparse Jacobians are arrays of SciPy's: install SciPy") from error
    if pattern._template is None:     # SciPy's checks take as long as a sweep
        kind = np.int32 if len(data) < 2**31 and max(pattern.shape) < 2**31 else np.int64
        like = csr_array((np.zeros(len(data)), pattern.indices.astype(kind, copy=False), pattern.indptr.astype(kind)),
                         shape=pattern.shape)
        like.has_sorted_indices = like.has_canonical_format = True
        like.data = None
        pattern._template = like
    found = csr_array.__new__(csr_array)
    vars(found).update(vars(pattern._template))
    found.data, found.indices, found.indptr = data, _copied(found.indices), _copied(found.indptr)
    return found


def _copied(whole):
    """A copy of whole numbers of 4 or 8 bytes."""
    new = pooled_array(len(whole)).view(whole.dtype)[:len(whole)]
    new[:] = whole
    return new


def _drawn(pattern, ax, options):
    if ax is None:
        from matplotlib import pyplot  # not needed for anything else
        ax = pyplot.figure().add_subplot()
    rows, columns = pattern.shape
    options = {"marker": "s", "s": max(1.0, 200.0 / max(rows, columns, 1)), **options}
    ax.scatter(pattern.indices, pattern.rows(), **options)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal", title=repr(pattern)[1:-1])
    return ax
