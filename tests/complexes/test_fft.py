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


NO_AXES = [("fftn", {}), ("ifftn", {}), ("ifftn", {"axes": ()}), ("fft2", {"axes": ()})]


@pytest.mark.parametrize("factor", [1.0, 1j])
@pytest.mark.parametrize("name, options", NO_AXES)
def test_along_no_axis_nothing_is_written(name, options, factor):
    """Of what it is given NumPy makes an array then, whatever `out` is."""

    def f(x, out):
        found = getattr(np.fft, name)(x[0] * factor, out=out, **options)
        assert found is not out
        return found.real + out.real + x[0]

    point = np.array([0.5])
    assert f(point, np.array(7.0 + 0j)) == codipy.value_and_grad(f)(point, np.array(7.0 + 0j))[0]
    np.testing.assert_array_equal(codipy.grad(f)(point, np.array(7.0 + 0j)), [2.0 if factor == 1.0 else 1.0])
