# SPDX-License-Identifier: Apache-2.0
"""Which variable of the user's holds what an earlier recording made, for messages: the name, the line and the cure."""

from __future__ import annotations

import ast
import linecache
import sys
import textwrap
import types
from collections import deque

from codipy.active.messages.callers import frames_of_users, place, runs_recorded
from codipy.active.recordings.status import is_from_earlier

__all__ = ["from_earlier", "of_enclosing"]

_DEEP = 3  # containers and attributes that are looked into from a variable on
_MANY = 200  # items of each
_CONTAINERS = list, tuple, dict, deque
_CURES = {  # by what was imported
    "codipy.tools.derivatives.preaccumulate":
        "; or, if a function that was given to codipy.preaccumulate computed it, let that return it",
    "codipy.implicit.iterates": "; or, if the callback of a solver kept it, take what the solver returns, or keep "
        "codipy.value(x) of it, a constant",
    "codipy.implicit.effects": "; or, if a function kept it while a solver called it, call that function once more, "
        "with what the solver returns",
}


def from_earlier(plain, x=None):
    """What to say of a variable of a recording that is over, met while another one records.

    Parameters
    ----------
    plain : str
        What is known without a look at the caller.
    x : Real, optional
        The variable.

    Returns
    -------
    str
        It names what the user calls it and the line; `plain` where nothing is found.
    """
    try:
        return _explained(plain, sys._getframe(1), x) or plain
    except Exception:  # reads other people's frames and files: what goes wrong here must not hide the error itself
        return plain


def of_enclosing(what):
    """What to say of a variable of another tape that still records, met while this one does.

    Its value would be a constant there, and its derivative lost.
    """
    return (f"{what} belongs to another tape, which still records: derivatives inside of a derivative are taken by a "
            "driver, such as codipy.grad or codipy.vjp, or on a tape that records `with tape.nested(x):`; where it is "
            "a constant of the inner one, say codipy.value(x)")


def _explained(plain, frame, x):
    frames = frames_of_users(frame)
    if not frames:
        return None
    tries = [(frame, lambda value: value is x) for frame in frames] if x is not None else []
    # An element of an earlier Array is nobody's: then anything earlier in the innermost frame, and there only.
    if runs_recorded(frame):
        tries.append((frames[0], is_from_earlier))
    elif x is None:
        return (f"what the function returns is from an earlier call or recording ({place(frames[0])}), and its "
                "derivative would be lost: compute it again in each call")
    for found, test in tries:
        if (said := _said(plain, found, test)) is not None:
            return said
    if x is None and runs_recorded(frame):
        return (f"what an earlier call has computed is used again ({place(frames[0])}), as from a cache, and its "
                f"derivative would be lost: compute it anew in each call, or empty the cache before{_given_back()}. In "
                f"the words of tapes: {plain}")
    return None


def _said(plain, frame, test):
    name, value = _on_the_line(frame, test)
    kept = _kept(frame, test if value is None else lambda other: other is value)
    if name is None and kept is None:
        return None
    what = f"`{name or kept}`"
    if name is not None and kept not in (None, name):
        what += f", which `{kept}` keeps,"
    stored = kept or (name if not name.isidentifier() else None)
    if type(value).__name__ == "Array" and name in _filled(frame):
        return (f"{what} is written to by elements ({place(frame)}), and others of it are from an earlier call or "
                f"recording: make it anew in the function that fills it, or let that begin with `{name}[:] = 0.0`. In "
                f"the words of tapes: {plain}")
    constant = "keep codipy.value(...) where it is stored"
    if stored and not _is_of_tuple(stored, frame):
        constant = f"the call that stores it may end with `{stored} = codipy.value({stored}){_copied(value)}`"
    return (f"{what} is from an earlier call or recording ({place(frame)}), and its derivative would be lost: "
            f"compute it again in each call; or, if it is a constant for the next ones, {constant}{_given_back()}. "
            f"In the words of tapes: {plain}")


def _is_of_tuple(path, frame):
    """Whether an expression is an item of a tuple, to which nothing can be assigned."""
    node = ast.parse(path, mode="eval").body
    return isinstance(node, ast.Subscript) and isinstance(_value_of(node.value, frame), tuple)


def _given_back():
    """Other cures, for programs that may need them."""
    return "".join(cure for module, cure in _CURES.items() if module in sys.modules)


def _copied(value):
    """What makes a value that may be written to of it: that of an Array is read-only."""
    return ".copy()" if type(value).__name__ == "Array" else ""


# ---- What stands on the line ----


