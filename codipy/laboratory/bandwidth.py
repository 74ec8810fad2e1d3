# SPDX-License-Identifier: Apache-2.0
"""How many bytes a second memory delivers to one thread, measured by NumPy's copy of what no cache holds."""
from __future__ import annotations

import numpy as np

from codipy.tools.comparison.measuring import clock

__all__ = ["Bandwidth"]

_ITEMS = 4_000_000      # 32 MB: more than the caches of a core, little enough to be measured in each process


class Bandwidth:
    """Two arrays, and the seconds that copying one to the other takes."""

    def __init__(self, items=_ITEMS):
        self._from, self._to = np.ones(items), np.zeros(items)      # zeros are written below: pages are made there
        np.copyto(self._to, self._from)

    def copy(self):
        """Bytes a second, what is read and what is written, as STREAM counts a copy."""
        now = clock()[0]
        start = now()
        np.copyto(self._to, self._from)
        return 2 * self._from.nbytes / max(now() - start, 1e-9)
