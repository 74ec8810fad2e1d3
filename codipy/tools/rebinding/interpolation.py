# SPDX-License-Identifier: Apache-2.0
"""``scipy.interpolate`` of `codipy.scipy`: SciPy's own Python functions and classes, rebuilt as those of a user are.

What they call of compiled loops is in `codipy.scipy.kernels`.
"""

import scipy.interpolate

from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.unit import Unit

__all__ = ["interpolate"]

_REBINDER, _HELD = Rebinder(Scope(None, ())), Unit()
interpolate = _REBINDER.translate(scipy.interpolate, _HELD)
