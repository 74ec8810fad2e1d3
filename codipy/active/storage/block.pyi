# SPDX-License-Identifier: Apache-2.0
"""The identifiers of an array."""

from typing import final

@final
class Block:
    @property
    def base(self) -> int: ...
    @property
    def size(self) -> int: ...
