# SPDX-License-Identifier: Apache-2.0
"""The pool keeps what streams give back, within its bound, and hands it out again."""

import pytest

from codipy.data import (
    Stream,
    bytes_outstanding,
    clear_pool,
    fail_after,
    pool_bytes,
    pool_limit,
    set_pool_limit,
)


@pytest.fixture(autouse=True)
def empty_pool():
    limit = pool_limit()
    clear_pool()
    yield
    set_pool_limit(limit)
    clear_pool()


def filled(items, chunk_size=None):
    stream = Stream("doubles", ["f8"], chunk_size)
    for _ in range(items):
        stream.py_reserve(1)
        stream.py_push(1.0)
    return stream


def address(stream):
    return stream.chunk_views(0)[0].ctypes.data


def test_a_block_is_used_again():
    stream = filled(1, 1000)
    where = address(stream)
    outstanding = bytes_outstanding()
    stream.reset_hard()
    assert pool_bytes() == 8000
    assert bytes_outstanding() < outstanding - 8000 + 1
    again = filled(1, 1000)
    assert address(again) == where
    assert pool_bytes() == 0


def test_only_a_block_of_the_same_size_is_used():
    filled(1, 1000).reset_hard()
    filled(1, 1001)
    assert pool_bytes() == 8000 + 8064  # 8008 bytes, padded to 64


def test_small_blocks_are_left_to_the_c_library():
    filled(100, 1).reset_hard()
    assert pool_bytes() == 0


def test_the_bound_holds_and_the_oldest_goes_first():
    set_pool_limit(40_000)
    streams = [filled(1, 1000 + 8 * i) for i in range(10)]
    for stream in streams:
        stream.reset_hard()
        assert pool_bytes() <= 40_000
    assert pool_bytes() == sum(8 * (1000 + 8 * i) for i in range(6, 10))
    set_pool_limit(10_000)
    assert pool_bytes() == 8 * (1000 + 8 * 9)
    filled(1, 10_000).reset_hard()  # larger than the whole pool: it does not empty it in vain
    assert pool_bytes() == 8 * (1000 + 8 * 9)
    set_pool_limit(0)
    assert pool_bytes() == 0
    filled(1, 1000).reset_hard()
    assert pool_bytes() == 0


def test_sizes_that_change_do_not_fill_the_pool():
    held = bytes_outstanding()
    for items in range(1 << 20, (1 << 20) + 40 * 8192, 8192):
        filled(1, items).reset_hard()
        assert 8 * items <= pool_bytes() <= 1.25 * (held + 8 * items + 64)
    clear_pool()
    for items in range(1 << 17, (1 << 17) + 40 * 8192, 8192):  # what was in use before is over
        filled(1, items).reset_hard()
        assert pool_bytes() <= max(4 << 20, 1.25 * (held + 8 * items + 64))


def test_many_sizes_in_one_bin():
    streams = [filled(1, 1024 + 8 * i) for i in range(60)]
    for stream in streams:
        stream.reset_hard()
    waiting = pool_bytes()
    for i in range(60):  # from the middle of the lists as well as from their ends; those too deep are new blocks
        filled(1, 1024 + 8 * ((i * 7) % 60)).reset_hard()
    assert pool_bytes() >= waiting
    clear_pool()
    assert pool_bytes() == 0


def test_large_blocks_are_aligned_to_huge_pages():
    stream = filled(1, 1 << 18)
    assert address(stream) % (1 << 21) == 0
    assert address(filled(1, 100)) % 64 == 0


def test_bad_arguments():
    with pytest.raises(ValueError, match="nbytes must be 0 or more"):
        set_pool_limit(-1)
    with pytest.raises(TypeError):
        set_pool_limit(1.5)
    with pytest.raises(ValueError, match="n must be 0 or more, or None"):
        fail_after(-1)
