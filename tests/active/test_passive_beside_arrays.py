# SPDX-License-Identifier: Apache-2.0
"""A Real that depends on nothing yet, beside a plain array: an Array while a tape records, no array of objects."""

import numpy as np
from scipy.optimize import brentq

import codipy
from tests.active.recording import each_variant

PLAIN = np.linspace(0.0, 1.0, 3)


def test_an_element_that_is_passive_times_a_plain_array():
    def f(x):
        z = np.zeros(2)
        z[0] = 3.0
        a = z[0] * PLAIN + np.add(PLAIN, z[0])
        a[1] = x[0]
        return np.sum(a * x[1])

    x = np.array([2.0, 5.0])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, [5.0, 3.0 + 2.0 + 7.0])


@each_variant
def test_values_of_an_expression_with_a_real_may_be_had_under_passive(variant):
    """It is computed there and recorded later; it said that the Real was registered anew."""
    tape = codipy.Tape(*variant)
    with tape:
        x, a = tape.register_input(codipy.Array(PLAIN)), tape.register_input(1.5)
        y = x * a
        with codipy.passive():
            assert float(y[2]) == 1.5
        z = tape.register_output(np.sum(y * y))
    z.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, 2.0 * 1.5**2 * PLAIN, rtol=1e-14)
    np.testing.assert_allclose(a.gradient, 2.0 * 1.5 * np.sum(PLAIN**2), rtol=1e-14)


@each_variant
def test_a_root_finder_whose_function_closes_over_a_name_that_is_assigned_again(variant):
    def f(x, a):
        x = x * a
        r = brentq(lambda t: t**3 + t - 1.0 - 0.1 * x[0], 0.0, 3.0, xtol=1e-14)
        x = x * 2.0
        return np.sum(x) * r

    x, a, step = np.linspace(0.1, 0.9, 5), 1.5, 1e-6
    gradient = codipy.grad(f, argnums=(0, 1), strategy=variant[0], granularity=variant[1])(x, a)
    expected = [(f(x + step * e, a) - f(x - step * e, a)) / (2 * step) for e in np.eye(5)]
    np.testing.assert_allclose(gradient[0], expected, rtol=1e-7)
    np.testing.assert_allclose(gradient[1], (f(x, a + step) - f(x, a - step)) / (2 * step), rtol=1e-7)
