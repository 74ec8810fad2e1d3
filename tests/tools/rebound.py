# SPDX-License-Identifier: Apache-2.0
"""Value and derivative of a rebound function of one number: for all tests of `rebind`."""

import pytest

import codipy
from codipy.tools.rebind import rebind


def slope(f, x, **kwargs):
    """Value and derivative of a function that `rebind` was given, with its options."""
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(codipy.Real(x))
        y = tape.register_output(rebind(f, **kwargs)(x))
    y.gradient = 1.0
    tape.evaluate()
    return y.value, x.gradient


def check(f, x=1.7, **kwargs):
    """Raise unless the value is that of the function itself, and the derivative that of differences of it."""
    h = 1e-6
    value, derivative = slope(f, x, **kwargs)
    assert value == f(x)
    assert derivative == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)
