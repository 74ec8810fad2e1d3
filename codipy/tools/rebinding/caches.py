# SPDX-License-Identifier: Apache-2.0
"""`functools.lru_cache` in rebound code: keyed by identity where a key is active.

By value, the first of two equal keys would get the derivative of both, so `hash` of an active Real raises. A cache of
rebound code is for one run, and within it the same variable gives the same result, of the same variables. What the
user's own cache has by then, such as random numbers that were drawn once, is what the plain run would get.
"""

from __future__ import annotations

import functools
import gc
from types import MethodType

from codipy.active import Real
from codipy.tools.rebinding.together import standing_for

__all__ = ["LRU", "IdentityCache", "cache", "entries_of", "entry_of", "identity_cache", "lru_cache"]

LRU = type(functools.lru_cache(maxsize=1)(int))  # what `functools` makes of a function


class _Same:
    """An active key: equal to itself only, and it keeps the variable, whose address then is no other's."""

    __slots__ = ("it",)

    def __init__(self, it):
        self.it = it

    def __eq__(self, other):
        return type(other) is _Same and other.it is self.it

    def __hash__(self):
        return id(self.it) >> 4


def _as_key(argument):
    kind = type(argument)
    if kind is Real and argument.is_active:
        return _Same(argument)
    if kind is tuple:
        parts = tuple(map(_as_key, argument))
        return parts if any(a is not b for a, b in zip(parts, argument)) else argument
    return argument


def _from_key(key):
    if type(key) is _Same:
        return key.it
    return tuple(map(_from_key, key)) if type(key) is tuple else key


def entries_of(cache):
    """The dict in which a cache has its results by keys, as long as it lives; None where Python does not show it."""
    found = None
    for part in gc.get_referents(cache):
        if type(part) is dict and part is not cache.__dict__:
            found = part  # the last: what came before are results that are dicts
    return found


def entry_of(cache, entries, args, kwargs):
    """What a cache of `functools` has for some arguments, in a tuple; None where it would have to be computed."""
    if not entries:
        return None
    args = tuple(args)
    probe = functools.lru_cache(None, cache.cache_parameters()["typed"])(lambda *args, **kwargs: None)
    probe(*args, **kwargs)  # which makes the key as all caches do
    return (cache(*args, **kwargs),) if any(key in entries for key in entries_of(probe)) else None


class IdentityCache:
    """What `identity_cache` makes. It is equal to the user's own for which it stands, which may be in a set.

    Attributes
    ----------
    cached : callable
        What `functools` made of it.
    """

    def __init__(self, cached, f, original):
        self.cached, self._original = cached, original
        functools.update_wrapper(self, f)
        self.cache_info, self.cache_clear = cached.cache_info, cached.cache_clear
        self.cache_parameters = cached.cache_parameters

    def __call__(self, *args, **kwargs):
        if kwargs:
            kwargs = {name: _as_key(argument) for name, argument in kwargs.items()}
        return standing_for(self.cached(*map(_as_key, args), **kwargs))

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)

    def __eq__(self, other):
        return self is other or self._original is not None and self._original is getattr(other, "_original", other)

    def __hash__(self):
        return object.__hash__(self) if self._original is None else hash(self._original)


def identity_cache(f, maxsize=128, typed=False, found=None, original=None):
    """A cache of `f` as `functools.lru_cache` makes it, whose keys may be active.

    What it lacks it asks ``found(args, kwargs)`` for, which gives the result that is there in a tuple, or None. It
    stands for `original`, if that is given.
    """

    def called(*args, **kwargs):
        result = None if found is None else found(args, kwargs)
        if result is not None:
            return result[0]
        return f(*map(_from_key, args), **{name: _from_key(key) for name, key in kwargs.items()})

    return IdentityCache(functools.lru_cache(maxsize, typed)(called), f, original)


def lru_cache(maxsize=128, typed=False):
    """``functools.lru_cache`` in rebound code."""
    if callable(maxsize) and isinstance(typed, bool):
        return identity_cache(maxsize, 128, typed)
    functools.lru_cache(maxsize, typed)  # which says what is wrong with them
    return functools.partial(identity_cache, maxsize=maxsize, typed=typed)


def cache(user_function, /):
    """``functools.cache`` in rebound code."""
    return identity_cache(user_function, None)
