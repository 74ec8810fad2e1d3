# SPDX-License-Identifier: Apache-2.0
"""The memory of an array's values."""

from typing import final

@final
class Buffer:
    @property
    def size(self) -> int: ...
    @property
    def bytes_used(self) -> int: ...
    @property
    def bytes_allocated(self) -> int: ...
