# SPDX-License-Identifier: Apache-2.0
"""What later versions of NumPy have: cases that name it are left out where it is not there."""

import inspect
import re

import numpy as np

# Parameters that came after their functions.
_PARAMETERS = {"clip": ("min", "max"), "reshape": ("copy",)}
_NAME = re.compile(r"\bnp((?:\.[A-Za-z]\w*)+)")


def has(name):
    """Whether this NumPy has a name below `np.`."""
    where = np
    for part in name.split("."):
        if not hasattr(where, part):
            return False
        where = getattr(where, part)
    return True


def runs(text):
    """Whether this NumPy has every name of an expression, and every parameter that it gives."""
    return all(has(name[1:]) for name in _NAME.findall(text)) and not any(
        parameter not in inspect.signature(getattr(np, name)).parameters
        for name, parameters in _PARAMETERS.items()
        for parameter in parameters
        if re.search(rf"\bnp\.{name}\(.*\b{parameter}=", text)
    )


def known(cases):
    """The cases of functions that this NumPy has, each of those expressions that it runs."""
    return {name: [text for text in texts if runs(text)] for name, texts in cases.items() if has(name)}
