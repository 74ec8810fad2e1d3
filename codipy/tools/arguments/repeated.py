# SPDX-License-Identifier: Apache-2.0
"""Arguments to call a function with, where a list or dict that stands in several places cannot be written to."""
from __future__ import annotations

import copy
import functools
import inspect
from dataclasses import fields, replace

import numpy as np

from codipy.active import Real
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.tools.arguments.forms import LEAVES, children, differentiable_fields, is_record, rebuild, standing_twice

__all__ = ["arguments", "fixed", "stands_again"]

_COMPARED = (bool, bytes, int, float, complex, str, np.generic, type(None))      # by their values


def _renewed(record, mapped):
    """A new one made of the mapped branches, so that ``__post_init__`` computes from them, with what it held.

    What is made at once may differ from what the caller has: by a ``__post_init__`` that changes the fields that it is
    given, and where an attribute was set later. Numbers go over; what has a derivative, and another value, raises.
    """
    branches = {name: mapped(getattr(record, name)) for name in differentiable_fields(record)}
    kind = type(record)
    if _needs_more(kind):
        raise ActiveError(f"{kind.__name__} is made of {', '.join(_needs_more(kind))}, too, which the object does not "
                          f"keep: pass the numbers, and call {kind.__name__}(...) inside of the function")
    new = _made(record, branches)
    if not (_is_filled_as_given(kind) and len(getattr(record, "__dict__", ())) == len(getattr(new, "__dict__", ()))):
        _complete(new, record, branches)
    return new


def _made(record, branches):
    """A new one; of what its ``__post_init__``, which is the user's own here, does not take, the error says so."""
    try:
        return replace(record, **branches)
    except Exception as error:
        kind = type(record).__name__
        if not hasattr(record, "__post_init__"):
            raise
        raise ActiveError(f"{kind} is made anew of its fields, as a driver does, and its __post_init__ runs as it "
                          f"stands there: pass the numbers, and call {kind}(...) inside of the function. It raised "
                          f"{type(error).__name__}: {error}") from error  # fmt: skip


@functools.lru_cache(256)
def _is_filled_as_given(kind):
    """Whether objects of a dataclass hold what ``__init__`` is given, and nothing else."""
    made = kind.__dict__.get("__dataclass_params__")
    return made is not None and made.init and not hasattr(kind, "__post_init__") and all(x.init for x in fields(kind))


@functools.lru_cache(256)
def _needs_more(kind):
    """The arguments without a default, of the ``__init__`` of a dataclass, that are no fields, such as ``InitVar``."""
    kept = {field.name for field in fields(kind)}
    return [x.name for x in inspect.signature(kind).parameters.values()
            if x.name not in kept and x.default is x.empty and x.kind in (x.POSITIONAL_OR_KEYWORD, x.KEYWORD_ONLY)]


def _complete(new, record, branches):
    """Give a dataclass that was made anew the values of the one that it stands for."""
    names = {x.name: None for x in fields(record) if hasattr(record, x.name)} | getattr(record, "__dict__", {})
    for name in names:
        held = getattr(record, name)
        if not hasattr(new, name):
            object.__setattr__(new, name, copy.copy(held))
            continue
        made = getattr(new, name)
        if made is held or name in branches and made is branches[name]:
            continue
        if not _are_equal(made, held):
            if name in branches or _holds_variables(made):
                kind = type(record).__name__
                raise ActiveError(f"{kind}.{name} has another value in an object that is made anew of the fields, as a "
                                  f"driver does: {kind}.__post_init__ changes what it is given, or a field was set "
                                  f"later; pass the numbers, and call {kind}(...) inside of the function")
            object.__setattr__(new, name, copy.deepcopy(held))


def _are_equal(made, held):
    """Whether two attributes have the same value; of what holds no numbers, as far as its type says."""
    if isinstance(made, (Real, Array)):
        made = made.value
    if isinstance(held, (Real, Array)):
        held = held.value
    if isinstance(held, (list, tuple)) and isinstance(made, (list, tuple)):
        return len(made) == len(held) and all(map(_are_equal, made, held))
    if isinstance(held, dict) and isinstance(made, dict):
        return made.keys() == held.keys() and all(_are_equal(made[key], x) for key, x in held.items())
    if isinstance(held, np.ndarray) or isinstance(made, np.ndarray):
        pairs = zip(np.ravel(made).tolist(), np.ravel(held).tolist())
        return np.shape(made) == np.shape(held) and all(_are_equal(*pair) for pair in pairs)
    if is_record(held) and type(made) is type(held):
        return all(_are_equal(getattr(made, x.name, None), getattr(held, x.name, None)) for x in fields(held))
    if isinstance(held, _COMPARED) or isinstance(made, _COMPARED):
        return made == held or made != made and held != held
    return type(made) is type(held)


def _holds_variables(x):
    if isinstance(x, dict):
        return any(map(_holds_variables, x.values()))
    if isinstance(x, (list, tuple)):
        return any(map(_holds_variables, x))
    if is_record(x):
        return any(_holds_variables(getattr(x, field.name, None)) for field in fields(x))
    return isinstance(x, (Real, Array))


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
