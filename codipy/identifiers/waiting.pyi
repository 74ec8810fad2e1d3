# SPDX-License-Identifier: Apache-2.0
"""Blocks of dead arrays that serve the next array of the same size."""

from typing import final

@final
class WaitingBlocks:
    def py_give(self, base: int, size: int) -> None: ...
    def py_take(self, size: int) -> int: ...
    def py_clear(self) -> None: ...
