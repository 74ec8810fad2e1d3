# SPDX-License-Identifier: Apache-2.0
"""Solutions of equations as functions."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_U = TypeVar("_U")

def root(f: Callable[..., Any], solver: Callable[_P, _U], *, tolerance: float = 1e-6) -> Callable[_P, _U]: ...
def fixed_point(g: Callable[..., Any], solver: Callable[_P, _U], *, tolerance: float = 1e-6) -> Callable[_P, _U]: ...
