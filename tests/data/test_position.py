# SPDX-License-Identifier: Apache-2.0
"""Positions: one order per nest, equal in both forms of a chunk's end, and refused where they no longer hold."""

import pickle

import pytest

from codipy.data import Position, Stream
from codipy.errors import TapeError
from tests.data.twin import Twin, recorded


def test_the_end_of_a_chunk_is_the_start_of_the_next():
    stream = Stream("doubles", ["f8"], 2)
    stream.extend([1.0, 2.0])
    before = stream.position()
    stream.py_reserve(1)  # opens the next chunk, pushes nothing
    after = stream.position()
    assert before == after
    assert hash(before) == hash(after)
    assert after.to_tuple() == ((0, 2),)
    stream.reset_to(before)
    assert stream.position() == after
    stream.extend([3.0])
    assert stream.position() > before


def test_all_comparisons():
    twin = recorded((2, 2), statements=20, seed=0, largest=2)
    for i, a in enumerate(twin.positions):
        for j, b in enumerate(twin.positions):
            same = a.to_tuple() == b.to_tuple()
            assert (a == b) is same
            assert (a != b) is not same
            assert (a < b) is (i < j and not same)
            assert (a <= b) is (i < j or same)
            assert (a > b) is (i > j and not same)
            assert (a >= b) is (i > j or same)
    assert len(set(twin.positions)) == len({p.to_tuple() for p in twin.positions})


def test_positions_of_two_nests_differ_and_have_no_order():
    a, b = Stream("a", ["f8"]).position(), Stream("a", ["f8"]).position()
    assert a != b
    assert not a == b
    assert len({a, b}) == 2
    for compare in (lambda: a < b, lambda: a <= b, lambda: a > b, lambda: a >= b):
        with pytest.raises(TapeError, match="different tapes have no order"):
            compare()
    assert a != 3
    with pytest.raises(TypeError):
        assert a < 3


def test_a_position_means_nothing_alone():
    with pytest.raises(TypeError, match="call its position"):
        Position()
    position = recorded((2, 2), statements=3, seed=0).positions[-1]
    assert repr(position).startswith("Position(")
    assert position.depth == 2
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(position)


def test_positions_that_a_rollback_dropped_are_refused():
    twin = Twin((2, 3))
    for _ in range(9):
        twin.statement([1, 2])
    old = list(twin.positions)
    twin.reset_to(5)
    twin.statement([1, 2])
    twin.reset_to(3)
    for _ in range(8):
        twin.statement([2, 1])
    for position in old[:4]:
        twin.root.check_position(position)
    for position in old[4:]:
        with pytest.raises(TapeError, match=r"from before a reset|behind the end"):
            twin.root.check_position(position)
    newer = twin.positions[6]
    twin.root.check_position(newer)
    with pytest.raises(TapeError, match="from before a reset"):
        twin.root.reset_to(old[6])
    twin.check()
    twin.root.reset()
    with pytest.raises(TapeError, match="from before a reset"):
        twin.root.check_position(newer)
    twin.root.check_position(old[0])


def test_positions_of_others_are_refused():
    twin, other = recorded((2, 2), 3, seed=0), recorded((2, 2), 3, seed=0)
    with pytest.raises(TapeError, match="of another tape"):
        twin.root.reset_to(other.positions[1])
    with pytest.raises(TypeError):
        twin.root.reset_to(None)
    with pytest.raises(TypeError):
        twin.root.reset_to((0, 0))


def test_resetting_for_ever_keeps_the_books_short():
    twin = Twin((2, 2))
    start = twin.root.position()
    for _ in range(1000):
        twin.root.extend([1])
        twin.root.reset()
    assert twin.root.position().generation == 1000
    twin.root.check_position(start)
    twin.check()
