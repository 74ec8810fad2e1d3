# SPDX-License-Identifier: Apache-2.0
"""One call of `value_and_grad`."""

from collections.abc import Callable
from typing import Any

from codipy.tools.choice import Choice

class Gradient:
    def __init__(
        self, f: Callable[..., Any], choice: Choice, settings: tuple[str, str | None], has_aux: bool, rebind: bool
    ) -> None: ...
    def of(self, positional: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]: ...
