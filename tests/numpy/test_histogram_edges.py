# SPDX-License-Identifier: Apache-2.0
"""Edges of bins have NumPy's type and bits: computed in the type of the ends, and rounded to that of all."""

import numpy as np
import pytest

import codipy

RANGES = {"none": lambda x: None, "floats": lambda x: (0.0, 1.0), "integers": lambda x: (0, 1),
          "singles": lambda x: (np.float32(0.0), np.float32(1.0)), "one double": lambda x: (0.1, np.float64(0.9)),
          "active elements": lambda x: (x[0], x[3] + 1.0),
          "active floats": lambda x: (float(x[0]) * 0.3, float(x[3]) + 1.0),
          "a float and an element": lambda x: (float(x[0]) * 0.3, x[3] + 1.0)}  # fmt: skip


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


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("bins", ["number", "edges"])
def test_active_ends_and_edges(density, bins):
    def f(x, p):
        chosen = {"bins": 4, "range": (p * 0.1, p * 2)} if bins == "number" else {"bins": [0.0, p, 3.1 * p]}
        counts, edges = np.histogram(x, **chosen, density=density)
        kinds.append((counts.dtype, edges.dtype, codipy.value(counts).tobytes(), codipy.value(edges).tobytes()))
        return np.sum(counts * counts) + np.sum(np.sin(edges))

    for kind in (np.float64, np.float32):
        kinds: list = []
        x, p = np.array([0.5, 1.25, 2.0, 3.5, 0.1], kind), 1.3
        f(x, p)
        found = [codipy.grad(f, 1)(x, p), codipy.grad(f, (0, 1))(x, p)[1]]
        assert kinds[0] == kinds[1] == kinds[2]
        x = x.astype(float)
        expected = (f(x, p + 1e-6) - f(x, p - 1e-6)) / 2e-6
        assert np.allclose(found, expected, rtol=1e-5 if kind is np.float32 else 1e-7)


@pytest.mark.parametrize("space", [
    lambda x, p: np.linspace(x, p, 3), lambda x, p: np.linspace(p, x, 4, endpoint=False),
    lambda x, p: np.linspace(x, np.float64(p), 3), lambda x, p: np.linspace(x[0], p, 5),
])  # fmt: skip
def test_a_float_of_pythons_is_as_precise_as_the_array_beside_it(space):
    def f(x, p):
        y = space(x, p)
        seen.append((y.dtype, codipy.value(y).tobytes()))
        return np.sum(y * y)

    seen: list = []
    x = np.array([0.1, 0.5, 0.3], np.float32)
    f(x, 1.3)
    codipy.grad(f, (0, 1))(x, 1.3)
    codipy.grad(f, 1)(x, 1.3)
    assert seen[0] == seen[1] == seen[2]
