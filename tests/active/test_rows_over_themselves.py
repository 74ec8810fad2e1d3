# SPDX-License-Identifier: Apache-2.0
"""A row written from another one of the same array that it overlaps: NumPy moves elements one by one, some too late."""

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

SLICES = [slice(a, b, c) for a in (0, 1, 5, 8) for b in (12, 15, 29) for c in (1, 2, 3)]
SLICES += [slice(a, b, c) for a in (29, 20) for b in (None, 3) for c in (-1, -2, -3)]
PAIRS = [(k, m) for k in SLICES for m in SLICES if k != m and len(range(*k.indices(30))) == len(range(*m.indices(30)))]
SHORTER = [(k, m) for k in SLICES for m in SLICES if 1 < len(range(*m.indices(30))) < len(range(*k.indices(30)))]


def moved(x, target, source):
    m = np.sin(np.arange(30.0) * x)
    m[target] = m[source][: m[target].size]
    return m


def written(x, target, source):
    n = len(range(*source.indices(30)))
    m = np.sin(np.arange(30.0) * x)
    m[target][:n] = m[source]
    return m


@each_strategy
def test_rows_and_columns(strategy):
    def program(x):
        m = np.sin(np.arange(25.0) * x).reshape(5, 5)
        m[3] = m[:, 4]
        m[:, 1] = m[2]
        m.T[0, 1:] = m[1:, 2][::1]
        m[::-1, 3] = m[4]
        return m

    value, slope = codipy.jvp(program, (0.7,), (1.0,), strategy=strategy)
    assert np.array_equal(value, program(0.7))
    np.testing.assert_allclose(slope, program(0.7 + 1e-30j).imag / 1e-30, rtol=1e-13)
    value, pull = codipy.vjp(program, 0.7, strategy=strategy)
    weights = np.cos(np.arange(25.0)).reshape(5, 5)
    assert np.array_equal(value, program(0.7)) and pull(weights)[0] == pytest.approx(np.sum(weights * slope))


@pytest.mark.parametrize("program, pairs", [(moved, PAIRS), (written, SHORTER)])
def test_all_pairs_of_slices(program, pairs):
    assert len(pairs) > 50
    for target, source in pairs:
        value, slope = codipy.jvp(program, (0.7, target, source), (1.0,), argnums=0)
        assert np.array_equal(value, program(0.7, target, source)), (target, source)
        expected = program(0.7 + 1e-30j, target, source).imag / 1e-30
        np.testing.assert_allclose(slope, expected, rtol=1e-13, atol=1e-14, err_msg=f"{target} {source}")
        backward = codipy.grad(lambda x, k, m: np.sum(program(x, k, m) ** 2))(0.7, target, source)
        assert backward == pytest.approx(2.0 * np.sum(value * slope), rel=1e-11)


def test_single_precision():
    def program(x):
        m = np.sin(np.arange(30, dtype=np.float32) * x)
        m[0:20:2] = m[5:15]
        m[5:15] = m[0:20:2]
        return m

    x = np.float32(0.7)
    assert np.array_equal(codipy.vjp(program, x)[0], program(x))


def test_complex_numbers():
    def program(x):
        m = np.exp(1j * np.arange(25.0) * x).reshape(5, 5)
        m[3] = m[:, 4]
        m[:, 1] = m[2]
        m[::-1, 3] = m[4]
        return m

    assert np.array_equal(codipy.vjp(program, 0.7)[0], program(0.7))
    value, slope = codipy.jvp(program, (0.7,), (1.0,))
    assert np.array_equal(value, program(0.7))
    np.testing.assert_allclose(slope, (program(0.7 + 1e-6) - program(0.7 - 1e-6)) / 2e-6, atol=1e-7)


def masked(x, wanted, source):
    a = np.sin(np.arange(10.0) * x)
    m = np.array([1, 1, 0, 1, 1, 0, 1, 1, 0, 0], bool)
    view = a[wanted]
    view[m] = a[source][: m.sum()]
    return a


def placed(x, wanted, source):
    a = np.sin(np.arange(10.0) * x)
    m = np.array([1, 1, 0, 1, 1, 0, 1, 1, 0, 0], bool)
    np.place(a[wanted], m, a[source])
    return a


def transposed(x, wanted, source):
    a = np.sin(np.arange(10.0) * x)
    b = a[wanted][:8].reshape(2, 4).T
    m = np.array([[1, 0], [1, 1], [0, 1], [1, 1]], bool)
    b[m] = a[source][: m.sum()]
    return a


@pytest.mark.parametrize("program", [masked, placed, transposed])
@pytest.mark.parametrize("wanted", [slice(None), slice(None, None, -1)])
@pytest.mark.parametrize("source", [slice(0, 6), slice(1, 7), slice(3, 9), slice(7, 1, -1), slice(0, 1), slice(4, 99)])
def test_masks_read_what_they_wrote(program, wanted, source):
    """NumPy assigns by a mask, as `np.place` does, without a copy of what overlaps."""
    try:
        expected = program(0.7, wanted, source)
    except (ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            codipy.jvp(lambda x: program(x, wanted, source), (0.7,), (1.0,))
        return
    value, slope = codipy.jvp(lambda x: program(x, wanted, source), (0.7,), (1.0,))
    assert np.array_equal(value, expected)
    np.testing.assert_allclose(slope, program(0.7 + 1e-30j, wanted, source).imag / 1e-30, rtol=1e-13, atol=1e-300)
    value, pull = codipy.vjp(lambda x: program(x, wanted, source), 0.7)
    weights = np.cos(np.arange(10.0))
    assert np.array_equal(value, expected) and pull(weights)[0] == pytest.approx(np.sum(weights * slope))
