# SPDX-License-Identifier: Apache-2.0
"""The registered variables of a tape as plain data, and made again from that."""

from codipy.active.tape import Tape
from codipy.active.variables import RegisteredArray, RegisteredReal

def described(tape: Tape) -> tuple[list[RegisteredReal | RegisteredArray], list[RegisteredReal | RegisteredArray]]: ...
def register_again(
    tape: Tape, inputs: list[RegisteredReal | RegisteredArray], outputs: list[RegisteredReal | RegisteredArray]
) -> None: ...
