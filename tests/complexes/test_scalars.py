# SPDX-License-Identifier: Apache-2.0
"""An element of a complex array has the methods of NumPy's complex scalars, and numbers of two parts are Python's."""

import itertools

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


def bits(z):
    return np.array([codipy.value(z)]).tobytes()


MAKERS = {
    "two": lambda a, b, c, d: complex(complex(a, b), complex(c, d)),
    "a float and one": lambda a, b, c, d: complex(a, complex(c, d)),
    "one and a float": lambda a, b, c, d: complex(complex(a, b), c),
    "one": lambda a, b, c, d: complex(complex(a, b)),
    "NumPy's and a float": lambda a, b, c, d: complex(np.complex128(complex(a, b)), c),
    "a float and NumPy's": lambda a, b, c, d: complex(a, np.complex128(complex(c, d))),
    "NumPy's of parts": lambda a, b, c, d: np.complex128(a, d),
    "singles of parts": lambda a, b, c, d: np.complex64(a, d),
    "by name": lambda a, b, c, d: complex(imag=complex(a, b), real=c),
}


@pytest.mark.parametrize("name", MAKERS)
def test_parts_of_a_complex_number_are_those_of_python(name):
    """Also where they are infinite or nan, and with the sign of zero."""
    make = MAKERS[name]
    for parts in itertools.product([0.0, -0.0, 1.5, np.inf, -np.inf, np.nan], repeat=4):
        numbers = np.array(parts)
        plain = make(*numbers)
        tape = codipy.Tape()
        with tape:
            found = codipy.rebind(lambda x: make(*x))(tape.register_input(numbers))
        assert bits(found) == bits(plain), parts
        assert type(codipy.value(found)) is type(plain)


@pytest.mark.parametrize("name", MAKERS)
def test_slopes_of_a_complex_number_of_parts(name):
    point = np.array([0.5, -1.25, 2.0, 0.75])

    def f(x):
        z = MAKERS[name](*x)
        return z.real * x[3] + 3.0 * z.imag

    slopes = [(f(point + step) - f(point - step)) / 0.5 for step in 0.25 * np.eye(4)]  # of second order, exact
    np.testing.assert_allclose(codipy.grad(f)(point), slopes, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [lambda x: np.complex128(x, 1j), lambda x: np.complex64(1j, x)])
def test_numpys_numbers_of_complex_parts_raise_as_in_numpy(make):
    with pytest.raises(TypeError, match="Could not convert arguments"):
        make(2.0)
    with pytest.raises(TypeError, match="Could not convert arguments"):
        codipy.grad(lambda x: make(x).real)(2.0)
