# SPDX-License-Identifier: Apache-2.0
"""Which arrays the functions of a source file fill, by their names in its syntax tree.

``u = start.copy(); u[0] = x`` writes into a plain array: what is bound to `u` is to be an Array (`wrapping.py`). It is
names that are looked at, so it may be too much, which costs time, or too little, and then writing raises.

A name is **filled** where something but a number that is written out is stored into what it shows: by an index, in
place, by a method or function that writes, through a view that another name shows, in a function nested in this one, or
in a function of the same file to which it is passed. Names of attributes begin with a dot, and ``[]h`` stands for what
is in the list or dict ``h``; the names of attributes and of functions stand for all that are called so in the file.

A name is **kept** where what it shows has to stay NumPy's own: where a library gets it that may hold on to its memory
or write there (`foreign.py`), or where its bytes are looked at. It is **stored** where a variable of the module gets
it, whose other functions are to find a plain array after the recording. What is made for such a name is left as it is.
"""

from __future__ import annotations

import ast
import itertools
from typing import NamedTuple

from codipy.numpy.writers import FUNCTIONS as WRITERS
from codipy.tools.rebinding.given_outs import Outs
from codipy.tools.rebinding.listed import Lists
from codipy.tools.rebinding.names import (
    CALLING,
    FUNCTIONS,
    bindings_in,
    bound_by,
    captured_by,
    given_to,
    imported_by,
    is_number,
    item_of,
    last_name,
    mentioned_in,
    names_of,
    parameters_of,
    returned_by,
    root_of,
    with_variables,
)

__all__ = ["ADDING", "FILLED", "KEPT", "STORED", "WRITERS_BY_NAME", "WRITING", "Fills"]

