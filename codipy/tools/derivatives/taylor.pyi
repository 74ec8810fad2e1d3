# SPDX-License-Identifier: Apache-2.0
"""The types of Taylor coefficients: those of the result."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, overload

_X = TypeVar("_X")
_Y = TypeVar("_Y")
_Aux = TypeVar("_Aux")

@overload
def taylor(
    f: Callable[..., _Y],
    x: _X,
    direction: _X,
    order: int,
    *,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    has_aux: Literal[False] = False,
    rebind: bool = True,
) -> list[_Y]: ...
@overload
def taylor(
    f: Callable[..., tuple[_Y, _Aux]],
    x: _X,
    direction: _X,
    order: int,
    *,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    has_aux: Literal[True],
    rebind: bool = True,
) -> tuple[list[_Y], _Aux]: ...
