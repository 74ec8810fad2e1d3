# SPDX-License-Identifier: Apache-2.0
"""Whether dicts and cells still hold what they held."""

from collections.abc import Iterable, Sequence
from types import CellType, CodeType
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

class CellWatch:
    cells: tuple[CellType, ...]
    raws: tuple[Any, ...]
    def __init__(self, cells: Iterable[CellType], raws: Iterable[Any]) -> None: ...
    def is_current(self) -> bool: ...

class Entrance:
    f: Any
    code: Any
    function: Any
    rebinder: Any
    version: int
    watches: list[Watch | CellWatch]
    caches: list[Any]
    def current(self) -> Any: ...

def code_of(f: Any) -> CodeType | None: ...
def all_current(watches: Sequence[Watch | CellWatch]) -> bool: ...
def all_of(arguments: Iterable[object], kinds: frozenset[type], depth: int = 0) -> bool: ...
