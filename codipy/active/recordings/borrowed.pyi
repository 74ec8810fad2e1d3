# SPDX-License-Identifier: Apache-2.0
"""What a recording inside of another one borrowed, for those who compute its results again on the enclosing one."""

from codipy.active.array_type import Array
from codipy.active.scalar.real import Real
from codipy.tape.base import BaseTape

def origins(tape: BaseTape) -> list[tuple[int, Real | Array]]: ...
