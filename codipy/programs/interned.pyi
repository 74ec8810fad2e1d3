# SPDX-License-Identifier: Apache-2.0
"""Array programs, one object for all statements of the same expression."""

from typing import final

@final
class ArrayProgram:
    @property
    def steps(self) -> list[tuple[int, list[int]]]: ...
    @property
    def rounded(self) -> int: ...
    @property
    def operands(self) -> int: ...

def array_program(operands: int, steps: list[tuple[int, list[int]]], rounded: int) -> ArrayProgram: ...
