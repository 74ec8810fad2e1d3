# SPDX-License-Identifier: Apache-2.0
"""The names in a syntax tree: what an expression shows, what a statement binds, what a function returns.

Names of attributes begin with a dot, and ``[]h`` stands for what is in the list or dict ``h``.
"""

from __future__ import annotations

import ast
import sys

__all__ = [
    "CALLING", "COMPREHENSIONS", "FUNCTIONS", "HOLDERS", "WALKING", "Scopes", "bindings_in", "bound_by", "captured_by",
    "given_to", "imported_by", "is_number", "is_row", "item_of", "last_name", "leaves_of", "mentioned_in", "names_of",
    "nodes_of", "parameters_of", "places_of", "returned_by", "root_of", "variables_of", "with_variables",
]  # fmt: skip

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp)
HOLDERS = frozenset(("SimpleNamespace", "defaultdict", "deque", "dict", "list", "partial", "tuple"))
# What walks over lists and dicts and gives what is in them, beside loops; and what calls a function with it.
WALKING = frozenset((
    "chain", "cycle", "enumerate", "filter", "from_iterable", "islice", "items", "iter", "reversed", "sorted", "tee",
    "values", "zip", "zip_longest",
))  # fmt: skip
_OF_TEXT_OR_NUMBERS = frozenset(("bool", "float", "format", "int", "len", "repr", "str"))
_REDUCING = frozenset(("all", "any", "argmax", "argmin", "item", "max", "mean", "min", "std", "sum", "tolist", "var"))
CALLING = frozenset(("filter", "map", "reduce", "starmap"))
_SHOWING = HOLDERS | WALKING | frozenset((
    "T", "as_strided", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "atleast_1d", "atleast_2d",
    "atleast_3d", "array_split", "broadcast_to", "diagonal", "dsplit", "expand_dims", "flip", "fliplr", "flipud", "get",
    "hsplit", "imag", "matrix_transpose", "moveaxis", "next", "nditer", "permute_dims", "pop", "popleft", "ravel",
    "real", "require", "reshape", "rollaxis", "rot90", "setdefault", "sliding_window_view", "split", "squeeze",
    "swapaxes", "transpose", "unstack", "view", "vsplit",
))  # fmt: skip


def last_name(node):
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def root_of(node):
    """Where a chain of attributes, items and calls begins."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def item_of(name):
    """The name of what is in a list or dict, and in those that are in it."""
    return name if name.startswith("[]") else "[]" + name


def names_of(node):
    """The names, attributes with a dot before, of which an expression may be a view or an item."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield "." + node.attr
        yield from names_of(node.value)
    elif isinstance(node, ast.Subscript):
        names = set(names_of(node.value))
        yield from names | set(map(item_of, names))  # a view or an item, which nobody knows here
    elif isinstance(node, (ast.Starred, ast.NamedExpr)):
        yield from names_of(node.value)
    elif isinstance(node, ast.Call) and (_is_showing(last_name(node.func)) or _is_rearranging(node)):
        for part in (getattr(node.func, "value", None), *node.args, *(word.value for word in node.keywords)):
            yield from names_of(part)
    elif isinstance(node, (ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Dict)):
        for leaf in leaves_of(node):
            yield from names_of(leaf)


def _is_showing(name):
    """Whether what a function is given is seen through its result: a view, a container, an instance by its name."""
    return name is not None and (name in _SHOWING or name[:1].isupper())


def _is_rearranging(call):
    """Whether it is ``einsum`` of one array, which may be a view of that, as its diagonal is."""
    return last_name(call.func) == "einsum" and len(call.args) == 2


def leaves_of(node):
    """The expressions of which one is chosen, or that stand in a list, tuple or dict."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return node.values if isinstance(node, (ast.BoolOp, ast.Dict)) else node.elts


def is_row(node):
    return isinstance(node, (ast.Tuple, ast.List))


def given_to(target, value):
    """What a value gives a target, of ``u, v = (state[k] for k in names)`` what each name gets."""
    return value.elt if is_row(target) and isinstance(value, COMPREHENSIONS) else value


def bindings_in(node):
    """What a node binds: targets, and the field of the node with what they get: "value", "iter" or "context_expr"."""
    if isinstance(node, ast.Assign):
        yield node.targets, "value"
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield [node.target], "value"
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield [node.target], "iter"
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield [node.optional_vars], "context_expr"


def bound_by(node):
    """The names that a target binds."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield "." + node.attr
    elif isinstance(node, ast.Subscript):
        yield from map(item_of, names_of(node.value))
    elif isinstance(node, ast.Starred):
        yield from bound_by(node.value)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for item in node.elts:
            yield from bound_by(item)


