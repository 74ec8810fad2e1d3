# SPDX-License-Identifier: Apache-2.0
"""The memory of an array's values."""

from typing import Any, final

@final
class Buffer:
    walk: int
    @property
    def size(self) -> int: ...
    @property
    def array(self) -> Any: ...
    @property
    def address(self) -> int: ...
    @property
    def bytes_used(self) -> int: ...
    @property
    def bytes_allocated(self) -> int: ...
