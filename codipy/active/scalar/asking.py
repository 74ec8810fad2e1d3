# SPDX-License-Identifier: Apache-2.0
"""Whether an instruction asks what a value is: it calls `isinstance`, matches a class, or reads ``__class__``."""

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
        False also of `isinstance` by another name.
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
    if step.opname not in _CALLS or step.arg != 2:
        return False
    if place and steps[place - 1].opname == "PRECALL":  # which takes the arguments in Python 3.11
        place -= 1
    for k in reversed(range(place)):
        if steps[k].argval == "isinstance" and steps[k].opname.startswith("LOAD_"):
            above = _depth(steps, k + 1, place)  # less the NULL that stands behind what is called since Python 3.13
            if above == 2 or above == 3 and steps[k + 1].opname == "PUSH_NULL" and sys.version_info >= (3, 13):
                return True
    return False


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
