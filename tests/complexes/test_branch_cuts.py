# SPDX-License-Identifier: Apache-2.0
"""On a branch cut the sign of a zero says the side: the derivative is that of the side where the value lies."""

import cmath
import warnings

import numpy as np
import pytest

import codipy

NAMES = [
    "arccos", "arcsin", "arctanh", "arccosh", "arcsinh", "arctan", "log", "sqrt", "log10", "log2", "log1p", "square",
]  # fmt: skip
OF_CMATH = ["acos", "asin", "atanh", "acosh", "asinh", "atan", "log", "sqrt", "log10"]
ALONG = [3.0, -3.0, 0.5, -0.5]
SIDES = [0.0, -0.0]


def compared(of_number, across):
    """The gradient along a cut, by both axes, against differences."""

    def real(t):
        return of_number(complex(t, across))

    def imaginary(t):
        return of_number(complex(across, t))

    for f in (real, imaginary):
        for t in ALONG:
            expected = (f(t + 1e-6) - f(t - 1e-6)) / 2e-6
            assert codipy.grad(f)(t) == pytest.approx(expected, rel=1e-7, abs=1e-7), t


def weighed(w):
    return 2.0 * w.real + 3.0 * w.imag


@pytest.mark.parametrize("across", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_ufuncs_of_arrays_and_scalars(name, across):
    function = getattr(np, name)
    compared(lambda z: weighed(function(np.array([z]))[0]), across)
    compared(lambda z: weighed(function(np.complex128(z))), across)


@pytest.mark.parametrize("across", SIDES)
@pytest.mark.parametrize("name", OF_CMATH)
def test_functions_of_cmath(name, across):
    compared(lambda z: weighed(getattr(cmath, name)(z)), across)


@pytest.mark.parametrize("across", SIDES)
@pytest.mark.parametrize("exponent", [0.5, 1.5, -0.3, 3, 0.2 + 1j])
def test_powers_by_base_and_exponent(exponent, across):
    compared(lambda z: weighed((np.array([z]) ** exponent)[0]), across)
    for base in ALONG:

        def f(t, base=base):
            return weighed((np.array([complex(base, across)]) ** (exponent * t))[0])

        assert codipy.grad(f)(1.0) == pytest.approx((f(1 + 1e-6) - f(1 - 1e-6)) / 2e-6, rel=1e-7)


def test_real_arguments_beyond_one_as_in_total_reflection():
    def phase(angle):
        inner = np.arcsin(1.5 * np.sin(np.array([angle])) + 0j)  # complex beyond the critical angle
        return np.sum(inner.imag + 2.0 * np.cos(inner).imag)

    for angle in (0.3, 0.9, 1.2):
        expected = (phase(angle + 1e-6) - phase(angle - 1e-6)) / 2e-6
        assert codipy.grad(phase)(angle) == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("name", ["arccos", "arcsin", "arccosh", "arcsinh"])
@pytest.mark.parametrize("across", SIDES)
def test_second_derivatives(name, across):
    for t in (3.0, -3.0):

        def f(t):
            z = complex(across, t) if name == "arcsinh" else complex(t, across)
            return weighed(getattr(np, name)(np.array([z]))[0])

        expected = (codipy.grad(f)(t + 1e-5) - codipy.grad(f)(t - 1e-5)) / 2e-5
        assert codipy.grad(codipy.grad(f))(t) == pytest.approx(expected, rel=1e-6)


POINTS = np.array([0.3, 0.7, 1.1])


@pytest.mark.parametrize("name", ["log", "log2", "log10", "sqrt", "arccos", "power"])
def test_functions_of_scimath_warn_as_numpys(name):
    def f(x):
        z = x * (1.0 + 0.3j) + np.array([np.inf, 0.0, np.nan])
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            made = getattr(np.lib.scimath, name)(z, *[2.0] * (name == "power"))
        messages.append({str(one.message) for one in given})
        return made.real[1]

    messages = []
    value = f(POINTS)
    assert codipy.value_and_grad(f)(POINTS)[0] == value
    assert messages[0] == messages[1]
