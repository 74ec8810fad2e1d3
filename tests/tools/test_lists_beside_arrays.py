# SPDX-License-Identifier: Apache-2.0
"""Operators of plain arrays and lists of active values: arrays as in the plain run, or an error says what to write."""

import functools
import operator
import sys
from collections import deque

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

X = np.array([2.0, 3.0])
SINGLE = X.astype(np.float32)
COUNTS = np.array([2, 3])


class Model:
    def __init__(self):
        self.x = np.array([2.0, 3.0])
        self.coefficients = None

    def __call__(self, p):
        self.coefficients = [p[1], p[0]]
        return self.x - self.coefficients


def helper(x, values):
    return x / values


def starred(x, *values):
    return x * values


def named(p):
    values = [p[0]]
    values.append(p[1])
    return X * values


def powers(p):
    return [p[0] ** k for k in range(1, 3)]


PROGRAMS = [
    lambda p: X * [p[0], 1.0],
    lambda p: [p[0], p[1]] - X,
    lambda p: X + (p[1], 1.0),
    lambda p: (1.0, p[0]) / X,
    lambda p: X ** [p[0], p[1]],
    lambda p: X // [p[0], 0.3],
    lambda p: X % [p[0], p[1]],
    lambda p: X @ [p[0], p[1]],
    lambda p: X * [[p[0], 1.0], [2.0, p[1]]],
    lambda p: X * [p, p[::-1]],
    lambda p: SINGLE * [p[0], 1.0],
    lambda p: COUNTS * [p[0], 1.0],
    lambda p: (COUNTS > 2) * [p[0], 1.0],
    lambda p: X * p,
    lambda p: X * deque(p),
    lambda p: np.float64(2.0) + [p[0], p[1]],
    lambda p: np.random.default_rng(1).random(2) * [p[0], p[1]],
    lambda p: X * (powers(p) if p[0] > 0.0 else p),
    lambda p: X * powers(p),
    lambda p: X[:1] * [t * t for t in p][1:],
    named,
    Model(),
    lambda p: helper(X, [p[0], p[1]]),
    lambda p: starred(X, p[0], p[1]),
    lambda p: divmod(X, [p[0], p[1]])[1],
    lambda p: pow([p[0], p[1]], X),
    lambda p: functools.reduce(operator.mul, [X, [p[0], p[1]], [p[1], 1.0]]),
    lambda p: next(map(operator.truediv, [X], [[p[0], p[1]]])),
    lambda p: X.clip([p[0], p[1]], max=2.5),
    lambda p: COUNTS.choose([[p[0], p[1]]] * 4),
    lambda p: np.choose([0, 1], [p, (1.0, p[1])]),
    lambda p: np.select([X > 2.5], choicelist=[p], default=p[::-1]),
    lambda p: np.piecewise(p, [X > 2.5, X < 2.5], [np.square, 1.0]),
]


@pytest.mark.parametrize("k", range(len(PROGRAMS)))
def test_a_list_beside_a_plain_array_is_an_array(k):
    f, found = PROGRAMS[k], []

    def loss(p):
        made = f(p)
        found.append((type(made), made.dtype, made.shape, codipy.value(made)))
        return np.sum(np.sin(made))

    at, step = [0.7, 1.3], 1e-6
    gradient = codipy.grad(loss)(list(at))
    plain = f(list(at))
    kind, dtype, shape, value = found[0]
    assert (kind, dtype, shape) == (type(plain), plain.dtype, plain.shape)
    assert value.tobytes() == np.asarray(plain).tobytes()
    for i in range(2):
        ends = [[t + sign * step * (j == i) for j, t in enumerate(at)] for sign in (1, -1)]
        slope = (loss(ends[0]) - loss(ends[1])) / (2 * step)
        assert gradient[i] == pytest.approx(slope, rel=1e-3 if dtype == np.float32 else 1e-6, abs=1e-8)


def test_what_is_no_array_in_the_plain_run_is_none():
    def loss(p):
        doubled, joined = np.int64(2) * [p], [p] + [1.0]
        assert type(doubled) is list and len(doubled) == 2
        assert type(joined) is list and len(joined) == 2
        assert type(COUNTS[0] * (p, p)) is tuple
        with pytest.raises(TypeError, match="multiply sequence"):
            X[0] * [p]
        return doubled[1] * joined[0]

    assert codipy.grad(loss)(3.0) == 6.0


def unknown(x, values):
    return x * values


def in_place(x, values):
    y = x[:]
    y *= values
    return y


SHOWS_PLACES = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 tells lines only, and no operands")


@SHOWS_PLACES
def test_a_list_that_no_name_shows_is_refused():
    with pytest.raises(ActiveError, match=r"`values` holds active values.*test_lists.*write `np.array\(values\)`"):
        codipy.grad(lambda p, f: np.sum(f(np.asarray(X), p)))([0.7, 1.3], unknown)
    assert codipy.grad(lambda p, f: np.sum(f(np.asarray(X), np.array(p))))([0.7, 1.3], unknown) == [2.0, 3.0]


def test_a_list_of_passive_numbers_is_one_of_numbers():
    def loss(p, f):
        zero = np.zeros(2)
        made = f(np.asarray(X), [zero[0] + 1.0, 2.0])
        assert made.dtype == np.float64
        return np.sum(p * made)

    assert codipy.grad(loss)(1.0, unknown) == 8.0


@SHOWS_PLACES
def test_arrays_of_objects_stay_what_they_are():
    objects = np.array([1.0, 2.0], dtype=object)

    def loss(p, f):
        made = f(objects, [p, 2.0])
        assert made.dtype == object
        assert (objects * [p, 3.0]).dtype == object
        return made[0] + made[1]

    assert codipy.grad(loss)(3.0, unknown) == 1.0
