# SPDX-License-Identifier: Apache-2.0
"""The expressions of a function for the arrays that it fills, wrapped: what it makes, and what was there before.

``u = start.copy()`` becomes ``u = made(start.copy())``, see `made.pyx`; ``self.work[0] = x`` becomes
``hold_attribute(self, "work").work[0] = x`` and ``rows[k][0] = x`` becomes ``held_item(rows, k)[0] = x``, see
`exchange.pyx`; what a call gives, ``getattr(o, "u")[0] = x``, becomes ``taken(getattr(o, "u"))[0] = x``. A function
that fills a parameter begins with ``out = held_parameter([out, out := None], ...) if is_plain(out) else out``. And
``x.__class__`` becomes ``class_of(x)``, which is what `type` says in rebuilt code, as ``__mro__`` and its like become
what `ancestry.py` says; ``p.value`` becomes ``own_attribute(p, "value")``, see `own.pyx`; and ``sys.modules`` becomes
``modules_of(sys.modules)``, whose modules are those that ``import`` gives rebuilt code; ``a is b`` becomes ``is_same(a,
b)``, since a class and what stands for it in rebuilt code are one. What ``match`` statements ask is in `patterns.py`.
``x * [p, 1.0]`` becomes ``operate(2, x, [p, 1.0])``, see `operands.pyx`.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from codipy.tools.rebinding.fills import ADDING, FILLED, KEPT, STORED, WRITING, Fills
from codipy.tools.rebinding.names import (
    CALLING,
    COMPREHENSIONS,
    FUNCTIONS,
    HOLDERS,
    WALKING,
    Scopes,
    bindings_in,
    bound_by,
    captured_by,
    given_to,
    is_number,
    is_row,
    item_of,
    last_name,
    leaves_of,
    names_of,
    nodes_of,
    places_of,
    root_of,
)
from codipy.tools.rebinding.operands import OPERATORS
from codipy.tools.rebinding.patterns import with_conditions

__all__ = [
    "ATTRIBUTE_OF", "BASES_OF", "BASE_OF", "CLASS_OF", "DEFAULTS", "DICT_OF", "HELD_ITEM", "HELD_PARAMETER",
    "HOLD_ATTRIBUTE", "HOLD_CELL", "HOLD_GLOBAL", "HOLD_ITEM", "HOLD_ITEMS", "HOLD_RESULT", "IS_PLAIN", "IS_SAME",
    "MADE", "MADE_ITEMS", "METHOD_OF", "MODULES_OF", "MRO_METHOD_OF", "MRO_OF", "OF_VARIABLES", "OPERATE", "OWN",
    "POPPED", "SOLVE_OF", "TAKEN", "wrap",
]  # fmt: skip

MADE, MADE_ITEMS = "codipy: made", "codipy: made_items"  # names that no source can say
HOLD_ATTRIBUTE, HOLD_ITEM, HOLD_ITEMS = "codipy: hold_attribute", "codipy: hold_item", "codipy: hold_items"
HOLD_RESULT = "codipy: hold_result"
HOLD_CELL, HOLD_GLOBAL = "codipy: hold_cell", "codipy: hold_global"
HELD_ITEM, HELD_PARAMETER, IS_PLAIN = "codipy: held_item", "codipy: held_parameter", "codipy: is_plain"
TAKEN, POPPED = "codipy: taken", "codipy: popped"
OPERATE = "codipy: operate"
DEFAULTS = "codipy: defaults"  # a constant that becomes the default arguments of the function, see `functions.py`
CLASS_OF, SOLVE_OF, METHOD_OF = "codipy: class_of", "codipy: solve_of", "codipy: method_of"
ATTRIBUTE_OF = "codipy: attribute_of"
MODULES_OF, IS_SAME, DICT_OF = "codipy: modules_of", "codipy: is_same", "codipy: dict_of"
MRO_OF, MRO_METHOD_OF, BASES_OF, BASE_OF = "codipy: mro_of", "codipy: mro", "codipy: bases_of", "codipy: base_of"
_ATTRIBUTES_OF = {  # what is something else there
    "__base__": BASE_OF, "__bases__": BASES_OF, "__class__": CLASS_OF, "__dict__": DICT_OF, "__mro__": MRO_OF,
    "modules": MODULES_OF,
}  # fmt: skip
# What a variable has and its plain value has not, beside functions, which refuse themselves in rebuilt code.
OF_VARIABLES = frozenset((
    "fraction", "gradient", "identifier", "identity", "is_active", "mantissa", "scale", "single", "tangent", "value",
))  # fmt: skip
# Of factors that SciPy has of sparse matrices, and of classes.
_METHODS_OF = {"mro": MRO_METHOD_OF, "solve": SOLVE_OF}
_UNASKED = ("astype", "choose", "clip", "dot")  # methods of plain arrays that do not ask what is active
# Of plain arrays, beside these, with an argument that may be active.
_ASKING = {"max": "initial", "min": "initial", "prod": "initial", "std": "mean", "sum": "initial", "var": "mean"}
OWN = "codipy: own"  # the argument of functions that the source has not
_SHOWN = (ast.Name, ast.Attribute, ast.Subscript)  # what shows something that was there before
_MAKING = (ast.BinOp, ast.UnaryOp, ast.Subscript)  # beside calls
_WRAPPED = (MADE, MADE_ITEMS, HOLD_RESULT, TAKEN, POPPED)
_COUNTING = ("enumerate", "range", "zip")  # what gives numbers, or more than one thing
_PAIRING = ("enumerate", "items", "zip", "zip_longest")  # what gives tuples of what was there before
_POPPING = ("pop", "popleft", "popitem")


def wrap(file: Fills, statement: ast.stmt, foreign: Any) -> bool:
    """Wrap, in place, what the functions in a statement of a file bind to what they fill.

    Parameters
    ----------
    file : Fills
        What the functions of the file fill.
    statement : ast.stmt
        A statement of its tree.
    foreign : Foreign
        Tells which global names are a library's, or built-ins: what these are given, they do not fill.

    Returns
    -------
    bool
        Whether there was anything to wrap.
    """
    file.search(foreign)
    count, of_methods = 0, _of_methods(statement)
    for node in list(ast.walk(statement)):
        if (outer := file.outer.get(node)) is not None:
            given = set()
            for call in outer.calls:
                if call.callee not in file.places and not _is_foreign_call(call.function, foreign):
                    given |= call.shown
            wrapper = _Wrapper(file, outer, given, foreign, of_methods)
            for inner in list(nodes_of(node)):
                wrapper.look_at(inner)
            wrapper.hold(node, Scopes())
            count += wrapper.count
    return count > 0


class _Wrapper:
    """Wraps what is bound in one function. `count` says how often; `given` are names that unknown functions get.

    `of_methods` are attributes of objects of which a method is.
    """

    def __init__(self, file, outer, given, is_foreign, of_methods):
        self._file, self._outer, self._given, self._is_foreign = file, outer, given, is_foreign
        self._of_methods = of_methods
        self.count = 0
        self._wanted: set[int] = set()  # by address, items that are bound to what is filled or passed on
        self._asking: set[int] = set()  # methods that are called with an argument which may be active
        self._read: set[int] = set()  # what an element is read of, which costs as much as ever

    def look_at(self, node: Any):
        self._want(node)
        if isinstance(node, (*FUNCTIONS, ast.Lambda)) and node is not self._outer.node:
            self._make_defaults(node.args)
        for targets, field in bindings_in(node):
            for target in targets:
                if field == "value":
                    node.value = self._bound(target, node.value)
                elif field == "iter" and self._fills(target):
                    node.iter = self._items(node.iter)
        if isinstance(node, ast.Call):
            self._give_outs(node)
        if isinstance(node, ast.Call) and not _is_foreign_call(node.func, self._is_foreign):
            name = last_name(node.func) or ""
            if any(self._file.is_kept_argument(node, place) for place in places_of(node)):
                return
            if name in ADDING and self._stays(root_of(node.func)):
                return
            kinds = _MAKING if name in HOLDERS or name[:1].isupper() else ()  # what a class is given it may keep
            node.args = [self._called(argument, kinds) for argument in node.args]
            for word in node.keywords:
                word.value = self._called(word.value, kinds)

    def _give_outs(self, call):
        """Wrap what a call makes and gives at once as ``out``."""
        outs = set(map(id, self._file.outs.of(call, self._outer.imports, self._file.places)))
        call.args = [self._called(value, _MAKING) if id(value) in outs else value for value in call.args]
        for word in call.keywords:
            if id(word.value) in outs:
                word.value = self._called(word.value, _MAKING)

    def _want(self, node):
        """Note the items of lists and dicts that are filled, or may be by another name."""
        for targets, field in bindings_in(node):
            for target in targets:
                self._want_for(target, getattr(node, field))
        if isinstance(node, ast.Return) and node.value is not None:
            self._wanted.add(id(node.value))
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                self._wanted.add(id(node.func.value))
            if not _is_foreign_call(node.func, self._is_foreign):
                self._wanted.update(map(id, (*node.args, *(word.value for word in node.keywords))))
            elif last_name(node.func) in WRITING:
                self._wanted.update(map(id, node.args[:1]))
            for value in self._file.outs.of(node, self._outer.imports, self._file.places):
                self._wanted.update(map(id, (value, *getattr(value, "elts", ()), *node.args)))  # the same may be read
        elif isinstance(node, ast.Subscript):
            if not isinstance(node.ctx, ast.Load) or any(isinstance(part, ast.Slice) for part in ast.walk(node.slice)):
                self._wanted.add(id(node.value))
            elif isinstance(node.ctx, ast.Load) and id(node) not in self._wanted:
                self._read.add(id(node.value))

    def _want_for(self, target, value):
        """Note the items that an expression gives to a target which is filled."""
        if is_row(target) and is_row(value) and len(target.elts) == len(value.elts) and not _has_starred(target):
            for one, item in zip(target.elts, value.elts):
                self._want_for(one, item)
        elif self._exchanges(list(bound_by(target))):
            self._wanted.update(map(id, _alternatives(given_to(target, value))))

    def _fills(self, target):
        """Whether something is stored into what a target gets, and that need not stay NumPy's own."""
        names = list(bound_by(target))
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
        if is_row(target):
            if is_row(value) and len(value.elts) == len(target.elts) and not _has_starred(target):
                value.elts = [self._bound(one, item) for one, item in zip(target.elts, value.elts)]
            elif isinstance(value, ast.Call) and any(map(self._is_wanted, target.elts)):
                if not self._exchanges(list(bound_by(target))):
                    return self._wrapped(value, MADE_ITEMS)
                return self._wrapped(self._wrapped(self._walked(value, _depth_of(target)), MADE_ITEMS), HOLD_RESULT)
            elif isinstance(value, _SHOWN) and self._exchanges(list(bound_by(target))):
                return self._walked(value, _depth_of(target))
            elif isinstance(value, COMPREHENSIONS) and any(map(self._is_wanted, target.elts)):
                return self._items(value)
            return value
        if self._fills(target):
            kinds = () if isinstance(target, ast.Subscript) else _MAKING
            return self._items(self._called(value, kinds, self._exchanges(list(bound_by(target)))))
        is_popped = isinstance(value, ast.Call) and last_name(value.func) in _POPPING
        if is_popped and self._exchanges(list(bound_by(target))):  # also what a variable of the module gets
            return self._wrapped(value, POPPED)
        return self._called(value) if self._is_wanted(target) else value

    def _is_wanted(self, target):
        is_given = isinstance(target, ast.Name) and target.id in self._given
        return self._fills(target) or (is_given and not self._keeps([target.id]))

    def _called(self, value, kinds=(), is_filled=False):
        """A value that a call may have made just now, or an expression of other kinds.

        Where it is not known that the name is filled, only calls count: a loop over floats is to cost nothing more.
        What is filled may also have been there before.
        """
        by = MADE
        if is_filled and _is_of_call(value):
            by = POPPED if last_name(getattr(value, "func", None)) in _POPPING else TAKEN
        if isinstance(value, (ast.Call, *kinds)):
            return value if last_name(getattr(value, "func", None)) in _WRAPPED else self._wrapped(value, by)
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Call):
            return self._wrapped(value, by)
        if isinstance(value, ast.IfExp):
            value.body = self._called(value.body, kinds, is_filled)
            value.orelse = self._called(value.orelse, kinds, is_filled)
        elif isinstance(value, ast.BoolOp):
            value.values = [self._called(item, kinds, is_filled) for item in value.values]
        return value

    def _items(self, value):
        """Arrays that are made in a list, tuple or dict which is written out."""
        if isinstance(value, (ast.List, ast.Tuple)):
            value.elts = list(map(self._item, value.elts))
        elif isinstance(value, ast.Dict):
            value.values = list(map(self._item, value.values))
        elif isinstance(value, COMPREHENSIONS):
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
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            scopes = scopes.with_inner(node)
            if isinstance(node, FUNCTIONS):
                self._begin(node)
        elif isinstance(node, ast.ClassDef):
            scopes = scopes.with_inner(node)
        if isinstance(node, (ast.For, ast.comprehension)) and self._exchanges(list(bound_by(node.target))):
            node.iter = self._walked(node.iter, _depth_of(node.target) + 1)
        if isinstance(node, (ast.For, ast.With)):
            self._entered(node)
        if isinstance(node, ast.Match):
            self._matched(node)
        elif isinstance(node, ast.Call):
            self._asked(node)
        elif isinstance(node, ast.AugAssign):
            self._augmented(node.target, scopes)
        holds = self._holding(node)  # by its parts as they are in the source
        is_taken = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is_of_call(node.value)
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = [part for item in value for part in self._conditional(self._held(item, scopes))]
            elif isinstance(value, ast.AST):
                setattr(node, field, self._held(value, scopes))
        if holds is not None:
            function, key = holds
            node.value = self._call(function, [node.value, key], node.value)
        elif is_taken and id(node) not in self._outer.numbered:
            node.value = self._wrapped(node.value, TAKEN)

    def _conditional(self, node):
        """The statements for one: a ``match`` statement may have to ask in another way, see `patterns.py`."""
        if not isinstance(node, ast.Match):
            return [node]
        statements = with_conditions(node)
        self.count += len(statements) - 1
        return statements

    def _holding(self, node):
        """What is to be called before an attribute or an item is read, and the name or the key; None for others."""
        if id(node) in self._read:
            return None
        if isinstance(node, ast.Attribute):
            if self._exchanges(["." + node.attr]) and not node.attr.startswith("__"):  # which a class would change
                return HOLD_ATTRIBUTE, ast.Constant(node.attr)
        elif isinstance(node, ast.Subscript) and _is_text(node.slice) and isinstance(node.ctx, ast.Store):
            is_filled = self._exchanges(list(map(item_of, names_of(node.value))))
            return (HOLD_ITEM, ast.Constant(node.slice.value)) if is_filled else None
        return None

    def _entered(self, node):
        """Let the body of a loop or a ``with`` statement begin with an Array where it fills what a call gives it."""
        given = [(node.target, node.iter)] if isinstance(node, ast.For) else [
            (item.optional_vars, item.context_expr) for item in node.items]  # fmt: skip
        for target, value in reversed(given):
            gives_arrays = _is_of_call(value) and last_name(getattr(value, "func", None)) not in _COUNTING
            if gives_arrays and isinstance(target, ast.Name) and self._exchanges([target.id]):
                node.body.insert(0, self._begun(target, target.id))

    def _begun(self, place, name):
        """A statement that lets a variable hold an Array, where it holds a plain array."""
        emptied = _at(place, ast.NamedExpr(_name(place, name, ast.Store()), _at(place, ast.Constant(None))))
        pair = _at(place, ast.List([_name(place, name, ast.Load()), emptied], ast.Load()))
        held = self._call(HELD_PARAMETER, [pair, ast.Constant(DEFAULTS)], place)
        plain = self._call(IS_PLAIN, [_name(place, name, ast.Load())], place)
        value = _at(place, ast.IfExp(plain, held, _name(place, name, ast.Load())))
        return _at(place, ast.Assign([_name(place, name, ast.Store())], value))

    def _matched(self, node):
        """Let what a ``match`` statement takes apart hold Arrays, where it fills the parts."""
        captured = [name for case in node.cases for name in captured_by(case.pattern)]
        if isinstance(node.subject, _SHOWN) and self._exchanges(captured):
            for case in node.cases:
                for pattern in ast.walk(case.pattern):
                    for name in getattr(pattern, "kwd_attrs", ()):
                        if pattern is case.pattern:
                            node.subject = self._call(HOLD_ATTRIBUTE, [node.subject, ast.Constant(name)], node.subject)
            node.subject = self._call(HOLD_ITEMS, [node.subject], node.subject)

    def _asked(self, node):
        """Let a dict hold an Array before ``get`` is called, where what that gives is filled; a list before `map`."""
        function = node.func
        asking = _ASKING.get(function.attr) if isinstance(function, ast.Attribute) else None
        if asking is not None and asking in {word.arg for word in node.keywords}:
            self._asking.add(id(function))
        if last_name(function) in WALKING or last_name(function) in CALLING:
            node.args = [self._walked(argument) if self._exchanges(list(names_of(argument))) else argument
                         for argument in node.args]  # fmt: skip
        if not isinstance(function, ast.Attribute) or function.attr != "get" or id(node) in self._read:
            return
        if node.args and _is_repeatable(node.args[0]) and self._exchanges(list(names_of(function.value))):
            function.value = self._call(HOLD_ITEM, [function.value, copy.copy(node.args[0])], function.value)

    def _may_be_method(self, node):
        """Whether what is called may be a method of an object, and no function of a module."""
        path = node.value
        while isinstance(path, ast.Attribute):
            path = path.value
        is_modules = isinstance(path, ast.Name) and self._is_foreign.is_module(path.id)
        return isinstance(node.ctx, ast.Load) and not is_modules

    def _augmented(self, target, scopes):
        """Let a list that others made hold an Array before an item of it is added to, ``L[k] += x``."""
        if not isinstance(target, ast.Subscript) or not _is_repeatable(target.slice) or _is_text(target.slice):
            return
        root = root_of(target.value)
        if not isinstance(root, ast.Name) or not scopes:
            return
        if scopes.is_own(root.id) and isinstance(target.value, ast.Name):  # most are arrays; others' lists raise
            return
        if self._exchanges(list(map(item_of, names_of(target.value)))):
            target.value = self._call(HOLD_ITEM, [target.value, copy.copy(target.slice)], target.value)

    def _is_held_item(self, node):
        """Whether an item is filled. Of one that is read only, as of a matrix that is a list of lists, none is."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or id(node) in self._read:
            return False
        if isinstance(node.value, ast.Name) and self._outer.of_lists.get(node.value.id):
            return False
        if any(isinstance(part, (ast.Slice, ast.Starred)) for part in (node.slice, *getattr(node.slice, "elts", ()))):
            return False
        is_wanted = id(node) in self._wanted or _is_text(node.slice)
        return is_wanted and self._exchanges(list(map(item_of, names_of(node.value))))

    def _is_of_list(self, node):
        """Whether an operator may have a plain array and a list as operands; of arrays made inside `made` knows."""
        if not isinstance(node, ast.BinOp) or _operator(node) not in OPERATORS or _is_text(node.left):
            return False
        operands = node.left, node.right
        if any(map(_is_of_constants, operands)):
            return False
        return any(self._file.lists.has(self._outer, one) or self._is_array_of_module(one) for one in operands)

    def _is_array_of_module(self, node):
        root = root_of(node)
        return isinstance(root, ast.Name) and root.id not in self._outer.bound and self._is_foreign.is_array(node)

    def _make_defaults(self, arguments):
        """Wrap the default arguments of a function that is defined while rebuilt code runs."""
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        for k, name in enumerate(names[len(names) - len(arguments.defaults) :]):
            if self._is_filled_name(name):
                arguments.defaults[k] = self._item(arguments.defaults[k])
        for k, argument in enumerate(arguments.kwonlyargs):
            if arguments.kw_defaults[k] is not None and self._is_filled_name(argument.arg):
                arguments.kw_defaults[k] = self._item(arguments.kw_defaults[k])

    def _is_filled_name(self, name):
        return self._file.is_marked(self._outer, FILLED, [name]) and not self._keeps([name])

    def _begin(self, function):
        """Let a function begin with an Array where it fills a parameter."""
        at = 1 if ast.get_docstring(function, clean=False) is not None else 0
        arguments = function.args
        for argument in reversed((*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)):
            if not self._exchanges([argument.arg]) or argument.arg in _of_numbers(arguments):
                continue
            function.body.insert(at, self._begun(argument, argument.arg))

    def _walked(self, node, depth=1):
        """What is taken apart so deep, or walked over, where items of lists and dicts are filled."""
        if isinstance(node, _SHOWN):
            return self._call(HOLD_ITEMS, [node, *([ast.Constant(depth - 1)] if depth > 1 else [])], node)
        if isinstance(node, ast.Call) and last_name(node.func) in WALKING:
            depth -= last_name(node.func) in _PAIRING
            if isinstance(node.func, ast.Attribute):
                node.func.value = self._walked(node.func.value, depth)
            node.args = [self._walked(argument, depth) for argument in node.args]
        return node

    def _compared(self, node):
        """``a is b``, which of a class and its stand-in is asked for in another way; of a constant it is left alone."""
        operands = [node.left, *node.comparators]
        if any(isinstance(operand, ast.Constant) for operand in operands):
            return node
        same = self._call(IS_SAME, operands, node)
        return _at(node, ast.UnaryOp(ast.Not(), same)) if isinstance(node.ops[0], ast.IsNot) else same

    def _held(self, node, scopes):
        if not isinstance(node, ast.AST):
            return node
        is_item, is_of_list = self._is_held_item(node), self._is_of_list(node)  # as it is in the source
        self.hold(node, scopes)
        if is_item:
            return self._call(HELD_ITEM, [node.value, node.slice], node)
        if is_of_list:
            return self._call(OPERATE, [ast.Constant(OPERATORS.index(_operator(node))), node.left, node.right], node)
        if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES_OF and isinstance(node.ctx, ast.Load):
            return self._call(_ATTRIBUTES_OF[node.attr], [node if node.attr == "modules" else node.value], node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return self._compared(node)
        if isinstance(node, ast.Attribute) and self._may_be_method(node):
            if node.attr in _METHODS_OF:
                return self._call(_METHODS_OF[node.attr], [node.value], node)
            if node.attr in OF_VARIABLES and id(node) not in self._of_methods:
                return self._call(ATTRIBUTE_OF, [node.value, ast.Constant(node.attr)], node)
            if node.attr in _UNASKED or id(node) in self._asking:
                return self._call(METHOD_OF, [node.value, ast.Constant(node.attr)], node)
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return node
        if id(node) in self._read or not self._exchanges([node.id]):
            return node
        if not scopes or scopes.is_own(node.id):
            return node
        if scopes.is_enclosing(node.id):
            holding = self._call(HOLD_CELL, [_cell_of(node)], node)
        else:
            holding = self._call(HOLD_GLOBAL, [ast.Constant(node.id)], node)
        return _at(node, ast.IfExp(holding, _at(node, ast.Name(node.id, ast.Load())), node))


def _of_methods(statement):
    """By address, attributes of the object that a method is of: no variable is that, and it costs nothing to ask it."""
    found = set()
    for cls in ast.walk(statement):
        for method in cls.body if isinstance(cls, ast.ClassDef) else ():
            if isinstance(method, FUNCTIONS) and not method.decorator_list and method.args.args:
                own = method.args.args[0].arg
                found.update(id(node) for node in ast.walk(method) if isinstance(node, ast.Attribute)
                             and isinstance(node.value, ast.Name) and node.value.id == own)  # fmt: skip
    return found


def _is_foreign_call(function, is_foreign):
    """Whether a call leads into a library, by a name of a module or an attribute of one, that keeps no argument."""
    if last_name(function) in HOLDERS:
        return False
    root = root_of(function)
    return isinstance(root, ast.Name) and is_foreign(root.id)


def _depth_of(target):
    """How many lists or tuples a target takes apart, one in another."""
    return 1 + max(map(_depth_of, target.elts), default=0) if is_row(target) else 0


def _has_starred(row):
    return any(isinstance(item, ast.Starred) for item in row.elts)


def _alternatives(node):
    """An expression, and those of which it is one, or that are in a list or tuple which is written out."""
    yield node
    if isinstance(node, (ast.NamedExpr, ast.Starred)):
        yield from _alternatives(node.value)
    elif isinstance(node, ast.Call) and last_name(node.func) in WALKING:
        for argument in node.args:
            yield from _alternatives(argument)
    elif isinstance(node, (ast.BoolOp, ast.IfExp, ast.List, ast.Tuple)):
        for leaf in leaves_of(node):
            yield from _alternatives(leaf)


def _operator(node):
    return type(node.op).__name__


def _is_of_constants(node):
    """Whether an expression has no variable, nor anything else that could be active."""
    return all(isinstance(part, (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context))
               for part in ast.walk(node))  # fmt: skip


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_repeatable(node):
    """Whether an index can be evaluated twice: a name, or a constant."""
    return isinstance(node, ast.Name) or is_number(node)


def _of_numbers(arguments):
    """The parameters whose defaults are numbers that are written out: no arrays are meant."""
    named = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(named), reversed(arguments.defaults)), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return [argument.arg for argument, default in pairs
            if default is not None and is_number(default) and getattr(default, "value", 0.0) is not None]  # fmt: skip


def _is_of_call(node):
    """Whether an expression is what a call gives, or an item of that or of the dict of an object's attributes."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Call) or isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _name(place, name, context):
    return _at(place, ast.Name(name, context))


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
