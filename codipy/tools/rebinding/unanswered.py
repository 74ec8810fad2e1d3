# SPDX-License-Identifier: Apache-2.0
"""Class patterns in functions without a source, which the interpreter itself answers: those that it may answer wrongly.

It asks the type of a value, and takes its attributes: codipy's, where the plain run asks those of a number or an array.
"""

from __future__ import annotations

import builtins
from types import ModuleType

import numpy as np

from codipy.active.array_type import Array
from codipy.active.scalar.real import Real
from codipy.errors import ActiveError
from codipy.numpy.standins import STANDINS
from codipy.tools.rebinding.code import class_patterns
from codipy.tools.rebinding.unit import contents

__all__ = ["refuses", "unanswered"]

_PLAIN = (0.0, np.float64(0.0), np.float32(0.0), 0j, np.complex128(0.0), np.complex64(0.0), np.zeros(0))
_EXAMPLES = (*_PLAIN, Real(0.0), Array(np.zeros(0)))


def unanswered(code, variables, closure=None):
    """What to say of the first class pattern that the interpreter may answer otherwise than in the plain run.

    Parameters
    ----------
    code : code
        What has class patterns.
    variables : dict
        Its globals, as the user has them.
    closure : dict, optional
        The cells of its free variables by their names.

    Returns
    -------
    str or None
        None if there is no such pattern.
    """
    for line, operation, names, taken, count in class_patterns(code):
        if not _is_answered(operation, names, taken, count, variables, closure or {}):
            name = ".".join(map(str, names))
            return (f"{code.co_name} ({code.co_filename}, line {line}) asks `case {name}(...)`, and without its source "
                    f"codipy cannot ask for what the plain run has: write isinstance(value, {name}), or put the "
                    "function into a file")
    return None


def _is_answered(operation, names, taken, count, variables, closure):
    first, *attributes = names
    if operation == "LOAD_DEREF":
        value = contents(closure[first]) if first in closure else None
    elif operation in ("LOAD_GLOBAL", "LOAD_NAME"):
        value = variables.get(first, getattr(builtins, first, None))
    else:
        return False
    for name in attributes:
        value = getattr(value, name, None) if isinstance(value, (ModuleType, type)) else None
    if not isinstance(value, type):
        return False
    if value in STANDINS and not taken and not (count and hasattr(value, "__match_args__")):
        return True
    return not any(isinstance(example, value) for example in _EXAMPLES)


def refuses(message):
    """A function that says why it was not rebuilt."""

    def refused(*args, **kwargs):
        raise ActiveError(message)

    return refused
