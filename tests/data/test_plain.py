# SPDX-License-Identifier: Apache-2.0
"""Plain arrays in memory of the pool."""
import gc

import numpy as np
import pytest

from codipy.data.plain import pooled_array
from codipy.data.pool import clear_pool


@pytest.mark.parametrize("size", [0, 1, 511, 512, 100_000])
def test_memory_of_an_array_lives_as_long_as_the_array_and_its_views(size):
    array = pooled_array(size)
    assert array.shape == (size,) and array.dtype == np.float64 and array.flags.writeable and array.flags.aligned
    array[:] = np.arange(size)
    view = array[size // 2:]
    del array
    gc.collect()
    other = pooled_array(size)
    other[:] = -1.0
    assert np.array_equal(view, np.arange(size)[size // 2:])


def test_memory_is_used_again():
    clear_pool()
    address = pooled_array(10_000).ctypes.data
    assert pooled_array(10_000).ctypes.data == address


def test_sizes_are_not_negative():
    with pytest.raises(ValueError, match="-1"):
        pooled_array(-1)
