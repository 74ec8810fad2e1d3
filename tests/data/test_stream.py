# SPDX-License-Identifier: Apache-2.0
"""Streams one promise at a time: growth, reuse, views, bulk data, locks, nesting, and what bad arguments get."""

import copy
import pickle

import numpy as np
import pytest

from codipy.data import Stream
from codipy.errors import CorruptTape, TapeError
from tests.data.twin import Twin, recorded


def push(stream, *values):
    for value in values:
        stream.py_reserve(1)
        stream.py_push(value)


def test_a_small_stream_costs_little_and_a_large_one_has_few_chunks():
    stream = Stream("doubles", ["f8"])
    assert (stream.items, stream.chunks, stream.bytes_allocated, stream.bytes_tables) == (0, 0, 0, 0)
    push(stream, *range(10))
    assert stream.bytes_allocated == 1024
    assert stream.bytes_tables <= 1024
    for _ in range(100):
        stream.extend(np.zeros(1 << 17))
    assert stream.chunks < 30
    stream._check()


def test_chunks_double_up_to_a_bound():
    stream = Stream("bytes", ["u1"])
    sizes = []
    while stream.chunks < 18:
        before = stream.bytes_allocated
        stream.py_reserve(1)
        sizes.append(stream.bytes_allocated - before)
        stream.extend(np.zeros(max(sizes[-1], 1), "u1"))
    assert sizes == [1024 << min(c, 14) for c in range(18)]


def test_growing_chunks_of_several_fields_fill_their_block():
    stream = Stream("entries", ["f8", "i4", "u1"])
    stream.py_reserve(1)
    count = 0
    while stream.bytes_allocated == 1024:
        stream.extend([1.0], [2], np.array([3], "u1"))
        stream.py_reserve(1)
        count += 1
    assert 1024 - 3 * 64 < count * stream.item_bytes <= 1024
    assert stream.bytes_allocated == 1024 + 2048
    stream._check()


def test_a_fixed_chunk_size_is_exact():
    stream = Stream("doubles", ["f8"], 1024)
    push(stream, 1.0)
    assert (stream.bytes_used, stream.bytes_allocated) == (8, 8192)
    both = Stream("entries", ["f8", "i4"], np.int64(1024))
    both.extend([1.0], [1])
    assert (both.bytes_used, both.bytes_allocated, both.chunk_size) == (12, 12288, 1024)


def test_reset_keeps_chunks_and_uses_them_again():
    stream = Stream("doubles", ["f8"], 4)
    push(stream, *range(10))
    for _ in range(3):
        stream.reset()
        assert (stream.items, stream.chunks, stream.chunks_allocated) == (0, 0, 3)
        assert stream.bytes_allocated == 3 * 64
        push(stream, *range(10))
        assert (stream.chunks, stream.chunks_allocated) == (3, 3)
        stream._check()
    stream.reset_hard()
    assert (stream.chunks_allocated, stream.bytes_allocated, stream.bytes_tables) == (0, 0, 0)
    push(stream, 1.0)
    stream._check()


def test_a_kept_chunk_that_is_too_small_is_replaced():
    stream = Stream("doubles", ["f8"], 4)
    push(stream, *range(10))
    stream.reset()
    stream.extend(range(3))
    stream.extend(range(50))
    assert (stream.chunks, stream.items) == (2, 53)
    assert stream.bytes_allocated == 64 + 448 + 64
    stream._check()


def test_views_are_read_only_and_outlive_everything():
    stream = Stream("entries", ["f8", "i4"], 4)
    stream.extend([1.0, 2.0, 3.0], [1, 2, 3])
    values, numbers = stream.chunk_views(0)
    assert (values.tolist(), numbers.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 3])
    assert not values.flags.writeable
    with pytest.raises(ValueError, match=r"WRITEABLE|writ"):
        values.flags.writeable = True
    stream.reset_hard()
    stream.extend([9.0, 9.0, 9.0], [9, 9, 9])
    del stream
    assert (values.tolist(), numbers.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 3])


def test_a_viewed_chunk_is_left_to_its_viewers():
    twin = recorded((4, 4), statements=10, seed=3)
    inner = twin.streams[1]
    views = [(view, view.tolist()) for c in range(inner.chunks) for view in inner.chunk_views(c)]
    twin.root.reset()
    twin.root._check()
    assert inner.chunks_allocated == len(views) // 2 - 1  # the first is let go at once, the others when needed
    for _ in range(30):  # one by one: a chunk too small for a reservation would be replaced for that alone
        inner.extend([9], [9.0])
    twin.root._check()
    assert all(view.tolist() == values for view, values in views)


