# SPDX-License-Identifier: Apache-2.0
"""`operator` in rebuilt code: `attrgetter` asks what ``x.__class__`` asks; operators look into lists beside arrays."""

from __future__ import annotations

import functools
import operator as plain

from codipy.numpy.modules import module_for
from codipy.tools.rebinding import operands
from codipy.tools.rebinding.attributes import attribute_of
from codipy.tools.rebinding.wrapping import OF_VARIABLES

__all__ = ["FUNCTIONS", "STANDINS", "operator"]


def _seeing(getter):
    """What stands for a getter that was made; None for one that asks for nothing that variables have otherwise."""
    paths = [name.split(".") for name in getter.__reduce__()[1]]
    if not any(name == "__class__" or name in OF_VARIABLES for path in paths for name in path):
        return None

    def get(obj, /):
        found = tuple(functools.reduce(attribute_of, path, obj) for path in paths)
        return found if len(found) > 1 else found[0]

    return get


def attrgetter(*attributes):
    """``operator.attrgetter``."""
    getter = plain.attrgetter(*attributes)
    return _seeing(getter) or getter


FUNCTIONS = {"attrgetter": attrgetter, "pow": operands.power}
FUNCTIONS |= {name: getattr(operands, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul")}
STANDINS = {plain.attrgetter: _seeing}
operator = module_for(plain, FUNCTIONS)
