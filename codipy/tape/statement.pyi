# SPDX-License-Identifier: Apache-2.0
"""Array statements: the sweeps over the elements of one recorded expression."""

from typing import Any, final

from codipy.tape.record import Record

@final
class Statement(Record):
    @property
    def bytes_used(self) -> int: ...
    @property
    def kept(self) -> list[Any]: ...
    @property
    def named(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...
