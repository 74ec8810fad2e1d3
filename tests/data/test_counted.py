# SPDX-License-Identifier: Apache-2.0
"""A nest that counts has the items, chunks, bytes and positions of nests that keep, for several chunk sizes at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codipy.data import Stream, bytes_outstanding
from codipy.errors import TapeError

SIZES = [4, 1, 37, None]
DTYPES = [["f8", "i4"], ["i4"], ["u1"]]
# What is reserved in each stream, and how much of it is pushed; now and then very much.
STATEMENTS = st.lists(
    st.lists(st.tuples(st.integers(0, 9) | st.sampled_from([40, 3000]), st.floats(0, 1)), min_size=3, max_size=3),
    max_size=60,
)


def nest(chunk_size):
    stream = None
    for k, dtypes in enumerate(DTYPES):
        stream = Stream(f"stream {k}", dtypes, chunk_size, stream)
    streams = [stream]
    while streams[-1].nested is not None:
        streams.append(streams[-1].nested)
    return streams


def push(streams, statement):
    for stream, (reserved, _) in zip(reversed(streams), statement):
        stream.py_reserve(reserved)
    for stream, (reserved, part) in zip(reversed(streams), statement):
        for _ in range(round(part * reserved)):
            stream.py_push(*[0] * len(stream.dtypes))


@settings(max_examples=60, deadline=None)
@given(STATEMENTS)
def test_as_nests_that_keep(statements):
    counting, kept = nest(SIZES[0]), [nest(size) for size in SIZES]
    for stream in counting:
        stream.count_only(SIZES[1:])
    for statement in statements:
        for streams in (counting, *kept):
            push(streams, statement)
        assert counting[0].position().to_tuple() == kept[0][0].position().to_tuple()
    for level, stream in enumerate(counting):
        for layout, streams in enumerate(kept):
            real = streams[level]
            assert stream.items == real.items and stream.bytes_used == real.bytes_used
            assert stream.counted_chunks(layout) == (real.chunks_allocated, real.chunks, real.bytes_allocated)
        assert (stream.chunks, stream.chunks_allocated, stream.bytes_allocated) == (
            kept[0][level].chunks, kept[0][level].chunks_allocated, kept[0][level].bytes_allocated)  # fmt: skip


def test_no_memory_for_items():
    before, (stream, *_) = bytes_outstanding(), nest(None)
    stream.count_only()
    for _ in range(10**5):
        stream.py_reserve(1)
        stream.py_push(0)
    assert stream.items == 10**5
    assert bytes_outstanding() - before < 4096 < stream.bytes_allocated


def test_nothing_is_read_and_nothing_taken_back():
    stream = Stream("numbers", ["f8"], 4)
    stream.count_only([None])
    start = stream.position()
    stream.extend([1.0, 2.0])
    for refused in (lambda: stream.chunk_views(0), lambda: stream.reset_to(start), stream.reset, stream.reset_hard,
                    stream.lock, stream.count_only):  # fmt: skip
        with pytest.raises(TapeError):
            refused()
    assert stream.items == 2


def test_counting_begins_at_the_beginning():
    stream = Stream("numbers", ["f8"])
    with pytest.raises(TapeError, match="keeps its items"):
        stream.counted_chunks(0)
    stream.extend([1.0])
    with pytest.raises(TapeError, match="from its beginning"):
        stream.count_only()
    other = Stream("numbers", ["f8"])
    with pytest.raises(ValueError):
        other.count_only([0])
    other.count_only([2])
    with pytest.raises(IndexError):
        other.counted_chunks(2)
