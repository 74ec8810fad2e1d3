# SPDX-License-Identifier: Apache-2.0
"""How the elements of a primitive's result depend on those of an argument: what its `pattern` says.

Words of bits are carried along a link: each element of the result has the bits of all elements on which it may depend.
"""

from __future__ import annotations

import numpy as np

__all__ = ["DENSE", "Groups", "Pairs", "Same", "Scan", "Shared"]


class Link:
    """What may depend on what; `between` makes it for given shapes.

    ``push(words)`` of the argument's shape gives those of the result's, ``pull(words)`` the other way round.
    """

    def between(self, argument, result):
        """The same for an argument and a result of these shapes."""
        raise NotImplementedError


class _Dense(Link):
    """Every element on every one."""

    def between(self, argument, result):
        return Groups(np.zeros(argument, np.intp), np.zeros(result, np.intp), 1)


DENSE = _Dense()


class Same(Link):
    """Each element on those that NumPy's broadcasting puts beside it."""

    def between(self, argument, result):
        return _Broadcast(argument, result)


class _Broadcast(Link):
    def __init__(self, argument, result):
        self._argument, self._result = argument, result
        lead = len(result) - len(argument)
        self._axes = tuple(range(lead)) + tuple(
            lead + k for k, n in enumerate(argument) if n == 1 and result[lead + k] != 1)

    def push(self, words):
        return np.broadcast_to(words, self._result)

    def pull(self, words):
        found = np.bitwise_or.reduce(words, axis=self._axes) if self._axes else words
        return np.reshape(found, self._argument)


class Groups(Link):
    """Elements in groups: those of the result depend on those of the argument with the same number.

    Parameters
    ----------
    argument, result : ndarray of int
        The number of the group of each element, -1 for those in none.
    count : int
        How many groups there are.
    """

    def __init__(self, argument, result, count):
        self._argument, self._result, self._count = argument, result, count

    def between(self, argument, result):
        return self

    def push(self, words):
        return self._carried(words, self._argument, self._result)

    def pull(self, words):
        return self._carried(words, self._result, self._argument)

    def _carried(self, words, taken, given):
        groups = np.zeros(self._count + 1, np.uint64)      # the last one is that of -1
        np.bitwise_or.at(groups, taken.reshape(-1), np.reshape(words, -1))
        groups[-1] = 0
        return groups[given]


class Pairs(Link):
    """Single pairs of elements.

    Parameters
    ----------
    result, argument : ndarray of int
        Flat positions in the order of C: the one depends on the other.
    shapes : tuple of tuple
        Of the argument and of the result.
    """

    def __init__(self, result, argument, shapes):
        self._result, self._argument, self._shapes = np.ravel(result), np.ravel(argument), shapes

    def between(self, argument, result):
        return self

    def push(self, words):
        return self._carried(words, self._argument, self._result, self._shapes[1])

    def pull(self, words):
        return self._carried(words, self._result, self._argument, self._shapes[0])

    def _carried(self, words, taken, given, shape):
        found = np.zeros(int(np.prod(shape, dtype=int)), np.uint64)
        np.bitwise_or.at(found, given, np.reshape(words, -1)[taken])
        return found.reshape(shape)


class Shared(Link):
    """Elements with the same indices along some axes, each on each of those.

    Parameters
    ----------
    axes : sequence of (int, int)
        An axis of the argument, not negative, and the axis of the result that goes with it. Where their lengths differ
        they do not go together, as when one was broadcast.
    """

    def __init__(self, axes):
        self._axes = tuple(axes)

    def between(self, argument, result):
        axes = [(a, b) for a, b in self._axes if argument[a] == result[b]]
        numbers = np.arange(int(np.prod([argument[a] for a, _ in axes], dtype=int)))
        parts = []
        for shape, own in ((argument, [a for a, _ in axes]), (result, [b for _, b in axes])):
            lengths, order = [shape[k] for k in own], np.argsort(own)
            wide = numbers.reshape(lengths).transpose(order) if own else numbers
            parts.append(np.broadcast_to(wide.reshape([n if k in own else 1 for k, n in enumerate(shape)]), shape))
        return Groups(*parts, numbers.size)


class Scan(Link):
    """Each element on itself and those before it along an axis; the result has the shape of the argument."""

    def __init__(self, axis):
        self._axis = axis

    def between(self, argument, result):
        return self if argument == result else DENSE.between(argument, result)

    def push(self, words):
        return np.bitwise_or.accumulate(words, axis=self._axis)

    def pull(self, words):
        return np.flip(np.bitwise_or.accumulate(np.flip(words, self._axis), axis=self._axis), self._axis)
