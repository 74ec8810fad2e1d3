# SPDX-License-Identifier: Apache-2.0
"""What solvers are handed for what the user gave them: plain numbers, functions that return such, told callbacks."""

from __future__ import annotations

import collections

import numpy as np

from codipy.active.array import Array, plain
from codipy.implicit.iterates import CALLBACKS
from codipy.implicit.wrapped import Wrapped
from codipy.numpy.arguments import value_tree

__all__ = ["handed", "plain_function"]


def handed(given, key, iterates):
    """An argument as SciPy takes it.

    Parameters
    ----------
    given : object
    key : str or None
        Its name.
    iterates : Iterates
        What callbacks are told.
    """
    if isinstance(given, dict):
        return {name: handed(each, name, iterates) for name, each in given.items()}
    if key in CALLBACKS and callable(given):
        return iterates.told(given)
    if isinstance(given, list):      # and not a view of one that is rebuilt
        return [handed(each, None, iterates) if callable(each) or isinstance(each, dict) else value_tree(each)
                for each in given]
    return plain_function(given) if callable(given) and not isinstance(given, type) else value_tree(given)


def plain_function(function):
    """A function of the user's as solvers call it: where nothing is recorded it may return variables yet."""
    returned = _Returned()

    def called(*args, **named):
        found = function(*args, **named)
        if type(found) is np.ndarray and found.dtype == np.float64:
            return found
        found = returned.plain(found)
        if isinstance(found, np.ndarray) and found.dtype == object:
            return np.array([plain(number) for number in found.flat], np.float64).reshape(found.shape)
        return found

    return Wrapped(function, called)


class _Returned:
    """Plain arrays for the Arrays that a function returns: the same one for an Array that it fills each time.

    A solver that keeps what it got then finds there what was written since, as in the plain run, where
    ``least_squares`` does not move, and ``minimize`` takes other steps. Rejected: to raise, since others, which copy,
    solve.
    """

    def __init__(self):
        # With the owners, so that no other memory has their identities. A function that returns more than these in
        # turn is not met; one that makes each array anew has so many of them kept.
        self._known = collections.deque(maxlen=4)

    def plain(self, found):
        """What a function returned, as plain numbers."""
        if type(found) is tuple:
            return tuple(map(self.plain, found))
        return self._of_array(found) if type(found) is Array and found.ndim else value_tree(found)

    def _of_array(self, x):
        owner, numbers = x if x.base is None else x.base, value_tree(x)
        place = _address(numbers) - _address(plain(owner)), x.shape, x.strides
        for known, where, same in self._known:
            if known is owner and where == place:
                same[...] = numbers
                return same
        same = numbers.copy()
        self._known.append((owner, place, same))
        return same


def _address(numbers):
    return numbers.__array_interface__["data"][0]
