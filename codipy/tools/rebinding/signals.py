# SPDX-License-Identifier: Apache-2.0
"""``scipy.signal`` of `codipy.scipy`: SciPy's own functions, rebuilt one by one when something active is given.

Convolutions are rules of their own (`codipy.scipy.kernels.convolutions`), recursive filters are rules for SciPy's
compiled loops (`recursions`, `resampling`). Rejected: to rebuild the module as a whole, with its design of filters: it
leaves out coefficients that are nearly zero, and searches for roots of polynomials, which would lose derivatives.
"""

from __future__ import annotations

import scipy.signal

from codipy.numpy.modules import module_for
from codipy.scipy import signals
from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.single import functions_of
from codipy.tools.rebinding.unit import Unit

__all__ = ["FUNCTIONS", "signal"]

_REBINDER, _HELD = Rebinder(Scope(None, ("scipy.signal",))), Unit()
FUNCTIONS = functions_of(scipy.signal, signals, lambda function: _REBINDER.translate(function, _HELD))
signal = module_for(scipy.signal, FUNCTIONS)


def _short_time_fft(name):
    """`ShortTimeFFT`, rebuilt when it is first asked for, which takes a while."""
    if name != "ShortTimeFFT":
        return getattr(scipy.signal, name)
    signal.ShortTimeFFT = _REBINDER.translate(scipy.signal.ShortTimeFFT, _HELD)
    return signal.ShortTimeFFT


del signal.ShortTimeFFT
vars(signal)["__getattr__"] = _short_time_fft
