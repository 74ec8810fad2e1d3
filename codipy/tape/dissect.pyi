# SPDX-License-Identifier: Apache-2.0
"""A recording as plain contents."""

from codipy.tape.base import BaseTape
from codipy.tape.contents import Contents, Spot
from codipy.tape.position import TapePosition

def contents_of(tape: BaseTape) -> Contents: ...
def spot_of(tape: BaseTape, position: TapePosition) -> Spot: ...
def epoch_of(position: TapePosition) -> int: ...
