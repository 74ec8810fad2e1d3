# SPDX-License-Identifier: Apache-2.0
"""What a pattern of a ``match`` statement asks of a value, answered as of the plain value.

The interpreter asks the type of a value, and takes its attributes, without asking any function of rebuilt code. So
`patterns.py` writes ``match`` statements that have class patterns as ``if`` statements, which ask a `Matching`.
"""

from __future__ import annotations

import builtins

from codipy.numpy.standins import isinstance_
from codipy.tools.rebinding.attributes import attribute_of

__all__ = ["Matching"]

_MISSING = object()
_HEAP_TYPE, _MATCH_SELF = 1 << 9, 1 << 22  # flags of types; of the second, `float(x)` is `float() as x`


def _name_of(cls):
    """The name of a class in messages of the interpreter."""
    cls = vars(cls).get("_original", cls)
    is_in_c = not cls.__flags__ & _HEAP_TYPE and cls.__module__ != "builtins"
    return f"{cls.__module__}.{cls.__name__}" if is_in_c else cls.__name__


class Matching:
    """One run of a ``match`` statement: its subject, the parts of that, and the names that they are bound to.

    Parts have numbers, the subject 0. Each method tells whether the part `at` fits, and numbers what it takes apart.

    Parameters
    ----------
    subject : object
        What is matched.
    """

    __slots__ = ("_bound", "_parts")

    def __init__(self, subject):
        self._parts, self._bound = {0: subject}, {}

    def part(self, at):
        """The part itself, which is compared by ``==`` and ``is`` where it stands."""
        return self._parts[at]

    def bind(self, name, at):
        """Bind a name, which it gets when the whole pattern fits."""
        self._bound[name] = self._parts[at]
        return True

    def bound(self, name):
        return self._bound[name]

    def _number(self, first, values):
        self._parts.update(enumerate(values, first))
        return True

    def is_sequence(self, at, first, size, star=None, by_index=()):
        """Whether it is a sequence of `size` items, or of more where one of them is starred, and its items.

        Parameters
        ----------
        at, first : int
            The part, and the number of its first item.
        size : int
            How many patterns there are.
        star : int, optional
            Which of them is starred.
        by_index : tuple of int or None
            The items that are looked at, the last ones from -1 downwards; all are, by walking over it, if None.
        """
        value = self._parts[at]
        match value:
            case [*_]:
                pass
            case _:
                return False
        if len(value) != size if star is None else len(value) < size - 1:
            return False
        if by_index is not None:
            length = len(value)
            self._parts.update((first + k % size, value[k if k >= 0 else length + k]) for k in by_index)
            return True
        items = list(value)
        if star is not None:
            end = len(items) - (size - 1 - star)
            items[star:end] = [items[star:end]]
        if len(items) != size:  # it has another length than it says
            raise ValueError(f"not enough values to unpack (expected {size}, got {len(items)})"
                             if len(items) < size else f"too many values to unpack (expected {size})")
        return self._number(first, items)

    def is_mapping(self, at, first, keys, rest=None):
        """Whether it is a mapping that has these keys, and its values; `rest` is bound to a dict of all others."""
        value, values = self._parts[at], []
        match value:
            case {}:
                pass
            case _:
                return False
        if keys and len(value) < len(keys):
            return False
        seen = set()
        for key in keys:
            if key in seen:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            seen.add(key)
            values.append(value.get(key, _MISSING))
            if values[-1] is _MISSING:
                return False
        if rest is not None:
            others = {}
            others.update(value)
            for key in keys:
                del others[key]
            self._bound[rest] = others
        return self._number(first, values)

    def is_instance(self, at, first, cls, count, names):
        """Whether it is an instance of a class, and what its patterns by position and by name are for."""
        value = self._parts[at]
        if not isinstance(cls, builtins.type):
            match value:
                case cls():  # raises what Python raises
                    pass
        if not isinstance_(value, cls):
            return False
        values, positions = [], ()
        if count:
            positions = getattr(cls, "__match_args__", None)
            if positions is None and cls.__flags__ & _MATCH_SELF:
                positions, values = (None,), [value]
            elif positions is None:
                positions = ()
            elif type(positions) is not tuple:
                raise TypeError(f"{_name_of(cls)}.__match_args__ must be a tuple (got {type(positions).__name__})")
            if len(positions) < count:
                several = "" if len(positions) == 1 else "s"
                raise TypeError(f"{_name_of(cls)}() accepts {len(positions)} positional sub-pattern{several} "
                                f"({count} given)")
        seen = set()
        for name in (*(() if values else positions[:count]), *names):
            if not isinstance(name, str):
                raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
            if name in seen:
                raise TypeError(f"{_name_of(cls)}() got multiple sub-patterns for attribute {name!r}")
            seen.add(name)
            found = attribute_of(value, name, _MISSING)
            if found is _MISSING:
                return False
            values.append(found)
        return self._number(first, values)
