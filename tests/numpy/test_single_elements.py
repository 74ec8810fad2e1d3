# SPDX-License-Identifier: Apache-2.0
"""Reductions of one element, rounded to another precision, and what ufuncs make of two numbers."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

SHAPES = {"one": lambda x: x[:1], "flat": lambda x: x[:1].reshape(()), "number": lambda x: x[0],
          "matrix": lambda x: x[:1].reshape(1, 1)}  # fmt: skip


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.logaddexp, np.logaddexp2, np.hypot])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_element_has_the_slope_of_itself(ufunc, shape):
    def f(x):
        return np.sum(ufunc.reduce(SHAPES[shape](x), dtype=np.float32))

    for start in (0.7, -0.7, 1 / 3):
        x, sign = np.array([start, 2.0]), -1.0 if ufunc is np.hypot and start < 0.0 else 1.0
        value, gradient = codipy.value_and_grad(f)(x)
        assert value == f(x)
        np.testing.assert_allclose(gradient, [sign, 0.0], rtol=1e-7)
        assert codipy.jvp(f, (x,), (np.array([1.0, 0.0]),))[1] == pytest.approx(sign, rel=1e-7)


@pytest.mark.parametrize("ufunc", [np.fmin, np.add, np.hypot, np.arctan2])
def test_outer_of_numbers_makes_arrays_of_them(ufunc):
    def f(x):
        for found in (ufunc.outer(x[0], 2.5), ufunc.outer(2.5, x[0]), ufunc.outer(float(x[0]), x[1])):
            seen.append((found.dtype, codipy.value(found).tobytes()))
        return np.sum(x)

    for kind in (np.float32, np.float64):
        seen: list = []
        f(np.array([0.3, 0.4], kind))
        codipy.grad(f)(np.array([0.3, 0.4], kind))
        assert seen[:3] == seen[3:]


def test_transforms_that_go_on_with_what_stands_in_out_are_refused():
    with pytest.raises(ActiveError, match="fft.fft2: with s="):
        codipy.grad(lambda x: np.abs(np.fft.fft2(x, s=(3, 3), out=np.zeros((3, 3), complex))).sum())(np.ones((1, 4)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_conjugate_of_an_element_is_an_element(kind):
    def function(x):
        y = x.astype(kind)[0] * 1.3
        seen.append((type(y.conj()), type(y.conjugate()), float(codipy.value(np.sin(y.conj() * 0.7)))))
        return np.sin(y.conj() * 0.7) * x[1]

    x, seen = np.array([0.7, 2.0]), []
    expected = function(x)
    value, gradient = codipy.value_and_grad(function)(x)
    assert value == expected and seen[0] == seen[1]
    np.testing.assert_allclose(gradient, [np.cos(0.637) * 0.91 * 2.0, np.sin(0.637)], rtol=1e-6)
