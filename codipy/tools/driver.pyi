# SPDX-License-Identifier: Apache-2.0
"""What `grad` and its like return."""

from collections.abc import Callable
from typing import Any

class Driver:
    f: Callable[..., Any]
    maker: Callable[..., Any]
    options: dict[str, Any]
    def __init__(
        self, maker: Callable[..., Any], f: Callable[..., Any], options: dict[str, Any], text: str
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any) -> Callable[..., Any]: ...

def found_by_name(driver: object) -> str | None: ...
def original(f: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[str, ...] | None]: ...
def made(
    maker: Callable[..., Any], f: Callable[..., Any], modules: tuple[str, ...] | None, options: dict[str, Any]
) -> Any: ...
