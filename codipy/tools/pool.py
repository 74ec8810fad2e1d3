# SPDX-License-Identifier: Apache-2.0
"""The idle tapes of a thread, kept with their memory for the next call of a driver."""
from __future__ import annotations

import threading

from codipy.active import Tape

__all__ = ["borrow", "check_settings", "clear_tapes", "give_back"]


class _Idle(threading.local):
    # Settings -> the tapes that no driver of this thread is using. A nested driver finds the tape of the outer one
    # missing and takes, or makes, another.
    def __init__(self):
        self.tapes = {}


_idle = _Idle()


def borrow(settings):
    """An empty, passive tape that nobody else uses; `settings` is (strategy, granularity)."""
    try:
        idle = _idle.tapes.get(settings)
    except TypeError:      # not hashable, so no settings: Tape says what is wrong with them
        idle = None
    return idle.pop() if idle else Tape(*settings)


def check_settings(settings):
    """Raise for settings that no tape can have, so that a driver fails when it is made and not when it is called."""
    try:
        known = settings in _idle.tapes
    except TypeError:
        known = False
    if not known:
        give_back(settings, borrow(settings))


def give_back(settings, tape):
    """End a loan: drop the recording, keep the memory."""
    if tape.is_active:      # a function left a recording of its own open above this one: see tape.set_passive()
        return
    tape.reset()
    _idle.tapes.setdefault(settings, []).append(tape)


def clear_tapes():
    """Free the memory that the drivers keep for their next call on this thread.

    Examples
    --------
    >>> import codipy
    >>> codipy.grad(lambda x: x * x)(3.0)
    6.0
    >>> codipy.clear_tapes()
    """
    _idle.tapes.clear()
