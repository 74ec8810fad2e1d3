# SPDX-License-Identifier: Apache-2.0
"""The operations of the table by name, on Arrays, for Python code."""

from typing import Any

def elementwise(name: str, *operands: Any) -> Any: ...
def memory(x: Any) -> Any: ...
