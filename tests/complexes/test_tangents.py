# SPDX-License-Identifier: Apache-2.0
"""Tangents of complex variables on a tape of the strategy `forward`, in any number of directions; adjoints likewise."""

import numpy as np
import pytest

import codipy
from codipy.errors import NoTangent, TapeError
from tests.strategies import each_strategy

Z = np.array([0.4 + 0.3j, -0.7 + 1.1j, 0.2 - 0.6j])
WIDTHS = range(1, 9)


def of_arrays(z):
    """In-place writes, a view of parts, a rule of arrays, elements."""
    u = np.exp(-z * z) + z
    u[0] = u[1] * z[2]
    u[1:] += u[:-1] * 0.5j
    u.imag[2] = np.abs(u[0])
    return np.fft.fft(u) * u[1]


def of_numbers(z):
    """Operators, functions and parts."""
    u = z
    for _ in range(4):
        u = u * z / (1.0 + abs(u)) + codipy.cmath.sin(z) - 0.25j * u.real
    return u


def seeds(shape, width):
    random = np.random.default_rng(width)
    shape = shape + ((width,) if width > 1 else ())
    return random.normal(size=shape) + 1j * random.normal(size=shape)


def along(f, point, width, seed):
    """The tangents of f as codipy carries them."""
    tape = codipy.Tape("forward", width=width)
    with tape:
        z = tape.register_input(point)
        z.tangent = seed
        if np.shape(seed) == np.shape(z.tangent):
            np.testing.assert_array_equal(z.tangent, seed)
        return tape.register_output(f(z)).tangent


def differences(f, z, seed, width):
    columns = seed[..., None] if width == 1 else seed
    found = [(f(z + 1e-6 * columns[..., k]) - f(z - 1e-6 * columns[..., k])) / 2e-6 for k in range(width)]
    return found[0] if width == 1 else np.stack(found, axis=-1)


@pytest.mark.parametrize("width", WIDTHS)
def test_arrays(width):
    seed = seeds(Z.shape, width)
    found = along(of_arrays, Z, width, seed)
    assert found.shape == seed.shape and found.dtype == complex
    np.testing.assert_allclose(found, differences(of_arrays, Z, seed, width), rtol=1e-7)


@pytest.mark.parametrize("width", WIDTHS)
def test_arrays_of_single_precision(width):
    seed = seeds(Z.shape, width).astype(np.complex64)
    found = along(of_arrays, Z.astype(np.complex64), width, seed)
    np.testing.assert_allclose(found, differences(of_arrays, Z, seed.astype(complex), width), rtol=1e-4)


@pytest.mark.parametrize("kind", [complex, np.complex128])
@pytest.mark.parametrize("width", WIDTHS)
def test_numbers(width, kind):
    seed = seeds((), width)
    found = along(of_numbers, kind(Z[0]), width, seed)
    assert type(found) is complex if width == 1 else found.shape == (width,)
    np.testing.assert_allclose(found, differences(of_numbers, Z[0], seed, width), rtol=1e-7)


def test_one_seed_for_all_directions_and_for_all_elements():
    whole = along(of_arrays, Z, 2, np.stack([np.full(3, 2.0 + 1.0j)] * 2, axis=-1))
    np.testing.assert_array_equal(along(of_arrays, Z, 2, 2.0 + 1.0j), whole)
    np.testing.assert_array_equal(along(of_arrays, Z, 2, np.full(3, 2.0 + 1.0j)), whole)
    of_one = along(of_numbers, Z[0], 3, np.full(3, 2.0))
    np.testing.assert_array_equal(along(of_numbers, Z[0], 3, 2.0), of_one)


def test_of_two_parts_one_may_be_passive():
    tape = codipy.Tape("forward", width=2)
    with tape:
        x = tape.register_input(3.0)
        x.tangent = [1.0, 2.0]
        for z, expected in ((codipy.Complex(x, 2.0), [1.0, 2.0]), (codipy.Complex(2.0, x), [1.0j, 2.0j])):
            assert z.tangent.tolist() == expected
        with pytest.raises(NoTangent, match="passive"):
            _ = codipy.Complex(1.0, 2.0).tangent


def test_a_seed_is_set_for_both_parts_or_for_none():
    tape = codipy.Tape("forward")
    with tape:
        z = tape.register_input(1.0 + 2.0j)
        z.tangent = 3.0 + 4.0j
        _ = z.imag * 2.0
        with pytest.raises(TapeError, match="before the input is used"):
            z.tangent = 5.0
        assert z.tangent == 3.0 + 4.0j


@pytest.mark.parametrize(("seed", "error"), [
    ("1", TypeError), (None, TypeError), ([1.0, 2.0], ValueError), (np.ones((2, 3)), ValueError),
    (np.ones((3, 2, 2)), ValueError),
])  # fmt: skip
def test_seeds_of_another_form_are_refused(seed, error):
    tape = codipy.Tape("forward", width=3)
    with tape:
        z, a = tape.register_input(1.0 + 2.0j), tape.register_input(Z)
        for x in (z, a):
            with pytest.raises(error, match="tangent: a seed must"):
                x.tangent = seed


def test_other_tapes_say_why_there_is_no_tangent():
    tape = codipy.Tape("primal")
    with tape:
        for z in (tape.register_input(1.0 + 2.0j), tape.register_input(Z)):
            assert not hasattr(z, "tangent")
            with pytest.raises(NoTangent, match="strategy='primal'"):
                _ = z.tangent


def test_gradients_take_complex_numbers_only():
    tape = codipy.Tape()
    with tape:
        z = tape.register_output(tape.register_input(1.0 + 2.0j) * 2.0)
    for seed in ("1", None, [1.0]):
        with pytest.raises(TypeError, match="gradient: a seed must be"):
            z.gradient = seed
    z.gradient = 1.0 + 2.0j
    assert z.gradient == 1.0 + 2.0j
    with pytest.raises(TapeError, match="no gradient, it is passive"):
        _ = codipy.Complex(1.0, 2.0).gradient


@each_strategy
def test_external_vectors_take_parts(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        z, a = tape.register_input(1.5 + 0.5j), tape.register_input(Z)
        y = tape.register_output(z * a)
    adjoints = tape.new_adjoints(width=2)
    for x in (z, y):
        with pytest.raises(TypeError, match=r"x is complex.*take x\.real and x\.imag"):
            _ = adjoints[x]
        with pytest.raises(TypeError, match=r"x is complex"):
            adjoints[x] = 1.0
    adjoints[y.real], adjoints[y.imag] = np.outer([1.0, 0.0, 0.0], [1.0, 0.0]), np.outer([0.0, 1.0, 0.0], [0.0, 1.0])
    tape.evaluate(adjoints=adjoints)
    # dRe(y0) is the real part of a0 dz + z da0, dIm(y1) the imaginary part of a1 dz + z da1.
    np.testing.assert_allclose(adjoints[z.real], [Z[0].real, Z[1].imag], rtol=1e-14)
    np.testing.assert_allclose(adjoints[z.imag], [-Z[0].imag, Z[1].real], rtol=1e-14)
    np.testing.assert_allclose(adjoints[a.real], [[1.5, 0.0], [0.0, 0.5], [0.0, 0.0]], rtol=1e-14)
    np.testing.assert_allclose(adjoints[a.imag], [[-0.5, 0.0], [0.0, 1.5], [0.0, 0.0]], rtol=1e-14)
