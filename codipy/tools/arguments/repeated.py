# SPDX-License-Identifier: Apache-2.0
"""Arguments to call a function with, where a list or dict that stands in several places cannot be written to."""
from __future__ import annotations

import functools
from dataclasses import replace

from codipy.errors import ActiveError
from codipy.tools.arguments.forms import LEAVES, children, differentiable_fields, is_record, rebuild, standing_twice

__all__ = ["arguments", "fixed", "stands_again"]


def _renewed(record, mapped):
    """A new one made of the mapped branches, so that ``__post_init__`` computes from them."""
    return replace(record, **{name: mapped(getattr(record, name)) for name in differentiable_fields(record)})


def arguments(trees, leaves, others=()):
    """The trees of a list with other leaves, to call a function with: dataclasses are made anew.

    A list or dict that stands in two places becomes two, since each number in it has a derivative of its own, and
    neither can be written to; nor can one that is among `others`, which the function gets too.
    """
    made, twice = rebuild(trees, leaves, _renewed), standing_twice(trees)
    if others:
        twice |= {id(tree) for tree in others if type(tree) not in LEAVES}
    return [_guarded(new, tree, twice) for new, tree in zip(made, trees)] if twice else made


def fixed(others, trees):
    """Other arguments of a call, a list or dict that is one of the trees as one that cannot be written to."""
    return [(_FixedDict(x) if isinstance(x, dict) else _FixedList(x))
            if isinstance(x, (list, dict)) and any(tree is x for tree in trees) else x for x in others]


def stands_again(tree, args, kwargs):
    """Whether a list or dict is more than one of the arguments of a call."""
    return sum(x is tree for x in (*args, *kwargs.values())) > 1


def _guarded(new, tree, twice):
    """The tree `new` that was made of another, with what stood twice there turned into what cannot be written to."""
    if type(tree) in LEAVES or not children(tree):
        return new
    if isinstance(tree, tuple):
        items = [_guarded(*pair, twice) for pair in zip(new, tree)]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if is_record(tree):
        for name in differentiable_fields(tree):
            object.__setattr__(new, name, _guarded(getattr(new, name), getattr(tree, name), twice))
        if id(tree) in twice and not type(tree).__dataclass_params__.frozen:
            object.__setattr__(new, "__class__", _fixed_record(type(tree)))
        return new
    for key in tree if isinstance(tree, dict) else range(len(tree)):
        new[key] = _guarded(new[key], tree[key], twice)
    if id(tree) in twice:
        return _FixedDict(new) if isinstance(tree, dict) else _FixedList(new)
    return new


def _refuse(self, *args, **kwargs):
    raise ActiveError(f"this {type(self).__base__.__name__} stands in two places of what is differentiated by, and "
                      "Python would show in both what is written into one, while here they are two: pass copies, "
                      "[list(row) for row in rows]")


class _FixedList(list):
    """A list that cannot be written to."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse


@functools.lru_cache(maxsize=64)
def _fixed_record(cls):
    """A dataclass whose attributes cannot be set."""
    return type(cls.__name__, (cls,), {"__slots__": (), "__setattr__": _refuse, "__delattr__": _refuse})


class _FixedDict(dict):
    """A dict that cannot be written to."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse
