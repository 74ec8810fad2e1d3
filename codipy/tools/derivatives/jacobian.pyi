# SPDX-License-Identifier: Apache-2.0
"""Jacobians, whose form is that of the result and of the argument."""

from collections.abc import Callable
from typing import Any, Literal

from codipy.patterns.pattern import Colouring, Sparsity
from codipy.tools.arguments.choice import Choice
from codipy.tools.derivatives.compressed import Compressed
from codipy.tools.driver import Driver

# Rejected: an array where argument and result are arrays. Two forms make mypy refuse lambdas in a strict script.
def jacobian(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] | None = None,
    *,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: bool = False,
    mode: Literal["auto", "reverse", "forward"] = "auto",
    width: int | None = None,
    sparsity: Any = None,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., Any]: ...

class Jacobian(Driver):
    @property
    def colouring(self) -> Colouring | None: ...
    def __init__(self, f: Callable[..., Any], options: dict[str, Any], choice: Choice) -> None: ...
    def compress(self, compressed: Compressed, pattern: Callable[..., Sparsity]) -> None: ...
    def at(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
