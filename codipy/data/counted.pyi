# SPDX-License-Identifier: Apache-2.0
"""What a stream that keeps nothing would have."""

from collections.abc import Sequence
from typing import final

@final
class Counted:
    def __init__(self, sizes: Sequence[int]) -> None: ...
    @property
    def items(self) -> int: ...
