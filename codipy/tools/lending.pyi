# SPDX-License-Identifier: Apache-2.0
"""Arguments that a driver does not differentiate by and that the function fills."""

from collections.abc import Callable
from typing import Any

from codipy.tools.driver import Driver

class Lending:
    def __init__(
        self, place: Callable[..., Any], run: Callable[..., Any], args: Any, kwargs: dict[str, Any],
        leaves: list[Any], kind: str | None,
    ) -> None: ...
    def __call__(self, args: list[Any], inputs: list[Any]) -> None: ...

class Probe(Driver):
    def __init__(self) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> int: ...
    def count(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int: ...

def lends(run: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> bool: ...
