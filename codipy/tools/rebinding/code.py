# SPDX-License-Identifier: Apache-2.0
"""What a code object does with global names, read from its bytecode: functions need not have source."""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from dis import opmap
from types import CodeType
from typing import NamedTuple

__all__ = ["Names", "class_patterns", "imported", "is_async", "is_generator", "scan", "words_of", "writes_in_place"]

_EXTENDED_ARG = opmap["EXTENDED_ARG"]
_SHIFT = 1 if sys.version_info >= (3, 11) else 0  # the lowest bit of LOAD_GLOBAL says something else
_LOADS = {opmap[name]: _SHIFT * (name == "LOAD_GLOBAL") for name in
          ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if name in opmap}  # fmt: skip
_STORES = frozenset(
    code for name, code in opmap.items() if name.startswith(("STORE_SUBSCR", "STORE_SLICE", "INPLACE_"))
)
_BINARY, _FIRST_IN_PLACE = opmap.get("BINARY_OP", -1), 13  # from 3.11 on: the operands below make something


class Names(NamedTuple):
    """Global names that a code object or a function nested in it handles."""

    loads: frozenset
    stores: frozenset
    deletes: frozenset
    imports: bool
    nonlocals: frozenset  # names of cells that it sets
    matches: bool  # whether it has class patterns


@functools.lru_cache(maxsize=4096)
def scan(code):
    """The `Names` of a code object."""
    loads, stores, deletes, nonlocals, imports, matches = set(), set(), set(), set(), False, False
    names, words, extended = code.co_names, code.co_code, 0
    for at in range(0, len(words), 2):
        operation, argument = words[at], words[at + 1] | extended
        if operation == _EXTENDED_ARG:
            extended = argument << 8
            continue
        extended = 0
        if operation in _LOADS:
            loads.add(names[argument >> _LOADS[operation]])
        elif operation == opmap["STORE_GLOBAL"]:
            stores.add(names[argument])
        elif operation == opmap["DELETE_GLOBAL"]:
            deletes.add(names[argument])
        elif operation == opmap["IMPORT_NAME"]:
            imports = True
        elif operation == opmap["STORE_DEREF"]:
            nonlocals.add(_deref(code, argument))
        elif operation == opmap["MATCH_CLASS"]:
            matches = True
    for nested in code.co_consts:
        if isinstance(nested, CodeType):
            inner = scan(nested)
            loads |= inner.loads
            stores |= inner.stores
            deletes |= inner.deletes
            nonlocals |= inner.nonlocals
            imports, matches = imports or inner.imports, matches or inner.matches
    return Names(*map(frozenset, (loads, stores, deletes)), imports, frozenset(nonlocals), matches)


@functools.lru_cache(maxsize=1024)
def imported(code):
    """The modules that a code object, or one nested in it, imports by full names; None if one by a relative name."""
    found: set = set()
    steps = [step for step in dis.get_instructions(code) if step.opcode != _EXTENDED_ARG]
    for place, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            if steps[place - 2].argval != 0:
                return None
            found.add(step.argval)
    for nested in code.co_consts:
        if isinstance(nested, CodeType):
            inner = imported(nested)
            if inner is None:
                return None
            found |= inner
    return frozenset(found)


def class_patterns(code):
    """The classes that the patterns of a code object and of those nested in it are of.

    Parameters
    ----------
    code : code

    Yields
    ------
    tuple
        The line; how the first name is looked up, as `dis` has it; that name and those of attributes; the names of the
        attributes that the pattern takes; how many it takes by position.
    """
    before: list = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "MATCH_CLASS":
            yield _class_pattern(code, instruction, before)
        elif instruction.opcode != _EXTENDED_ARG:
            before.append(instruction)
    for nested in code.co_consts:
        if isinstance(nested, CodeType):
            yield from class_patterns(nested)


def _class_pattern(code, instruction, before):
    *before, last = before
    names = []
    while before[-1].opname == "LOAD_ATTR":
        names.append(before.pop().argval)
    lines = [line for start, line in dis.findlinestarts(code) if start <= instruction.offset and line is not None]
    found = before[-1]
    return lines[-1], found.opname, (found.argval, *reversed(names)), last.argval, instruction.arg


def words_of(code):
    """The names of variables and attributes that a code object reads, and its texts, which may be such names."""
    words = set(code.co_names)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            words |= words_of(value)
        elif isinstance(value, (str, tuple)):  # a tuple has names of arguments
            words.update((value,) if isinstance(value, str) else filter(_is_text, value))
    return words


def _is_text(value):
    return isinstance(value, str)


def writes_in_place(code, writers):
    """Whether a code object may write into something: by an index, by ``+=``, by what is called by these names."""
    words, extended = code.co_code, 0
    for at in range(0, len(words), 2):
        operation, argument = words[at], words[at + 1] | extended
        extended = argument << 8 if operation == _EXTENDED_ARG else 0
        if operation in _STORES or operation == _BINARY and argument >= _FIRST_IN_PLACE:
            return True
    return not writers.isdisjoint(words_of(code)) or any(
        isinstance(value, CodeType) and writes_in_place(value, writers) for value in code.co_consts)


def _deref(code, argument):
    """The name of a cell by the operand of STORE_DEREF, which from 3.11 on counts the local variables too."""
    if not _SHIFT:
        return (code.co_cellvars + code.co_freevars)[argument]
    places = code.co_varnames + tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return (places + code.co_freevars)[argument]


def is_async(code):
    return bool(code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE))


def is_generator(code):
    return bool(code.co_flags & inspect.CO_GENERATOR)
