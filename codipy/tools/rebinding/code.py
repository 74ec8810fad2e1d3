# SPDX-License-Identifier: Apache-2.0
"""What a code object does with global names, read from its bytecode: functions need not have source."""

from __future__ import annotations

import functools
import inspect
import sys
from dis import opmap
from types import CodeType
from typing import NamedTuple

__all__ = ["Names", "is_async", "is_generator", "scan"]

_EXTENDED_ARG = opmap["EXTENDED_ARG"]
_SHIFT = 1 if sys.version_info >= (3, 11) else 0  # the lowest bit of LOAD_GLOBAL says something else
_LOADS = {opmap[name]: _SHIFT * (name == "LOAD_GLOBAL") for name in
          ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if name in opmap}  # fmt: skip


class Names(NamedTuple):
    """Global names that a code object or a function nested in it handles."""

    loads: frozenset
    stores: frozenset
    deletes: frozenset
    imports: bool
    nonlocals: frozenset  # names of cells that it sets


@functools.lru_cache(maxsize=4096)
def scan(code):
    """The `Names` of a code object."""
    loads, stores, deletes, nonlocals, imports = set(), set(), set(), set(), False
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
    for nested in code.co_consts:
        if isinstance(nested, CodeType):
            inner = scan(nested)
            loads |= inner.loads
            stores |= inner.stores
            deletes |= inner.deletes
            nonlocals |= inner.nonlocals
            imports = imports or inner.imports
    return Names(*map(frozenset, (loads, stores, deletes)), imports, frozenset(nonlocals))


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
