# SPDX-License-Identifier: Apache-2.0
"""Which element comes where, by order= and by how an array lies in memory: values and derivatives."""

import numpy as np
import pytest

import codipy

KINDS = {"real": "x * 1.0", "complex": "x * (1.0 + 0.3j) + 0.1j * x * x", "single": "(x * 1.0).astype(np.float32)"}
LYING = [
    "v.reshape(2, 3, 4)", "v.reshape(2, 3, 4).T", "v.reshape(2, 3, 4).transpose(1, 2, 0)",
    "v.reshape(2, 3, 4)[:, ::-1]", "v.reshape(2, 3, 4)[::-1, :, ::-1].T", "np.broadcast_to(v[:3], (2, 3))",
    "np.broadcast_to(v[:3], (2, 3)).T", "np.broadcast_to(v[:3].reshape(3, 1), (4, 3, 2)).transpose(2, 1, 0)",
    "v.reshape(4, 6)[::2, ::3].T", "np.asfortranarray(v.reshape(4, 6))",
    "v.reshape(2, 1, 3, 4)[:, :, ::2].transpose(3, 1, 0, 2)",
    "np.lib.stride_tricks.sliding_window_view(v[:6], 3).T", "v[::-5]",
]  # fmt: skip
CALLS = [
    *(f"a.ravel('{order}')" for order in "KAFC"), *(f"a.flatten('{order}')" for order in "KAFC"),
    *(f"a.reshape(-1, order='{order}')" for order in "AFC"), *(f"a.copy('{order}').ravel('K')" for order in "KAFC"),
    *(f"np.ravel(a, order='{order}')" for order in "KAFC"), *(f"np.reshape(a, -1, order='{order}')" for order in "AFC"),
    *(f"np.array(a, order='{order}').ravel('K')" for order in "KAFC"), "np.append(a, v[0])", "np.roll(a, 1).ravel('K')",
    *(f"np.copy(a, order='{order}').ravel('A')" for order in "KAFC"), "np.flip(a).ravel('K')", "a.flat[:3]",
    "a.astype(v.dtype).ravel('K')", "a.astype(v.dtype, order='A').ravel('K')", "a.repeat(2, axis=0).ravel('K')",
    "np.concatenate([a, a]).ravel('K')", "np.compress([True, False], a)", "a.take([0, 1], axis=0).ravel('K')",
    "np.where(np.ones(a.shape, bool), a, 0).ravel('K')", "np.nan_to_num(a).ravel('K')", "(a * 2.0).ravel('K')",
    "np.full_like(a, v[1]).ravel('K')", "np.delete(a, 0, axis=0).ravel('K')", "np.pad(a, 1).ravel('K')",
    "np.moveaxis(a, 0, -1).copy('K').ravel('K')", "np.atleast_3d(a).ravel('K')", "np.einsum('...->...', a).ravel('K')",
]  # fmt: skip


@pytest.mark.parametrize("lying", LYING)
@pytest.mark.parametrize("kind", KINDS)
def test_elements_come_in_the_plain_run_s_order(kind, lying):
    module = {"np": np, "__name__": "order"}
    exec(f"def f(x):\n    v = {KINDS[kind]}\n    a = {lying}\n    return [{', '.join(CALLS)}]", module)
    f, x, rng = module["f"], np.arange(1.0, 25.0) / 10.0, np.random.default_rng(5)
    plain = f(x)
    weights = [rng.uniform(-1.0, 1.0, y.shape) for y in plain]
    with codipy.Tape() as tape:
        for text, y, expected in zip(CALLS, codipy.rebind(f)(tape.register_input(codipy.Array(x))), plain):
            assert np.array_equal(codipy.value(y), expected), text
            assert y.dtype == expected.dtype and y.flags.c_contiguous == expected.flags.c_contiguous, text

    def total(x):
        return sum(np.sum(y.real * w) + (np.sum(y.imag * w[::-1]) if kind == "complex" else 0.0)
                   for y, w in zip(f(x), weights))

    # A polynomial of second degree at most, of which central differences are exact but for rounding.
    steps = 0.5 * np.eye(x.size)
    slopes = [float(total(x + s) - total(x - s)) for s in steps]
    rtol, atol = (1e-4, 1e-3) if kind == "single" else (1e-9, 1e-9)
    np.testing.assert_allclose(codipy.grad(total)(x), slopes, rtol, atol)
    np.testing.assert_allclose(codipy.jvp(total, (x,), (steps[3],))[1], 0.5 * slopes[3], rtol, atol)
