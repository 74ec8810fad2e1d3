# SPDX-License-Identifier: Apache-2.0
"""``scipy.sparse`` of `codipy.scipy`: SciPy's own Python functions and classes, rebuilt as those of a user are.

They keep the values of a matrix in an array, which may be an Array; what they call of compiled loops is in
`codipy.scipy.kernels`. Rejected: classes of our own, which would have to repeat what SciPy does, to the last bit.
"""

import scipy.sparse

from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.unit import Unit

__all__ = ["sparse"]

_REBINDER, _HELD = Rebinder(Scope(None, ())), Unit()
sparse = _REBINDER.translate(scipy.sparse, _HELD)
