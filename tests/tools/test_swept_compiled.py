# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of large arrays: compiled loops have the bits of those one by one, and differences agree."""

import numpy as np
import pytest

import codipy
from codipy.programs import tiles

_, WIDTH = tiles._compile_from(64, -1)
tiles._compile_from(64, WIDTH)


def burgers(u, v):
    for _ in range(2):
        w = u.copy()
        w[1:-1, 1:-1] = (u[1:-1, 1:-1] - 0.1 * u[1:-1, 1:-1] * (u[1:-1, 1:-1] - u[1:-1, :-2])
                         - 0.1 * v[1:-1, 1:-1] * (u[1:-1, 1:-1] - u[:-2, 1:-1])
                         + 0.05 * (u[1:-1, 2:] + u[:-2, 1:-1] - 4.0 * u[1:-1, 1:-1]))
        u, v = w, v * w - u
    return np.sum(u * u * v)


def functions(u, v):
    return np.sum(np.sin(u * v) * u + np.exp(-v * v) * (u - v) ** 2 + np.tanh(u) * 3.0 * v)


def strided(u, v):
    return np.sum((u[::2, ::-1] * v[1::2] + u[1::2] * u[::2]) * (v[::2] - 2.0 * u[::2]) * v[::2, :1])


def powers(u, v):
    w = np.square(u) * v - v * v * v
    return np.sum(-w * w + np.maximum(u, v) * w)


@pytest.mark.parametrize("f", [burgers, functions, strided, powers])
@pytest.mark.parametrize("width", [1, 3])
def test_bits_and_differences(f, width):
    rng = np.random.default_rng(7)
    u, v = rng.uniform(0.2, 1.2, (2, 64, 90))
    tangents = rng.uniform(-1.0, 1.0, (width, 2, 64, 90))
    tangents[0, 0, :30] = 0.0
    found = []
    for patience, vectors in ((0, WIDTH), (64, -1)):
        tiles._compile_from(patience, vectors)
        try:
            _, product = codipy.linearize(codipy.grad(f, argnums=(0, 1)), u, v)
            run = product._run
            if width > 1:
                rows = run._curvature.products(tangents.reshape(width, -1))
            else:
                rows = np.concatenate([x.ravel() for x in product(*tangents[0])])[None]
            found.append(rows.reshape(tangents.shape))
        finally:
            tiles._compile_from(64, WIDTH)
    assert found[0].tobytes() == found[1].tobytes()
    gradient, step = codipy.grad(f, argnums=(0, 1)), 1e-6
    for mine, (t, s) in zip(found[0], tangents, strict=True):
        high, low = gradient(u + step * t, v + step * s), gradient(u - step * t, v - step * s)
        for k in range(2):
            expected = (high[k] - low[k]) / (2.0 * step)
            np.testing.assert_allclose(mine[k], expected, rtol=2e-6, atol=2e-6 * np.max(np.abs(expected)))
