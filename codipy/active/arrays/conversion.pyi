# SPDX-License-Identifier: Apache-2.0
"""What becomes an Array, and what an Array becomes: copies, other dtypes, lists, plain arrays."""

from typing import Any

def is_laid_out(a: Any, order: str) -> bool: ...
