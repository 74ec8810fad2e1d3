# SPDX-License-Identifier: Apache-2.0
"""``numpy.random`` as `codipy.numpy` and rebound code have it: `draws` says what takes active values there.

Rejected: replacing methods of NumPy's own generators, which everything else in the process would see; a generator of
our own on the same bits, since `RandomState` keeps a number of its own beside them. So a stand-in draws from the
generator that it stands for.
"""

from __future__ import annotations

import copy
import functools
import sys

import numpy as np

from codipy.numpy.allocation import fresh
from codipy.numpy.draws import draw
from codipy.numpy.lists import standing
from codipy.numpy.modules import module_for
from codipy.numpy.standins import StandIn, pass_for

__all__ = ["FUNCTIONS", "STANDINS", "random"]


def _method(kind, name):
    """A method of a stand-in. Only rebound code gets Arrays that can be filled: others may hand them to C."""

    @functools.wraps(getattr(kind, name))
    def method(self, *args, **kwargs):
        drawn = draw(self._target, name, args, kwargs)
        return fresh(drawn) if type(drawn) is np.ndarray and "__rebound__" in sys._getframe(1).f_builtins else drawn

    return method


def _methods(kind):
    names = [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))]
    return {name: _method(kind, name) for name in names if name != "spawn"}


class _OnTarget:
    """What both stand-ins are: a generator that draws from another, its target, which is given or made."""

    def __copy__(self):
        return type(self)(copy.copy(self._target))

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self._target, memo))

    def __reduce__(self):
        return self._target.__reduce__()

    def __repr__(self):
        return repr(self._target)

    __str__ = __repr__


class Generator(_OnTarget, np.random.Generator, metaclass=StandIn):
    """``numpy.random.Generator`` for active parameters and Arrays."""

    _original = np.random.Generator

    def __init__(self, bit_generator):
        made = not isinstance(bit_generator, np.random.Generator)
        self._target = np.random.Generator(bit_generator) if made else bit_generator
        super().__init__(self._target.bit_generator)


class RandomState(_OnTarget, np.random.RandomState, metaclass=StandIn):
    """``numpy.random.RandomState`` for active parameters and Arrays."""

    _original = np.random.RandomState

    def __init__(self, seed=None):
        self._target = seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)
        super().__init__(self._target._bit_generator)


# What stands for a generator of NumPy in rebound code.
STANDINS = {np.random.Generator: Generator, np.random.RandomState: RandomState}

for _kind, _cls in STANDINS.items():  # so that messages and representations are the original's
    for _name, _made in _methods(_kind).items():
        type.__setattr__(_cls, _name, _made)
    _cls.__qualname__, _cls.__module__ = _kind.__qualname__, _kind.__module__
    pass_for(_kind, _cls)


@functools.wraps(np.random.default_rng)
def default_rng(*args, **kwargs):
    rng = np.random.default_rng(*args, **kwargs)
    return Generator(rng) if type(rng) is np.random.Generator else rng


def _function(name):
    """A function of `numpy.random`, which is a method of its own generator."""
    original = getattr(np.random, name)

    @functools.wraps(original)
    def function(*args, **kwargs):
        return fresh(draw(original.__self__, original.__name__, args, kwargs))

    return function


# What stands for functions and classes of numpy.random; all else there is NumPy's.
FUNCTIONS = {
    name: _function(name)
    for name, value in vars(np.random).items()
    if isinstance(getattr(value, "__self__", None), np.random.RandomState)
}
FUNCTIONS |= {"default_rng": default_rng, "Generator": Generator, "RandomState": RandomState}
FUNCTIONS = standing(np.random, FUNCTIONS)
random = module_for(np.random, FUNCTIONS)
