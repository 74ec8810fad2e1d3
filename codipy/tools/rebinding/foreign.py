# SPDX-License-Identifier: Apache-2.0
"""What a name in a user's module stands for: whether it is a library's, and whether that may keep or write memory."""

from __future__ import annotations

import ast
import builtins
import sys
import types
from types import FunctionType, ModuleType

import numpy as np

from codipy.tools.rebinding.replacements import replacement

__all__ = ["Foreign"]

_COMPILED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_MEMORY = frozenset((  # of NumPy: what shows or writes memory, by another object than an array of codipy's
    "asmatrix", "bmat", "ctypeslib", "from_dlpack", "frombuffer", "ma", "matrix", "memmap", "ndarray", "nditer", "rec",
    "recarray",
))  # fmt: skip
_PRODUCTS = ("dot", "multiply", "rmatvec")  # methods of sparse matrices that keep nothing
_MAKERS = (np.arange, np.array, np.empty, np.empty_like, np.full, np.full_like, np.linspace, np.ones, np.ones_like,
           np.zeros, np.zeros_like)  # fmt: skip
_CYTHON = "cython_function_or_method"
# Of Python's modules, those that keep an object, if at all, as what it is.
_OBJECTS = frozenset((
    "abc", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses", "enum", "functools", "heapq",
    "inspect", "itertools", "logging", "math", "operator", "pickle", "pprint", "random", "statistics", "time", "types",
    "typing", "warnings",
))  # fmt: skip


class Foreign:
    """The global names of a function.

    Parameters
    ----------
    variables : dict
        Its globals.
    scope : Scope
        Whose functions are the user's.
    """

    def __init__(self, variables, scope):
        self._variables, self._scope = variables, scope

    def __call__(self, name):
        """Whether it is something that does not fill what it is given, or which writes to arrays of its own."""
        value, scope = self._value(name), self._scope
        kind = type(value)
        if kind is ModuleType:
            return not scope.owns_module(value)
        if kind is FunctionType:
            return not scope.owns_globals(value.__globals__)
        if kind is type:
            return not scope.owns_class(value)
        return kind in _COMPILED or issubclass(kind, np.ufunc)

    def is_module(self, name):
        """Whether it is a module."""
        return type(self._value(name)) is ModuleType

    def has(self, name):
        """Whether it is a variable of the module."""
        return name in self._variables

    def is_array_at(self, target):
        """Whether what has an index here is an array of numbers, as far as names, attributes and items lead there."""
        return isinstance(target, ast.Subscript) and _is_numeric(self._held(target.value))

    def is_array(self, node):
        """Whether an expression is an array of numbers that the module has, as far as names lead there."""
        return _is_numeric(self._held(node))

    def makes_array(self, function, imports):
        """Whether a call of it makes an array of numbers."""
        return any(self._found(function, imports) is maker for maker in _MAKERS)

    def keeps(self, function, imports):
        """Whether a library that is called may keep the memory of what it is given, or write to it.

        An Array that is asked for its values gives a copy of them: so what is filled later would not be seen there, nor
        would be seen here what was written to the copy.

        Parameters
        ----------
        function : ast.expr
            What is called.
        imports : dict
            By the names that the function itself imports, the modules or what it takes from them.
        """
        parts, names = function, []
        while isinstance(parts, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(parts, ast.Attribute):
                names.append(parts.attr)
            parts = parts.func if isinstance(parts, ast.Call) else parts.value
        if not isinstance(parts, ast.Name):
            return False
        value = imports.get(parts.id)
        if value is None:
            value = self._value(parts.id)
        if value is None:
            return False
        origin = _origin(value)
        top = origin.partition(".")[0]
        names += [parts.id, *origin.split(".")]
        if top in ("codipy", "numba"):
            return False
        if top == "numpy":
            return not _MEMORY.isdisjoint(names) and not isinstance(value, np.ndarray)
        if top == "builtins":
            return value is memoryview
        if top.lstrip("_") in sys.stdlib_module_names or top in sys.stdlib_module_names:
            return top.lstrip("_") not in _OBJECTS
        if origin.startswith("scipy.sparse.") and names[0] in _PRODUCTS and hasattr(type(value), "tocsr"):
            return False
        if self._scope.owns_name(origin, getattr(sys.modules.get(origin), "__file__", None)):
            return False
        found = self._found(function, imports)
        return not (isinstance(found, np.ufunc) or (found is not None and replacement(found) is not None))

    def _value(self, name):
        return self._variables.get(name, getattr(builtins, name, None))

    def _held(self, node):
        """What a variable of the module has, and what its attributes and items have, where no code of others runs."""
        if isinstance(node, ast.Name):
            return self._variables.get(node.id)
        if isinstance(node, ast.Attribute):
            try:
                return object.__getattribute__(self._held(node.value), "__dict__").get(node.attr)
            except AttributeError:
                return None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            owner, key = self._held(node.value), node.slice.value
            is_list = type(owner) in (list, tuple) and type(key) is int and -len(owner) <= key < len(owner)
            return owner[key] if is_list else owner.get(key) if type(owner) is dict else None
        return None

    def _found(self, function, imports):
        """What stands at a name with dots, as far as modules are imported."""
        if isinstance(function, ast.Name):
            return imports.get(function.id) or self._value(function.id)
        if not isinstance(function, ast.Attribute):
            return None
        value = self._found(function.value, imports)
        if type(value) is not ModuleType:
            return None
        return vars(value).get(function.attr, sys.modules.get(f"{value.__name__}.{function.attr}"))


def _is_numeric(value):
    return type(value) is np.ndarray and value.dtype.kind in "fc"


def _origin(value):
    """The module of what a name stands for, or of its class."""
    if isinstance(value, ModuleType):
        return value.__name__
    kind = type(value)
    is_function = isinstance(value, (type, FunctionType, types.BuiltinFunctionType)) or kind.__name__ == _CYTHON
    found = getattr(value if is_function else kind, "__module__", None)
    return found if isinstance(found, str) else "builtins"
