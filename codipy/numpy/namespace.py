# SPDX-License-Identifier: Apache-2.0
"""``import codipy.numpy as np``: all of NumPy, with functions that make arrays a tape can follow.

What `OWN` does not name is NumPy's own object: its functions find their way from the arrays that they get. Inside a
recording `zeros` and its like give Arrays, lists of active values become Arrays, and `vectorize`, `ndenumerate`, `r_`
and `c_` take them; elsewhere everything here is plain NumPy.

Examples
--------
>>> import codipy
>>> import codipy.numpy as np
>>> type(np.zeros(3)).__name__
'ndarray'
>>> with codipy.Tape() as tape:
...     x = tape.register_input(codipy.Real(2.0))
...     z = np.zeros(3)
...     z[1] = x * x
...     y = tape.register_output(z[1])
>>> y.gradient = 1.0
>>> tape.evaluate()
>>> x.gradient
4.0
"""

from __future__ import annotations

import importlib
import sys

import numpy as np

from codipy.numpy import allocation, iteration, lists, standins

OWN = {name: getattr(allocation, name) for name in allocation.__all__ if hasattr(np, name)}
OWN |= lists.UFUNCS | lists.FUNCTIONS | {name: getattr(iteration, name) for name in iteration.__all__}
OWN = lists.standing(np, OWN)
OWN |= {"fft": lists.fft, "linalg": lists.linalg, "lib": lists.lib, "emath": lists.scimath}
OWN |= {"ndarray": standins.ndarray, "float64": standins.float64, "double": standins.float64}
OWN |= {"complex128": standins.complex128, "cdouble": standins.complex128}
OWN |= {"complex64": standins.complex64, "csingle": standins.complex64}
OWN |= {"float32": standins.float32, "single": standins.float32}

# What NumPy imports only when it is asked for, such as `numpy.ma`, is left to __getattr__.
# Modules that are imported as late as NumPy imports its own, and where: `rebind` has its own for the second.
LATER = {"random": "codipy.numpy.generators", "polynomial": "numpy", "testing": "codipy.numpy.assertions"}
_NAMES = {name: value for name, value in vars(np).items() if not name.startswith("_") and name not in LATER} | OWN
globals().update(_NAMES)

__version__ = np.__version__
__all__ = sorted(_NAMES)


def __getattr__(name):
    value = getattr(importlib.import_module(LATER.get(name, "numpy")), name)
    if not name.startswith("__"):
        setattr(sys.modules["codipy.numpy"], name, value)  # asked for once
    return value


def __dir__():
    return dir(np)
