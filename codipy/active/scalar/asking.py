# SPDX-License-Identifier: Apache-2.0
"""Whether an instruction asks what a value is: it calls `isinstance`, matches a class, or reads ``__class__``.

The last also by `getattr`. Who asks by another function in C, as ``partial(isinstance, v)(float)`` does, stands at the
call of that, and nothing tells what it does. ``type(v)`` asks nobody. Of these is only told that a function has some.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType

__all__ = ["asks", "asks_in_vain"]

_CALLS = {"CALL", "CALL_FUNCTION", "CALL_METHOD", "PRECALL"}
_MANY = 40  # instructions for the arguments of `isinstance`: a function with more counts as one that hands it on
_NAMES = {"__module__", "__name__", "__qualname__"}
_NUMBERS = {"complex", "complex128", "complex64", "float", "float32", "float64", "ndarray"}
_STANDING = {"isinstance": "isinstance", "type": "type"}
_BESIDE = {"CACHE", "EXTENDED_ARG"}
_COMPARING = {"COMPARE_OP", "CONTAINS_OP", "IS_OP", "LOAD_ATTR", "LOAD_METHOD"}
_LEAVES = {
    "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_FORWARD", "RAISE_VARARGS", "RERAISE",
    "RETURN_CONST", "RETURN_VALUE",
}  # fmt: skip


def asks(code, at):
    """Whether the instruction at an offset of a code object asks for the class of a value.

    Parameters
    ----------
    code : code
    at : int
        What ``frame.f_lasti`` is.

    Returns
    -------
    bool
        False also of `isinstance` and `getattr` by another name.
    """
    steps = list(dis.get_instructions(code))
    place = next((k for k, step in enumerate(steps) if step.offset == at), None)
    if place is None:
        return False
    step = steps[place]
    if step.opname == "MATCH_CLASS":
        return True
    if step.opname == "LOAD_ATTR":
        return step.argval == "__class__"
    if step.opname not in _CALLS or step.arg not in (2, 3):
        return False
    count = step.arg
    if place and steps[place - 1].opname == "PRECALL":  # which takes the arguments in Python 3.11
        place -= 1
    for k in reversed(range(place)):
        is_name = steps[k].opname.startswith("LOAD_") and _asks_by(steps[k].argval, steps[k + 1:place], count)
        if is_name and _is_called(steps, k, place, count):
            return True
    return False


def asks_in_vain(code, names=None):
    """Whether a function asks for a class where `asks` is not asked: by ``type(v)``, or by either of both handed on.

    Of ``type(self)`` and of ``type(v).__name__`` in a message the answer does not matter.

    Parameters
    ----------
    code : code
        The functions in it count too.
    names : dict, optional
        By names that it reads, what stands there of `type` and `isinstance`, or "either" for what is made of one of
        them; those two alone if it is not given.

    Returns
    -------
    bool
    """
    names = _STANDING if names is None else names
    if not names.keys().isdisjoint((*code.co_names, *code.co_varnames, *code.co_freevars)):
        steps = [step for step in dis.get_instructions(code) if step.opname not in _BESIDE]
        for k, step in enumerate(steps):
            if not step.opname.startswith("LOAD_"):
                continue
            is_attribute = step.opname in ("LOAD_ATTR", "LOAD_METHOD")
            if is_attribute and not _is_of_builtins(steps, k):
                continue
            loaded = step.argval if isinstance(step.argval, tuple) else (step.argval,)  # two variables in Python 3.13
            found = [_STANDING.get(name) if is_attribute else names.get(name) for name in loaded]
            if any(what is not None and _is_asked(steps, k, what) for what in found):
                return True
    return any(asks_in_vain(part, names) for part in code.co_consts if isinstance(part, CodeType))


def _is_of_builtins(steps, k):
    return k > 0 and steps[k - 1].opname.startswith("LOAD_") and steps[k - 1].argval in ("builtins", "__builtins__")


def _is_asked(steps, k, what):
    """Whether `type` or `isinstance`, which an instruction loads, asks there or is handed on."""
    if what == "either":
        return True
    if what == "isinstance":
        is_own = steps[k].argval == what  # `asks` knows a call by that name
        return not is_own or _call_of(steps[:k + _MANY], k, 2) is None
    if _call_of(steps, k, 1) is not None:
        return _is_type_asked(steps, k)
    return _call_of(steps, k, 3) is None and not _is_compared(steps, k)


def _is_compared(steps, k):
    """Whether `type` is there what something is compared with, a base class, or has its attributes read."""
    after = steps[k + 1:k + 3]
    names = [step.opname for step in after]
    if not names or names[0] in _COMPARING or names[0].startswith("BUILD_"):
        return True
    is_call = names[0] in _CALLS and after[0].arg == 2
    if any(step.opname == "LOAD_BUILD_CLASS" for step in steps[:k]):
        return True
    return is_call and any(step.argval in ("isinstance", "issubclass") for step in steps[max(k - _MANY, 0):k])


def _is_type_asked(steps, k):
    """Whether the name `type` that an instruction loads is called there with one argument, see `asks_in_vain`."""
    place = _call_of(steps, k, 1)
    if place is None:
        return False
    given = [step.argval for step in steps[k + 1:place] if step.opname not in ("PRECALL", "PUSH_NULL")]
    after = steps[place + 1] if place + 1 < len(steps) else None
    is_name = after is not None and after.argval in _NAMES and after.opname.startswith("LOAD_")
    return given not in (["self"], ["cls"]) and not (is_name and _NUMBERS.isdisjoint(_texts(steps)))


def _call_of(steps, k, count):
    """The place of the instruction that calls with `count` arguments what another one loads; None if there is none."""
    for place in range(k + 1, len(steps)):
        is_call = steps[place].opname in _CALLS - {"PRECALL"} and steps[place].arg == count
        if is_call and _is_called(steps, k, place - (steps[place - 1].opname == "PRECALL"), count):
            return place
    return None


def _texts(steps):
    """The texts that are constants of a function."""
    return {step.argval for step in steps if step.opname == "LOAD_CONST" and isinstance(step.argval, str)}


def _is_called(steps, k, place, count):
    """Whether what one instruction loads is what a later one calls with `count` arguments."""
    above = _depth(steps, k + 1, place)  # less the NULL that stands behind what is called since Python 3.13
    has_null = steps[k + 1].opname == "PUSH_NULL" and sys.version_info >= (3, 13)
    return above == count or above == count + 1 and has_null


def _asks_by(name, between, count):
    """Whether a function of this name asks for the class of a value, where its arguments are made by these steps."""
    if name == "getattr":
        return any(step.opname == "LOAD_CONST" and step.argval == "__class__" for step in between)
    return name == "isinstance" and count == 2


def _depth(steps, first, end):
    """How many values one instruction finds more than another before it; None if less came between, or ways differ."""
    place_of = {step.offset: k for k, step in enumerate(steps)}
    depths, waiting = {first: 0}, [first]
    while waiting:
        k = waiting.pop()
        step = steps[k]
        argument = step.arg if step.opcode >= dis.HAVE_ARGUMENT else None
        following = [] if step.opname in _LEAVES else [(k + 1, False)]
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            following.append((place_of.get(step.argval, -1), True))  # which may lie behind what is looked at
        for other, jumps in following if k != end else ():
            if not first <= other <= end:
                continue
            depth = depths[k] + dis.stack_effect(step.opcode, argument, jump=jumps)
            if other not in depths:
                waiting.append(other)
            if depth < 0 or depths.setdefault(other, depth) != depth:
                return None
    return depths.get(end)
