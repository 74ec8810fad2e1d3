# SPDX-License-Identifier: Apache-2.0
"""Edges of bins have NumPy's type and bits: computed in the type of the ends, and rounded to that of all."""

import numpy as np
import pytest

import codipy

RANGES = {"none": lambda x: None, "floats": lambda x: (0.0, 1.0), "integers": lambda x: (0, 1),
          "singles": lambda x: (np.float32(0.0), np.float32(1.0)), "one double": lambda x: (0.1, np.float64(0.9)),
          "active elements": lambda x: (x[0], x[3] + 1.0)}  # fmt: skip


@pytest.mark.parametrize("range_", RANGES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_types_and_bits(range_, kind):
    def f(x):
        for samples in (x * 1.0, x[:0] * 1.0):
            edges = np.histogram_bin_edges(samples, range=RANGES[range_](x))
            seen.append((edges.dtype, codipy.value(edges).tobytes()))
        return np.sum(x)

    seen: list = []
    x = np.array([0.1, 0.5, 0.3, 0.8], kind)
    f(x)
    codipy.grad(f)(x)
    assert seen[:2] == seen[2:]
