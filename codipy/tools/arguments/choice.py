# SPDX-License-Identifier: Apache-2.0
"""Which arguments of a call are differentiated by: `argnums` and `argnames`, checked, and their leaves."""
from __future__ import annotations

import inspect

from numpy import integer, ndarray

from codipy.active.bulk import all_floats
from codipy.tools.arguments.forms import flatten, rebuild
from codipy.tools.arguments.leaves import demand_real, in_dtypes, is_array
from codipy.tools.arguments.repeated import arguments, fixed
from codipy.tools.arguments.twins import Twins
from codipy.tools.callee import name_of

__all__ = ["Choice"]


class Choice:
    """The arguments that `argnums` and `argnames` name.

    Parameters
    ----------
    argnums : int or tuple of int, optional
        From 0 on; an int makes the result one tree, a tuple a tuple of trees. Default is 0 where there are no names;
        ``()`` is none beside those.
    argnames : str or tuple of str, optional
        Names of parameters, however the caller passes them. A str and a tuple differ as in `argnums`.
    with_complex : bool
        Whether they may be complex numbers.

    Attributes
    ----------
    positions : tuple of int
        The arguments that are chosen by position.
    names : tuple of str
        Those that are chosen by name.
    several : bool
        Whether the result is no single tree.
    last : int
        The largest position, -1 without any.
    is_number : bool
        Whether it is one argument by its position, and the result its tree.
    """

    __slots__ = ("argnames", "argnums", "is_number", "last", "names", "positions", "several", "with_complex")

    def __init__(self, argnums=None, argnames=None, with_complex=False):
        self.with_complex = with_complex
        several = isinstance(argnums, tuple)
        found = [int(k) if isinstance(k, integer) else k for k in (argnums if several else (argnums,))]
        argnums = tuple(found) if several else found[0]
        if argnums is None and argnames is None:
            argnums = 0
        elif argnums == () and argnames is not None:
            argnums = None
        self.argnums = argnums
        self.argnames = tuple(argnames) if isinstance(argnames, list) else argnames
        self.positions = () if argnums is None else argnums if isinstance(argnums, tuple) else (argnums,)
        for number in self.positions:
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"argnums must be an int or a tuple of ints, got {argnums!r}")
            if number < 0:
                raise ValueError(f"argnums counts positional arguments from 0, got {argnums!r}")
        names = self.argnames
        self.names = () if names is None else names if isinstance(names, tuple) else (names,)
        if not all(isinstance(name, str) for name in self.names):
            raise TypeError(f"argnames must be a str or a tuple of strs, got {argnames!r}")
        for kind, given, items in (("argnums", argnums, self.positions), ("argnames", argnames, self.names)):
            if isinstance(given, (tuple, list)) and len(set(items)) < max(len(items), 1):
                raise ValueError(f"{kind} must name each argument once, and at least one, got {given!r}")
        self.several = len(self.positions) + len(self.names) > 1 or isinstance(argnums, tuple)
        self.several = self.several or isinstance(self.argnames, tuple)
        self.last = max(self.positions, default=-1)
        self.is_number = bool(self.positions) and not self.several

    def __str__(self):
        given = [self.argnums] if self.argnums is not None else []
        return "argument " + " and ".join(map(repr, given if self.argnames is None else [*given, self.argnames]))

    def check(self, args, f):
        """Raise unless there are arguments at all the positions."""
        if len(args) <= self.last:
            with_f = "" if args else "; codipy.sparsity takes it with the function, sparsity(f, x)"
            raise TypeError(f"{name_of(f)} got {len(args)} positional arguments, but argnums is {self.argnums}: "
                            f"pass what is differentiated by position, or name it, argnames='...'{with_f}")

    def places(self, args, kwargs, f):
        """Positions, and names where arguments were passed by name; an error for a name that was not passed."""
        places = list(self.positions)
        for name in self.names:
            place = name if name in kwargs else _position(f, name, len(args))
            if place is None:
                raise TypeError(f"{name_of(f)} was called without {name!r}, which argnames names: pass it")
            if place in self.positions:
                raise ValueError(f"argnums and argnames both name {name!r} of {name_of(f)}")
            places.append(place)
        return places

    def _is_one_array(self, trees):
        """Whether no tree has to be taken apart and put together again: the usual case, where it would show."""
        return self.is_number and type(trees[0]) is ndarray

    def take(self, args, kwargs=(), f=None):
        """The chosen arguments, the list of their leaves, and where they stand."""
        if self.is_number and is_array(args[self.last]):
            return [args[self.last]], [args[self.last]], [self.last]
        places, leaves = self.places(args, kwargs, f), []
        trees = [kwargs[place] if isinstance(place, str) else args[place] for place in places]
        for place, tree in zip(places, trees):
            own: list = []
            flatten(tree, f"argument {place!r}", own)
            if not (self.with_complex or all_floats(own)):
                demand_real(own, f"argument {place!r}")
            leaves += own
        return trees, leaves, places

    def placer(self, trees, places, kwargs=None, origins=None):
        """A function that puts arguments of the form of `trees`, made of inputs, at their places.

        Those by position go into the ``args`` that it gets, those by name into `kwargs`. Inside of another recording
        the caller has `origins` in the place of the trees.
        """
        if self._is_one_array(trees):
            position = places[0]

            def place_one(args, inputs):
                args[position] = inputs[0]

            return place_one

        return _Placer(trees, places, kwargs, origins)

    def flat(self, trees, leaves, derivatives):
        """The derivatives by the leaves as one tuple of trees, those by position first."""
        derivatives = in_dtypes(derivatives, leaves)
        return tuple(derivatives if self._is_one_array(trees) else rebuild(trees, derivatives))

    def give(self, trees, leaves, derivatives):
        """The derivatives by the leaves, in the form and the dtypes of the arguments.

        By `argnums` or `argnames` alone a tree or a tuple of trees, by both a pair of these.
        """
        results, cut = self.flat(trees, leaves, derivatives), len(self.positions)
        if not self.several:
            return results[0]
        numbered = results[:cut] if isinstance(self.argnums, tuple) or not cut else results[0]
        named = results[cut:] if isinstance(self.argnames, tuple) or not self.names else results[cut]
        return named if not cut else numbered if not self.names else (numbered, named)


class _Placer:
    """What puts arguments of the form of `trees`, made of inputs, at their places.

    Attributes
    ----------
    twins : Twins
        The containers among them, when it was called.
    """

    __slots__ = ("_kwargs", "_origins", "_places", "_trees", "twins")

    def __init__(self, trees, places, kwargs, origins):
        self._trees, self._places, self._kwargs, self._origins = trees, places, kwargs or {}, origins or trees

    def __call__(self, args, inputs):
        given: list = []
        if len(args) + len(self._kwargs) > len(self._places):
            others = {*range(len(args)), *self._kwargs} - set(self._places)
            given = [self._holder(args, spot)[spot] for spot in others]
            for spot, tree in zip(others, fixed(given, self._trees)):
                self._holder(args, spot)[spot] = tree
        made = arguments(self._trees, inputs, given)
        for spot, tree in zip(self._places, made):
            self._holder(args, spot)[spot] = tree
        self.twins = Twins(self._origins, made)

    def _holder(self, args, spot):
        return self._kwargs if isinstance(spot, str) else args


def _position(f, name, count):
    """Where the parameter `name` of f stands among `count` positional arguments; None if it is not among them."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return None
    for position, parameter in enumerate(parameters[:count]):
        if parameter.name == name and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            return position
    return None
