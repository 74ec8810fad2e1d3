# SPDX-License-Identifier: Apache-2.0
"""NumPy's own list of the functions that an Array is asked about, by their names below `np.`."""

import importlib

from numpy.testing import overrides

from codipy.numpy.functions import name_of

for module in ("fft", "strings", "char", "polynomial", "lib.recfunctions", "lib.scimath"):
    importlib.import_module(f"numpy.{module}")  # NumPy lists only what somebody has imported

OVERRIDABLE = {name_of(func): func for func in overrides.get_overridable_numpy_array_functions()}
