# SPDX-License-Identifier: Apache-2.0
"""A recording made of plain contents."""

from codipy.tape.base import BaseTape
from codipy.tape.contents.contents import Contents
from codipy.tape.position import TapePosition

def fill(tape: BaseTape, contents: Contents) -> list[TapePosition]: ...
def give_numbers(tape: BaseTape, inputs: list[tuple[int, float]]) -> None: ...
