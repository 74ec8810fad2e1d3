# SPDX-License-Identifier: Apache-2.0
"""Power series whose coefficients are computed one after the other, each from earlier ones of its operands and its own.

A row of the table needs nothing but its partials: w' = p(x, w) x' gives coefficient k of w from those below k of p,
which may be made of w itself. So p is written once, as a series, and asked for what is known by then (Griewank and
Walther, "Evaluating Derivatives", 2008, chapter 13). exp, whose partial is w, gets its usual recurrence in this way,
sin and cos have each other's, and rows that nobody wrote a recurrence for have one.

The rows that code has most of have recurrences by hand too (`codipy/series/recurrences.py`), which are faster: to order
5 they take 0.6 to 1.0 of the time of these for exp, 0.4 to 0.8 for sin, 0.3 to 0.5 for log, 0.1 to 0.3 for sqrt and
tanh (single numbers, 1,000 and 100,000 elements). The other rows have this one way.

A coefficient that is zero passes nothing on, also through a partial that is infinite, as everywhere in codipy. Gates on
every product would cost a pass each, so an expression is computed without, and once more with them where a NaN comes
out: `Memo.gated`.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Given", "Memo", "Node", "Row", "chosen", "value_of"]


class Memo(dict):
    """What is known in one expression: rows of the same operands are one series.

    Parameters
    ----------
    gated : bool
        Whether zeros pass no infinities on.
    """

    __slots__ = ("gated",)

    def __init__(self, gated):
        self.gated = gated


def value_of(x):
    """The first coefficient of a series; anything else as it is."""
    return x.upto(0)[0] if isinstance(x, Node) else x


class Node:
    """One series, at each element of an array.

    Parameters
    ----------
    memo : Memo
        Of the expression.
    order : int
        The last coefficient that can be asked for.
    shape : tuple of int
        Of each coefficient.
    """

    __array_ufunc__ = None      # an ndarray leaves its operators to us

    __slots__ = ("_coefficients", "known", "memo", "order", "shape")

    def __init__(self, memo, order, shape):
        self.memo, self.order, self.shape, self.known = memo, order, shape, -1
        self._coefficients = np.zeros((order + 1, *shape))

    def upto(self, k):
        """The coefficients, of which those up to number `k` are computed."""
        if k > self.known:
            self._extend(self._coefficients, self.known + 1, k)
            self.known = k
        return self._coefficients

    def _extend(self, c, first, last):
        raise NotImplementedError

    # ---- Operators: the other operand is a series, a number or an array ----

    def __add__(self, other):
        return Sum(self, other) if isinstance(other, Node) else Shifted(self, other)

    __radd__ = __add__

    def __neg__(self):
        if ("negative", id(self)) not in self.memo:      # the negative of that is this, which has a name already
            found = Scaled(self, -1.0)
            self.memo["negative", id(self)], self.memo["negative", id(found)] = found, self
        return self.memo["negative", id(self)]

    def __sub__(self, other):
        return Sum(self, other, -1.0) if isinstance(other, Node) else Shifted(self, np.negative(other))

    def __rsub__(self, other):
        return Shifted(Scaled(self, -1.0), other)

    def __mul__(self, other):
        return Product(self, other) if isinstance(other, Node) else Scaled(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return Quotient(self, other)

    def __rtruediv__(self, other):
        return Quotient(other, self)

    # Comparisons are of values: which branch was taken does not depend on the direction.
    def __lt__(self, other):
        return value_of(self) < value_of(other)

    def __gt__(self, other):
        return value_of(self) > value_of(other)

    def __eq__(self, other):
        return value_of(self) == value_of(other)

    def __ne__(self, other):
        return value_of(self) != value_of(other)

    __hash__ = object.__hash__


class Given(Node):
    """A series that is known. Arithmetic of such is done at once."""

    __slots__ = ()

    def _with(self, other):
        """The coefficients of another one that is known, and has the same shape."""
        return other._coefficients if type(other) is Given and other.shape == self.shape else None

    def __add__(self, other):
        found = self._with(other)
        if found is not None:
            return Given(self.memo, self._coefficients + found)
        if isinstance(other, Node) or np.ndim(other):
            return Node.__add__(self, other)
        found = self._coefficients.copy()
        found[0] += other
        return Given(self.memo, found)

    __radd__ = __add__

    def __sub__(self, other):
        found = self._with(other)
        return Node.__sub__(self, other) if found is None else Given(self.memo, self._coefficients - found)

    def __mul__(self, other):
        found = self._with(other)
        if self.memo.gated or self._coefficients.ndim > 1 or isinstance(other, Node) and found is None:
            return Node.__mul__(self, other)
        if found is not None:
            return Given(self.memo, np.convolve(self._coefficients, found)[:self.order + 1])
        return Given(self.memo, self._coefficients * other)

    __rmul__ = __mul__

    def __init__(self, memo, coefficients):
        self.memo, self.order, self.shape = memo, len(coefficients) - 1, coefficients.shape[1:]
        self.known, self._coefficients = self.order, coefficients


class _Of(Node):
    """A series made of another one."""

    def __init__(self, x, *more):
        shape = x.shape
        for other in more:
            if np.shape(other) != shape and np.shape(other):
                shape = np.broadcast_shapes(shape, np.shape(other))
        super().__init__(x.memo, x.order, shape)
        self._x = x


class Sum(_Of):
    """x + sign y"""

    def __init__(self, x, y, sign=1.0):
        super().__init__(x, value_of(y))
        self._y, self._combine = y, np.add if sign > 0 else np.subtract

    def _extend(self, c, first, last):
        self._combine(self._x.upto(last)[first:last + 1], self._y.upto(last)[first:last + 1], out=c[first:last + 1])


class Shifted(_Of):
    """x + constant"""

    def __init__(self, x, constant):
        super().__init__(x, constant)
        self._constant = constant

    def _extend(self, c, first, last):
        c[first:last + 1] = self._x.upto(last)[first:last + 1]
        if first == 0:
            c[0] += self._constant


class Scaled(_Of):
    """constant x"""

    def __init__(self, x, constant):
        super().__init__(x, constant)
        self._constant = constant

    def _extend(self, c, first, last):
        np.multiply(self._x.upto(last)[first:last + 1], self._constant, out=c[first:last + 1])
        if self.memo.gated:
            first = max(first, 1)
            c[first:last + 1] = _passed(c[first:last + 1], self._x.upto(last)[first:last + 1], self._constant)


class Product(_Of):
    """x y"""

    def __init__(self, x, y):
        super().__init__(x, value_of(y))
        self._y = y

    def _extend(self, c, first, last):
        x, y = self._x.upto(last), self._y.upto(last)
        for k in range(first, last + 1):
            c[k] = _dot(x[:k + 1], y[k::-1], k > 0 and self.memo.gated)


class Quotient(_Of):
    """x / y, either of them perhaps a constant"""

    def __init__(self, x, y):
        super().__init__(x if isinstance(x, Node) else y, value_of(x), value_of(y))
        self._x, self._y = x, y

    def _extend(self, c, first, last):
        x = self._x.upto(last) if isinstance(self._x, Node) else None
        y = self._y.upto(last) if isinstance(self._y, Node) else None
        below = self._y if y is None else y[0]
        for k in range(first, last + 1):
            above = (self._x if k == 0 else 0.0) if x is None else x[k]
            if k and y is not None:
                above = above - _dot(y[1:k + 1], c[k - 1::-1], self.memo.gated)
            found = np.divide(above, below)
            c[k] = np.where(np.isnan(found) & (above == 0), 0.0, found) if k and self.memo.gated else found


class Row(_Of):
    """A row of the table.

    Parameters
    ----------
    row : Operation
    operands : tuple
        Series, numbers and arrays; at least one series.
    value : callable
        ``value(*operands)``, of numbers and arrays.
    partial : callable
        ``partial(k, operands, w)`` is the partial in operand number `k`, a series, a number or an array.
    """

    def __init__(self, row, operands, value, partial):
        series = [x for x in operands if isinstance(x, Node)]
        super().__init__(series[0], *map(value_of, operands))
        self._row, self._operands, self._value, self._partial, self._flows = row, operands, value, partial, None

    def _extend(self, c, first, last):
        if first == 0:
            c[0] = self._value(*map(value_of, self._operands))
            first = 1
        if first > last:
            return
        if self._flows is None:
            self._flows = [(x, self._partial(k, self._operands, self)) for k, x in enumerate(self._operands)
                           if isinstance(x, Node) and k not in self._row.constant]
        gated, sifts = self.memo.gated, self._row.sifts
        for k in range(first, last + 1):
            self.known = k - 1      # which partials may ask for
            for x, p in self._flows:
                dx = x.upto(k)
                if isinstance(p, Node):
                    weights = np.arange(1.0, k + 1.0)
                    weights = weights * dx[1:k + 1] if dx.ndim == 1 else weights.reshape(
                        (k,) + (1,) * len(x.shape)) * dx[1:k + 1]
                    c[k] += _dot(p.upto(k - 1)[k - 1::-1], weights, gated) / k
                else:
                    share = np.multiply(dx[k], p)
                    c[k] += _passed(share, dx[k], p, sifts) if gated else share


def chosen(condition, yes, no):
    """C's conditional expression, by elements."""
    if not np.ndim(condition):
        return yes if condition else no
    if isinstance(yes, Node) or isinstance(no, Node):
        return Choice(condition, yes, no)
    return np.where(condition, yes, no)


