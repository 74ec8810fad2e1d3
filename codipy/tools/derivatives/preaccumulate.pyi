# SPDX-License-Identifier: Apache-2.0
"""Preaccumulation: a function of the same type, and what became of its calls."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from codipy.tools.driver import Driver

_P = ParamSpec("_P")
_R = TypeVar("_R")

class Preaccumulation(NamedTuple):
    replaced: bool
    reason: str
    inputs: int = 0
    outputs: int = 0
    recorded: int = 0
    kept: int = 0

def preaccumulate(f: Callable[_P, _R], *, rebind: bool = True) -> Preaccumulated[_P, _R]: ...

class Preaccumulated(Driver, Generic[_P, _R]):
    @property
    def last(self) -> Preaccumulation | None: ...
    def __init__(self, f: Callable[_P, _R], options: dict[str, Any]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
