# SPDX-License-Identifier: Apache-2.0
"""What a function returned that others have, too: results are put into these objects, as they are in the plain run."""
from __future__ import annotations

import sys

from codipy.active.array import Array
from codipy.tools.arguments.forms import LEAVES, children, differentiable_fields

__all__ = ["had_elsewhere", "put_into"]


def _references(tree):
    """The branches of a container, with how many references each has."""
    return [(branch, sys.getrefcount(branch)) for _, branch in children(tree)]


_ALONE = _references([object()])[0][1]      # of what only a container has
_OF_OWNER = 2      # of an array that only one view of it has


def had_elsewhere(holder):
    """What in a result is not there alone.

    Parameters
    ----------
    holder : list
        Of the result, which nobody else was given.

    Returns
    -------
    dict
        By the address of an array the one that has its memory; by that of a list, dict or dataclass None.
    """
    had, seen, waiting = {}, set(), [holder]
    while waiting:
        for branch, references in _references(waiting.pop()):
            if type(branch) is Array:
                owner = branch.base
                if references > _ALONE or owner is not None and sys.getrefcount(owner) > _OF_OWNER:
                    had[id(branch)] = branch if owner is None else owner
            elif type(branch) not in LEAVES and id(branch) not in seen and children(branch) is not None:
                seen.add(id(branch))
                if references > _ALONE:
                    had[id(branch)] = None
                waiting.append(branch)
    return had


def put_into(old, new, had):
    """A result in the containers that the function returned, where others have these.

    Parameters
    ----------
    old, new : object
        Trees of one form: what the function returned, and what is to be in it.
    had : dict
        See `had_elsewhere`.
    """
    if old is new or type(old) in LEAVES or children(old) is None:
        return new
    made = old if id(old) in had else new
    if isinstance(old, list):
        for k, branch in enumerate(old):
            list.__setitem__(made, k, put_into(branch, new[k], had))
    elif isinstance(old, dict):
        for key, branch in old.items():
            dict.__setitem__(made, key, put_into(branch, new[key], had))
    elif isinstance(old, tuple):
        branches = [put_into(branch, each, had) for branch, each in zip(old, new)]
        return type(old)(*branches) if hasattr(old, "_fields") else type(old)(branches)
    else:
        for name in differentiable_fields(old):
            object.__setattr__(made, name, put_into(getattr(old, name), getattr(new, name), had))
    return made
