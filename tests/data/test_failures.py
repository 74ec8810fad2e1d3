# SPDX-License-Identifier: Apache-2.0
"""Each allocation fails in turn: MemoryError, and the streams are as they were and go on."""

import itertools
import random

import pytest

from codipy.data import Regions, Stream, bytes_outstanding, clear_pool, fail_after
from tests.data.twin import Twin


@pytest.fixture(autouse=True)
def no_failure_left():
    yield
    fail_after(None)


def state(twin):
    return [
        (stream.items, stream.chunks, stream.bytes_used, stream.reserved_left) for stream in twin.streams
    ] + [twin.root.position()]


@pytest.mark.parametrize("sizes", [*itertools.product([1, 2, 3, 8], repeat=2), (4,), (1, 2, 3), (8, 2, 1), (3, 3, 3)])
def test_each_allocation_of_each_statement_fails(sizes):
    # No statement is larger than a chunk, so capacities do not tell the twin what failed.
    rng = random.Random(repr(sizes))
    twin = Twin(sizes)
    failures = 0
    for _ in range(25):
        counts = [rng.randint(0, size) for size in sizes]
        for successes in itertools.count():
            for stream in twin.streams:
                stream.py_reserve(0)
            before = state(twin)
            fail_after(successes)
            try:
                twin.reserve(counts)
            except MemoryError:
                fail_after(None)
                failures += 1
                twin.failed_statement()
                assert state(twin) == before
                twin.check()
                if successes % 2:  # a smaller statement takes the place of the one that failed
                    twin.statement([min(count, 1) for count in counts])
                continue
            break
        fail_after(None)
        twin.push(counts)
    twin.check()
    twin.check_all_regions()
    assert failures > 10


def test_every_other_door_fails_cleanly():
    twin = Twin((2, 2))
    for _ in range(3):
        twin.statement([1, 2])
    for door in (
        twin.root.position,
        lambda: Regions(twin.root, twin.positions[0], twin.positions[2]),
        lambda: twin.root.extend(range(5)),
    ):
        fail_after(0)
        with pytest.raises(MemoryError):
            door()
        fail_after(None)
        twin.check()
        twin.check_all_regions()


def test_nothing_that_gives_memory_back_can_fail():
    twin = Twin((2, 2))
    twin.statement([1, 2])
    fail_after(0)
    try:
        twin.root.reset()
        twin.root.reset_hard()
    finally:
        fail_after(None)
    assert twin.root.items == 0


@pytest.mark.parametrize("n", [2**40, 2**59, 2**62, 2**63 - 1])
def test_a_reservation_no_memory_can_hold(n):
    for chunk_size in (4, None):
        stream = Stream("doubles", ["f8", "i4"], chunk_size)
        stream.extend([1.0], [2])
        with pytest.raises(MemoryError):
            stream.py_reserve(n)
        stream._check()
        stream.extend([2.0], [3])
        assert stream.items == 2


def test_everything_is_given_back():
    before = bytes_outstanding()
    twin = Twin((1, 2, 3))
    for _ in range(20):
        twin.statement([1, 2, 3])
    assert bytes_outstanding() > before
    view = twin.streams[2].chunk_views(0)[0]
    del twin
    clear_pool()
    assert bytes_outstanding() > before  # the viewed chunk
    assert view.tolist() == [0, 0, 0]
    del view
    assert bytes_outstanding() == before
