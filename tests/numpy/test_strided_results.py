# SPDX-License-Identifier: Apache-2.0
"""Results of primitives that are views with gaps, turned round or broadcast: values in both precisions."""

import numpy as np
import pytest
import scipy.fft
import scipy.linalg

import codipy
from codipy.active.array import call
from codipy.numpy.primitive import Primitive

RNG = np.random.default_rng(4)
FORWARD = {
    "turned round": lambda x: (2.0 * x)[::-1], "every other": lambda x: (2.0 * x)[::2],
    "broadcast": lambda x: np.broadcast_to(2.0 * x[:1], (3,)), "columns": lambda x: np.outer(x, x)[:, ::-1],
    "rows of Fortran's order": lambda x: np.asfortranarray(np.outer(x, x))[:3], "a part": lambda x: (2.0 * x)[1:3],
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(2.0 * x, 2)[::2],
    "windows of many": lambda x: np.lib.stride_tricks.sliding_window_view(2.0 * x, 3),
}  # fmt: skip


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", FORWARD)
def test_a_primitive_of_the_users(name, kind):
    forward, x = FORWARD[name], RNG.normal(size=5).astype(kind)
    rule = Primitive("views", forward, lambda g, out, args, kwargs, argnums: [np.full(5, np.sum(g))])
    tape = codipy.Tape()
    with tape:
        z = tape.register_input(x.copy())
        y = call(rule, (z,))
        assert np.array_equal(codipy.value(y), forward(x)) and y.dtype == kind
        assert np.array_equal(codipy.value(y + 0.0 * y), forward(x))
        total = tape.register_output(np.sum(y))
    total.gradient = 1.0
    tape.evaluate()
    assert np.array_equal(z.gradient, np.full(5, np.size(forward(x))))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(("f", "shape"), [
    (lambda x: scipy.fft.fht(x, 0.1, 0.5), (12,)), (lambda x: scipy.linalg.lstsq(x[:, :3], x[:, 3:])[0], (6, 5)),
    (lambda x: np.linalg.lstsq(x[:, :3], x[:, 3:])[0], (6, 5)), (lambda x: scipy.linalg.qr(x)[1], (4, 4)),
])  # fmt: skip
def test_functions_whose_results_are_parts(f, shape, kind):
    x = RNG.normal(size=shape).astype(kind)

    def loss(x):
        y = f(x)
        return np.sum(y * y * np.arange(1.0, 1.0 + np.size(y), dtype=kind).reshape(np.shape(y)))

    value, gradient = codipy.value_and_grad(loss)(x)
    assert value == loss(x)
    np.testing.assert_allclose(gradient, codipy.grad(loss)(x.astype(float)), rtol=2e-2 if kind == np.float32 else 1e-12,
                               atol=1e-3 if kind == np.float32 else 1e-12)  # fmt: skip
