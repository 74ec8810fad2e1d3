# SPDX-License-Identifier: Apache-2.0
"""How many references a call of a driver has to an argument, beside those that can be looked up.

The interpreter's stack, and tuples and dicts on their way, have such references: how many they are depends on what is
called, how, and by which Python. So it is measured, once.
"""

from __future__ import annotations

import functools

import numpy as np

from codipy.tools.driver import Driver

__all__ = ["measured"]


class _Object(Driver):
    """What is called as the drivers are that are written in Python."""

    def __init__(self, probe):
        self._probe = probe

    def __call__(self, *args, **kwargs):
        return self._probe.count(args, kwargs)


def _function(probe):
    def called(*args, kwargs=None):
        return probe.count(args, {})

    return called


GLOBAL = np.zeros(1)


@functools.lru_cache(None)
def measured(kind):
    """The references of a call to an argument, by whether it was unpacked, is passed by name, and is a local variable.

    Parameters
    ----------
    kind : str
        "gradient" for what is written in Cython, "object" for objects of classes in Python, "function" for functions.
    """
    from codipy.tools.arguments.lending import Probe  # which needs this module

    probe = Probe()
    call = {"gradient": probe, "object": _Object(probe), "function": _function(probe)}[kind]
    x = np.zeros(1)
    t, d = (x,), {"x": x}
    found = {(True, False, True): call(0, *t) - 3}
    if kind != "function":
        found[True, True, True] = call(0, **d) - 3
    t = d = None
    found[False, False, True], found[False, False, False] = call(0, x) - 1, call(0, GLOBAL) - 1
    if kind != "function":
        found[False, True, True], found[False, True, False] = call(0, x=x) - 1, call(0, x=GLOBAL) - 1
    return found
