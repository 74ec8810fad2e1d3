# SPDX-License-Identifier: Apache-2.0
"""An element of a complex array has the methods of NumPy's complex scalars."""

import numpy as np
import pytest

import codipy

POINT = np.array([0.7 - 1.2j, 2.0 + 0.5j])
TEXTS = [
    "z.sum()", "z.mean()", "z.prod()", "z.max()", "z.copy()", "z.T", "z.transpose()", "z.squeeze()", "z.conj()",
    "z.reshape(1)[0]", "z.ravel()[0]", "z.flatten()[0]", "z.repeat(2)[1]", "z.astype(np.complex64)",
    "z.clip(0.1, 1 + 2j)", "z.item() * 2", "z.tolist() * 3", "z.cumsum()[0]", "z * z.size", "z.take(0)",
    "z.view(complex)", "z.flat[0]",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_methods(text):
    code = compile(text, text, "eval")

    def f(z):
        found = eval(code, {"z": z[0], "np": np})
        return found.real * 2.0 + found.imag * found.real

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    steps = [1e-6, 1e-6j]
    expected = [(f(POINT + [h, 0]) - f(POINT - [h, 0])) / 2e-6 for h in steps]
    if "64" in text:
        expected = [2.0 + POINT[0].imag, POINT[0].real]
    assert [gradient[0].real, gradient[0].imag] == pytest.approx(expected, rel=1e-6)
    assert gradient[1] == 0.0


def test_numbers_of_python_have_none_of_them():
    def f(z):
        with pytest.raises(AttributeError, match="'complex' object has no attribute 'sum'"):
            z.tolist()[0].sum()
        return abs(z[0])

    codipy.grad(f)(POINT)
