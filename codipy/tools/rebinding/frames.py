# SPDX-License-Identifier: Apache-2.0
"""What functions that are running hold on their stacks, as far as their code tells."""

from __future__ import annotations

import dis
import functools
import opcode
import sys

__all__ = ["is_unpacked", "names_given", "names_kept", "unpacks_into_tuple"]

# From Python 3.12 on the tuple is gone once a function of Python's runs.
_KEEPS_TUPLE = sys.version_info < (3, 12)
_KEEPS_ARGUMENTS = sys.version_info < (3, 11)
_CALLS = ("CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_KW")
_SKIPPED = ("CACHE", "EXTENDED_ARG", "PUSH_NULL")


def is_unpacked(frame):
    """Whether what a function calls right now gets unpacked arguments, ``f(*args)``."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if not code:  # compiled, of which a traceback makes a frame
        return False
    while at > 0 and opcode.opname[code[at]] in _SKIPPED:
        at -= 2
    return opcode.opname[code[at]] == "CALL_FUNCTION_EX"


def unpacks_into_tuple(frame):
    """Whether its stack has a tuple of its own of what it called with, ``f(x, *args)``."""
    if not _KEEPS_TUPLE or not is_unpacked(frame):
        return False
    code, at = frame.f_code.co_code, frame.f_lasti - 2
    while at > 0 and opcode.opname[code[at]] in _SKIPPED:
        at -= 2
    return opcode.opname[code[at]] == "LIST_TO_TUPLE"


def names_kept(frame, code):
    """The parameters of a function that the stack of its caller keeps too, up to Python 3.10.

    Between the caller and the function may stand what adds arguments: the object of a method, `functools.partial`. So
    an argument by position counts only where it is one of the caller's with and without an object before it.

    Parameters
    ----------
    frame : frame
        The caller's.
    code : code
        The function's.

    Returns
    -------
    tuple of str
    """
    if not _KEEPS_ARGUMENTS:
        return ()
    called, at = frame.f_code.co_code, frame.f_lasti
    if not called or opcode.opname[called[at]] not in _CALLS:
        return ()
    count, by_name = called[at + 1], ()
    if opcode.opname[called[at]] == "CALL_FUNCTION_KW":
        if at < 2 or opcode.opname[called[at - 2]] != "LOAD_CONST":
            return ()
        by_name = frame.f_code.co_consts[called[at - 1]]
        count -= len(by_name)
    known, _ = names_given(code)
    first = 0 if count >= code.co_argcount else 1
    return tuple(name for name in known if name in by_name or name in code.co_varnames[first:count])


@functools.lru_cache(1024)
def names_given(code):
    """The parameters of a function that have what it was called with: it sets none of them.

    Returns
    -------
    tuple
        The names of those by position, and that of the tuple of others, or None.
    """
    count = code.co_argcount
    names = list(code.co_varnames[:count])
    rest = code.co_varnames[count + code.co_kwonlyargcount] if code.co_flags & 4 else None
    found = dis.get_instructions(code)
    changed = {one.argval for one in found if one.opname.startswith(("STORE_", "DELETE_"))} | set(code.co_cellvars)
    return tuple(name for name in names if name not in changed), None if rest in changed else rest
