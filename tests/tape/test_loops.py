# SPDX-License-Identifier: Apache-2.0
"""Loops that rules ask for give NumPy's answers, and leave to it what does not lie in the order of C."""

import numpy as np
import pytest

from codipy.tape.records.loops import (
    first_place,
    interpolated_back,
    products_of_others,
    shares_of_logs,
    sorted_places,
    taken,
)

DRAW = np.random.default_rng(23)
ODD = [DRAW.standard_normal((3, 4)).T, DRAW.standard_normal((4, 6))[:, ::2], np.ones((4, 3), np.float32)]


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 5000])
def test_the_first_place(size):
    values = np.round(DRAW.standard_normal(size), 1)
    for number in (0.0, -0.0, 0.5, np.nan, np.inf):
        hits = np.flatnonzero(values == number)
        assert first_place(values, number) == (hits[0] if hits.size else -1)
    assert [first_place(x, x.flat[-1]) for x in ODD] == [-1, -1, -1]


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (4, 4), (3, 0), (2, 3, 64), (2, 65)])
def test_sorted_places(shape):
    values = np.round(DRAW.standard_normal(shape), 1)      # with equal elements
    values[values == 0.5] = -0.0
    found = sorted_places(values)
    if shape[-1] > 64:
        assert found is None
        return
    rows = values.argsort(-1, "stable")
    starts = np.arange(values.size).reshape(shape)[..., :1]
    assert found.dtype == np.intp and found.tolist() == (rows + starts).tolist()
    assert np.array_equal(values.reshape(-1)[found], np.sort(values, -1))
    if values.size:
        values.reshape(-1)[-1] = np.nan
        assert sorted_places(values) is None
    assert all(sorted_places(x) is None for x in [*ODD, np.array(1.0)])


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4)])
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_of_others(shape, zeros):
    values = np.asarray(DRAW.standard_normal(shape))
    values.reshape(-1)[:zeros] = 0.0
    flat = values.reshape(-1)
    expected = [2.0 * np.prod(np.delete(flat, k)) for k in range(flat.size)]
    np.testing.assert_allclose(products_of_others(values, 2.0), np.reshape(expected, shape), rtol=1e-14)
    assert all(products_of_others(x, 1.0) is None for x in ODD)


def test_slopes_of_interpolated_values():
    knots = np.array([0.0, 1.0, 1.5, 4.0])
    values = np.array([1.0, 3.0, 3.0, -2.0])
    x = np.array([-0.5, 0.0, 0.5, 1.0, 1.25, 1.5, 4.0, 4.5, np.inf, -np.inf, 0.25])
    slopes = [0.0, 2.0, 2.0, 0.0, 0.0, -2.0, -2.0, 0.0, 0.0, 0.0, 2.0]
    g = np.arange(11.0) - 10.0
    assert interpolated_back(g, x, knots, values).tolist() == (np.array(slopes) * g).tolist()
    jump = np.array([0.0, 1.0, 1.0, 4.0])
    assert interpolated_back(np.zeros(1), np.array([1.0]), jump, values).tolist() == [0.0]
    assert interpolated_back(g[::2], x[::2], knots, values) is None


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("keepdims", [False, True])
def test_shares_of_logs(axis, keepdims):
    a = DRAW.standard_normal((2, 3, 4))
    out = np.logaddexp.reduce(a, axis=axis, keepdims=keepdims)
    g = DRAW.standard_normal(out.shape)
    kept = (lambda x: x) if keepdims else (lambda x: np.expand_dims(x, axis))
    np.testing.assert_allclose(shares_of_logs(g, out, a, axis), np.exp(a - kept(out)) * kept(g), rtol=1e-14)
    out.reshape(-1)[1] = -np.inf
    assert shares_of_logs(g, out, a, axis) is None
    assert shares_of_logs(g, out, a.T, axis) is None


def test_taken():
    values, places = DRAW.standard_normal(9), np.arange(20).reshape(4, 5) % 9
    assert taken(values, places, -1.0).tolist() == (-values[places]).tolist()
    assert taken(values, places - 1, 1.0) is None
    assert taken(values, places + 1, 1.0) is None
    assert taken(values[::2], places // 2, 1.0) is None
    assert taken(values, places.T, 1.0) is None
