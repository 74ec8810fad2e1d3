# SPDX-License-Identifier: Apache-2.0
"""Arrays as inputs and outputs of a recording, and their gradients."""

from typing import Any

from codipy.active.array_type import Array

def was_overwritten(array: Array) -> bool: ...
def is_written(x: object) -> bool: ...
def has_values_of(x: Array, array: Any) -> bool: ...
