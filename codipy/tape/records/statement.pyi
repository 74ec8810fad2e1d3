# SPDX-License-Identifier: Apache-2.0
"""Array statements: the sweeps over the elements of one recorded expression."""

from typing import final

from codipy.tape.records.record import Record

@final
class Statement(Record):
    def __sizeof__(self) -> int: ...
    @property
    def named(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...
