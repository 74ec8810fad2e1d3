# SPDX-License-Identifier: Apache-2.0
"""Whether an instruction asks what a value is: it calls `isinstance`, matches a class, or reads ``__class__``."""

from __future__ import annotations

import dis

__all__ = ["asks"]

_BETWEEN = {"CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP", "PRECALL", "RESUME"}
_CALLS = {"CALL", "CALL_FUNCTION", "CALL_METHOD", "PRECALL"}
_NULLS = {"PUSH_NULL"}


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
        False also where it is not found out, as of a call with a condition among its arguments.
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
    return step.opname in _CALLS and step.arg == 2 and _is_called(steps, place)


def _is_called(steps, place):
    """Whether the function of a call with two arguments is `isinstance`: what stands before both."""
    need = 2
    for step in reversed(steps[:place]):
        if step.opname in _BETWEEN or not need and step.opname in _NULLS:
            continue
        if not need:
            return step.argval == "isinstance"
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            return False
        need -= dis.stack_effect(step.opcode, step.arg if step.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
        if need < 0:
            return False
    return False
