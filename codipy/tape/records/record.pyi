# SPDX-License-Identifier: Apache-2.0
"""Steps of a recording that are not scalar statements, and the list of them."""

from typing import Any, final

from codipy.data.position import Position

class Record:
    @property
    def place(self) -> Position: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...
    @property
    def held(self) -> list[Any]: ...
    @property
    def named(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...

@final
class Records:
    @property
    def items(self) -> list[Record]: ...
    def __len__(self) -> int: ...
