# SPDX-License-Identifier: Apache-2.0
"""What solvers are handed for what the user gave them: plain numbers, functions that return such, told callbacks."""

from __future__ import annotations

from codipy.implicit.iterates import CALLBACKS
from codipy.numpy.arguments import value_tree

__all__ = ["handed"]


def handed(given, key, iterates, returned):
    """An argument as SciPy takes it.

    Parameters
    ----------
    given : object
    key : str or None
        Its name.
    iterates : Iterates
        What callbacks are told.
    returned : Returned
        What functions return.
    """
    if isinstance(given, dict):
        return {name: handed(each, name, iterates, returned) for name, each in given.items()}
    if key in CALLBACKS and callable(given):
        return returned.called(iterates.told(given))
    if isinstance(given, list):      # and not a view of one that is rebuilt
        return [handed(each, None, iterates, returned) if callable(each) or isinstance(each, dict) else value_tree(each)
                for each in given]
    return returned.called(given) if callable(given) and not isinstance(given, type) else value_tree(given)
