# SPDX-License-Identifier: Apache-2.0
"""Functions with derivative rules of the user's."""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

_P = ParamSpec("_P")
_Y = TypeVar("_Y", covariant=True)
_Rule = TypeVar("_Rule", bound=Callable[..., Any])

class OwnPrimitive(Generic[_P, _Y]):
    def __init__(self, f: Callable[_P, Any], saves: bool | tuple[int, ...]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _Y: ...
    @overload
    def vjp(self, rule: _Rule, *, batched: bool = False) -> _Rule: ...
    @overload
    def vjp(self, rule: None = None, *, batched: bool = False) -> Callable[[_Rule], _Rule]: ...
    @overload
    def jvp(self, rule: _Rule, *, batched: bool = False) -> _Rule: ...
    @overload
    def jvp(self, rule: None = None, *, batched: bool = False) -> Callable[[_Rule], _Rule]: ...

@overload
def primitive(f: Callable[_P, _Y], *, saves: bool | tuple[int, ...] = False) -> OwnPrimitive[_P, _Y]: ...
@overload
def primitive(
    f: None = None, *, saves: bool | tuple[int, ...] = False
) -> Callable[[Callable[..., Any]], OwnPrimitive[..., Any]]: ...
