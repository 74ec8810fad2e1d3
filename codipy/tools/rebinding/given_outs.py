# SPDX-License-Identifier: Apache-2.0
"""What the calls in a source file give as ``out``, by name or at the place that NumPy's function or method has for it.

What is called is found where its name begins with one that the file imports. Of other calls only the last name is
known, and whether it is that of a function or of a method is not: then each place counts that one of them has. So it
may be too much, which costs time.
"""

from __future__ import annotations

import ast
from types import ModuleType

from codipy.numpy.outputs import method_place, methods, place_of, places_by_name
from codipy.tools.rebinding.names import FUNCTIONS, imported_by, last_name

__all__ = ["Outs"]


class Outs:
    """The expressions that the calls of a file give as ``out``.

    Parameters
    ----------
    tree : ast.Module
        The file.
    """

    def __init__(self, tree: ast.Module):
        self._imports: dict = {}
        for node in _outside(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._imports.update(imported_by(node))

    def of(self, call, imports, own):
        """What a call is given as ``out``, perhaps.

        Parameters
        ----------
        call : ast.Call
            In a function of the file.
        imports : dict
            Modules, and what is taken from them, by the names that this function imports.
        own : container of str
            The names of the file's own functions: their parameters tell what they fill.

        Returns
        -------
        list of ast.expr
            Arguments of the call.
        """
        found = [word.value for word in call.keywords if word.arg == "out"]
        if not call.args:
            return found
        first = self._first(call, imports, own)
        return found + [value for place in first for value in call.args[place : place + _count(call)]]

    def is_function_of_module(self, function, imports):
        """Whether a call's function is one of an imported module, as ``np.add`` is, and no method of what it has."""
        value, names = self._found(function, imports)
        return isinstance(function, ast.Attribute) and value is not None and not names

    def _found(self, function, imports):
        """What an imported name stands for, as far as modules go, and the attributes that are then taken of it."""
        names = []
        while isinstance(function, ast.Attribute):
            names.append(function.attr)
            function = function.value
        known = isinstance(function, ast.Name)
        value = imports.get(function.id, self._imports.get(function.id)) if known else None
        while names and isinstance(value, ModuleType):
            if type(value) is not ModuleType:  # as rebuilt code sees the user's: a name would be rebuilt
                return None, names
            value = vars(value).get(names.pop())
        return value, names

    def _first(self, call, imports, own):
        """The places at which outputs may begin."""
        value, names = self._found(call.func, imports)
        name, is_method = last_name(call.func), isinstance(call.func, ast.Attribute)
        if value is None:
            if not is_method and name in own:
                return ()
            places = places_by_name().get(name, set())
            return places | {methods()[name]} if is_method and name in methods() else places
        if not names:
            place = place_of(value)
        elif isinstance(value, type):
            place = method_place(value, name)
        else:
            place = methods().get(name)  # of an ufunc, or of an array of another module
        return () if place is None else (place,)


def _count(call):
    """How many outputs may follow each other: `modf` and its like have two."""
    return 2 if last_name(call.func) in ("divmod", "frexp", "modf") else 1


def _outside(node):
    """The nodes of a file that are in no function."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*FUNCTIONS, ast.Lambda)):
            yield from _outside(child)
