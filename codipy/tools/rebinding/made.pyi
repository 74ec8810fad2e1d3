# SPDX-License-Identifier: Apache-2.0
"""Arrays instead of what an expression of the user's has just made, where nobody else can see it."""

from typing import Any

def made(value: Any, /) -> Any: ...
def made_items(value: Any, /) -> Any: ...
