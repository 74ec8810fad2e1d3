# SPDX-License-Identifier: Apache-2.0
"""Writing into arrays in place."""

from collections.abc import Callable
from typing import Any

from codipy.active.array_type import Array

def written_in_turn(target: Array, source: Array, write: Callable[[Any, Any], object]) -> Array | None: ...
