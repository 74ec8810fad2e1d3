# SPDX-License-Identifier: Apache-2.0
"""One call of `grad` or `value_and_grad`."""

from collections.abc import Callable
from typing import Any

from codipy.tools.arguments.choice import Choice
from codipy.tools.driver import Driver

class Gradient(Driver):
    def __init__(
        self,
        maker: Callable[..., Any],
        f: Callable[..., Any],
        options: dict[str, Any],
        text: str,
        choice: Choice,
        with_value: bool,
    ) -> None: ...
