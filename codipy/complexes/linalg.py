# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of complex matrices beside what has a complex derivative."""

from __future__ import annotations

__all__ = ["FUNCTIONS", "RECORDED", "prepared"]

RECORDED: frozenset = frozenset()
FUNCTIONS: dict = {}


def prepared(name, args, kwargs):
    """The result of a function whose value decides what is recorded, or None."""
    return None
