# SPDX-License-Identifier: Apache-2.0
"""Which arrays the functions of a source file fill, from its syntax tree; and what is bound to their names, wrapped.

``u = start.copy(); u[0] = x`` writes into a plain array. Where the call returns, nobody else has that array, so rebuilt
code binds an Array in its place: ``u = made(start.copy())``; see `made.pyx`, which decides at run time. What is
wrapped is decided here, by names, and it may be too much, which costs time, or too little, and then writing raises.

A name is **filled** where something is stored into what it shows: by an index, in place, by a method or function that
writes, through a view that another name shows, in a function nested in this one, or in a function of the same file to
which it is passed. Names of attributes begin with a dot, and ``[]h`` stands for what is in the list or dict ``h``; the
names of attributes and of functions stand for all that are called so in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

from codipy.numpy.writers import FUNCTIONS as WRITERS

__all__ = ["MADE", "MADE_ITEMS", "Fills"]

MADE, MADE_ITEMS = "codipy: made", "codipy: made_items"  # names that no source can say
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKING = (ast.BinOp, ast.UnaryOp, ast.Subscript)  # beside calls
_WRITING_METHODS = frozenset((
    "__iadd__", "__imul__", "__isub__", "__itruediv__", "__setitem__", "byteswap", "fill", "partition", "put",
    "setfield", "sort",
))  # fmt: skip
_WRITING = frozenset(WRITERS) | {"at", "shuffle", "nan_to_num", "setitem"}
_HOLDERS = frozenset(("SimpleNamespace", "defaultdict", "deque", "dict", "list", "partial", "tuple"))
_SHOWING = _HOLDERS | frozenset((
    "T", "asanyarray", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "array_split", "broadcast_to",
    "diagonal", "dsplit", "enumerate", "expand_dims", "flip", "fliplr", "flipud", "get", "hsplit", "items", "iter",
    "matrix_transpose", "moveaxis", "next", "nditer", "permute_dims", "pop", "ravel", "reshape", "reversed", "rollaxis",
    "rot90", "setdefault", "split", "squeeze", "swapaxes", "transpose", "values", "view", "vsplit", "zip",
))  # fmt: skip


class _Call(NamedTuple):
    """An argument of a call: which function's, at which place or by which name, and the names that it shows."""

    function: ast.expr
    callee: str
    place: int | str
    shown: frozenset


class _Outer:
    """A function that stands in no other one, with all that is nested in it.

    Attributes
    ----------
    filled : set of str
        Names.
    shows : list of tuple
        Names, and those that are filled if one of these is.
    calls : list of _Call
        Arguments.
    """

    def __init__(self, node):
        self.node, self.filled, self.shows, self.calls = node, set(), [], []


