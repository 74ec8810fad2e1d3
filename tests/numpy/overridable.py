# SPDX-License-Identifier: Apache-2.0
"""NumPy's own list of the functions that an Array is asked about, by their names below `np.`."""

import importlib

from numpy.testing import overrides

from codipy.numpy.functions import SETS, name_of
from codipy.numpy.refused import MODULES, NEWER

for module in ("fft", "strings", "char", "polynomial", "lib.recfunctions", "lib.scimath"):
    importlib.import_module(f"numpy.{module}")  # NumPy lists only what somebody has imported

OVERRIDABLE = {name_of(func): func for func in overrides.get_overridable_numpy_array_functions()}


def set_of(name):
    """The set of a function, by its name below `np.`; None where nothing is said of it."""
    for kind, names in SETS.items():
        if name in names:
            return kind
    return "refused" if name in NEWER or name.split(".")[0] in MODULES else None
