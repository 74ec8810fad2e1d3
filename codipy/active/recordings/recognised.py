# SPDX-License-Identifier: Apache-2.0
"""How often something active was found equal to plain numbers, as a whole: so a cache knows its arguments again.

Drivers read it before a function runs and afterwards: see `codipy.implicit.kept`. Of all threads together, since others
only make a driver look once more. Where `==` is asked of an Array a single number does not count, `u == 0.0`.
"""

from __future__ import annotations

import numpy as np

__all__ = ["note_equal", "recognise", "recognised"]

recognised = [0]


def recognise():
    """Note one more."""
    recognised[0] += 1


def note_equal(found, wanted, are_active):
    """Note what a comparison of two gave, if it is `wanted` throughout and one of both is active."""
    if sum(are_active) == 1 and np.size(found) and bool(np.all(found) if wanted else not np.any(found)):
        recognise()