class Choice(_Of):
    """At some elements one series, elsewhere another; either of them perhaps a constant."""

    def __init__(self, condition, yes, no):
        super().__init__(yes if isinstance(yes, Node) else no, condition, value_of(yes), value_of(no))
        self._condition, self._yes, self._no = condition, yes, no

    def _extend(self, c, first, last):
        yes, no = (x.upto(last) if isinstance(x, Node) else x for x in (self._yes, self._no))
        for k in range(first, last + 1):
            c[k] = np.where(self._condition, *[part[k] if isinstance(x, Node) else part if k == 0 else 0.0
                                               for x, part in ((self._yes, yes), (self._no, no))])


def _passed(share, flow, partial, sifts=""):
    """A product of a flow and a partial, of which nothing is left where the flow is zero, or a partial that sifts."""
    if not np.isnan(share).any():
        return share
    nothing = flow == 0
    if sifts:
        nothing = nothing | (np.asarray(partial) == 0)
    return np.where(np.isnan(share) & nothing, 0.0, share)


def _dot(x, y, gated):
    """The sum of x[j] y[j], where a zero of either passes no infinity on if it is `gated`."""
    found = np.dot(x, y) if x.ndim == 1 and y.ndim == 1 else np.einsum("j...,j...->...", x, y)
    if not gated or not np.isnan(found).any():
        return found
    terms = x * y
    return np.sum(np.where(np.isnan(terms) & ((x == 0) | (y == 0)), 0.0, terms), axis=0)
