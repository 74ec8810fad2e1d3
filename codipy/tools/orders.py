# SPDX-License-Identifier: Apache-2.0
"""How many times what this thread records will be differentiated; code that makes its derivatives order by order asks.

A recording is differentiated once by a sweep, and once more for each recording around it. A driver that takes more from
one recording says so while the function runs.
"""
from __future__ import annotations

import contextlib
import threading

from codipy.tape.activity import depth

__all__ = ["more_orders", "orders"]

_thread = threading.local()


def orders():
    """The highest order of derivatives that will be asked for."""
    return depth() + getattr(_thread, "more", 0)


@contextlib.contextmanager
def more_orders(count):
    """In a ``with`` block: the recording will be differentiated `count` times more than by a sweep."""
    before = getattr(_thread, "more", 0)
    _thread.more = before + max(count, 0)
    try:
        yield
    finally:
        _thread.more = before
