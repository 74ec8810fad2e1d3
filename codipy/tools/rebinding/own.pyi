# SPDX-License-Identifier: Apache-2.0
"""``p.value`` in rebuilt code: variables have some attributes that their plain values have not."""

from typing import Any

def own_attribute(value: Any, name: str) -> Any: ...
