# SPDX-License-Identifier: Apache-2.0
"""``np.polynomial`` of rebound code: NumPy's own functions and classes, rebuilt as those of a user are.

They are Python code that starts with ``np.array(c)``, so that no protocol reaches them. Rejected: rules for each of
their 120 functions, and for what users make of the classes.
"""

import numpy.polynomial

from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.unit import Unit

__all__ = ["polynomial"]

_REBINDER, _HELD = Rebinder(Scope(None, ())), Unit()
polynomial = _REBINDER.translate(numpy.polynomial, _HELD)
