# SPDX-License-Identifier: Apache-2.0
"""What SciPy has from a version on: our tables name it, and the tests run where SciPy is older, too."""

import numpy as np
import scipy

__all__ = ["LATER"]

SINCE = {
    "signal.closest_STFT_dual_window": "1.16.0",
    "signal.firwin_2d": "1.16.0",
    "signal.whittaker_henderson": "1.18.0",
    "ndimage.vectorized_filter": "1.16.0",
    "stats.estimated_cdf": "1.18.0",
    "stats.quantile": "1.16.0",
    "stats.spearmanrho": "1.17.0",
}
# What this SciPy has not got, by module.
LATER = {module: {name.partition(".")[2] for name, version in SINCE.items()
                  if name.startswith(f"{module}.") and np.lib.NumpyVersion(scipy.__version__) < version}
         for module in ("signal", "ndimage", "stats")}  # fmt: skip