def test_a_viewed_chunk_is_sealed_at_a_rollback():
    stream = Stream("doubles", ["f8"], 4)
    push(stream, 1.0, 2.0)
    middle = stream.position()
    push(stream, 3.0)
    (view,) = stream.chunk_views(0)
    stream.reset_to(middle)
    stream._check()
    push(stream, 4.0)
    assert view.tolist() == [1.0, 2.0, 3.0]
    assert stream.chunks == 2
    stream._check()
    del view
    stream.reset_to(middle)  # nobody looks any more
    push(stream, 5.0)
    assert stream.chunk_views(0)[0].tolist() == [1.0, 2.0, 5.0]
    stream._check()


def test_a_rollback_to_where_the_stream_is_seals_nothing():
    stream = Stream("doubles", ["f8"], 4)
    push(stream, 1.0)
    (view,) = stream.chunk_views(0)
    stream.reset_to(stream.position())
    push(stream, 2.0)
    assert stream.chunks == 1
    assert view.tolist() == [1.0]


def test_extend_is_one_reservation():
    stream = Stream("entries", ["f8", "i4"], 4)
    stream.extend([0.5, 1.5], [1, 2])
    stream.extend(np.arange(7.0)[::2], np.arange(4))
    stream.extend([], np.array([], "i4"))
    assert [[view.tolist() for view in stream.chunk_views(c)] for c in range(2)] == [
        [[0.5, 1.5], [1, 2]],
        [[0.0, 2.0, 4.0, 6.0], [0, 1, 2, 3]],
    ]
    stream._check()


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        (([1.0],), TypeError, "'entries' has 2 fields, but 1 were given"),
        (([1.0, 2.0], [1]), ValueError, r"one length, but number 1 has shape \(1,\)"),
        ((1.0, 2), ValueError, r"one-dimensional .* number 0 has shape \(\)"),
        (([[1.0]], [1]), ValueError, "one-dimensional"),
        (([1.0], [1.5]), TypeError, "same_kind"),
        (([1j], [1]), TypeError, "same_kind"),
    ],
)
def test_extend_refuses(arrays, error, message):
    stream = Stream("entries", ["f8", "i4"], 4)
    with pytest.raises(error, match=message):
        stream.extend(*arrays)
    assert stream.items == 0


def test_pushes_are_counted_and_never_more_than_reserved():
    stream = Stream("doubles", ["f8"], 4)
    with pytest.raises(TapeError, match="call py_reserve first"):
        stream.py_push(1.0)
    stream.py_reserve(3)
    stream.py_push(1.0)
    assert (stream.pushed, stream.reserved_left) == (1, 2)
    stream.py_push(2.0)
    stream.py_push(3.0)
    with pytest.raises(TapeError, match="no room reserved"):
        stream.py_push(4.0)
    stream.py_reserve(3)
    stream.reset()
    with pytest.raises(TapeError, match="no room reserved"):
        stream.py_push(4.0)
    stream.py_reserve(1)
    with pytest.raises(ValueError, match="single values, but number 0"):
        stream.py_push([1.0, 2.0])
    with pytest.raises(TypeError, match="has 1 fields, but 2"):
        stream.py_push(1.0, 2.0)
    for n in (-1, -(2**62)):
        with pytest.raises(ValueError, match="n must be 0 or more"):
            stream.py_reserve(n)


def test_locks_are_counted_and_hold_for_the_nest():
    twin = recorded((4, 4), statements=5, seed=1)
    root, inner = twin.streams
    root.lock()
    inner.lock()
    assert root.locked and inner.locked
    root._check()
    for door in (lambda: root.py_reserve(1), lambda: inner.py_reserve(1), lambda: inner.extend([1], [1.0])):
        with pytest.raises(TapeError, match="a sweep is reading this tape; record after it ends"):
            door()
    for door in (root.reset, inner.reset, root.reset_hard, lambda: root.reset_to(twin.positions[0])):
        with pytest.raises(TapeError, match="a sweep is reading this tape; reset after it ends"):
            door()
    root.unlock()
    assert root.locked
    root.unlock()
    with pytest.raises(TapeError, match="unlock without lock"):
        root.unlock()
    twin.check()
    twin.statement([1, 1])
    twin.check()


def test_a_fresh_nest_can_be_locked():
    stream = Stream("doubles", ["f8"])
    stream.lock()
    with pytest.raises(TapeError, match="sweep"):
        stream.py_reserve(1)
    stream.unlock()
    push(stream, 1.0)
    stream._check()


