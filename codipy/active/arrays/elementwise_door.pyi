# SPDX-License-Identifier: Apache-2.0
"""The operations of the table by name, on Arrays, for Python code."""

from collections.abc import Callable
from typing import Any

def elementwise(name: str, *operands: Any) -> Any: ...
def overlap(function: Callable[..., bool], a: Any, b: Any, *args: Any, **kwargs: Any) -> bool: ...
