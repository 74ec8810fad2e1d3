# SPDX-License-Identifier: Apache-2.0
"""How often a cache may have known its arguments again, by something active that it compared or took the value of.

Drivers read it before a function runs and afterwards: see `codipy.implicit.kept`. Of all threads together, since others
only make a driver look once more. Found equal to plain numbers, as a whole: where `==` is asked of an Array a single
number does not count, `u == 0.0`. Values that were taken, by `codipy.value`, as text or rounded, count where the code
that does so, or what calls it, looks something up and stores it: nobody tells what becomes of a plain number.
"""

from __future__ import annotations

import dis
import functools
import sys

import numpy as np

__all__ = ["note_equal", "note_taken", "recognise", "recognised"]

_FAR = 3  # frames: a key may be made by a function, of a generator
_PASSED = ("codipy", "numpy", "scipy")
_DRIVERS = ("codipy.tools.runs.recording", "codipy.tools.runs.problem")  # who calls these fills tables of gradients
_LOOKING = frozenset((
    "get", "setdefault", "KeyError", "__contains__", "__missing__", "index", "bisect", "bisect_left", "bisect_right",
    "searchsorted",
))  # fmt: skip
_STORING = frozenset(("setdefault", "append", "insert", "insort", "insort_left", "insort_right", "appendleft"))

recognised = [0]


def recognise():
    """Note one more."""
    recognised[0] += 1


def note_equal(found, wanted, are_active):
    """Note what a comparison of two gave, if it is `wanted` throughout and one of both is active."""
    if sum(are_active) == 1 and np.size(found) and bool(np.all(found) if wanted else not np.any(found)):
        recognise()


def note_taken():
    """Note that a value is taken, if the code which does so may look it up in a table that it fills."""
    frame, left = sys._getframe(1), _FAR
    while frame is not None and left:
        name = str(frame.f_globals.get("__name__"))
        if name in _DRIVERS:
            return
        if name.partition(".")[0] not in _PASSED:
            if _fills_a_table(frame.f_code):
                recognise()
                return
            left -= 1
        frame = frame.f_back


@functools.lru_cache(4096)
def _fills_a_table(code):
    names = {step.opname for step in dis.get_instructions(code)}
    looks = "CONTAINS_OP" in names or not _LOOKING.isdisjoint(code.co_names)
    return looks and ("STORE_SUBSCR" in names or not _STORING.isdisjoint(code.co_names))
