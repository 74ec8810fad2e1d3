# SPDX-License-Identifier: Apache-2.0
"""Elements chosen from several arrays, place by place."""

from typing import final

from codipy.tape.records.record import Record

@final
class Choice(Record):
    @property
    def named(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...
