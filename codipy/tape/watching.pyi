# SPDX-License-Identifier: Apache-2.0
"""Who looks on while things are recorded."""

from typing import Any

def watched_by(new: Any) -> Any: ...
