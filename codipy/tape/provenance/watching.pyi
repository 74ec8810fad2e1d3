# SPDX-License-Identifier: Apache-2.0
"""Who looks on while things are recorded."""

from typing import Any, TypeVar

from codipy.tape.base import BaseTape

_T = TypeVar("_T", bound=BaseTape)

def unwatched(kind: type[_T], **parameters: Any) -> _T: ...
def watched_by(new: Any) -> Any: ...
