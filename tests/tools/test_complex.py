# SPDX-License-Identifier: Apache-2.0
"""Complex numbers inside of a function, passive and active."""

import cmath

import numpy as np
import pytest

import codipy

FREQUENCIES = np.linspace(0.0, 1.0, 5)


def phases(x):
    w = np.exp(1j * np.linspace(0.0, 1.0, 4))
    return np.sum(np.abs(w)) * x + np.sum((w * 2).real) * x


def filter_gain(x):
    z = np.exp(-2j * np.pi * FREQUENCIES)
    response = 1.0 / (1.0 - 0.5 * z)
    return np.sum(np.abs(response) ** 2 * x) + np.real(cmath.exp(1j * FREQUENCIES[2])) * x


def filled(x):
    w = np.zeros(3, complex)
    w[0] = 1 + 2j
    w = np.concatenate([w, w.conj()])
    return w[0].imag * x + w[3].imag


def operators(x):
    a = np.ones(3)
    b = (a + 1j) - 2j
    c = (1j - a) / 2j + a**2j + a / (1 + 1j) + 2j**a + a[0] * 1j + (1j * a[1]) ** 2
    return np.sum(b.imag) * x + np.sum(c.real) * x


def spectrum(x):
    u = np.sin(np.linspace(0.0, 1.0, 8))
    return np.sum(np.abs(np.fft.fft(u)) ** 2) * x + np.sum(np.real(np.roots([1.0, 0.0, 1.0]))) * x


@pytest.mark.parametrize("f", [phases, filter_gain, filled, operators, spectrum])
def test_passive_complex_numbers(f):
    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-8)


ACTIVE = [
    lambda x: np.abs(np.exp((1j + 1) * x)), lambda x: (x * 1j).imag, lambda x: (x + 0j).real, lambda x: (2j - x).real,
    lambda x: np.sum((np.ones(3) * x + 1j).real), lambda x: np.sum((1j * (np.ones(3) * x)).imag),
    lambda x: np.sum((np.ones(3) * x * np.array([1j, 2, 3])).real), lambda x: complex(x, 1.0).real,
    lambda x: np.sum(np.abs(np.fft.fft(np.arange(4.0) * x))), lambda x: np.sum(np.array([x, 1j]).real),
]  # fmt: skip


@pytest.mark.parametrize("f", ACTIVE)
def test_active_complex_numbers(f):
    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-8)


def test_an_array_that_is_filled():
    def f(x):
        u = np.zeros(2, complex)
        u[0] = x
        u[1] = 1j * x**2
        return np.sum(np.abs(u))

    assert codipy.grad(f)(0.7) == pytest.approx(1.0 + 1.4)


def of_a_class(x):
    z = 1j * x
    u = np.ones(3) * z
    assert isinstance(z, complex) and type(z) is complex and isinstance(u, np.ndarray) and type(u) is np.ndarray
    assert u.dtype == complex and np.iscomplexobj(u) and isinstance(u[0], np.complex128)
    return np.sum(np.abs(np.asarray(u, dtype=complex)))


def test_classes_are_those_of_the_plain_run():
    assert codipy.grad(of_a_class)(0.7) == of_a_class(1.0)


@pytest.mark.parametrize(
    "f",
    [lambda x: np.zeros(2).__setitem__(0, x * 1j),
     lambda x: (np.ones(2) * x).__setitem__(slice(None), x * np.array([1j, 2.0])),
     lambda x: float(1j * x), lambda x: (np.array([1j, 2.0]) * x).astype(float).sum(),
     lambda x: np.array([1j * x, 2.0], dtype=float)],
)  # fmt: skip
def test_an_imaginary_part_is_never_dropped(f):
    with pytest.raises(TypeError, match="real|complex"):
        codipy.grad(f)(0.7)


def test_in_place_as_numpy():
    def f(x):
        a = np.ones(2)
        a *= 1j
        return x

    for run in (f, codipy.grad(f)):
        with pytest.raises(TypeError, match="Cannot cast ufunc .*output from"):
            run(1.0)
