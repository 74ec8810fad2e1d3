# SPDX-License-Identifier: Apache-2.0
"""Locks that a process finds after a fork."""

from __future__ import annotations

import os
import threading
import weakref

__all__ = ["renew_after_fork"]

_OWNERS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # the attribute that is a lock, and what forgets


def renew_after_fork(owner, attribute, forget=None):
    """Give an owner another lock in a forked process where a thread had it that is gone, and never gives it back.

    Parameters
    ----------
    owner : module or object
    attribute : str
        The name of its reentrant lock.
    forget : callable, optional
        ``forget(owner)`` drops what such a thread had in hand, which is half done. None: it is whole at any time.
    """
    _OWNERS[owner] = attribute, forget


def _after_fork():
    for owner, (attribute, forget) in list(_OWNERS.items()):
        lock = getattr(owner, attribute)
        if lock.acquire(blocking=False):
            lock.release()
            continue
        setattr(owner, attribute, threading.RLock())
        if forget is not None:
            forget(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