FILLED, KEPT, STORED = "filled", "kept", "stored"  # what names are marked as
_WRITING_METHODS = frozenset((
    "__iadd__", "__imul__", "__isub__", "__itruediv__", "__setitem__", "fill", "put", "setfield",
))  # fmt: skip
WRITING = frozenset(WRITERS) | {"at", "shuffle", "nan_to_num", "setitem"}
# What looks at the bytes of an array: attributes, those that are set, and methods that are given something.
_BYTES = frozenset(("__array_interface__", "__array_struct__", "__dlpack__", "ctypes"))
_SET_BYTES = frozenset(("dtype", "strides"))
_BYTES_METHODS = frozenset(("byteswap", "getfield", "readinto", "resize", "setfield", "view"))
WRITERS_BY_NAME = WRITING | _WRITING_METHODS | _BYTES_METHODS | {"out", "partition", "sort"}
ADDING = frozenset(("add", "append", "appendleft", "extend", "insert", "setdefault", "update"))


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
    marks : dict
        The names that are filled, kept and stored.
    shows : list of tuple
        Names, and those that are marked if one of these is.
    calls : list of _Call
        Arguments.
    given : list of ast.Call
        All calls.
    stores : list of tuple
        A variable of another function or of the module in which something is stored, by an attribute or an index, names
        that show what is stored, and where it is stored, None for what a method adds.
    imports : dict
        Modules, and what is taken from them, by the names that they have here.
    makers : dict
        By names, the calls that they are bound to.
    unmade : set of str
        Names that are bound to something else, too.
    of_lists : dict
        By names, whether all that is bound to them are lists of lists that are written out: no array is in these.
    bound : set of str
        Names of its own.
    numbered : set of int
        Targets, by address, that get a number which is written out: plain arrays can hold that.
    """

    def __init__(self, node):
        self.node, self.marks, self.shows, self.calls, self.given = node, _no_marks(), [], [], []
        self.stores, self.imports, self.makers, self.of_lists, self.bound, self.numbered = [], {}, {}, {}, set(), set()
        self.unmade = set()


class Fills:
    """What the functions of a file fill.

    Parameters
    ----------
    tree : ast.Module
        The file.

    Attributes
    ----------
    outer : dict
        By their nodes, the functions that stand in no other one.
    places : dict
        By the names of functions, their parameters and the function in which these are looked for.
    outs : Outs
        Tells what the calls of the file give as ``out``.
    lists : Lists
        Tells which expressions may be lists, in the functions that stand in no other one.
    """

    def __init__(self, tree: ast.Module):
        self._marks = _no_marks()  # of the names with a dot, whatever they are attributes of
        self._results: dict[str, list] = {}  # of a function's name: what names it returns, and whose they are
        self._is_searched = False
        self.outs, self.lists = Outs(tree), Lists()
        self.places: dict[str, list] = {}  # of a function's name: its parameters and whose names they are
        self.outer: dict[ast.AST, _Outer] = {}
        self._find(tree)
        for outer in self.outer.values():
            for node, own in with_variables(outer.node):
                self._look_at(outer, node, own)
                self.lists.look_at(outer, node)
        self.lists.spread(self.places)
        while self._spread(FILLED) or self._spread_results():
            pass
        for name in set(_shown_as_bytes(tree)):  # an address may have been taken
            for outer in self.outer.values():
                if name not in outer.bound:
                    self._mark(outer, KEPT, [name])

    def _find(self, node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (*FUNCTIONS, ast.Lambda)):
                outer = self.outer[child] = _Outer(child)
                for inner in ast.walk(child):
                    if isinstance(inner, FUNCTIONS):
                        self.places.setdefault(inner.name, []).append((outer, parameters_of(inner)))
                        self._results.setdefault(inner.name, []).append((outer, returned_by(inner)))
                if isinstance(node, ast.ClassDef) and getattr(child, "name", "") == "__init__":
                    self.places.setdefault(node.name, []).append((outer, parameters_of(child)))
            else:
                self._find(child)

    def _look_at(self, outer, node, own):
        """Note what one node of the tree, in a function with its own variables, stores, shows or passes on."""
        if isinstance(node, (ast.Assign, ast.AugAssign)) and is_number(node.value):
            outer.numbered.update(map(id, [node.target] if isinstance(node, ast.AugAssign) else node.targets))
        if isinstance(node, ast.AugAssign) and id(node.target) not in outer.numbered:
            self._mark(outer, FILLED, names_of(node.target))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and id(node) not in outer.numbered:
            self._mark(outer, FILLED, names_of(node.value))
        elif isinstance(node, ast.Call):
            self._look_at_call(outer, node, own)
        elif isinstance(node, ast.Match):
            shown = frozenset(names_of(node.subject))
            outer.shows.append((frozenset(name for case in node.cases for name in captured_by(case.pattern)),
                                shown | frozenset(map(item_of, shown))))  # fmt: skip
        self._look_at_bytes(outer, node)
        for targets, field in bindings_in(node):
            value = getattr(node, field)
            self._look_at_stores(outer, targets, value, own)
            for target in targets:
                _look_at_rows(outer, target, value if field == "value" else None)
                names = frozenset(bound_by(target))
                shown = frozenset(names_of(given_to(target, value)))
                if names and shown:
                    outer.shows.append((names, shown))

    def _look_at_bytes(self, outer, node):
        """Note whose bytes are looked at, and what is imported."""
        if isinstance(node, ast.Attribute):
            is_set = isinstance(node.ctx, ast.Store)
            if node.attr in (_SET_BYTES if is_set else _BYTES):
                self._mark(outer, KEPT, names_of(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (node.args or node.keywords):
            if node.func.attr in _BYTES_METHODS:
                self._mark(outer, KEPT, names_of(node.args[0] if node.func.attr == "readinto" else node.func.value))
        elif isinstance(node, ast.arg):
            outer.bound.add(node.arg)
            outer.unmade.add(node.arg)
            outer.of_lists[node.arg] = False
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            outer.imports.update(imported_by(node))

    def _look_at_stores(self, outer, targets, value, own):
        """Note what is stored in which variable, and what makes that of a name."""
        shown = frozenset().union(names_of(value), *map(bound_by, targets))
        for target in targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                if isinstance(root := root_of(target), ast.Name) and root.id not in own:
                    outer.stores.append((root.id, shown, target))
                continue
            names = frozenset(bound_by(target))
            outer.bound |= names
            if isinstance(value, ast.Lambda):
                outer.shows.append((names, frozenset(mentioned_in(value))))  # what is kept if a library calls it
            if isinstance(value, ast.Call):
                for name in names:
                    outer.makers.setdefault(name, []).append(value)
            if not isinstance(value, ast.Call) or not isinstance(target, ast.Name):
                outer.unmade |= names

    def _look_at_call(self, outer, node, own):
        outer.given.append(node)
        callee = last_name(node.func)
        is_writing = callee in _WRITING_METHODS and not (callee == "fill" and all(map(is_number, node.args)))
        if isinstance(node.func, ast.Attribute) and is_writing:
            self._mark(outer, FILLED, names_of(node.func.value))
        if callee in WRITING and node.args:
            self._mark(outer, FILLED, names_of(node.args[0]))
        container = getattr(node.func, "value", None)
        is_adding = callee in ADDING and not self.outs.is_function_of_module(node.func, outer.imports)
        if is_adding and isinstance(container, ast.Name) and not all(map(_is_list, node.args)):
            outer.of_lists[container.id] = False
        for value in self.outs.of(node, outer.imports, self.places):
            self._mark(outer, FILLED, names_of(value))
        for place, value in [*enumerate(node.args), *((word.arg, word.value) for word in node.keywords)]:
            shown = frozenset(names_of(value))
            if is_adding and isinstance(root := root_of(node.func), ast.Name) and root.id not in own:
                outer.stores.append((root.id, shown, None))
            if place != "out" and shown and callee is not None and place is not None:
                outer.calls.append(_Call(node.func, callee, place, shown))
        if isinstance(node.func, ast.Lambda):
            self._look_at_called(outer, node.func, node.args, node.keywords)
        elif node.args and (callee == "partial" or callee in CALLING):
            given = node.args[1:] * 2 if callee == "reduce" else node.args[1:]  # one list for two parameters
            self._look_at_called(outer, node.args[0], given, node.keywords)

    @staticmethod
    def _look_at_called(outer, function, given, words):
        """Note what a function is given by another one, as `map` does with what is in the lists that it walks over."""
        name = last_name(function)
        for place, value in [*enumerate(given), *((word.arg, word.value) for word in words)]:
            shown = frozenset(names_of(value))
            if isinstance(function, ast.Lambda):
                names = parameters_of(function)
                names = names[place : place + 1] if isinstance(place, int) else [place]
                outer.shows.append((frozenset(filter(None, names)), shown))
            elif shown and name is not None and place is not None:
                outer.calls.append(_Call(function, name, place, shown))

    def _mark(self, outer, kind, names):
        """Mark names as filled, kept or stored; tell whether that is new."""
        new = False
        for name in names:
            known = (self._marks if "." in name else outer.marks)[kind]
            new |= name not in known
            known.add(name)
        return new

    def is_marked(self, outer, kind, names):
        """Whether one of these names is filled, kept or stored."""
        return any(name in (self._marks if "." in name else outer.marks)[kind] for name in names)

    def parameters_filled(self, name, line):
        """The parameters that the functions of a name fill which begin at a line."""
        found = set()
        for outer in self.outer.values():
            for node in ast.walk(outer.node):
                if isinstance(node, (*FUNCTIONS, ast.Lambda)) and getattr(node, "name", "<lambda>") == name:
                    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
                    if first == line:
                        found.update(parameters_of(node))
                        found = {one for one in found if self.is_marked(outer, FILLED, [one])
                                 and not self.is_marked(outer, KEPT, [one])}  # fmt: skip
        return frozenset(found)

    def is_kept_argument(self, call, place):
        """Whether a function of the file lets a library, or the module, keep what it is given at a place."""
        return any(self._has_parameter(owner, parameters, place, owner.marks[KEPT] | owner.marks[STORED])
                   for owner, parameters in self.places.get(last_name(call.func), ()))  # fmt: skip

    def search(self, foreign):
        """Find the names that are kept and stored, by what the names of the module stand for; done once."""
        if self._is_searched:
            return
        self._is_searched = True
        try:
            self._search(foreign)
        except BaseException:  # Ctrl-C, or a recursion that is too deep: half of the names are none
            self._is_searched = False
            raise

    def _search(self, foreign):
        for outer in self.outer.values():
            made = {name: _maker(outer, name, foreign) for name in outer.makers}
            for call in outer.given:
                function, root = call.func, root_of(call.func)
                if isinstance(root, ast.Name) and root.id in made:
                    function = made[root.id] or function  # what a library has made, or a method of it
                if foreign.keeps(function, outer.imports):
                    for value in (*call.args, *(word.value for word in call.keywords)):
                        self._mark(outer, KEPT, mentioned_in(value))
            for name, shown, target in outer.stores:
                if _copies(target) or _is_of_array(outer, name, target, foreign):
                    continue
                if name in outer.bound or foreign.has(name):  # of an enclosing function, or of the module
                    self._mark(outer, STORED, shown)
        for kind in (KEPT, STORED):
            while self._spread_kept(kind):
                pass

    def _spread_kept(self, kind):
        """Carry over to what kept or stored names show, to arguments, and to what functions return for them."""
        new = self._spread(kind)
        for outer in self.outer.values():
            for name, calls in outer.makers.items():
                if self.is_marked(outer, kind, [name]):
                    new |= self._mark(outer, kind, filter(None, (last_name(call.func) for call in calls)))
            for name in (*outer.marks[kind], *self._marks[kind]):  # functions that a library calls, or that make things
                for owner, names in self._results.get(name.lstrip("."), ()):
                    new |= self._mark(owner, kind, names)
        return new

    def _spread(self, kind):
        """Carry over to what marked names show, and to what is passed to functions for such a parameter."""
        new = False
        for outer in self.outer.values():
            for names, shown in outer.shows:
                if self.is_marked(outer, kind, names):
                    new |= self._mark(outer, kind, shown)
            for call in outer.calls:
                for owner, parameters in self.places.get(call.callee, ()):
                    if self._has_parameter(owner, parameters, call.place, owner.marks[kind]):
                        new |= self._mark(outer, kind, call.shown)
        return new

    def _spread_results(self):
        """Carry over from what is filled to what was there before and a function or property of the file returned."""
        makers = {name[1:] for name in self._marks[FILLED]}
        for outer in self.outer.values():
            for name, calls in outer.makers.items():
                if self.is_marked(outer, FILLED, [name]):
                    makers.update(last_name(call.func) for call in calls)
        new = False
        for maker in makers:
            for owner, names in self._results.get(maker, ()):
                new |= self._mark(owner, FILLED, (shown for shown in names if shown not in owner.bound))
        return new

    @staticmethod
    def _has_parameter(owner, parameters, place, names):
        """Whether the parameter at a place, of a function or of a method without its object, is one of some names."""
        if isinstance(place, str):
            return place in parameters and place in names
        near = parameters[place : place + 2] if parameters[:1] in (["self"], ["cls"]) else parameters[place : place + 1]
        return any(name in names for name in near)


def _shown_as_bytes(node):
    """The names of arrays whose memory the module itself looks at, outside of functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Attribute) and child.attr in _BYTES:
            yield from names_of(child.value)
        if not isinstance(child, (*FUNCTIONS, ast.Lambda)):
            yield from _shown_as_bytes(child)


