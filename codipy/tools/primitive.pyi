# SPDX-License-Identifier: Apache-2.0
"""Functions with derivative rules of the user's."""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

_P = ParamSpec("_P")
_Y = TypeVar("_Y", covariant=True)
_Rule = TypeVar("_Rule", bound=Callable[..., Any])

class OwnPrimitive(Generic[_P, _Y]):
    def __init__(self, f: Callable[_P, Any], saves: bool) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _Y: ...
    def vjp(self, rule: _Rule) -> _Rule: ...
    def jvp(self, rule: _Rule) -> _Rule: ...

@overload
def primitive(f: Callable[_P, _Y], *, saves: bool = False) -> OwnPrimitive[_P, _Y]: ...
@overload
def primitive(f: None = None, *, saves: bool = False) -> Callable[[Callable[..., Any]], OwnPrimitive[..., Any]]: ...