def _on_the_line(frame, test):
    """The first of the variables in the statement that is running that passes; (None, None) if none does."""
    for node in _nodes(frame):
        try:
            value = _value_of(node, frame)
        except (LookupError, AttributeError, TypeError, ValueError):
            continue
        if test(value):
            return ast.unparse(node), value
    return None, None


def _nodes(frame):
    """Names, attributes and elements, in the order of the source; those that hold others come first."""
    kinds = ast.Name, ast.Attribute, ast.Subscript
    found = [node for node in ast.walk(_statement(frame)) if isinstance(node, kinds)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset, -node.end_col_offset))


def _filled(frame):
    """What the statement that is running assigns elements of."""
    assigned = [node for node in ast.walk(_statement(frame)) if isinstance(node, ast.Assign)]
    each = [node for one in assigned for target in one.targets for node in ast.walk(target)
            if isinstance(node, ast.Subscript)]
    return {ast.unparse(node.value) for node in each if isinstance(node.ctx, ast.Store)}


def _statement(frame):
    code, first, last = frame.f_code, frame.f_lineno, frame.f_lineno
    if hasattr(code, "co_positions") and frame.f_lasti >= 0:
        span = list(code.co_positions())[frame.f_lasti // 2]
        first, last = span[0] or first, span[1] or last
    lines = [linecache.getline(code.co_filename, line, frame.f_globals) for line in range(first, last + 1)]
    text = textwrap.dedent("".join(lines)).strip()
    for source in (text, f"{text}\n pass", f"({text})", f"{text.removeprefix('el')}\n pass", f"({text.rstrip(',:')})"):
        try:
            return ast.parse(source)
        except SyntaxError:
            continue
    return ast.Module([], [])


def _value_of(node, frame):
    """The value of an expression of names, attributes and elements, without running code of the user's."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return frame.f_locals[node.id] if node.id in frame.f_locals else frame.f_globals[node.id]
    if isinstance(node, ast.Tuple):
        return tuple(_value_of(item, frame) for item in node.elts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value_of(node.operand, frame)
    if isinstance(node, ast.Attribute):
        return _attribute(_value_of(node.value, frame), node.attr)
    if isinstance(node, ast.Subscript):
        return _items(_value_of(node.value, frame))[_value_of(node.slice, frame)]
    raise ValueError("it would have to be run")


def _attribute(owner, name):
    if isinstance(owner, types.ModuleType):
        return getattr(owner, name)
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    slot = getattr(type(owner), name)
    if isinstance(slot, types.MemberDescriptorType):
        return slot.__get__(owner)
    raise AttributeError(name)


def _items(owner):
    """A list, a tuple, a deque or a dict; of codipy's views what they show."""
    if isinstance(owner, (list, dict)) and type(owner).__module__.startswith("codipy."):
        return owner._origin
    if isinstance(owner, _CONTAINERS):
        return owner
    raise TypeError("no container")


# ---- What lives longer than a call ----


def _kept(frame, test):
    """The path from a variable to something that passes, through attributes and containers; None if there is none."""
    code = frame.f_code
    names = dict.fromkeys([*code.co_freevars, *code.co_names, *code.co_varnames, *code.co_cellvars])
    for name in names:
        is_local = name in frame.f_locals
        try:
            value = frame.f_locals[name] if is_local else frame.f_globals[name]  # of rebound code, no `in` finds all
        except KeyError:
            continue
        if test(value):
            if not is_local or name in code.co_freevars:
                return name
            continue
        found = _within(value, name, test, _DEEP, set())
        if found is not None:
            return found
    return None


def _within(value, path, test, depth, seen):
    if id(value) in seen or isinstance(value, (type, types.ModuleType, types.FunctionType, str, bytes)):
        return None
    seen.add(id(value))
    for inner, label in _parts(value):
        if test(inner):
            return path + label
        if depth:
            found = _within(inner, path + label, test, depth - 1, seen)
            if found is not None:
                return found
    return None


def _parts(value):
    if isinstance(value, _CONTAINERS):
        items = _items(value)
        pairs = items.items() if isinstance(items, dict) else enumerate(items)
        return [(item, f"[{key!r}]") for key, item in list(pairs)[:_MANY]]
    own = getattr(value, "__dict__", None)
    parts = [(item, f".{name}") for name, item in list(own.items())[:_MANY]] if isinstance(own, dict) else []
    for kind in type(value).__mro__:
        for name, slot in vars(kind).items():
            if isinstance(slot, types.MemberDescriptorType) and kind.__module__ != "builtins":
                try:
                    parts.append((slot.__get__(value), f".{name}"))
                except (AttributeError, TypeError):
                    continue
    return parts
