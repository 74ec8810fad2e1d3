# SPDX-License-Identifier: Apache-2.0
"""The interface of a strategy, which Jacobian, Primal, Simple and Forward implement."""

from codipy.data.position import Position
from codipy.data.stream import Stream

class Strategy:
    @property
    def root(self) -> Stream: ...
    @property
    def streams(self) -> tuple[Stream, ...]: ...
    @property
    def first(self) -> int: ...
    @property
    def handmade(self) -> Position | None: ...
