# SPDX-License-Identifier: Apache-2.0
"""What solvers are handed for what the user gave them: plain numbers, functions that return such, told callbacks."""

from __future__ import annotations

import numpy as np

from codipy.active.array import plain
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

    def called(*args, **named):
        found = function(*args, **named)
        if type(found) is np.ndarray and found.dtype == np.float64:
            return found
        found = value_tree(found)
        if isinstance(found, np.ndarray) and found.dtype == object:
            return np.array([plain(number) for number in found.flat], np.float64).reshape(found.shape)
        return found

    return Wrapped(function, called)
