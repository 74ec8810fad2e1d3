# SPDX-License-Identifier: Apache-2.0
"""Writes that NumPy refuses are refused, and those that it takes are taken: targets without elements above all."""

import itertools

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

TARGETS = ["x[:0]", "x[x < -9]", "x.reshape(1, -1)[:, :0]", "x.reshape(1, -1)[:0]", "x[:1].copy()", "x.copy()",
           "np.broadcast_to(x[:0], (2, 0))", "np.broadcast_to(x[:1], (2, 1))"]  # fmt: skip
VALUES = [
    "1.0", "x[0]", "np.ones(0)", "np.ones(1)", "np.ones(2)", "np.ones((1, 1))", "np.ones((2, 1))", "x[:2] * 1.0",
    "x[:0]", "x[1:2]", "(x[1:2] * 2).reshape(1, 1)", "[x[0], 2.0]", "[x[0]]", "[]", "np.ones((0, 2))",
]  # fmt: skip
INDICES = ["[:]", "[...]", "[a < -9]", "[[]]", "[np.array([], int)]", "[:, None]", "[0:0]", "[None]"]
WRITES = [f"a{index} {operator}= {{}}" for index in INDICES for operator in ("", "+")]
WRITES += ["a += {}", "np.copyto(a, {})", "np.add(a, {}, out=a)", "a.fill({})", "np.putmask(a, a < -9, {})"]
WRITES += ["a[7] = {}", "a[7:] = {}", "a[0, 0, 0] = {}"]
WRITES += ["a.flat[0] = {}", "a.flat[5] = {}", "a.flat[:] = {}", "a.flat[:0] = {}", "a.flat[[0]] = {}"]
POINT = np.array([0.4, 1.3, 0.7])


def program(target, write, value):
    """What happens shows in the result: how often `x` is in it says what was raised."""
    source = (
        f"def f(x):\n    a = {target}\n    try:\n        {write.format(value)}\n        times = 1.0\n"
        "    except ActiveError:\n        raise\n    except ValueError:\n        times = 2.0\n"
        "    except (IndexError, TypeError):\n        times = 3.0\n    return np.sum(x) * times + np.sum(a)\n"
    )
    namespace = {"np": np, "ActiveError": ActiveError}
    exec(source, namespace)
    return namespace["f"]


@pytest.mark.parametrize("write", WRITES)
def test_what_is_refused(write):
    differing = []
    for target, value in itertools.product(TARGETS, VALUES):
        f = program(target, write, value)
        try:
            plain = f(POINT.copy())
        except Exception:
            continue  # the index itself does not fit
        try:
            taped = codipy.value_and_grad(f)(POINT.copy())[0]
        except ActiveError:
            continue
        if taped != plain:
            differing.append((target, value, plain, taped))
    assert not differing


@pytest.mark.parametrize(
    "write",
    [
        "a.flat[:] = a[1:3]", "a.flat = a[0, ::2]", "a[:, 0].flat = a[0]", "a.ravel().flat = a.ravel()[1:8:2]",
        "a.reshape(-1, 1).flat = a.ravel()[2:5]", "a.T.flat[1:4] = a[:, 1]", "a.flat[[3, 0, 3]] = a[1]",
        "a.flat[::-1] = x", "a.flat[1:] = [x[0], 2.0]", "a.flat[a.ravel() > 0.5] = x[1:]",
        "a[:, ::2].flat[...] = x[:2]",
    ],
)  # fmt: skip
def test_flat_repeats_what_is_too_short_and_reads_what_it_has_written(write):
    def f(x):
        a = np.outer(np.arange(1.0, 5.0), x)
        exec(write)
        return np.sum(a * np.cos(np.arange(12.0)).reshape(4, 3))

    value, gradient = codipy.value_and_grad(f)(POINT.copy())
    assert value == f(POINT.copy())
    slopes = [(f(POINT + h) - f(POINT - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
