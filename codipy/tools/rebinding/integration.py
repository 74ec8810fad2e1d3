# SPDX-License-Identifier: Apache-2.0
"""``scipy.integrate`` of `codipy.scipy`: SciPy's own Python functions, rebuilt as those of a user are.

They make arrays with ``np.asarray``, and call the user's functions. Rejected: rules, for which the steps that an
integrator takes would have to be taken again.
"""

import scipy.integrate

from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.unit import Unit

__all__ = ["integrate"]

_REBINDER, _HELD = Rebinder(Scope(None, ())), Unit()
integrate = _REBINDER.translate(scipy.integrate, _HELD)
