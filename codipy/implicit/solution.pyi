# SPDX-License-Identifier: Apache-2.0
"""Solutions of equations as functions."""

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

from numpy.typing import NDArray

from codipy.tools.driver import Driver

_P = ParamSpec("_P")
_U = TypeVar("_U")
_Vector: TypeAlias = NDArray[Any]
_Solve: TypeAlias = Literal["dense", "gmres", "cg"] | Callable[[Callable[[_Vector], _Vector], _Vector], _Vector]

def root(
    f: Callable[..., Any],
    solver: Callable[_P, _U],
    *,
    tolerance: float = 1e-6,
    solve: _Solve = "dense",
    has_aux: bool = False,
) -> Callable[_P, _U]: ...
def fixed_point(
    g: Callable[..., Any],
    solver: Callable[_P, _U],
    *,
    tolerance: float = 1e-6,
    solve: _Solve = "dense",
    has_aux: bool = False,
) -> Callable[_P, _U]: ...

def demand_finite(residual: object, name: str) -> None: ...
def solution_of(
    equation: Callable[..., Any],
    solver: Callable[..., Any],
    tolerance: float,
    caller: FrameType,
    given: Sequence[Any] = (),
    unsolved: str = "",
    effects: Any = None,
) -> Solution: ...

class Solution(Driver):
    def __init__(self, maker: Callable[..., Any], f: Callable[..., Any], options: dict[str, Any]) -> None: ...
    def solved(self, args: Any, kwargs: Any) -> tuple[Any, ...]: ...
    def linear(self, found: Any, args: Any, kwargs: Any, diverting: tuple[Any, ...] = ()) -> Any: ...
    def tolerated(self, found: Any) -> float: ...
    def demand_solved(self, step: Any, bound: float) -> None: ...
    def demand_settled(self, linear: Any, found: Any, step: Any, args: Any, kwargs: Any) -> None: ...
