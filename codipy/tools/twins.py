# SPDX-License-Identifier: Apache-2.0
"""The lists, dicts and dataclasses that a function gets in the place of the caller's: what both held before it ran.

A function gets containers of its own, with inputs in them. Where the caller's stand under another name that it reads,
Python would show there what is written here, and here what is written there. So what each of both holds is remembered,
as the objects that it holds, and compared when the function has returned.

Rejected: containers that tell when they are written to, which compiled code such as `heapq` does not ask.
"""

from __future__ import annotations

import functools
from operator import is_
from types import MemberDescriptorType

from codipy.active.bulk import all_floats
from codipy.tools.rebinding.together import plain_of
from codipy.tools.forms import LEAVES, differentiable_fields, is_record

__all__ = ["Twins"]


class Twins:
    """Containers of the caller, and those that were made of them for a function.

    Parameters
    ----------
    trees, made : list
        Arguments of a driver, and what the function gets for each.
    pairs : iterable of tuple, optional
        Of others: a container of the caller, what was made of it, what each of them held.
    """

    __slots__ = ("_pairs",)

    def __init__(self, trees=(), made=(), pairs=()):
        self._pairs = [*pairs]
        waiting = list(zip(trees, made))
        while waiting:
            tree, new = waiting.pop()
            kind = type(tree)
            if kind is list is type(new):      # the usual cases, in fewer steps
                self._pairs.append((tree, new, tree.copy(), new.copy()))
                if not all_floats(tree):
                    waiting += [pair for pair in zip(tree, new) if type(pair[0]) not in LEAVES]
                continue
            if kind is dict is type(new):
                self._pairs.append((tree, new, [*tree, *tree.values()], [*new, *new.values()]))
                waiting += [(branch, new[key]) for key, branch in tree.items() if type(branch) not in LEAVES]
                continue
            if kind in LEAVES or tree is new:
                continue
            if not isinstance(tree, tuple):
                if not _are_alike(tree, new):      # a number; or ``__post_init__`` made something else of a field
                    continue
                self._pairs.append((tree, new, _held(tree), _held(new)))
            waiting += _branches(tree, new)

    def written(self):
        """The caller's containers of which the function has written to what it got."""
        return [tree for tree, new, _, before in self._pairs if _is_changed(new, before)]

    def written_elsewhere(self):
        """The caller's containers that were written to themselves."""
        return [tree for tree, _, before, _ in self._pairs if _is_changed(tree, before)]

    def originals_of(self, made):
        """The caller's containers of which one of these was made."""
        return [tree for tree, new, _, _ in self._pairs if any(new is one for one in made)]


def _are_alike(tree, new):
    return (isinstance(tree, list) and isinstance(new, list) or isinstance(tree, dict) and isinstance(new, dict)
            or is_record(tree) and is_record(new))


def _branches(tree, new):
    """Pairs of what two trees of the same form hold."""
    if isinstance(tree, dict):
        return [(branch, new[key]) for key, branch in tree.items() if type(branch) not in LEAVES and key in new]
    if is_record(tree):
        return [(getattr(tree, name), getattr(new, name)) for name in differentiable_fields(tree)]
    return zip(tree, new) if isinstance(new, (list, tuple)) else ()


def _held(x):
    """All that a container holds, as a list."""
    held = [*list.__iter__(x)] if isinstance(x, list) else [*x, *dict.values(x)] if isinstance(x, dict) else []
    for name in _slots(type(x)):
        held += (name, getattr(x, name, None))
    for name, value in getattr(x, "__dict__", {}).items():
        if not isinstance(getattr(type(x), name, None), functools.cached_property):
            held += (name, value)
    return held


@functools.lru_cache(256)
def _slots(cls):
    return tuple([name for kind in cls.__mro__ for name, value in vars(kind).items()
                  if type(value) is MemberDescriptorType])


def _is_changed(x, before):
    kind = type(x)
    now = x if kind is list else [*x, *x.values()] if kind is dict else _held(x)
    if len(now) == len(before) and all(map(is_, now, before)):
        return False
    # An Array may stand for a plain array as long as the recording runs.
    return len(now) != len(before) or not all(one is other or plain_of(one) is other or one is plain_of(other)
                                              for one, other in zip(now, before))
