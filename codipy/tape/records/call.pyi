# SPDX-License-Identifier: Apache-2.0
"""Primitives on the tape."""

from typing import final

from codipy.tape.records.record import Record

@final
class Call(Record):
    def __sizeof__(self) -> int: ...
    @property
    def named(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...
