# SPDX-License-Identifier: Apache-2.0
"""Arrays put together of pieces that lie in a row, or of single numbers in lists."""

from typing import Any, final

from codipy.active.array_type import Array

@final
class Pieces: ...

# a list or tuple, nested: only those are looked into
def nested_numbers(tree: Any) -> Array | None: ...
