# SPDX-License-Identifier: Apache-2.0
"""The state of evaluate_primal() on a tape that holds records."""

from typing import final

@final
class Replay:
    @property
    def begun(self) -> bool: ...
    @property
    def slots(self) -> int: ...
    @property
    def torn(self) -> bool: ...
