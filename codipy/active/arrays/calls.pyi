# SPDX-License-Identifier: Apache-2.0
"""Calls of primitives on active arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

_T = TypeVar("_T")

def call(primitive: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Any: ...
def hollow(x: _T) -> _T: ...
def saved_apart(pair: tuple[Any, Any], /) -> Any: ...
