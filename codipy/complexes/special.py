# SPDX-License-Identifier: Apache-2.0
"""Rules of functions of scipy.special whose results are complex."""

from __future__ import annotations

import numpy as np
import scipy.special

from codipy.complexes.record import rule
from codipy.numpy.primitive import Primitive

__all__ = []


def _slope(w):
    """Of the inverse of w exp(w), which is regular at 0."""
    return np.exp(-w) / (1.0 + w)


rule(Primitive(
    "scipy.special.lambertw", scipy.special.lambertw,
    lambda g, out, args, kwargs, argnums: [np.conjugate(_slope(out)) * g],
    lambda tangents, out, args, kwargs: _slope(out) * tangents[0], keep_args=False,
), elementwise=True)  # fmt: skip
