# SPDX-License-Identifier: Apache-2.0
"""Views between pairs and complex numbers, beside those that NumPy makes."""

import numpy as np
import pytest

from codipy.complexes.pairs import complex_of_pairs, pairs_of_complex

Z = np.random.default_rng(1).normal(size=(4, 3, 2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seen", [
    lambda p: p, lambda p: p[::2], lambda p: p[:, ::-1], lambda p: p.transpose(1, 0, 2), lambda p: p[0, 0],
    lambda p: p[..., ::-1], lambda p: np.asfortranarray(p), lambda p: np.zeros((3, 0, 2), p.dtype)[..., ::-1],
])  # fmt: skip
def test_both_ways(seen, dtype):
    pairs = seen(Z.astype(dtype))
    z = complex_of_pairs(pairs)
    expected = pairs[..., 0] + 1j * pairs[..., 1]
    assert z.dtype == expected.dtype
    np.testing.assert_array_equal(z, expected)
    assert np.shares_memory(z, pairs) == (pairs.strides[-1] == pairs.itemsize and pairs.size > 0)
    back = pairs_of_complex(z)
    assert back.dtype == pairs.dtype
    np.testing.assert_array_equal(back, pairs)
    assert np.shares_memory(back, z) == (pairs.size > 0)


def test_what_is_read_only_stays_so():
    pairs = Z.copy()
    pairs.flags.writeable = False
    assert not pairs_of_complex(complex_of_pairs(pairs)).flags.writeable


def test_other_numbers_are_copied():
    np.testing.assert_array_equal(pairs_of_complex([1, 2j]), [[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(pairs_of_complex(complex_of_pairs(Z).astype(">c16")), Z)
    with pytest.raises(TypeError, match="float64 or float32"):
        complex_of_pairs(np.zeros((2, 2), int))
