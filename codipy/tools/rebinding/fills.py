# SPDX-License-Identifier: Apache-2.0
"""Which arrays the functions of a source file fill, from its syntax tree; and its expressions for these, wrapped.

``u = start.copy(); u[0] = x`` writes into a plain array. Where the call returns, nobody else has that array, so rebuilt
code binds an Array in its place: ``u = made(start.copy())``; see `made.pyx`, which decides at run time. And
``self.work[0] = x`` becomes ``hold_attribute(self, "work").work[0] = x``; see `exchange.pyx`. What is wrapped is
decided here, by names, and it may be too much, which costs time, or too little, and then writing raises.

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
import sys
from typing import Any, NamedTuple

from codipy.numpy.writers import FUNCTIONS as WRITERS

__all__ = [
    "HOLD_ATTRIBUTE", "HOLD_CELL", "HOLD_GLOBAL", "HOLD_ITEM", "HOLD_ITEMS", "MADE", "MADE_ITEMS", "OWN", "Fills",
]  # fmt: skip

MADE, MADE_ITEMS = "codipy: made", "codipy: made_items"  # names that no source can say
HOLD_ATTRIBUTE, HOLD_ITEM, HOLD_ITEMS = "codipy: hold_attribute", "codipy: hold_item", "codipy: hold_items"
HOLD_CELL, HOLD_GLOBAL = "codipy: hold_cell", "codipy: hold_global"
FILLED, KEPT, STORED = "filled", "kept", "stored"  # what names are marked as
OWN = "codipy: own"  # the argument of functions that the source has not
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKING = (ast.BinOp, ast.UnaryOp, ast.Subscript)  # beside calls
_WRITING_METHODS = frozenset((
    "__iadd__", "__imul__", "__isub__", "__itruediv__", "__setitem__", "fill", "put", "setfield",
))  # fmt: skip
_WRITING = frozenset(WRITERS) | {"at", "shuffle", "nan_to_num", "setitem"}
_HOLDERS = frozenset(("SimpleNamespace", "defaultdict", "deque", "dict", "list", "partial", "tuple"))
_SHOWING = _HOLDERS | frozenset((
    "T", "asanyarray", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "array_split", "broadcast_to",
    "diagonal", "dsplit", "enumerate", "expand_dims", "flip", "fliplr", "flipud", "get", "hsplit", "items", "iter",
    "matrix_transpose", "moveaxis", "next", "nditer", "permute_dims", "pop", "ravel", "reshape", "reversed", "rollaxis",
    "rot90", "setdefault", "split", "squeeze", "swapaxes", "transpose", "values", "view", "vsplit", "zip",
))  # fmt: skip
# What looks at the bytes of an array: attributes, those that are set, and methods that are given something.
_BYTES = frozenset(("__array_interface__", "__array_struct__", "__dlpack__", "ctypes"))
_SET_BYTES = frozenset(("dtype", "strides"))
_BYTES_METHODS = frozenset(("byteswap", "getfield", "readinto", "resize", "setfield", "view"))
_ADDING = frozenset(("add", "append", "appendleft", "extend", "insert", "setdefault", "update"))


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
        A variable of another function or of the module in which something is stored, by an attribute or an index, and
        names that show what is stored.
    imports : dict
        Modules, and what is taken from them, by the names that they have here.
    makers : dict
        By names, the calls that they are bound to.
    bound : set of str
        Names of its own.
    numbered : set of int
        Targets, by address, that get a number which is written out: plain arrays can hold that.
    """

    def __init__(self, node):
        self.node, self.marks, self.shows, self.calls, self.given = node, _no_marks(), [], [], []
        self.stores, self.imports, self.makers, self.bound, self.numbered = [], {}, {}, set(), set()


