# SPDX-License-Identifier: Apache-2.0
"""The point of tests of solvers whose functions fill arrays, and central differences there of the same source."""

import numpy as np

X = np.array([0.7, 0.4, 2.1])
STEP = 1e-5


def difference(f):
    """The gradient of a function of three numbers, on plain arrays."""
    return np.array([(f(X + step) - f(X - step)) / (2.0 * STEP) for step in STEP * np.eye(len(X))])
