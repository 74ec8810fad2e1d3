# SPDX-License-Identifier: Apache-2.0
"""What the drivers do around a recording: inputs in, one run, gradient out."""

from collections.abc import Callable

from codipy.active.scalar.real import Real
from codipy.active.tape import Tape

def all_floats(numbers: list[object]) -> bool: ...
def as_float(number: object) -> float | None: ...
def register_floats(tape: Tape, numbers: list[float]) -> list[Real]: ...
def pull_back(tape: Tape, output: Real, inputs: list[Real]) -> list[float]: ...
def value_and_gradient(
    tape: Tape,
    f: Callable[..., object],
    args: list[object],
    kwargs: dict[str, object],
    leaves: list[float],
    place: int | Callable[[list[object], list[Real]], object],
    check: Callable[[object, object], object],
    apart: Callable[..., object],
    noted: list[object],
) -> tuple[float, list[float], bool]: ...
