# SPDX-License-Identifier: Apache-2.0
"""A cache keyed by value never hands one variable's derivative to another of equal value."""
import functools

import codipy


def test_a_cached_function_of_equal_inputs_keeps_their_derivatives_apart():
    @functools.cache
    def square(x):
        return x * x

    assert codipy.grad(lambda x: square(x[0]) * square(x[1]) + square(x[0]))([3.0, 3.0]) == [60.0, 54.0]


def test_a_plain_call_before_leaves_nothing_for_an_active_one():
    @functools.cache
    def square(x):
        return x * x

    assert square(3.0) == 9.0
    assert codipy.grad(square)(3.0) == 6.0


def test_a_passive_real_hashes_as_its_value():
    assert hash(codipy.Real(3.0)) == hash(3.0) and {codipy.Real(3.0): "x"}[3.0] == "x"
