# SPDX-License-Identifier: Apache-2.0
"""A recording as a list of steps, for those who run it again by other means: `primal` with linear identifiers."""

from codipy.tape.base import BaseTape

def steps(tape: BaseTape) -> list[tuple[object, ...]]: ...
