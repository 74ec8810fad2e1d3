# SPDX-License-Identifier: Apache-2.0
"""The types of what optimizers take."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike, NDArray

def problem(
    f: Callable[..., Any],
    x0: ArrayLike,
    *,
    sparsity: Any = None,
    curve: bool = False,
    strategy: str = "auto",
    granularity: str | None = None,
    rebind: bool = True,
) -> OptimizationProblem: ...

class OptimizationProblem:
    x0: NDArray[Any]
    f: Callable[..., Any]
    def __init__(self, f: Callable[..., Any], x0: ArrayLike, options: dict[str, Any]) -> None: ...
    def fun(self, x: Any, *args: Any) -> Any: ...
    def jac(self, x: Any, *args: Any) -> Any: ...
    def hess(self, x: Any, *args: Any) -> Any: ...
    def hessp(self, x: Any, p: Any, *args: Any) -> NDArray[Any]: ...
    @property
    def jac_sparsity(self) -> Any: ...
