# SPDX-License-Identifier: Apache-2.0
"""Which arguments of a call are differentiated by: `argnums`, checked, and their leaves."""
from __future__ import annotations

from codipy.tools.callee import name_of
from codipy.tools.leaves import in_dtypes
from codipy.tools.trees import arguments, flatten, rebuild

__all__ = ["Choice"]


class Choice:
    """The positions that `argnums` names.

    Parameters
    ----------
    argnums : int or tuple of int
        From 0 on; an int makes the result one tree, a tuple a tuple of trees.

    Attributes
    ----------
    positions : tuple of int
        The arguments.
    several : bool
        Whether it was a tuple.
    """

    __slots__ = ("argnums", "last", "positions", "several")

    def __init__(self, argnums):
        self.several = isinstance(argnums, tuple)
        for number in argnums if self.several else (argnums,):
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"argnums must be an int or a tuple of ints, got {argnums!r}")
            if number < 0:
                raise ValueError(f"argnums counts positional arguments from 0, got {argnums!r}")
        if self.several and len(set(argnums)) < max(len(argnums), 1):
            raise ValueError(f"argnums must name each argument once, and at least one, got {argnums!r}")
        self.argnums, self.positions = argnums, argnums if self.several else (argnums,)
        self.last = max(self.positions)

    def check(self, args, f):
        """Raise unless there are arguments at all the positions."""
        if len(args) <= self.last:
            raise TypeError(f"{name_of(f)} got {len(args)} positional arguments, but argnums is {self.argnums}: "
                            "pass what is differentiated by position")

    def take(self, args):
        """The chosen arguments, and the list of their leaves."""
        trees, leaves = [args[position] for position in self.positions], []
        for position, tree in zip(self.positions, trees):
            flatten(tree, f"argument {position}", leaves)
        return trees, leaves

    def placer(self, trees):
        """A function that puts arguments of the form of `trees`, made of inputs, at their positions in ``args``."""
        def place(args, inputs):
            for position, tree in zip(self.positions, arguments(trees, inputs)):
                args[position] = tree

        return place

    def give(self, trees, leaves, derivatives):
        """The derivatives by the leaves, in the form and the dtypes of the argument, or of a tuple of arguments."""
        results = rebuild(trees, in_dtypes(derivatives, leaves))
        return tuple(results) if self.several else results[0]
