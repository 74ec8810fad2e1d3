# SPDX-License-Identifier: Apache-2.0
"""codipy.cmath: every name of cmath, its bits and its exceptions, and the derivatives of its functions."""

import cmath

import pytest

import codipy

NAMES = [name for name in dir(cmath) if name[0] != "_"]
OF_ONE = [name for name in NAMES if callable(getattr(cmath, name)) and name not in ("rect", "isclose", "polar")]
POINTS = [0.3 + 0.4j, -1.2 + 0.1j, 0.7 - 2.0j, 2.5 + 0.0j]


def test_every_name_is_there():
    assert set(NAMES) <= set(codipy.cmath.__all__)
    assert codipy.cmath.pi == cmath.pi and codipy.cmath.exp(1j) == cmath.exp(1j)


@pytest.mark.parametrize("name", OF_ONE)
def test_values_and_derivatives(name):
    function = getattr(cmath, name)

    def f(z):
        w = function(z)
        return (w * (1.0 - 0.5j)).real

    for z in POINTS:
        if name.startswith("is"):
            slope = codipy.grad(lambda z: abs(z) if function(z) else z.real)(z)
            assert slope == pytest.approx(z / abs(z) if function(z) else 1.0)
            continue
        value, gradient = codipy.value_and_grad(f)(z)
        assert value == f(z)
        slopes = [(f(z + h) - f(z - h)) / 2e-6 for h in (1e-6, 1e-6j)]
        if z.imag or name not in ("acos", "asin", "atanh", "acosh"):
            assert gradient == pytest.approx(complex(*slopes), rel=1e-6, abs=1e-6)


def programs(x):
    r, phi = cmath.polar(2.0 + 1j * x)
    return (cmath.rect(r, 2.0 * phi) + cmath.log(x + 1j, 3.0) + cmath.exp(x)).real + r * phi


def test_programs():
    for x in (0.3, 1.7):
        value, gradient = codipy.value_and_grad(programs)(x)
        assert value == programs(x)
        assert gradient == pytest.approx((programs(x + 1e-6) - programs(x - 1e-6)) / 2e-6, rel=1e-8)


def test_errors_are_those_of_cmath():
    with pytest.raises(ValueError, match="domain"):
        codipy.grad(lambda x: cmath.log(0j * x).real)(1.0)
