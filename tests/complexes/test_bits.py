# SPDX-License-Identifier: Apache-2.0
"""Values are NumPy's bit for bit: at every length that a loop treats otherwise, strided, in place, of scalars."""

import numpy as np
import pytest

import codipy

RNG = np.random.default_rng(3)
FUNCTIONS = [
    np.multiply, np.add, np.subtract, np.divide, np.power, np.exp, np.log, np.sqrt, np.sin, np.tanh, np.arcsin,
    np.square, np.reciprocal, np.absolute, np.conjugate, np.angle, np.cumsum, np.cumprod, np.sum, np.prod, np.mean,
    np.fft.fft, np.vdot,
]  # fmt: skip
BINARY = {np.multiply, np.add, np.subtract, np.divide, np.power, np.vdot}


def numbers(n, dtype=np.complex128):
    return (RNG.normal(size=n) + 1j * RNG.normal(size=n)).astype(dtype)


def bits(x):
    return np.asarray(codipy.value(x)).tobytes()


def recorded(function, *arrays):
    with codipy.Tape() as tape:
        return function(*(tape.register_input(x) for x in arrays))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_lengths(function, dtype):
    for n in range(1, 18):
        arrays = [numbers(n, dtype) for _ in range(2 if function in BINARY else 1)]
        found = recorded(function, *arrays)
        expected = function(*arrays)
        assert codipy.value(found).dtype == expected.dtype
        assert bits(found) == bits(expected), n


@pytest.mark.parametrize("index", [np.s_[::2], np.s_[::-1], np.s_[3:], np.s_[:, 1], np.s_[::-3, ::2]], ids=str)
def test_strided(index):
    z, w = numbers((16, 9)), numbers((16, 9))
    for f in (lambda z, w: z * w, lambda z, w: z / w, lambda z, w: np.exp(z) + w, lambda z, w: np.abs(z),
              lambda z, w: z.sum(), lambda z, w: z.sum(0), lambda z, w: (z.T * w.T).sum()):  # fmt: skip
        assert bits(recorded(lambda z, w, f=f: f(z[index], w[index]), z, w)) == bits(f(z[index], w[index]))


def test_layouts():
    z = np.asfortranarray(numbers((7, 5)))
    for f in (np.sum, np.mean, lambda z: (z * z).sum(), lambda z: np.exp(z).ravel("K"), lambda z: np.std(z)):
        assert bits(recorded(f, z)) == bits(f(z))


def test_in_place():
    def f(z, w):
        z *= w
        z += 1j
        z /= w[::-1]
        z -= 2.5
        z **= 2
        z[1:] *= z[:-1]
        z.real += z.imag
        z[:3] = w[0]
        return z

    for n in range(3, 18):
        z, w = numbers(n), numbers(n)
        assert bits(recorded(lambda z, w: f(z * 1, w), z, w)) == bits(f(z * 1, w))


SCALARS = [1.5 - 0.3j, np.complex128(0.2 + 1.7j), np.complex64(1.1 - 0.4j), 2.5, np.float64(-0.7), np.float32(0.3), 3]


OPERATORS = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y,
    "**": lambda x, y: x**y,
}  # fmt: skip


@pytest.mark.parametrize("function", OPERATORS.values(), ids=OPERATORS)
def test_scalars(function):
    for x in SCALARS:
        for y in SCALARS:
            if not (isinstance(x, (complex, np.complexfloating)) or isinstance(y, (complex, np.complexfloating))):
                continue
            with codipy.Tape() as tape:
                u = tape.register_input(x if isinstance(x, (complex, np.complexfloating)) else codipy.Real(x))
                found = function(u, y)
                other = function(x, tape.register_input(y if np.iscomplexobj(y) else codipy.Real(y)))
            expected = function(x, y)
            assert bits(found) == bits(expected) and type(codipy.value(found)) is type(expected), (x, y)
            assert bits(other) == bits(expected) and type(codipy.value(other)) is type(expected), (x, y)


@pytest.mark.parametrize("function", list(OPERATORS.values())[:4])
def test_infinite_scalars(function):
    special = [complex(a, b) for a in (0.0, -0.0, np.inf, np.nan, 1.0) for b in (0.0, -0.0, -np.inf, 2.0)]
    for x in special:
        for y in (2.0 - 1.0j, complex(np.inf, 1.0), -0.0 + 0.0j, 3.0):
            try:
                expected = function(x, y)
            except ZeroDivisionError:
                continue
            with codipy.Tape() as tape:
                found = function(tape.register_input(x), y)
            assert repr(codipy.value(found)) == repr(expected)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_squares_of_scalars_have_the_operators_bits(dtype):
    for z in numbers(50, dtype):
        found = recorded(lambda z: np.square(z[0]), z[None])
        assert codipy.value(found).dtype == dtype
        assert bits(found) == bits(np.square(z))


@pytest.mark.parametrize("spacing", [(0.1,), (np.array([0.0, 0.3, 0.7, 1.0]),), (np.float64(0.3),)], ids=str)
@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradients_of_single_precision_stay_single(spacing, edge_order):
    z = np.outer(numbers(4), numbers(4)).astype(np.complex64)
    for axis in (0, 1):

        def f(z, axis=axis):
            return np.gradient(z, *spacing, axis=axis, edge_order=edge_order)

        found, expected = recorded(f, z), f(z)
        assert codipy.value(found).dtype == expected.dtype
        assert bits(found) == bits(expected)


def test_extremes_write_into_out():
    z = np.reshape(numbers(12), (3, 4))
    for function in (np.max, np.min, np.ptp, np.median, np.round):
        axis = {} if function is np.round else {"axis": 0}

        def f(z, function=function, axis=axis):
            out = np.zeros(np.shape(function(z, **axis)), complex)
            function(z, **axis, out=out)
            return out

        assert bits(codipy.vjp(f, z)[0]) == bits(f(z)), function


def _into_columns(z):
    out = np.zeros(z.shape[::-1], z.dtype).T[:, ::2]
    np.square(z[:, ::2], out=out)
    return out


def _into_itself(z):
    z = z * 1.0
    np.square(z[1:8, ::2], out=z[1:8, ::2])
    return z


def _in_place(z):
    z = z * 1.0
    part = z[::-1, ::2]
    part **= 2
    return z


def _where(z):
    z = z * 1.0
    np.square(z[::-1, ::2], out=z[::-1, ::2], where=z.real[:, ::2] > 0.0)
    return z


def _over_neighbours(z):
    z = z * 1.0
    np.square(z[:-2, ::2], out=z[2:, 1::2])
    return z


@pytest.mark.parametrize("f", [_into_columns, _into_itself, _in_place, _where, _over_neighbours])
@pytest.mark.parametrize("kind", [np.complex128, np.complex64])
def test_squares_from_steps_to_steps_have_the_bits_of_that_loop(f, kind):
    z = np.reshape(numbers(9 * 40), (9, 40)).astype(kind)
    assert bits(codipy.vjp(f, z)[0]) == bits(f(z))
    if kind is np.complex128:
        codipy.check_derivatives(lambda x: np.sum(np.abs(f(z * x)) ** 2), 1.1)
