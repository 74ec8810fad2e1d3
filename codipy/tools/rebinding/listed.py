# SPDX-License-Identifier: Apache-2.0
"""Which names in a source file may be lists or tuples: those that are bound to some, which are written out or made so.

It is names that are looked at, as in `fills.py`, so it may be too much, which costs time, or too little.
"""

from __future__ import annotations

import ast

from codipy.tools.rebinding.names import FUNCTIONS, bindings_in, last_name, places_of

__all__ = ["Lists"]

_MAKING = frozenset(("list", "sorted", "tolist", "tuple"))
_JOINING = (ast.Add, ast.Mult)


class Lists:
    """The lists of a file.

    Names of attributes, which begin with a dot, and of functions, with brackets behind, are those of all that are
    called so in the file.
    """

    def __init__(self):
        self._names: set = {name + "()" for name in _MAKING}  # others are pairs with their outermost functions
        self._bound: list = []  # what becomes a name: as it is in the set, an outermost function and an expression
        self._passed: list = []  # calls, with the outermost functions in which they stand

    def look_at(self, outer, node):
        """Note what one node of the tree binds, returns or passes on.

        Parameters
        ----------
        outer : object
            Stands for the outermost function that the node is in.
        node : ast.AST
        """
        for targets, field in bindings_in(node):
            if field == "value":
                for target in targets:
                    self._bind(outer, target, node.value)
        if isinstance(node, (*FUNCTIONS, ast.Lambda)) and node.args.vararg is not None:
            self._names.add((outer, node.args.vararg.arg))
        if isinstance(node, FUNCTIONS):
            self._bound += [(node.name + "()", outer, part.value) for part in ast.walk(node)
                            if isinstance(part, ast.Return) and part.value is not None]  # fmt: skip
        elif isinstance(node, ast.Call):
            self._passed.append((outer, node))

    def spread(self, places):
        """Carry over from lists to names that are bound to them, and to the parameters of functions that get them.

        Parameters
        ----------
        places : dict
            By the names of functions, their outermost functions and parameters.
        """
        for outer, call in self._passed:
            values = [*call.args, *(word.value for word in call.keywords if word.arg is not None)]
            for owner, parameters in places.get(last_name(call.func), ()):
                first = parameters[:1] in (["self"], ["cls"])
                for place, value in zip(places_of(call), values):
                    name = place if isinstance(place, str) else (parameters[first + place:] or [None])[0]
                    if name in parameters:
                        self._bound.append(((owner, name), outer, value))
        count = -1
        while count != len(self._names):
            count = len(self._names)
            self._names.update(name for name, outer, value in self._bound if self.has(outer, value))
        self._bound, self._passed = [], []

    def has(self, outer, node):
        """Whether an expression in a function may be a list or a tuple.

        Parameters
        ----------
        outer : object
            As for `look_at`.
        node : ast.expr

        Returns
        -------
        bool
        """
        if isinstance(node, (ast.List, ast.ListComp, ast.Tuple)):
            return True
        if isinstance(node, ast.Name):
            return (outer, node.id) in self._names
        if isinstance(node, ast.Attribute):
            return "." + node.attr in self._names
        if isinstance(node, ast.Call):
            return f"{last_name(node.func)}()" in self._names
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Slice) and self.has(outer, node.value)
        if isinstance(node, ast.NamedExpr):
            return self.has(outer, node.value)
        if isinstance(node, ast.IfExp):
            return self.has(outer, node.body) or self.has(outer, node.orelse)
        is_joined = isinstance(node, ast.BinOp) and isinstance(node.op, _JOINING)
        return is_joined and (self.has(outer, node.left) or self.has(outer, node.right))

    def _bind(self, outer, target, value):
        if isinstance(target, ast.Name):
            self._bound.append(((outer, target.id), outer, value))
        elif isinstance(target, ast.Attribute):
            self._bound.append(("." + target.attr, outer, value))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, item in zip(target.elts, value.elts):
                self._bind(outer, one, item)
