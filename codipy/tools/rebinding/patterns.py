# SPDX-License-Identifier: Apache-2.0
"""``match`` statements that have class patterns, written as ``if`` statements.

``case Point(x=0.0, y=y) if y > 1.0:`` becomes ``elif m.is_instance(0, 1, Point, 0, ("x", "y")) and m.part(1) == 0.0
and m.bind("y", 2) and [y := m.bound("y")] and y > 1.0:``, where `m` is a `Matching`, which answers as of plain values.
Classes and values are looked up where the pattern comes to them, and names are bound when all of it fits, as the
interpreter does it.
"""

from __future__ import annotations

import ast
from typing import Any

from codipy.tools.rebinding.names import captured_by

__all__ = ["MATCHING", "with_conditions", "without_class_patterns"]

MATCHING = "codipy: matching"  # a built-in that no source can say
_RUN = "codipy: match"  # and the variable of the function that is running, until a case is found


def with_conditions(node: ast.Match) -> list[ast.stmt]:
    """The statements for a ``match`` statement; itself alone if it has no class pattern.

    Parameters
    ----------
    node : ast.Match
        Not changed, but its parts are used.

    Returns
    -------
    list of ast.stmt
    """
    if not any(isinstance(pattern, ast.MatchClass) for case in node.cases for pattern in ast.walk(case.pattern)):
        return [node]
    matching = ast.Call(ast.Name(MATCHING, ast.Load()), [node.subject], [])
    made = ast.Assign([ast.Name(_RUN, ast.Store())], matching)
    otherwise: list[ast.stmt] = [_forgotten()]
    for case in reversed(node.cases):
        conditions = [*_Conditions(case.pattern).found, *_bindings(case.pattern)]
        if case.guard is not None:
            conditions.append(case.guard)
        test = ast.BoolOp(ast.And(), conditions) if len(conditions) > 1 else (conditions or [ast.Constant(True)])[0]
        branch = ast.If(test, [_forgotten(), *case.body], otherwise)
        _locate(branch, case.pattern)
        otherwise = [branch]
    _locate(made, node)
    return [made, *otherwise]


class _Rewriter(ast.NodeTransformer):
    def visit_Match(self, node):
        self.generic_visit(node)
        return with_conditions(node)


def without_class_patterns(tree: ast.Module) -> ast.Module:
    """A syntax tree in which all `with_conditions` of its ``match`` statements stand in their places."""
    return _Rewriter().visit(tree)


def _forgotten():
    return ast.Delete([ast.Name(_RUN, ast.Del())])


def _locate(node, place):
    """Let what the source has not stand where the pattern does; what it has stays where it is."""
    waiting = [node]
    for one in waiting:
        if not hasattr(one, "lineno"):
            if "lineno" in one._attributes:
                ast.copy_location(one, place)
            waiting.extend(ast.iter_child_nodes(one))


def _ask(method, *arguments):
    function = ast.Attribute(ast.Name(_RUN, ast.Load()), method, ast.Load())
    return ast.Call(function, [x if isinstance(x, ast.AST) else _constant(x) for x in arguments], [])


def _constant(value):
    return ast.Constant(value)


def _bindings(pattern):
    """What binds the names, as one expression that is true."""
    names = sorted(set(captured_by(pattern)))
    if names:
        yield ast.List([ast.NamedExpr(ast.Name(name, ast.Store()), _ask("bound", name)) for name in names], ast.Load())


class _Conditions:
    """The conditions for a pattern, in the order in which they are looked at."""

    def __init__(self, pattern):
        self._count, self.found = 1, []
        self._add(pattern, 0, self.found)

    def _numbers(self, count):
        first = self._count
        self._count += count
        return first

    def _add(self, pattern: Any, at: int, found: list):
        part = _ask("part", at)
        if isinstance(pattern, ast.MatchValue):
            found.append(ast.Compare(part, [ast.Eq()], [pattern.value]))
        elif isinstance(pattern, ast.MatchSingleton):
            found.append(ast.Compare(part, [ast.Is()], [ast.Constant(pattern.value)]))
        elif isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self._add(pattern.pattern, at, found)
            if pattern.name is not None:
                found.append(_ask("bind", pattern.name, at))
        elif isinstance(pattern, ast.MatchStar):
            if pattern.name is not None:
                found.append(_ask("bind", pattern.name, at))
        elif isinstance(pattern, ast.MatchOr):
            self._add_alternatives(pattern.patterns, at, found)
        elif isinstance(pattern, ast.MatchSequence):
            self._add_sequence(pattern.patterns, at, found)
        elif isinstance(pattern, ast.MatchMapping):
            first = self._numbers(len(pattern.keys))
            found.append(_ask("is_mapping", at, first, ast.Tuple(pattern.keys, ast.Load()), pattern.rest))
            self._add_all(pattern.patterns, first, found)
        else:
            patterns = [*pattern.patterns, *pattern.kwd_patterns]
            first = self._numbers(len(patterns))
            count, names = len(pattern.patterns), tuple(pattern.kwd_attrs)
            found.append(_ask("is_instance", at, first, pattern.cls, count, names))
            self._add_all(patterns, first, found)

    def _add_all(self, patterns, first, found):
        for k, pattern in enumerate(patterns, first):
            self._add(pattern, k, found)

    def _add_alternatives(self, patterns, at, found):
        alternatives = []
        for pattern in patterns:
            conditions: list = []
            self._add(pattern, at, conditions)
            alternatives.append(ast.BoolOp(ast.And(), [*conditions, ast.Constant(True), ast.Constant(True)]))
        found.append(ast.BoolOp(ast.Or(), alternatives))

    def _add_sequence(self, patterns, at, found):
        first, stars = self._numbers(len(patterns)), [k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)]
        star = stars[0] if stars else None
        looked_at = [k for k, pattern in enumerate(patterns) if not _is_wildcard(pattern)]
        by_index = None
        if not looked_at:
            by_index = ()
        elif star is not None and star not in looked_at:  # so Python takes items by their index, and else walks
            by_index = tuple(k if k < star else k - len(patterns) for k in looked_at)
        found.append(_ask("is_sequence", at, first, len(patterns), star, by_index))
        self._add_all(patterns, first, found)


def _is_wildcard(pattern):
    return isinstance(pattern, (ast.MatchAs, ast.MatchStar)) and pattern.name is None and (
        getattr(pattern, "pattern", None) is None)
