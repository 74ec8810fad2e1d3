# SPDX-License-Identifier: Apache-2.0
"""Functions and methods of the elementary operations, made from the table: one for each row."""

from collections.abc import Callable
from typing import Any

FUNCTIONS: dict[str, Callable[..., Any]]

class Method:
    def __new__(cls, function: Callable[..., Any]) -> Method: ...
    @property
    def function(self) -> Callable[..., Any]: ...
    def __get__(self, x: Any, owner: type | None = None) -> Callable[..., Any]: ...

def extend(name: str, function: Callable[..., Any]) -> None: ...
