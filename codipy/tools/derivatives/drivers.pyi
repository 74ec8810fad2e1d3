# SPDX-License-Identifier: Apache-2.0
"""The types of gradients: that of the argument, where `argnums` says which it is."""

from collections.abc import Callable
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

_P = ParamSpec("_P")
_X = TypeVar("_X")
_Aux = TypeVar("_Aux")

@overload
def grad(
    f: Callable[Concatenate[_X, _P], Any],
    argnums: Literal[0] | None = None,
    *,
    argnames: None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[Concatenate[_X, ...], _X]: ...
@overload
def grad(
    f: Callable[Concatenate[_X, _P], tuple[Any, _Aux]],
    argnums: Literal[0] | None = None,
    *,
    argnames: None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[Concatenate[_X, ...], tuple[_X, _Aux]]: ...
@overload
def grad(
    f: Callable[..., Any],
    argnums: int,
    *,
    argnames: None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., Any]: ...
@overload
def grad(
    f: Callable[..., tuple[Any, _Aux]],
    argnums: int,
    *,
    argnames: None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[Any, _Aux]]: ...
@overload
def grad(
    f: Callable[..., Any],
    argnums: tuple[int, ...],
    *,
    argnames: None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[Any, ...]]: ...
@overload
def grad(
    f: Callable[..., tuple[Any, _Aux]],
    argnums: tuple[int, ...],
    *,
    argnames: None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[tuple[Any, ...], _Aux]]: ...
@overload
def grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] | None = None,
    *,
    argnames: str | tuple[str, ...] | list[str],
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., Any]: ...
@overload
def grad(
    f: Callable[..., tuple[Any, _Aux]],
    argnums: int | tuple[int, ...] | None = None,
    *,
    argnames: str | tuple[str, ...] | list[str],
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[Any, _Aux]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[_X, _P], Any],
    argnums: Literal[0] | None = None,
    *,
    argnames: None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[Concatenate[_X, ...], tuple[float, _X]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[_X, _P], tuple[Any, _Aux]],
    argnums: Literal[0] | None = None,
    *,
    argnames: None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[Concatenate[_X, ...], tuple[tuple[float, _Aux], _X]]: ...
@overload
def value_and_grad(
    f: Callable[..., Any],
    argnums: int,
    *,
    argnames: None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[float, Any]]: ...
@overload
def value_and_grad(
    f: Callable[..., tuple[Any, _Aux]],
    argnums: int,
    *,
    argnames: None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[tuple[float, _Aux], Any]]: ...
@overload
def value_and_grad(
    f: Callable[..., Any],
    argnums: tuple[int, ...],
    *,
    argnames: None = None,
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[float, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    f: Callable[..., tuple[Any, _Aux]],
    argnums: tuple[int, ...],
    *,
    argnames: None = None,
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[tuple[float, _Aux], tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] | None = None,
    *,
    argnames: str | tuple[str, ...] | list[str],
    has_aux: Literal[False] = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[float, Any]]: ...
@overload
def value_and_grad(
    f: Callable[..., tuple[Any, _Aux]],
    argnums: int | tuple[int, ...] | None = None,
    *,
    argnames: str | tuple[str, ...] | list[str],
    has_aux: Literal[True],
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> Callable[..., tuple[tuple[float, _Aux], Any]]: ...