def _copies(target):
    """Whether only an array can have something stored there, which it copies: at ``[1:, 0]``, at ``[...]``."""
    if not isinstance(target, ast.Subscript):
        return False
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else ()
    return any(isinstance(part, ast.Slice) for part in parts) or any(
        isinstance(part, ast.Constant) and part.value is ... for part in (target.slice, *parts))


def _is_of_array(outer, name, target, foreign):
    """Whether a target is an element or a part of an array, of a variable of the module or of an enclosing function."""
    if name not in outer.bound:
        return foreign.is_array_at(target)
    is_part = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
    makers = [] if name in outer.unmade else outer.makers.get(name, [])
    return is_part and bool(makers) and all(foreign.makes_array(call.func, outer.imports) for call in makers)


def _look_at_rows(outer, target, value):
    """Note whether a name has, still, lists of lists only; of an item that is set, whether that is a list."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else ()
        for one, item in itertools.zip_longest(target.elts, values):
            _look_at_rows(outer, one, item)
    elif isinstance(target, ast.Name):
        outer.of_lists[target.id] = outer.of_lists.get(target.id, True) and _holds_lists(value)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and not _is_list(value):
        is_row = isinstance(value, ast.Subscript) and ast.dump(value.value) == ast.dump(target.value)  # as in a swap
        if not is_row:
            outer.of_lists[target.value.id] = False


def _holds_lists(node):
    if isinstance(node, ast.ListComp):
        return _is_list(node.elt)
    return isinstance(node, ast.List) and all(map(_is_list, node.elts))


def _is_list(node):
    """Whether an expression is a list that is written out."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_list(node.left) or _is_list(node.right)
    return isinstance(node, (ast.List, ast.ListComp))


def _no_marks():
    return {FILLED: set(), KEPT: set(), STORED: set()}


def _maker(outer, name, foreign):
    """What a library's function is called by that makes all values of a name; or None."""
    found = [call.func for call in outer.makers[name] if foreign.keeps(call.func, outer.imports)]
    return found[0] if len(found) == len(outer.makers[name]) else None