def test_calls_on_a_nested_stream_are_about_the_nest():
    twin = recorded((4, 4, 4), statements=5, seed=1)
    assert [stream.level for stream in twin.streams] == [0, 1, 2]
    assert [stream.depth for stream in twin.streams] == [3, 3, 3]
    assert twin.streams[0].nested is twin.streams[1]
    assert twin.streams[2].position() == twin.root.position()
    twin.streams[1].reset()
    assert [stream.items for stream in twin.streams] == [0, 0, 0]


def test_a_nested_stream_outlives_the_outer_one():
    inner = Stream("inner", ["f8"], 2)
    middle = Stream("middle", ["f8"], 2, inner)
    root = Stream("root", ["f8"], 2, middle)
    for stream in (inner, middle, root):
        push(stream, *range(5))
    position = inner.position()
    del root, stream
    assert [(s.level, s.depth, s.items) for s in (middle, inner)] == [(0, 2, 0), (1, 2, 0)]
    with pytest.raises(TapeError, match="another tape"):
        middle.reset_to(position)
    push(inner, *range(5))
    middle._check()
    _root = Stream("root", ["f8"], 2, Stream("new", ["f8"]))
    del middle
    assert (inner.level, inner.depth, inner.items) == (0, 1, 0)
    outer = Stream("outer", ["f8"], 2, inner)
    push(inner, *range(5))
    outer._check()


def test_nesting_is_checked():
    inner = Stream("inner", ["f8"])
    push(inner, 1.0)
    with pytest.raises(ValueError, match="'inner' is in use: nest streams before recording"):
        Stream("outer", ["f8"], nested=inner)
    inner.reset()
    outer = Stream("outer", ["f8"], nested=inner)
    with pytest.raises(ValueError, match="'inner' is nested in another stream already"):
        Stream("second", ["f8"], nested=inner)
    with pytest.raises(TypeError, match="nested must be a Stream, not int"):
        Stream("outer", ["f8"], nested=3)
    push(inner, 1.0)
    push(outer, 1.0)
    outer._check()


@pytest.mark.parametrize("size", [0, -1, -(2**70), 2**49, 2**70])
def test_chunk_size_of_no_use(size):
    with pytest.raises(ValueError, match=r"chunk_size must be 1 or more .*give the items per chunk, or None"):
        Stream("doubles", ["f8"], size)


@pytest.mark.parametrize("size", [4.0, True, np.True_, "4", np.float64(4)])
def test_chunk_size_of_the_wrong_type(size):
    with pytest.raises(TypeError, match=r"chunk_size must be an int, not .*give the items per chunk, or None"):
        Stream("doubles", ["f8"], size)


@pytest.mark.parametrize(
    ("name", "dtypes", "error", "message"),
    [
        (3, ["f8"], TypeError, "name must be a str"),
        ("s", [], ValueError, "one to 4 fields, not 0"),
        ("s", ["f8"] * 5, ValueError, "one to 4 fields, not 5"),
        ("s", [object], TypeError, "no Python objects"),
        ("s", ["S"], TypeError, "fixed size"),
        ("s", ["nonsense"], TypeError, "nonsense"),
    ],
)
def test_bad_streams(name, dtypes, error, message):
    with pytest.raises(error, match=message):
        Stream(name, dtypes)


def test_chunk_views_need_a_chunk_with_items():
    stream = Stream("doubles", ["f8"], 4)
    stream.py_reserve(1)
    for i in (0, 1, -1):
        with pytest.raises(IndexError, match="i must be 0 or more and less than the 0 chunks"):
            stream.chunk_views(i)


def test_streams_are_neither_copied_nor_pickled():
    stream = Stream("doubles", ["f8"], 4)
    for door in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            door(stream)
    assert repr(stream) == "Stream('doubles', items=0, chunks=0, level=0)"


@pytest.mark.parametrize("used", [-1, 1, 5])
def test_check_finds_a_broken_stream(used):
    twin = Twin((4, 2))
    for _ in range(3):
        twin.statement([1, 1])  # the inner stream's second chunk knows that two items were in the root before it
    twin.root._check()
    twin.root._set_used(used)
    with pytest.raises(CorruptTape, match=r"stream 'level .*broken; level"):
        twin.streams[1]._check()
    twin.root._set_used(3)
    twin.check()


def test_rolling_back_gives_an_empty_chunk_back():
    stream = Stream("integers", ["i4"], 4)
    stream.py_reserve(4)
    for i in range(3):
        stream.py_push(i)
    end = stream.position()
    stream.py_reserve(2)  # opens a chunk that nothing is pushed to
    stream.reset_to(end)
    stream.py_reserve(1)
    stream.py_push(3)
    assert stream.chunk_views(0)[0].tolist() == [0, 1, 2, 3] and stream.chunks == 1
