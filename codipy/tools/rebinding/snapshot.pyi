# SPDX-License-Identifier: Apache-2.0
"""What Python's collector sees in an object and in what that holds: walked through once, and compared later."""

from collections.abc import Callable, Iterable
from types import FunctionType, MethodType, ModuleType

class Kinds:
    def __init__(self, classify: Callable[[object, bool], str]) -> None: ...
    def leads_nowhere(self, value: object, depth: int = ...) -> bool: ...
    def holds_data(self, value: object) -> bool: ...
    def are_plain(self, values: tuple[object, ...], alone: set[int]) -> bool | None: ...

class Snapshot:
    functions: list[FunctionType]
    classes: list[type]
    modules: list[ModuleType]
    foreign: set[type]
    methods: list[MethodType]
    def __init__(self, kinds: Kinds, root: object, covered: Iterable[object] = ()) -> None: ...
    def is_current(self) -> bool: ...
