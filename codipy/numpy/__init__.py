# SPDX-License-Identifier: Apache-2.0
"""All of NumPy with arrays that a tape can follow; and the NumPy doors: ufuncs, functions, the rules behind them."""
from codipy.numpy.namespace import *  # noqa: F403
from codipy.numpy.namespace import __all__, __dir__, __getattr__, __version__
