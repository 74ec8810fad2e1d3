# SPDX-License-Identifier: Apache-2.0
"""What Python does with warnings when a recording begins."""

from typing import final

@final
class Surroundings:
    hidden: object
    def restore(self) -> None: ...

def concerns(item) -> bool: ...

def may_raise(filters) -> bool: ...