class Fills:
    """What the functions of a file fill.

    Parameters
    ----------
    tree : ast.Module
        The file.
    """

    def __init__(self, tree: ast.Module):
        self._marks = _no_marks()  # of the names with a dot, whatever they are attributes of
        self._results: dict[str, list] = {}  # of a function's name: what names it returns, and whose they are
        self._is_searched = False
        self._places: dict[str, list] = {}  # of a function's name: its parameters and whose names they are
        self._outer: dict[ast.AST, _Outer] = {}
        self._find(tree)
        for outer in self._outer.values():
            for node, own in _with_variables(outer.node):
                self._look_at(outer, node, own)
        while self._spread():
            pass

    def wrap(self, statement: ast.stmt, foreign: Any) -> bool:
        """Wrap, in place, what the functions in a statement of the file bind to what they fill.

        Parameters
        ----------
        statement : ast.stmt
            A statement of the tree.
        foreign : Foreign
            Tells which global names are a library's, or built-ins: what these are given, they do not fill.

        Returns
        -------
        bool
            Whether there was anything to wrap.
        """
        if not self._is_searched:
            self._is_searched = True
            self._search(foreign)
        count = 0
        for node in list(ast.walk(statement)):
            if (outer := self._outer.get(node)) is not None:
                given = set()
                for call in outer.calls:
                    if call.callee not in self._places and not _is_foreign_call(call.function, foreign):
                        given |= call.shown
                wrapper = _Wrapper(self, outer, given, foreign)
                for inner in list(_nodes(node)):
                    wrapper.look_at(inner)
                wrapper.hold(node, ())
                count += wrapper.count
        return count > 0

    def _find(self, node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (*_FUNCTIONS, ast.Lambda)):
                outer = self._outer[child] = _Outer(child)
                for inner in ast.walk(child):
                    if isinstance(inner, _FUNCTIONS):
                        self._places.setdefault(inner.name, []).append((outer, _parameters(inner)))
                        self._results.setdefault(inner.name, []).append((outer, _returned(inner)))
                if isinstance(node, ast.ClassDef) and getattr(child, "name", "") == "__init__":
                    self._places.setdefault(node.name, []).append((outer, _parameters(child)))
            else:
                self._find(child)

    def _look_at(self, outer, node, own):
        """Note what one node of the tree, in a function with its own variables, stores, shows or passes on."""
        if isinstance(node, (ast.Assign, ast.AugAssign)) and _is_number(node.value):
            outer.numbered.update(map(id, [node.target] if isinstance(node, ast.AugAssign) else node.targets))
        if isinstance(node, ast.AugAssign) and id(node.target) not in outer.numbered:
            self._mark(outer, FILLED, _shown(node.target))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and id(node) not in outer.numbered:
            self._mark(outer, FILLED, _shown(node.value))
        elif isinstance(node, ast.Call):
            self._look_at_call(outer, node, own)
        self._look_at_bytes(outer, node)
        for targets, value in _bindings(node):
            self._look_at_stores(outer, targets, value, own)
            for target in targets:
                names = frozenset(_targets(target))
                shown = frozenset(_shown(value))
                if names and shown:
                    outer.shows.append((names, shown))

    def _look_at_bytes(self, outer, node):
        """Note whose bytes are looked at, and what is imported."""
        if isinstance(node, ast.Attribute):
            is_set = isinstance(node.ctx, ast.Store)
            if node.attr in (_SET_BYTES if is_set else _BYTES):
                self._mark(outer, KEPT, _shown(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (node.args or node.keywords):
            if node.func.attr in _BYTES_METHODS:
                self._mark(outer, KEPT, _shown(node.args[0] if node.func.attr == "readinto" else node.func.value))
        elif isinstance(node, ast.arg):
            outer.bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            outer.imports.update(_imported(node))

    def _look_at_stores(self, outer, targets, value, own):
        """Note what is stored in which variable, and what makes that of a name."""
        shown = frozenset().union(_shown(value), *map(_targets, targets))
        for target in targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                if isinstance(root := _root(target), ast.Name) and root.id not in own:
                    outer.stores.append((root.id, shown))
                continue
            names = frozenset(_targets(target))
            outer.bound |= names
            if isinstance(value, ast.Lambda):
                outer.shows.append((names, frozenset(_mentioned(value))))  # what is kept if a library calls it
            if isinstance(value, ast.Call):
                for name in names:
                    outer.makers.setdefault(name, []).append(value)

    def _look_at_call(self, outer, node, own):
        outer.given.append(node)
        callee = _last_name(node.func)
        is_writing = callee in _WRITING_METHODS and not (callee == "fill" and all(map(_is_number, node.args)))
        if isinstance(node.func, ast.Attribute) and is_writing:
            self._mark(outer, FILLED, _shown(node.func.value))
        if callee in _WRITING and node.args:
            self._mark(outer, FILLED, _shown(node.args[0]))
        for place, value in [*enumerate(node.args), *((word.arg, word.value) for word in node.keywords)]:
            shown = frozenset(_shown(value))
            if callee in _ADDING and isinstance(root := _root(node.func), ast.Name) and root.id not in own:
                outer.stores.append((root.id, shown))
            if place == "out":
                self._mark(outer, FILLED, shown)
            elif shown and callee is not None and place is not None:
                outer.calls.append(_Call(node.func, callee, place, shown))

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

    def is_kept_argument(self, call, place):
        """Whether a function of the file lets a library, or the module, keep what it is given at a place."""
        return any(self._has_parameter(owner, parameters, place, owner.marks[KEPT] | owner.marks[STORED])
                   for owner, parameters in self._places.get(_last_name(call.func), ()))  # fmt: skip

    def _search(self, foreign):
        """Find the names that are kept."""
        for outer in self._outer.values():
            made = {name: _maker(outer, name, foreign) for name in outer.makers}
            for call in outer.given:
                function, root = call.func, _root(call.func)
                if isinstance(root, ast.Name) and root.id in made:
                    function = made[root.id] or function  # what a library has made, or a method of it
                if foreign.keeps(function, outer.imports):
                    for value in (*call.args, *(word.value for word in call.keywords)):
                        self._mark(outer, KEPT, _mentioned(value))
            for name, shown in outer.stores:
                if name in outer.bound or foreign.has(name):  # of an enclosing function, or of the module
                    self._mark(outer, STORED, shown)
        for kind in (KEPT, STORED):
            while self._spread_kept(kind):
                pass

    def _spread_kept(self, kind):
        """Carry over to what kept or stored names show, to what functions return for them, and to arguments."""
        new = False
        for outer in self._outer.values():
            for names, shown in outer.shows:
                if self.is_marked(outer, kind, names):
                    new |= self._mark(outer, kind, shown)
            for name, calls in outer.makers.items():
                if self.is_marked(outer, kind, [name]):
                    new |= self._mark(outer, kind, filter(None, (_last_name(call.func) for call in calls)))
            for name in (*outer.marks[kind], *self._marks[kind]):  # functions that a library calls, or that make things
                for owner, names in self._results.get(name.lstrip("."), ()):
                    new |= self._mark(owner, kind, names)
            for call in outer.calls:
                for owner, parameters in self._places.get(call.callee, ()):
                    if self._has_parameter(owner, parameters, call.place, owner.marks[kind]):
                        new |= self._mark(outer, kind, call.shown)
        return new

    def _spread(self):
        """Carry over to what filled names show, and to what is passed to functions that fill it."""
        new = False
        for outer in self._outer.values():
            for names, shown in outer.shows:
                if self.is_marked(outer, FILLED, names):
                    new |= self._mark(outer, FILLED, shown)
            for call in outer.calls:
                for owner, parameters in self._places.get(call.callee, ()):
                    if self._has_parameter(owner, parameters, call.place, owner.marks[FILLED]):
                        new |= self._mark(outer, FILLED, call.shown)
        return new

    @staticmethod
    def _has_parameter(owner, parameters, place, names):
        """Whether the parameter at a place, of a function or of a method without its object, is one of some names."""
        if isinstance(place, str):
            return place in parameters and place in names
        near = parameters[place : place + 2] if parameters[:1] in (["self"], ["cls"]) else parameters[place : place + 1]
        return any(name in names for name in near)


def _no_marks():
    return {FILLED: set(), KEPT: set(), STORED: set()}


def _parameters(node):
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _returned(function):
    """The names that show what a function returns, and those of functions which make it."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    makers = {_last_name(value.func) for value in values if isinstance(value, ast.Call)} - {None}
    return makers.union(*map(_shown, values))


def _mentioned(node):
    """The names that a value may have to do with; of a function that is written there, those that it returns."""
    if isinstance(node, ast.Lambda):
        if isinstance(node.body, ast.Call) and (name := _last_name(node.body.func)):
            yield name
        yield from _shown(node.body)
        return
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield "." + node.attr
    for child in ast.iter_child_nodes(node):
        yield from _mentioned(child)


def _with_variables(outer):
    """All nodes in a function, each with the variables of the function that it stands in."""
    waiting = [(outer, _variables(outer))]
    for node, own in waiting:
        yield node, own
        inner = _variables(node) if isinstance(node, (*_FUNCTIONS, ast.Lambda)) else own
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))


def _nodes(node):
    """All nodes in one, but for the bodies of classes whose metaclass may look names up in its own way."""
    waiting = [node]
    for node in waiting:
        yield node
        is_own = isinstance(node, ast.ClassDef) and (node.bases or node.keywords)
        waiting.extend(_functions_in(node) if is_own else ast.iter_child_nodes(node))


def _functions_in(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTIONS, ast.Lambda)):
            yield child
        else:
            yield from _functions_in(child)


def _root(node):
    """Where a chain of attributes, items and calls begins."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _maker(outer, name, foreign):
    """What a library's function is called by that makes all values of a name; or None."""
    found = [call.func for call in outer.makers[name] if foreign.keeps(call.func, outer.imports)]
    return found[0] if len(found) == len(outer.makers[name]) else None


def _imported(node):
    """What an import in a function binds, of modules that are imported already."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            found = sys.modules.get(alias.name if alias.asname else alias.name.partition(".")[0])
        else:
            found = getattr(sys.modules.get(node.module), "__dict__", {}).get(alias.name)  # runs nobody's __getattr__
        if found is not None:
            yield alias.asname or alias.name.partition(".")[0], found


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


def _is_number(node):
    """Whether an expression is a number, written out."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _places_of(call):
    return [*range(len(call.args)), *(word.arg for word in call.keywords if word.arg is not None)]


def _is_foreign_call(function, is_foreign):
    """Whether a call leads into a library, by a name of a module or an attribute of one, that keeps no argument."""
    if _last_name(function) in _HOLDERS:
        return False
    root = _root(function)
    return isinstance(root, ast.Name) and is_foreign(root.id)


class _Wrapper:
    """Wraps what is bound in one function. `count` says how often; `given` are names that unknown functions get."""

    def __init__(self, file, outer, given, is_foreign):
        self._file, self._outer, self._given, self._is_foreign = file, outer, given, is_foreign
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
            if any(self._file.is_kept_argument(node, place) for place in _places_of(node)):
                return
            if name in _ADDING and self._stays(_root(node.func)):
                return
            kinds = _MAKING if name in _HOLDERS or name[:1].isupper() else ()  # what a class is given it may keep
            node.args = [self._called(argument, kinds) for argument in node.args]
            for word in node.keywords:
                word.value = self._called(word.value, kinds)

    def _fills(self, target):
        """Whether something is stored into what a target gets, and that need not stay NumPy's own."""
        names = list(_targets(target))
        return self._file.is_marked(self._outer, FILLED, names) and not self._keeps(names)

    def _stays(self, container):
        """Whether what is put into something has to stay NumPy's own."""
        if not isinstance(container, ast.Name):
            return False
        is_modules = container.id not in self._outer.bound and self._is_foreign.has(container.id)
        return is_modules or self._keeps([container.id])

    def _keeps(self, names):
        return self._file.is_marked(self._outer, KEPT, names) or self._file.is_marked(self._outer, STORED, names)

    def _exchanges(self, names):
        """Whether what these names show is filled; that the module has it is why it is exchanged."""
        return self._file.is_marked(self._outer, FILLED, names) and not self._file.is_marked(self._outer, KEPT, names)

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
        is_given = isinstance(target, ast.Name) and target.id in self._given
        return self._fills(target) or (is_given and not self._keeps([target.id]))

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
        return self._call(by, [value], value)

    def _call(self, function, arguments, place):
        self.count += 1
        for argument in arguments:
            if not hasattr(argument, "lineno"):
                ast.copy_location(argument, place)
        return _at(place, ast.Call(_at(place, ast.Name(function, ast.Load())), arguments, []))

    def hold(self, node, scopes):
        """Wrap what is filled and was there before, below a node in which functions with these variables are open."""
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            scopes = (*scopes, _variables(node))
        elif isinstance(node, ast.ClassDef):
            scopes = (*scopes, None)
        if isinstance(node, (ast.For, ast.comprehension)) and self._exchanges(list(_targets(node.target))):
            node.iter = self._walked(node.iter)
        holds = self._holding(node)  # by its parts as they are in the source
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = [self._held(item, scopes) for item in value]
            elif isinstance(value, ast.AST):
                setattr(node, field, self._held(value, scopes))
        if holds is not None:
            function, key = holds
            node.value = self._call(function, [node.value, key], node.value)

    def _holding(self, node):
        """What is to be called before an attribute or an item is read, and the name or the key; None for others."""
        if isinstance(node, ast.Attribute):
            if self._exchanges(["." + node.attr]) and not node.attr.startswith("__"):  # which a class would change
                return HOLD_ATTRIBUTE, ast.Constant(node.attr)
        elif isinstance(node, ast.Subscript) and self._exchanges(list(map(_item, _shown(node.value)))):
            key = _same_key(node.slice)
            return None if key is None else (HOLD_ITEM, key)
        return None

    def _walked(self, node):
        """What a loop walks over, where it fills the items of lists and dicts."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._call(HOLD_ITEMS, [node], node)
        if isinstance(node, ast.Call) and _last_name(node.func) in ("values", "items", "enumerate", "zip", "reversed"):
            if isinstance(node.func, ast.Attribute):
                node.func.value = self._walked(node.func.value)
            node.args = list(map(self._walked, node.args))
        return node

    def _held(self, node, scopes):
        if not isinstance(node, ast.AST):
            return node
        self.hold(node, scopes)
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return node
        if not self._exchanges([node.id]):
            return node
        own = scopes[-1] if scopes else None
        if own is None or node.id in own:
            return node
        if any(node.id in scope for scope in scopes[:-1] if scope is not None):
            holding = self._call(HOLD_CELL, [_cell_of(node)], node)
        else:
            holding = self._call(HOLD_GLOBAL, [ast.Constant(node.id)], node)
        return _at(node, ast.IfExp(holding, _at(node, ast.Name(node.id, ast.Load())), node))


def _same_key(node):
    """A key or an index again, if it may be looked at twice; None for others."""
    if isinstance(node, ast.Constant):
        return ast.Constant(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return ast.Constant(-node.operand.value) if type(node.operand.value) is int else None
    return ast.Name(node.id, ast.Load()) if isinstance(node, ast.Name) else None


def _variables(function):
    """Names that a function binds, or declares; of the functions in it the names that they have."""
    arguments = function.args
    found = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    found |= {argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None}
    waiting = list(function.body) if isinstance(function.body, list) else [function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest)
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


def _cell_of(name):
    """The cell of a variable of an enclosing function, as an expression."""
    arguments = ast.arguments([], [], None, [], [], ast.arg(OWN), [])
    cells = ast.Attribute(ast.Lambda(arguments, ast.Name(name.id, ast.Load())), "__closure__", ast.Load())
    cell = ast.Subscript(cells, ast.Constant(0), ast.Load())
    for node in ast.walk(cell):
        _at(name, node)
    return cell


def _at(place, node):
    """A node that the source has not, where another one stands."""
    return ast.copy_location(node, place)
