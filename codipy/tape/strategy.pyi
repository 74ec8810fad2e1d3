# SPDX-License-Identifier: Apache-2.0
"""The names of the strategies, and their interface, which Jacobian, Primal, Simple and Forward implement."""

from collections.abc import Sequence
from typing import TypeVar

from codipy.data.position import Position
from codipy.data.stream import Stream

STRATEGIES: tuple[str, ...]
FORWARD_STRATEGY: str
GRANULARITIES: tuple[str, ...]
AUTO: str

class Strategy:
    @property
    def root(self) -> Stream: ...
    @property
    def streams(self) -> tuple[Stream, ...]: ...
    @property
    def first(self) -> int: ...
    @property
    def handmade(self) -> Position | None: ...

_T = TypeVar("_T", bound=str)

def stored_as(strategy: str) -> str: ...
def check_choice(name: str, value: _T, choices: Sequence[str]) -> _T: ...
