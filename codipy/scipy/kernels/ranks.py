# SPDX-License-Identifier: Apache-2.0
"""What stands for SciPy's compiled filter by ranks of one axis."""

from scipy.ndimage import _rank_filter_1d as _compiled

from codipy.numpy.modules import module_for
from codipy.scipy.kernels import selections

__all__ = ["FUNCTIONS"]

FUNCTIONS = selections.LINE_LOOPS
_rank_filter_1d = module_for(_compiled, FUNCTIONS)
