# SPDX-License-Identifier: Apache-2.0
"""A Real that depends on nothing yet, beside a plain array: an Array while a tape records, no array of objects."""

import numpy as np

import codipy

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
