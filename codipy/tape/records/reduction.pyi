# SPDX-License-Identifier: Apache-2.0
"""Sums and means over axes."""

from typing import final

from codipy.tape.records.record import Record

@final
class Reduction(Record):
    @property
    def named(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...
