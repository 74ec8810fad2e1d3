# SPDX-License-Identifier: Apache-2.0
"""Locks that a process finds after a fork."""

from __future__ import annotations

__all__ = ["is_of_another_thread"]


def is_of_another_thread(lock):
    """Whether another thread has a reentrant lock; right after a fork, one that is gone and never gives it back.

    Parameters
    ----------
    lock : threading.RLock

    Returns
    -------
    bool
    """
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True