class Fills:
    """What the functions of a file fill.

    Parameters
    ----------
    tree : ast.Module
        The file.
    """

    def __init__(self, tree: ast.Module):
        self._attributes: set[str] = set()  # that are filled, of whatever: the names with a dot
        self._places: dict[str, list] = {}  # of a function's name: its parameters and whose names they are
        self._outer: dict[ast.AST, _Outer] = {}
        self._find(tree)
        for outer in self._outer.values():
            for node in ast.walk(outer.node):
                self._look_at(outer, node)
        while self._spread():
            pass

    def wrap(self, statement: ast.stmt, is_foreign: Callable[[str], bool]) -> bool:
        """Wrap, in place, what the functions in a statement of the file bind to what they fill.

        Parameters
        ----------
        statement : ast.stmt
            A statement of the tree.
        is_foreign : callable
            Whether a global name is a library's, or a built-in: what it is given, it does not fill.

        Returns
        -------
        bool
            Whether there was anything to wrap.
        """
        count = 0
        for node in list(ast.walk(statement)):
            if (outer := self._outer.get(node)) is not None:
                given = set()
                for call in outer.calls:
                    if call.callee not in self._places and not _is_foreign_call(call.function, is_foreign):
                        given |= call.shown
                wrapper = _Wrapper(outer, self._attributes, given, is_foreign)
                for inner in list(ast.walk(node)):
                    wrapper.look_at(inner)
                count += wrapper.count
        return count > 0

    def _find(self, node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (*_FUNCTIONS, ast.Lambda)):
                outer = self._outer[child] = _Outer(child)
                for inner in ast.walk(child):
                    if isinstance(inner, _FUNCTIONS):
                        self._places.setdefault(inner.name, []).append((outer, _parameters(inner)))
            else:
                self._find(child)

    def _look_at(self, outer, node):
        """Note what one node of the tree stores, shows or passes on."""
        if isinstance(node, ast.AugAssign):
            self._fill(outer, _shown(node.target))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            self._fill(outer, _shown(node.value))
        elif isinstance(node, ast.Call):
            self._look_at_call(outer, node)
        for targets, value in _bindings(node):
            for target in targets:
                names = frozenset(_targets(target))
                shown = frozenset(_shown(value))
                if names and shown:
                    outer.shows.append((names, shown))

    def _look_at_call(self, outer, node):
        callee = _last_name(node.func)
        if isinstance(node.func, ast.Attribute) and callee in _WRITING_METHODS:
            self._fill(outer, _shown(node.func.value))
        if callee in _WRITING and node.args:
            self._fill(outer, _shown(node.args[0]))
        for place, value in [*enumerate(node.args), *((word.arg, word.value) for word in node.keywords)]:
            shown = frozenset(_shown(value))
            if place == "out":
                self._fill(outer, shown)
            elif shown and callee is not None and place is not None:
                outer.calls.append(_Call(node.func, callee, place, shown))

    def _fill(self, outer, names):
        """Note that these names are filled; tell whether that is new."""
        new = False
        for name in names:
            known = self._attributes if "." in name else outer.filled
            new |= name not in known
            known.add(name)
        return new

    def _is_filled(self, outer, names):
        return any(name in (self._attributes if "." in name else outer.filled) for name in names)

    def _spread(self):
        """Carry over to what filled names show, and to what is passed to functions that fill it."""
        new = False
        for outer in self._outer.values():
            for names, shown in outer.shows:
                if self._is_filled(outer, names):
                    new |= self._fill(outer, shown)
            for call in outer.calls:
                for owner, parameters in self._places.get(call.callee, ()):
                    if not self._filled_parameters(owner, parameters, call.place):
                        continue
                    new |= self._fill(outer, call.shown)
        return new

    @staticmethod
    def _filled_parameters(owner, parameters, place):
        """Whether the parameter at a place, of a function or of a method without its object, is filled."""
        if isinstance(place, str):
            return place in parameters and place in owner.filled
        near = parameters[place : place + 2] if parameters[:1] in (["self"], ["cls"]) else parameters[place : place + 1]
        return any(name in owner.filled for name in near)


def _parameters(node):
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _last_name(node):
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _shown(node):
    """The names, attributes with a dot before, of which an expression may be a view or an item."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield "." + node.attr
        yield from _shown(node.value)
    elif isinstance(node, ast.Subscript):
        names = set(_shown(node.value))
        yield from names | set(map(_item, names))  # a view or an item, which nobody knows here
    elif isinstance(node, (ast.Starred, ast.NamedExpr)):
        yield from _shown(node.value)
    elif isinstance(node, ast.Call) and _is_showing(_last_name(node.func)):
        for part in (getattr(node.func, "value", None), *node.args, *(word.value for word in node.keywords)):
            yield from _shown(part)
    elif isinstance(node, (ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Dict)):
        for leaf in _leaves(node):
            yield from _shown(leaf)


def _item(name):
    """The name of what is in a list or dict, and in those that are in it."""
    return name if name.startswith("[]") else "[]" + name


def _is_showing(name):
    """Whether what a function is given is seen through its result: a view, a container, an instance by its name."""
    return name is not None and (name in _SHOWING or name[:1].isupper())


def _leaves(node):
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return node.values if isinstance(node, (ast.BoolOp, ast.Dict)) else node.elts


def _bindings(node):
    """What a node binds: targets and the expression that they get, or of which they get the items."""
    if isinstance(node, ast.Assign):
        yield node.targets, node.value
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield [node.target], node.value
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield [node.target], node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield [node.optional_vars], node.context_expr


def _targets(node):
    """The names that a target binds."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield "." + node.attr
    elif isinstance(node, ast.Subscript):
        yield from map(_item, _shown(node.value))
    elif isinstance(node, ast.Starred):
        yield from _targets(node.value)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for item in node.elts:
            yield from _targets(item)


