# SPDX-License-Identifier: Apache-2.0
"""Whether dicts, functions and cells still hold what they held."""

from collections.abc import Iterable, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

class Watch:
    mapping: dict[str, Any] | type
    size: int
    names: tuple[str, ...]
    raws: tuple[Any, ...]
    def __init__(self, mapping: dict[str, Any] | type) -> None: ...
    def set(self, names: Iterable[str], raws: Iterable[Any]) -> None: ...
    def grow(self, by: int) -> None: ...
    def is_current(self) -> bool: ...

class FunctionWatch:
    f: FunctionType
    code: CodeType
    defaults: tuple[Any, ...] | None
    by_name: dict[str, Any] | None
    cells: list[CellType]
    raws: list[Any]
    def __init__(self, f: FunctionType, kinds: frozenset[type]) -> None: ...
    def add(self, cell: CellType, is_fixed: bool) -> None: ...
    def is_current(self) -> bool: ...

class Entrance:
    f: Any
    function: Any
    rebinder: Any
    version: int
    watches: list[Watch | FunctionWatch]
    caches: list[Any]
    def current(self) -> Any: ...

def all_current(watches: Sequence[Watch | FunctionWatch]) -> bool: ...
