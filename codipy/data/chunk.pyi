# SPDX-License-Identifier: Apache-2.0
"""One chunk of a stream: its memory, the base pointers of its parallel arrays and how far it is filled."""

from typing import final

@final
class Block:
    @property
    def nbytes(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
