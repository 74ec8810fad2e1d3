# SPDX-License-Identifier: Apache-2.0
"""Jacobians, whose form is that of the result and of the argument."""

from collections.abc import Callable
from typing import Any, Literal

from numpy.typing import NDArray

from codipy.patterns.pattern import Colouring, Sparsity
from codipy.tools.choice import Choice
from codipy.tools.compressed import Compressed
from codipy.tools.driver import Driver
from codipy.tools.recording import Recording

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

def matrix_of(recording: Recording, leaves: list[Any], mode: str, width: int | None) -> NDArray[Any]: ...
def columns_of(
    recording: Recording,
    sweep: Callable[..., list[Any]],
    shapes: list[tuple[int, ...]],
    count: int,
    others: int,
    width: int | None,
) -> NDArray[Any]: ...
def is_reverse(mode: str, rows: int, columns: int) -> bool: ...

class Jacobian(Driver):
    @property
    def colouring(self) -> Colouring | None: ...
    def __init__(self, f: Callable[..., Any], options: dict[str, Any], choice: Choice) -> None: ...
    def compress(self, compressed: Compressed, pattern: Callable[..., Sparsity]) -> None: ...
    def at(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
