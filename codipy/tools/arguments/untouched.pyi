# SPDX-License-Identifier: Apache-2.0
"""What shows at once that a function has written to none of its inputs."""

from collections.abc import Callable
from typing import Any

from codipy.tools.arguments.twins import Twins

FEW: int

def is_untouched(
    f: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], inputs: list[Any], leaves: list[Any],
    twins: Twins | None = None,
) -> bool: ...
def unwrapped(f: Any) -> Any: ...
def is_wrapped(f: Any) -> bool: ...
