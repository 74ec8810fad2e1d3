# SPDX-License-Identifier: Apache-2.0
"""A cache never hands one variable's derivative to another of equal value, and has what plain calls left in it."""
import functools
import math

import numpy as np
import pytest

import codipy

RNG = np.random.default_rng(7)


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


@functools.cache
def drawn(n):
    return RNG.random(n)


@functools.lru_cache(maxsize=4, typed=True)
def number(n, k=1):
    return float(RNG.random()) * n * k


@functools.lru_cache
def table(n):
    return {"rate": RNG.random() * n}


@functools.cache
def wave(n):
    return lambda x: math.sin(n * x)


class Model:
    def __init__(self):
        self.rate = RNG.random()

    @functools.lru_cache  # noqa: B019
    def scale(self, n):
        return RNG.random() * n

    @staticmethod
    @functools.cache
    def shift(n):
        return RNG.random() * n

    def energy(self, x):
        return math.exp(x) * self.scale(2) + self.rate * x + self.shift(3) * x


@functools.cache
def made():
    return Model()


MODEL = Model()


def drawn_before(x):
    return (drawn(3) * x).sum()


def numbers_before(x):
    return number(2) * x + number(2, k=3) * x * x + number(2.0) * math.sin(x)


def dicts_before(x):
    return table(2.0)["rate"] * x + table(3.0)["rate"] * x * x


def waves_before(x):
    return wave(2)(x)


def methods_before(x):
    return MODEL.energy(x) * made().energy(x)


BEFORE = [drawn_before, numbers_before, dicts_before, waves_before, methods_before]


@pytest.mark.parametrize("f", BEFORE, ids=lambda f: f.__name__)
def test_what_a_plain_call_left_in_a_cache_is_what_the_gradient_takes(f):
    value = f(0.5)
    slope = (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6
    gradient = codipy.value_and_grad(f)
    for _ in range(2):
        assert gradient(0.5) == (value, pytest.approx(slope, rel=1e-8))
    assert f(0.5) == value


@functools.cache
def held(n):
    return np.zeros(n)


def filled_once(x):
    w = held(3)
    w[1] = x
    return held(3).sum() * x


def test_a_cached_array_of_a_plain_call_is_read_and_filled_there():
    held(3)[0] = 5.0
    assert codipy.value_and_grad(lambda x: held(3)[0] * x)(2.0) == (10.0, 5.0)
    assert codipy.value_and_grad(filled_once)(2.0) == (14.0, 9.0)
    assert held(3).tolist() == [5.0, 2.0, 0.0]


def test_a_cache_that_was_cleared_has_nothing():
    drawn.cache_clear()
    assert codipy.value_and_grad(drawn_before)(0.5)[0] != drawn_before(0.5)
    value = drawn_before(0.5)
    assert codipy.value_and_grad(drawn_before)(0.5)[0] == value
    drawn.cache_clear()
    assert codipy.value_and_grad(drawn_before)(0.5)[0] != value
