# SPDX-License-Identifier: Apache-2.0
"""Runs an expression with `codipy.numpy` on active values: value against NumPy's bits, gradient against differences."""

import numpy
import pytest

import codipy
import codipy.numpy
from codipy.active.array import Array, plain

VALUES = {
    "r": 0.6, "s": 1.7, "a": numpy.array([0.3, 1.2, -0.8]), "b": numpy.array([1.1, -0.4, 0.9]),
    "m": numpy.array([[0.3, 1.4, -0.7], [0.2, 0.8, 2.5]]),
}  # fmt: skip
STEP = 1e-6


def leaves(tree):
    return [leaf for item in tree for leaf in leaves(item)] if isinstance(tree, (list, tuple)) else [tree]


def evaluate(text, np, values, **more):
    return leaves(eval(text, {"np": np, **values, **more}))


def total(results):
    """A smooth function of every element of the results."""
    parts = [y * y for found in results for y in (list(found.reshape(-1)) if numpy.ndim(plain(found)) else [found])]
    return sum(parts[1:], parts[0])


def check(text, **more):
    """Values and gradient of the expression, whose results are Arrays where NumPy's are arrays of floats."""
    expected = evaluate(text, numpy, VALUES, **more)
    tape = codipy.Tape()
    with tape:
        active = {name: tape.register_input(value) for name, value in VALUES.items()}
        found = evaluate(text, codipy.numpy, active, **more)
        assert len(found) == len(expected)
        for one, two in zip(found, expected):
            assert numpy.array_equal(plain(one), two) and numpy.shape(plain(one)) == numpy.shape(two)
            if isinstance(two, numpy.ndarray):
                assert type(one) is (Array if two.dtype == float else numpy.ndarray) and one.dtype == two.dtype
        y = tape.register_output(total(found))
    y.gradient = 1.0
    tape.evaluate()
    for name, x in active.items():
        value = numpy.array(VALUES[name])
        slopes = numpy.zeros(value.shape)
        for index in numpy.ndindex(value.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = value.copy()
                moved[index] += step
                moved = moved if moved.ndim else float(moved)
                ends.append(total(evaluate(text, numpy, VALUES | {name: moved}, **more)))
            slopes[index] = (ends[0] - ends[1]) / (2 * STEP)
        assert numpy.asarray(x.gradient) == pytest.approx(slopes, rel=1e-6, abs=1e-8)
