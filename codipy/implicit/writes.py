# SPDX-License-Identifier: Apache-2.0
"""Whether code may write into something that is not a new array or number of its own.

Most functions that solvers call do not, and then nothing has to be looked at. What cannot be told may.
"""

from __future__ import annotations

import dis
import functools
import inspect
import re

from codipy.tools.rebinding.code import scan, words_of
from codipy.tools.rebinding.fills import ADDING, WRITERS_BY_NAME
from codipy.tools.rebinding.wrapping import MADE, TAKEN

__all__ = ["WRITING", "may_write"]

WRITING = WRITERS_BY_NAME | ADDING | frozenset((
    "__dict__", "__setattr__", "clear", "discard", "extendleft", "heappop", "heappush", "insort", "move_to_end", "pop",
    "popitem", "popleft", "push", "remove", "reverse", "rotate", "send", "setattr", "subtract", "vars",
))  # fmt: skip
_MAKERS = frozenset(("empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"))
_NUMPY = frozenset(("np", "numpy"))
_PASSING = frozenset((MADE, TAKEN))
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_OF_VARIABLES = re.compile("LOAD_FAST|STORE_FAST")
_AHEAD = ("CACHE", "EXTENDED_ARG")
_VIEWS = frozenset(("BINARY_SUBSCR", "BINARY_SLICE"))
_PARTS = {"STORE_SUBSCR": 1, "STORE_SLICE": 2}      # how many items of the stack are above what is written into


@functools.lru_cache(4096)
def may_write(code):
    """Whether a code object, or one in it, may write into something that is not its own.

    Parameters
    ----------
    code : code

    Returns
    -------
    bool
    """
    names = scan(code)
    if names.stores or names.deletes or not WRITING.isdisjoint(words_of(code)):
        return True
    return _writes(code, code.co_freevars)


def _writes(code, outer):
    steps = [each for step in dis.get_instructions(code) if step.opname not in _AHEAD for each in _single(step)]
    own = _own(code, steps)
    for at, step in enumerate(steps):
        name = step.opname
        if name in ("STORE_ATTR", "DELETE_ATTR", "DELETE_SUBSCR"):
            return True
        if name in ("STORE_DEREF", "DELETE_DEREF") and step.argval in outer:
            return True
        is_in_place = name.startswith("INPLACE_") or name == "BINARY_OP" and "=" in step.argrepr
        if (is_in_place or name in _PARTS) and not _is_of(steps, at, _PARTS.get(name, 1), own):
            return True
    return any(inspect.iscode(each) and _writes(each, outer) for each in code.co_consts)


def _single(step):
    """The instructions of one that loads or stores two variables, which Python has from 3.13 on."""
    kinds = _OF_VARIABLES.findall(step.opname)
    if len(kinds) < 2:
        return [step]
    parts = [step._replace(opname=kind, opcode=dis.opmap[kind], arg=0, argval=name)
             for kind, name in zip(kinds, step.argval)]
    return [parts[0], parts[1]._replace(label=None)]      # who jumps there finds both


def _start(steps, end, count):
    """Where the steps begin that put so many items on the stack, just before `end`; None where they branch."""
    for at in range(end - 1, -1, -1):
        step = steps[at]
        if step.opcode in _JUMPS or steps[at + 1].is_jump_target:
            return None
        count -= dis.stack_effect(step.opcode, step.arg if step.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
        if count == 0:
            return at
    return None


def _is_of(steps, at, above, own):
    """Whether what is written into, under so many items of the stack, is shown by a variable that is its own."""
    start = _start(steps, at, above)
    if not start or steps[start].is_jump_target:
        return False
    shown = steps[start - 1]
    return shown.opname.startswith("LOAD_FAST") and type(shown.argval) is str and shown.argval in own


def _own(code, steps):
    """Local variables that show nothing but new arrays and numbers."""
    rest = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    found, others = set(), set(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount + rest])
    for at, step in enumerate(steps):
        if step.opname.startswith("STORE_FAST"):
            names = step.argval if type(step.argval) is tuple else (step.argval,)
            (found if len(names) == 1 and _is_new(steps, at) else others).update(names)
    return found - others


def _is_new(steps, at):
    """Whether what is stored is a number that is written out, or was just made by an operation or by NumPy."""
    last = steps[at - 1]
    if at == 0 or steps[at].is_jump_target or last.is_jump_target:
        return False
    if last.opname == "LOAD_CONST":
        return type(last.argval) in (int, float)
    if last.opname.startswith("BINARY_") and last.opname not in _VIEWS or last.opname.startswith("INPLACE_"):
        return "=" not in last.argrepr and not last.argrepr.startswith("[")
    start = _start(steps, at, 1)
    if start is None or not last.opname.startswith("CALL"):
        return False
    parts = [step for step in steps[start:at] if step.opname != "PUSH_NULL"]
    if parts[0].argval in _PASSING:      # which rebuilt code puts around
        del parts[0]
    first, then = parts[:2]
    return first.opname == "LOAD_GLOBAL" and first.argval in _NUMPY and then.argval in _MAKERS
