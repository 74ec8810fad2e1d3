# SPDX-License-Identifier: Apache-2.0
"""Regions are what the twin says, for every chunk size from 1 to 8, every depth, every pair of positions, both ways."""

import itertools
import random

import pytest

from codipy.data import Regions, Stream
from codipy.errors import CorruptTape, TapeError
from tests.data.twin import Twin, recorded


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_regions_for_all_chunk_sizes(depth, size):
    for inner in itertools.product(range(1, 9), repeat=depth - 1):
        sizes = (size, *inner)
        twin = recorded(sizes, statements=9, seed=repr(sizes))
        twin.check()
        twin.check_all_regions()


@pytest.mark.parametrize("size", range(1, 9))
def test_statements_larger_than_a_chunk(size):
    twin = recorded((1, size, 3), statements=14, seed=size, largest=11)
    twin.check()
    twin.check_all_regions()


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_pushing_less_than_reserved(depth, size):
    rng = random.Random(depth)
    for inner in itertools.product([1, 3, 8], repeat=depth - 1):
        twin = Twin((size, *inner))
        for _ in range(10):
            counts = [rng.randint(0, 4) for _ in range(depth)]
            twin.statement(counts, [rng.randint(0, count) for count in counts])
        twin.check()
        twin.check_all_regions()


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_rolling_back_to_each_position_and_going_on(depth, size):
    rng = random.Random(size)
    for inner in itertools.product([1, 2, 5, 8], repeat=depth - 1):
        for target in range(8):
            twin = recorded((size, *inner), statements=7, seed=target)
            twin.reset_to(target)
            twin.check()
            for _ in range(4):
                twin.statement([rng.randint(0, 5) for _ in range(depth)])
            twin.check()
            twin.check_regions(0, len(twin.positions) - 1)
            twin.check_regions(target, len(twin.positions) - 1)


def test_a_nest_of_seven():
    twin = recorded((3, 1, 4, 1, 5, 2, 6), statements=12, seed=7)
    twin.check()
    twin.check_all_regions()


def test_cursors_must_end_where_the_region_ends():
    twin = Twin((4, 4))
    twin.statement([1, 2])
    twin.statement([1, 2])
    regions = Regions(twin.root, *twin.positions[::2])
    assert next(regions.forward()) == ((0, 0, 2), (0, 0, 4))
    regions.check_cursors([2, 4])
    regions.check_cursors([0, 0], reverse=True)
    with pytest.raises(CorruptTape, match=r"stream 1 of 2 at item 3 .* ends at 4"):
        regions.check_cursors([2, 3])
    with pytest.raises(CorruptTape, match=r"stream 0 of 2 at item 1 .* begins at 0"):
        regions.check_cursors([1, 0], reverse=True)
    with pytest.raises(ValueError, match="cursors must name 2 items"):
        regions.check_cursors([2])


def test_a_walk_locks_the_nest_and_unlocks_it_when_dropped():
    twin = recorded((2, 2), statements=6, seed=0, largest=2)
    walk = Regions(twin.root, twin.positions[0], twin.positions[-1]).forward()
    next(walk)
    assert twin.root.locked
    with pytest.raises(TapeError, match="a sweep is reading this tape; record after it ends"):
        twin.root.py_reserve(1)
    walk.close()
    assert not twin.root.locked
    twin.statement([1, 1])
    twin.check()


def test_regions_refuse_what_makes_no_sense():
    twin = recorded((2, 2), statements=3, seed=0)
    other = recorded((2, 2), statements=3, seed=0)
    first, last = twin.positions[0], twin.positions[-1]
    with pytest.raises(TapeError, match="end lies before start"):
        Regions(twin.root, last, first)
    with pytest.raises(TapeError, match="outermost"):
        Regions(twin.streams[1], first, last)
    with pytest.raises(TapeError, match="another tape"):
        Regions(twin.root, first, other.positions[-1])
    with pytest.raises(TypeError):
        Regions(twin.root, first, None)
    walked = Regions(twin.root, first, last)
    assert list(walked.forward())
    with pytest.raises(TapeError, match="walked the other way"):
        list(walked.reverse())


def test_nothing_recorded_has_no_regions():
    root = Stream("root", ["f8"], nested=Stream("inner", ["f8"]))
    position = root.position()
    assert list(Regions(root, position, position).forward()) == []
    assert list(Regions(root, position, position).reverse()) == []