def _is_foreign_call(function, is_foreign):
    """Whether a call leads into a library, by a name of a module or an attribute of one, that keeps no argument."""
    if _last_name(function) in _HOLDERS:
        return False
    while isinstance(function, (ast.Attribute, ast.Subscript, ast.Call)):
        function = function.func if isinstance(function, ast.Call) else function.value
    return isinstance(function, ast.Name) and is_foreign(function.id)


class _Wrapper:
    """Wraps what is bound in one function. `count` says how often; `given` are names that unknown functions get."""

    def __init__(self, outer, attributes, given, is_foreign):
        self._outer, self._attributes, self._given, self._is_foreign = outer, attributes, given, is_foreign
        self.count = 0

    def look_at(self, node: Any):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                node.value = self._bound(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            node.value = self._bound(node.target, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            if self._fills(node.target):
                node.iter = self._items(node.iter)
        elif isinstance(node, ast.Call) and not _is_foreign_call(node.func, self._is_foreign):
            name = _last_name(node.func) or ""
            kinds = _MAKING if name in _HOLDERS or name[:1].isupper() else ()  # what a class is given it may keep
            node.args = [self._called(argument, kinds) for argument in node.args]
            for word in node.keywords:
                word.value = self._called(word.value, kinds)

    def _fills(self, target):
        """Whether something is stored into what a target gets."""
        return any(name in (self._attributes if "." in name else self._outer.filled) for name in _targets(target))

    def _bound(self, target, value):
        """The value for a target."""
        if isinstance(target, (ast.Tuple, ast.List)):
            plain = not any(isinstance(item, ast.Starred) for item in target.elts)
            if plain and isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                value.elts = [self._bound(one, item) for one, item in zip(target.elts, value.elts)]
            elif isinstance(value, ast.Call) and any(map(self._is_wanted, target.elts)):
                return self._wrapped(value, MADE_ITEMS)
            return value
        if self._fills(target):
            return self._items(self._called(value, () if isinstance(target, ast.Subscript) else _MAKING))
        return self._called(value) if self._is_wanted(target) else value

    def _is_wanted(self, target):
        return self._fills(target) or (isinstance(target, ast.Name) and target.id in self._given)

    def _called(self, value, kinds=()):
        """A value that a call may have made just now, or an expression of other kinds.

        Where it is not known that the name is filled, only calls count: a loop over floats is to cost nothing more.
        """
        if isinstance(value, (ast.Call, *kinds)):
            return value if _last_name(getattr(value, "func", None)) in (MADE, MADE_ITEMS) else self._wrapped(value)
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Call):
            return self._wrapped(value)
        if isinstance(value, ast.IfExp):
            value.body, value.orelse = self._called(value.body, kinds), self._called(value.orelse, kinds)
        elif isinstance(value, ast.BoolOp):
            value.values = [self._called(item, kinds) for item in value.values]
        return value

    def _items(self, value):
        """Arrays that are made in a list, tuple or dict which is written out."""
        if isinstance(value, (ast.List, ast.Tuple)):
            value.elts = list(map(self._item, value.elts))
        elif isinstance(value, ast.Dict):
            value.values = list(map(self._item, value.values))
        elif isinstance(value, (ast.ListComp, ast.GeneratorExp)):
            value.elt = self._item(value.elt)
        elif isinstance(value, ast.DictComp):
            value.value = self._item(value.value)
        return value

    def _item(self, value):
        return self._items(self._called(value, _MAKING))

    def _wrapped(self, value, by=MADE):
        self.count += 1
        return ast.copy_location(ast.Call(ast.copy_location(ast.Name(by, ast.Load()), value), [value], []), value)
