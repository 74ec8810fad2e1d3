# SPDX-License-Identifier: Apache-2.0
"""What may hold an array of the user's: items of lists, dicts and tuples, attributes, cells, global variables."""

from typing import Any

class Place:
    def __init__(self, holder: Any, key: Any = None) -> None: ...

def plain_in_one_place(array: Any, /) -> Any: ...
