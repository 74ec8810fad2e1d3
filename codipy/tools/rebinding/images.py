# SPDX-License-Identifier: Apache-2.0
"""``scipy.ndimage`` of `codipy.scipy`: SciPy's own functions, rebuilt one by one when something active is given.

They check and arrange their arguments, and leave the rest to compiled loops, for which rules stand in
`codipy.scipy.kernels`.
"""

from __future__ import annotations

import scipy.ndimage

from codipy.numpy.modules import module_for
from codipy.scipy import images
from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.single import functions_of
from codipy.tools.rebinding.unit import Unit

__all__ = ["FUNCTIONS", "ndimage"]

_REBINDER, _HELD = Rebinder(Scope(None, ("scipy.ndimage",))), Unit()
FUNCTIONS = functions_of(scipy.ndimage, images, lambda function: _REBINDER.translate(function, _HELD))
ndimage = module_for(scipy.ndimage, FUNCTIONS)
