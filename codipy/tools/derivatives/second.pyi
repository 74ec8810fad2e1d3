# SPDX-License-Identifier: Apache-2.0
"""The types of second derivatives."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codipy.patterns.pattern import Colouring
from codipy.tools.driver import Driver

def hessian(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] | None = None,
    *,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: bool = False,
    sparsity: Any = None,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., Any]: ...
def hvp(
    f: Callable[..., Any],
    args: Sequence[Any],
    tangents: Sequence[Any],
    *,
    kwargs: Mapping[str, Any] | None = None,
    argnums: int | tuple[int, ...] | None = None,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: bool = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> tuple[Any, ...]: ...

gradient_and_hvp = hvp

class Hessian(Driver):
    @property
    def colouring(self) -> Colouring | None: ...
    def __init__(self, f: Callable[..., Any], options: dict[str, Any]) -> None: ...
