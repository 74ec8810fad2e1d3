# SPDX-License-Identifier: Apache-2.0
"""What records on this thread, for Python code."""

from codipy.tape.base import BaseTape

def recording() -> BaseTape | None: ...
def in_passive() -> bool: ...
