# SPDX-License-Identifier: Apache-2.0
"""What stands for `cmath` in rebound code that has imported it."""

from codipy import cmath
from codipy.cmath import FUNCTIONS

__all__ = ["FUNCTIONS", "cmath"]
