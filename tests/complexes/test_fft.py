# SPDX-License-Identifier: Apache-2.0
"""Transforms of complex arrays on both sides of the size from which a sweep writes into the adjoints themselves."""

import numpy as np
import pytest
import scipy.fft

import codipy

NAMES = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"]


@pytest.mark.parametrize("shape", [(15, 17), (16, 16), (6, 10, 12), (1, 300), (40, 50)])
@pytest.mark.parametrize("module", [np.fft, scipy.fft], ids=["numpy", "scipy"])
@pytest.mark.parametrize("name", NAMES)
def test_sweep_back_and_forward_agree(name, module, shape):
    draw = np.random.default_rng(len(name))
    z, t, w = (draw.standard_normal(shape) + 1j * draw.standard_normal(shape) for _ in range(3))
    transform = getattr(module, name)

    def f(z):
        return transform(z * z)

    value, tangent = codipy.jvp(f, (z,), (t,))
    again, pull = codipy.vjp(f, z)
    assert np.array_equal(value, f(z)) and np.array_equal(again, f(z))
    # <w, J t> = <J' w, t>, each a sum over real and imaginary parts.
    there, back = np.sum((np.conj(w) * tangent).real), np.sum((np.conj(pull(w)[0]) * t).real)
    assert there == pytest.approx(back, rel=1e-10) and abs(there) > 1e-3
