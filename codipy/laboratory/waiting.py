# SPDX-License-Identifier: Apache-2.0
"""Signals that end a study wait while it starts a process, which it could not end otherwise."""
from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

__all__ = ["ENDS", "signals_waiting", "take_signals"]

ENDS = [getattr(signal, name) for name in ("SIGHUP", "SIGINT", "SIGTERM") if hasattr(signal, name)]


@contextmanager
def signals_waiting():
    """Let those that Python handles wait for as long as this lasts.

    Rejected: to block them, since that is done for one thread, and the system hands them to another one.
    """
    if threading.current_thread() is not threading.main_thread():      # which alone is interrupted
        yield
        return
    came = []
    before = {end: signal.signal(end, lambda number, frame: came.append((number, frame)))
              for end in ENDS if callable(signal.getsignal(end))}  # fmt: skip
    try:
        yield
    finally:
        for end, handler in before.items():
            signal.signal(end, handler)
        for number, frame in came:
            before[number](number, frame)


def take_signals():
    """Take them as a process does that has just begun, in a copy of this one."""
    for end in ENDS:
        if callable(signal.getsignal(end)):
            signal.signal(end, signal.default_int_handler if end == signal.SIGINT else signal.SIG_DFL)
