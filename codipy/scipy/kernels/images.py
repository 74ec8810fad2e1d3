# SPDX-License-Identifier: Apache-2.0
"""What stands for each compiled loop of scipy.ndimage: what has no rule is refused where values are active."""

from __future__ import annotations

from scipy.ndimage import _nd_image as _compiled

from codipy.numpy.modules import module_for
from codipy.scipy.kernels import filters, sampling, selections
from codipy.scipy.kernels.calls import refused_loop

__all__ = ["FUNCTIONS"]

FUNCTIONS = {**filters.LOOPS, **selections.LOOPS, **sampling.LOOPS}
FUNCTIONS |= {name: refused_loop(name, original, "of images", "take what the page on SciPy lists")
              for name, original in vars(_compiled).items()
              if callable(original) and name not in FUNCTIONS and not name.startswith("__")}  # fmt: skip
_nd_image = module_for(_compiled, FUNCTIONS)
