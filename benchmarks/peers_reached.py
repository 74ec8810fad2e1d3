# SPDX-License-Identifier: Apache-2.0
"""What a package reaches on a program."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Reached:
    """A gradient over a plain run, or why there is none."""

    times: float = 0.0
    detail: str = ""            # spread, the plain run's time
    compiling: float = 0.0      # seconds that the first call took more than another
    rewritten: bool = False     # whether the program was written again without assignment
    why: str = ""               # there is no figure, and this is why

    def __str__(self):
        return self.why or f"{self.times:10.2f}   ({self.detail})"


def does_not_run(error):
    """Why a package does not run a program, in one line."""
    return f"does not run: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:80]}"
