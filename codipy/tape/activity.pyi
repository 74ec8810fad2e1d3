# SPDX-License-Identifier: Apache-2.0
"""The thread's stack of recording tapes, and the register that finds the tape of an epoch."""

from typing import Any

class passive:
    def __enter__(self) -> passive: ...
    def __exit__(self, *exception: object) -> bool: ...

# A codipy.Tape or None; this layer does not see that class.
def active_tape() -> Any: ...