def captured_by(pattern):
    """The names that a pattern of a ``match`` statement binds."""
    for node in ast.walk(pattern):
        name = getattr(node, "rest", None) if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if name is not None:
            yield name


def is_number(node):
    """Whether an expression is a number, written out."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def parameters_of(node):
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def places_of(call):
    return [*range(len(call.args)), *(word.arg for word in call.keywords if word.arg is not None)]


def returned_by(function):
    """The names that show what a function returns, and those of functions which make it."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    makers = {last_name(value.func) for value in values if isinstance(value, ast.Call)} - {None}
    return makers.union(*map(names_of, values))


def mentioned_in(node):
    """The names that a value may have to do with; of a function that is written there, those that it returns."""
    if isinstance(node, ast.Lambda):
        if isinstance(node.body, ast.Call) and (name := last_name(node.body.func)):
            yield name
        yield from names_of(node.body)
        return
    if _is_text_or_number(node):
        return
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield "." + node.attr
    for child in ast.iter_child_nodes(node):
        yield from mentioned_in(child)


def _is_text_or_number(node):
    """Whether it is text or a number, whatever it is made of: an f-string, ``"%g" % t``, ``len(u)``, ``np.max(u)``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _is_written_text(node.left)
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.JoinedStr)
    if isinstance(node.func, ast.Name):
        return node.func.id in _OF_TEXT_OR_NUMBERS
    if not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _REDUCING or node.func.attr in ("format", "join") and _is_written_text(node.func.value)


def _is_written_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def variables_of(function):
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
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


def _declared_in(function, kind):
    """Names that a function declares by ``global`` or ``nonlocal``."""
    found, waiting = set(), list(function.body) if isinstance(function.body, list) else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, kind):
            found.update(node.names)
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
    return found


class Scopes:
    """The functions that are open at a place in the source, and classes, from the outermost to the innermost.

    Parameters
    ----------
    nodes : tuple of ast.AST
        Their nodes.
    """

    def __init__(self, nodes=()):
        self._nodes = nodes
        self._variables = [None if isinstance(node, ast.ClassDef) else variables_of(node) for node in nodes]
        self._globals = [_declared_in(node, ast.Global) for node in nodes]
        self._nonlocals = [_declared_in(node, ast.Nonlocal) for node in nodes]

    def with_inner(self, node):
        return Scopes((*self._nodes, node))

    def __bool__(self):
        return bool(self._nodes)

    def is_own(self, name):
        """Whether it is a variable of the innermost function, or of a class, where names are not known."""
        own = self._variables[-1]
        return own is None or (name in own and name not in self._globals[-1] and name not in self._nonlocals[-1])

    def is_enclosing(self, name):
        """Whether it is a variable of an enclosing function, and none of the module."""
        if name in self._globals[-1]:
            return False
        for own, of_module, others in zip(self._variables[-2::-1], self._globals[-2::-1], self._nonlocals[-2::-1]):
            if own is not None and name in own and name not in others:
                return name not in of_module
        return False


def with_variables(outer):
    """All nodes in a function, each with the variables of the function that it stands in."""
    waiting = [(outer, variables_of(outer))]
    for node, own in waiting:
        yield node, own
        inner = variables_of(node) if isinstance(node, (*FUNCTIONS, ast.Lambda)) else own
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))


def nodes_of(node):
    """All nodes in one, but for the bodies of classes whose metaclass may look names up in its own way."""
    waiting = [node]
    for node in waiting:
        yield node
        is_own = isinstance(node, ast.ClassDef) and (node.bases or node.keywords)
        waiting.extend(_functions_in(node) if is_own else ast.iter_child_nodes(node))


def _functions_in(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*FUNCTIONS, ast.Lambda)):
            yield child
        else:
            yield from _functions_in(child)


def imported_by(node):
    """What an import in a function binds, of modules that are imported already."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            found = sys.modules.get(alias.name if alias.asname else alias.name.partition(".")[0])
        else:
            found = getattr(sys.modules.get(node.module), "__dict__", {}).get(alias.name)  # runs nobody's __getattr__
        if found is not None:
            yield alias.asname or alias.name.partition(".")[0], found
