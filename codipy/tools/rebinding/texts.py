# SPDX-License-Identifier: Apache-2.0
"""`json` in rebuilt code: elements of passive arrays are the floats that they are in the plain run."""

from __future__ import annotations

import contextlib
import functools
import json as plain
import sys

from codipy.active import Real
from codipy.active.messages.callers import place
from codipy.numpy.arguments import holds_variables
from codipy.numpy.modules import module_for
from codipy.tools.swallowed import refused_json

__all__ = ["FUNCTIONS", "json"]


def _with_floats(o):
    """What is to be written, with floats for passive Reals; what is active stays, and raises."""
    kind = type(o)
    if kind is Real:
        return o if o.is_active else o.value
    if kind is list or kind is tuple:
        return kind(map(_with_floats, o)) if any(type(x) in _LOOKED_INTO for x in o) else o
    if kind is dict:
        return {_with_floats(key): _with_floats(x) for key, x in o.items()}
    return o


_LOOKED_INTO = frozenset((Real, dict, list, tuple))


def _writing(function):
    @functools.wraps(function)
    def write(obj, *args, default=None, **options):
        asked = None if default is None else lambda o: _with_floats(default(o))
        with contextlib.suppress(RecursionError):  # a list in itself, which `json` refuses in its own way
            obj = _with_floats(obj)
        try:
            return function(obj, *args, default=asked, **options)
        except TypeError as error:
            if not holds_variables(obj):
                raise
            raise refused_json(place(sys._getframe(1))) from error

    return write


FUNCTIONS = {"dump": _writing(plain.dump), "dumps": _writing(plain.dumps)}
json = module_for(plain, FUNCTIONS)
