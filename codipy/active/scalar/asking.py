# SPDX-License-Identifier: Apache-2.0
"""Whether an instruction asks what a value is: it calls `isinstance`, matches a class, or reads ``__class__``.

The last also by `getattr`. Who asks by another function in C, as ``partial(isinstance, v)(float)`` does, stands at the
call of that, and nothing tells what it does; ``type(v)`` asks nobody.
"""

from __future__ import annotations

import dis
import sys

__all__ = ["asks"]

_CALLS = {"CALL", "CALL_FUNCTION", "CALL_METHOD", "PRECALL"}
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
        if steps[k].opname.startswith("LOAD_") and _asks_by(steps[k].argval, steps[k + 1:place], count):
            above = _depth(steps, k + 1, place)  # less the NULL that stands behind what is called since Python 3.13
            has_null = steps[k + 1].opname == "PUSH_NULL" and sys.version_info >= (3, 13)
            if above == count or above == count + 1 and has_null:
                return True
    return False


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
            following.append((place_of[step.argval], True))
        for other, jumps in following if k != end else ():
            if not first <= other <= end:
                continue
            depth = depths[k] + dis.stack_effect(step.opcode, argument, jump=jumps)
            if other not in depths:
                waiting.append(other)
            if depth < 0 or depths.setdefault(other, depth) != depth:
                return None
    return depths.get(end)
