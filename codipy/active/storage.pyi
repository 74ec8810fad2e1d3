# SPDX-License-Identifier: Apache-2.0
"""What views of one array share."""

from typing import Any, final

@final
class Storage: ...

def show(storage: Storage, values: Any, /) -> None: ...
