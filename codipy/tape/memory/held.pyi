# SPDX-License-Identifier: Apache-2.0
"""What a tape's records keep alive."""

from typing import Any

class Held:
    objects: int
    nbytes: int
    owners: int
    used: int
    allocated: int
    def __init__(self, records: list[Any], constants: dict[Any, Any], counting: Any = None) -> None: ...
