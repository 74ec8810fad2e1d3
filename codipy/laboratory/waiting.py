# SPDX-License-Identifier: Apache-2.0
"""Signals that end a study wait while it starts a process, which it could not end otherwise."""
from __future__ import annotations

import signal
from contextlib import contextmanager

__all__ = ["signals_waiting", "take_signals"]

_ENDS = [getattr(signal, name) for name in ("SIGHUP", "SIGINT", "SIGTERM") if hasattr(signal, name)]


@contextmanager
def signals_waiting():
    """Let them wait for as long as this lasts, in this thread and in the process that is started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def take_signals():
    """Take them again in the process that was started."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
