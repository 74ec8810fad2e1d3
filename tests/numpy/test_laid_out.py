# SPDX-License-Identifier: Apache-2.0
"""Ufuncs with an ``out=`` whose elements stand in reverse: NumPy runs another loop, with other last bits."""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

WAYS = {
    "of the result": lambda u, x, z: u(x, out=z[: x.size][::-1]),
    "of both": lambda u, x, z: u(x[::-1], out=z[: x.size][::-1]),
    "with gaps": lambda u, x, z: u(x, out=z[::-2]),
    "of one axis": lambda u, x, z: u(np.stack([x, x * 0.5]), out=z.reshape(2, -1)[:, ::-1]),
    "of one number": lambda u, x, z: u(np.broadcast_to(x[0], x.shape), out=z[: x.size][::-1]),
    "where": lambda u, x, z: u(x, out=z[: x.size][::-1], where=np.arange(x.size) % 3 > 0),
    "of itself": lambda u, x, z: (z.__setitem__(slice(x.size), x), u(z[::-1], out=z[::-1])),
    "of itself, the other way": lambda u, x, z: (z.__setitem__(slice(x.size), x), u(z, out=z[::-1])),
    "of reversed elements, several times": lambda u, x, z: u(x[::-1], out=z.reshape(2, -1)),
    "of reversed elements, in columns": lambda u, x, z: u(x[::-1], out=z.reshape(-1, 2).T),
    "several times in reverse": lambda u, x, z: u(x, out=z.reshape(2, -1)[:, ::-1]),
    "of a plain array, several times": lambda u, x, z: (
        u(np.linspace(0.1, 0.9, x.size, dtype=x.dtype)[::-1], out=z.reshape(2, -1)), z.__iadd__(x[0])),
    "of a plain array": lambda u, x, z: (u(np.linspace(0.1, 0.9, x.size), out=z[::-2]), z.__iadd__(x[0])),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ufunc", [np.exp, np.log, np.arcsin, np.cbrt, np.expm1], ids=lambda ufunc: ufunc.__name__)
def test_values_are_those_of_numpys_loop(ufunc, way):
    def f(x):
        z = np.full(2 * x.size, 0.25, x.dtype)
        WAYS[way](ufunc, x, z)
        return z

    for size in (3, 17, 100):
        for dtype in (np.float64, np.float32):
            x = np.random.default_rng(size).uniform(0.1, 0.9, size).astype(dtype)
            with codipy.Tape("primal") as tape:
                tried = codipy.value(codipy.rebind(f)(tape.register_input(x)))
            np.testing.assert_array_equal(tried, f(x))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_derivatives(strategy):
    def f(x):
        z = np.zeros(x.size, x.dtype)
        np.exp(x, out=z[::-1])
        np.log(z, out=z)
        np.power(z[::-1], 1.5, out=z[::-1])
        np.cbrt(x[::-1], out=z[::-1], where=np.arange(x.size) > 8)
        return np.sum(z * np.arange(x.size))

    x = np.linspace(0.1, 0.9, 17)
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(x)
    assert value == f(x)
    steps = 1e-5 * np.eye(x.size)
    np.testing.assert_allclose(gradient, [(f(x + h) - f(x - h)) / 2e-5 for h in steps], rtol=1e-7)


def test_a_recording_runs_again_by_the_same_loop():
    def f(x):
        z = np.zeros(x.size)
        np.exp(x[::-1], out=z[::-1])
        return z

    x = np.linspace(0.1, 0.9, 33)
    tape = codipy.Tape("primal")
    with tape:
        a = tape.register_input(x)
        z = tape.register_output(codipy.rebind(f)(a))
    tape.set_primal(a, x * 1.5)
    tape.evaluate_primal()
    np.testing.assert_array_equal(tape.get_primal(z), f(x * 1.5))
