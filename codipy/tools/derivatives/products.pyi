# SPDX-License-Identifier: Apache-2.0
"""The types of products with a Jacobian: those of the result, and of what the caller passed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, overload

from codipy.tools.runs.run import Run

_Y = TypeVar("_Y")
_Aux = TypeVar("_Aux")

@overload
def vjp(
    f: Callable[..., _Y],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    argnums: int | tuple[int, ...] | None = None,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> tuple[_Y, Callable[[_Y], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[_Y, _Aux]],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    argnums: int | tuple[int, ...] | None = None,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> tuple[_Y, Callable[[_Y], tuple[Any, ...]], _Aux]: ...
@overload
def jvp(
    f: Callable[..., _Y],
    args: Sequence[Any],
    tangents: Sequence[Any],
    *,
    kwargs: Mapping[str, Any] | None = None,
    argnums: int | tuple[int, ...] | None = None,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> tuple[_Y, _Y]: ...
@overload
def jvp(
    f: Callable[..., tuple[_Y, _Aux]],
    args: Sequence[Any],
    tangents: Sequence[Any],
    *,
    kwargs: Mapping[str, Any] | None = None,
    argnums: int | tuple[int, ...] | None = None,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> tuple[_Y, _Y, _Aux]: ...
@overload
def linearize(
    f: Callable[..., _Y],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    argnums: int | tuple[int, ...] | None = None,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> tuple[_Y, Callable[..., _Y]]: ...
@overload
def linearize(
    f: Callable[..., tuple[_Y, _Aux]],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    argnums: int | tuple[int, ...] | None = None,
    argnames: str | tuple[str, ...] | list[str] | None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> tuple[_Y, Callable[..., _Y], _Aux]: ...

class Pullback:
    def __init__(self, run: Run) -> None: ...
    def __call__(self, cotangent: Any) -> tuple[Any, ...]: ...

class Pushforward:
    def __init__(self, run: Run) -> None: ...
    def __call__(self, *tangents: Any) -> Any: ...
