# SPDX-License-Identifier: Apache-2.0
"""Arrays as inputs and outputs of a recording, and their gradients."""

from codipy.active.array_type import Array

def was_overwritten(array: Array) -> bool: ...
