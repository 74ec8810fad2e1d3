# SPDX-License-Identifier: Apache-2.0
"""What records on this thread, for Python code."""

from codipy.active.array_type import Array
from codipy.active.real import Real
from codipy.tape.base import BaseTape

def recording() -> BaseTape | None: ...
def may_be_plain(x: Real | Array) -> bool: ...
def in_passive() -> bool: ...
