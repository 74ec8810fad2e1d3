# SPDX-License-Identifier: Apache-2.0
"""Reused identifiers: most recently freed first, counted uses, blocks that coalesce, and nothing lost on failure."""

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from codipy.errors import IdentifierOverflow
from codipy.identifiers import ReuseIdentifiers
from tests.identifiers.twin import TwinReuse

MOST = 2**31 - 2


def test_the_most_recently_freed_comes_first():
    identifiers = ReuseIdentifiers()
    assert [identifiers.py_assign() for _ in range(5)] == [1, 2, 3, 4, 5]
    for identifier in (2, 5, 3):
        identifiers.py_release(identifier)
    assert (identifiers.live, identifiers.stored_free, identifiers.largest, identifiers.peak) == (2, 3, 5, 5)
    assert [identifiers.py_assign() for _ in range(4)] == [3, 5, 2, 6]
    identifiers._check()


def test_the_last_holder_gives_back():
    identifiers = ReuseIdentifiers()
    identifier = identifiers.py_assign()
    identifiers.py_retain(identifier)
    identifiers.py_retain(identifier)
    assert identifiers.uses_of(identifier) == 3
    identifiers.py_release(identifier)
    identifiers.py_release(identifier)
    assert (identifiers.live, identifiers.stored_free) == (1, 0)
    identifiers.py_release(identifier)
    assert (identifiers.live, identifiers.stored_free) == (0, 1)
    for door in (identifiers.py_release, identifiers.py_retain):
        for wrong in (identifier, 0, -1, 7):
            with pytest.raises(ValueError, match="free or was never handed out"):
                door(wrong)
    identifiers._check()


def test_free_neighbours_coalesce():
    identifiers = ReuseIdentifiers()
    firsts = [identifiers.assign_block(10) for _ in range(6)]
    assert firsts == [1, 11, 21, 31, 41, 51]
    for first in (11, 31):
        identifiers.release_block(first, 10)
    assert sorted(identifiers._free_blocks()) == [(11, 10), (31, 10)]
    identifiers.release_block(21, 10)
    assert identifiers._free_blocks() == [(11, 30)]
    assert identifiers.assign_block(30) == 11
    identifiers._check()


def test_the_best_fit_is_taken():
    identifiers = ReuseIdentifiers()
    sizes = [40, 1, 12, 1, 20, 1, 300, 1, 41, 1]
    blocks = [(identifiers.assign_block(n), n) for n in sizes]
    for first, n in blocks[::2]:
        identifiers.release_block(first, n)
    assert identifiers.assign_block(15) == blocks[4][0]
    assert identifiers.assign_block(41) == blocks[8][0]
    assert identifiers.assign_block(40) == blocks[0][0]
    assert identifiers.assign_block(12) == blocks[2][0]
    assert identifiers.assign_block(100) == blocks[6][0]
    identifiers._check()


def test_a_block_takes_the_free_end_and_creates_only_the_rest():
    identifiers = ReuseIdentifiers()
    identifiers.py_assign()
    first = identifiers.assign_block(10)
    identifiers.release_block(first, 10)
    assert identifiers.assign_block(50) == first
    assert identifiers.largest == first + 49
    identifiers._check()


def test_single_ones_are_cut_from_free_blocks():
    identifiers = ReuseIdentifiers()
    blocks = [(identifiers.assign_block(n), n) for n in (100, 1, 3, 1)]
    identifiers.release_block(*blocks[0])
    identifiers.release_block(*blocks[2])
    assert [identifiers.py_assign() for _ in range(4)] == [102, 103, 104, 1]  # the smallest block first
    assert identifiers.largest == 105
    identifiers._check()


def test_single_ones_become_blocks_when_many_are_stored():
    identifiers = ReuseIdentifiers()
    singles = [identifiers.py_assign() for _ in range(100)]
    for identifier in singles[20:90]:
        identifiers.py_release(identifier)
    assert identifiers.assign_block(60) == 21
    assert identifiers.largest == 100
    assert identifiers._free_blocks() == [(81, 10)]
    identifiers._check()


@pytest.mark.parametrize("short", [1, 2, 5])
def test_short_blocks_between_long_ones_are_coalesced_when_a_block_finds_no_room(short):
    identifiers = ReuseIdentifiers()
    blocks = [(identifiers.assign_block(n), n) for n in (30, short, 30, short, 40)]
    for first, n in blocks[1::2] + blocks[::2]:
        identifiers.release_block(first, n)
        identifiers._check()
    assert sorted(identifiers._free_blocks()) == blocks
    assert identifiers.assign_block(100 + short) == 1
    assert identifiers._free_blocks() == [(101 + short, short)]
    assert identifiers.largest == 100 + 2 * short
    identifiers._check()


def test_what_is_left_of_a_block_is_no_edge_of_it():
    """The last elements of a run that was cut are next to others that are given back."""
    for n, m in itertools.product(range(6, 14), range(1, 14)):
        identifiers = ReuseIdentifiers()
        first, last = identifiers.assign_block(n), identifiers.assign_block(20)
        identifiers.release_block(first, n)
        if m < n:
            assert identifiers.assign_block(m) == first
        identifiers.release_block(last, 20)
        identifiers._check()
        identifiers.release_block(first, min(m, n) if m < n else 0)
        identifiers._check()
        assert identifiers.live == 0 and identifiers.stored_free == n + 20


def test_single_ones_that_stay_apart_are_looked_at_once():
    """Nobody can make a block of them, so a pass is made for what was released since."""
    identifiers = ReuseIdentifiers()
    singles = [identifiers.py_assign() for _ in range(400)]
    for identifier in singles[::2]:
        identifiers.py_release(identifier)
    assert identifiers.assign_block(2) == 401
    assert sorted(identifiers._free_blocks()) == [(identifier, 1) for identifier in singles[::2]]
    assert identifiers.assign_block(2) == 403
    identifiers.py_release(2)
    identifiers.py_release(4)
    assert identifiers.assign_block(3) == 405
    for identifier in singles[5::2]:
        identifiers.py_release(identifier)
    assert identifiers.assign_block(3) in singles[:6]
    identifiers._check()


def test_a_held_element_survives_its_block():
    identifiers = ReuseIdentifiers()
    first = identifiers.assign_block(10)
    identifiers.py_retain(first + 4)
    identifiers.release_block(first, 10)
    assert identifiers.live == 1
    assert sorted(identifiers._free_blocks()) == [(1, 4), (6, 5)]
    identifiers.py_release(first + 4)
    assert identifiers.live == 0
    identifiers._check()


def test_a_fresh_one_was_never_used():
    identifiers = ReuseIdentifiers()
    first = identifiers.assign_block(70)
    identifiers.release_block(first, 10)
    identifiers.py_release(70)
    assert [identifiers.assign_fresh() for _ in range(100)] == list(range(71, 171))
    assert (identifiers.live, identifiers.stored_free, identifiers.peak) == (159, 11, 159)
    assert identifiers.uses_of(71) == 1
    identifiers._check()
    identifiers.py_release(71)
    assert identifiers.py_assign() == 71
    identifiers._set_next(MOST + 1)
    with pytest.raises(IdentifierOverflow):
        identifiers.assign_fresh()


def test_resets():
    identifiers = ReuseIdentifiers()
    identifiers.assign_block(10)
    identifiers.release_block(3, 4)
    identifiers.py_release(9)
    allocated = identifiers.bytes_allocated
    assert 0 < identifiers.bytes_used <= allocated
    identifiers.reset()
    assert (identifiers.largest, identifiers.live, identifiers.stored_free, identifiers.peak) == (0, 0, 0, 10)
    assert (identifiers.bytes_used, identifiers.bytes_allocated) == (0, allocated)
    identifiers._check()
    assert [identifiers.py_assign(), identifiers.assign_block(3), identifiers.py_assign()] == [1, 2, 5]
    identifiers.reset_hard()
    assert identifiers.bytes_allocated == 0
    assert identifiers.py_assign() == 1
    identifiers._check()


def test_bytes_are_four_an_identifier():
    identifiers = ReuseIdentifiers()
    for _ in range(100):
        identifiers.py_assign()
    assert (identifiers.bytes_used, identifiers.bytes_allocated) == (100 * 4, 128 * 4)
    identifiers.assign_block(1)
    assert (identifiers.bytes_used, identifiers.bytes_allocated) == (101 * 4, 128 * 4)


@pytest.mark.parametrize("n", [1_000, 30_000, 500_000])
def test_a_large_table_grows_by_an_eighth(n):
    identifiers = ReuseIdentifiers()
    for _ in range(n):
        identifiers.py_assign()
    assert identifiers.bytes_allocated <= (4 * n * 2 if n < 20_000 else 4 * n * 9 // 8 + 4)
    blocks = ReuseIdentifiers()
    for _ in range(6):
        blocks.assign_block(n)
    assert blocks.bytes_allocated <= (8 if n < 20_000 else 4) * (6 * n + 1) * 9 // 8


def test_blocks_that_are_none():
    identifiers = ReuseIdentifiers()
    assert identifiers.assign_block(0) == 0
    identifiers.release_block(0, 0)
    with pytest.raises(ValueError, match="n must be 0 or more, not -1"):
        identifiers.assign_block(-1)
    first = identifiers.assign_block(4)
    for wrong in ((0, 2), (first, 5), (first, -1), (-3, 2), (first, 2**63 - 1)):
        with pytest.raises(ValueError, match="must name identifiers that were handed out"):
            identifiers.release_block(*wrong)
    identifiers.release_block(first, 4)
    with pytest.raises(ValueError, match="free already: a block is released once"):
        identifiers.release_block(first, 4)
    identifiers._check()


def test_overflow():
    identifiers = ReuseIdentifiers()
    identifiers._set_next(MOST + 1)
    with pytest.raises(IdentifierOverflow, match=r"1 more identifiers than the 2147483646 .* drop variables"):
        identifiers.py_assign()
    identifiers.reset_hard()
    identifiers.assign_block(3)
    for n in (MOST - 2, 2**31 - 1, 2**31, 2**62, 2**63 - 1):
        with pytest.raises(IdentifierOverflow, match="do not fit into 32 bits"):
            identifiers.assign_block(n)
        identifiers._check()
    assert identifiers.py_assign() == 4


def test_each_growth_fails_in_turn():
    identifiers = ReuseIdentifiers()
    twin = TwinReuse()
    failures = 0
    for n in (1, 70, 1, 300, 2, 5000):
        for successes in itertools.count():
            identifiers._fail_after(successes)
            try:
                first = identifiers.assign_block(n) if n > 1 else identifiers.py_assign()
                break
            except MemoryError:
                failures += 1
                twin.check(identifiers)
        identifiers._fail_after(None)
        twin.assigned(first, n)
        twin.check(identifiers)
        identifiers.release_block(first, n // 3)
        twin.released(first, n // 3)
        twin.check(identifiers)
    assert failures == 4


@pytest.mark.parametrize("n", [31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 70000])
def test_every_length_finds_its_own_block_again(n):
    identifiers = ReuseIdentifiers()
    blocks = [(identifiers.assign_block(m), m) for m in (n - 1, 1, n, 1, n + 1, 1)]
    for first, m in blocks[::2]:
        identifiers.release_block(first, m)
    assert identifiers.assign_block(n) == blocks[2][0]
    assert identifiers.assign_block(n) == blocks[4][0]
    identifiers._check()


def test_more_blocks_in_a_bin_than_are_looked_at():
    identifiers = ReuseIdentifiers()
    blocks = [(identifiers.assign_block(n), n) for _ in range(20) for n in (1000, 1)]
    last = identifiers.assign_block(1007)  # of the same bin, given first, thus looked at last
    identifiers.release_block(last, 1007)
    for first, n in blocks[::2]:
        identifiers.release_block(first, n)
    assert identifiers.assign_block(1005) == last
    assert identifiers.largest == last + 1006
    identifiers._check()


def test_check_finds_a_broken_one():
    identifiers = ReuseIdentifiers()
    identifiers.assign_block(4)
    identifiers._set_next(4)
    with pytest.raises(AssertionError, match=r"ReuseIdentifiers\(largest=3, live=4.*broken: live counts the used ones"):
        identifiers._check()
    identifiers.reset_hard()
    identifiers._check()


class Use(RuleBasedStateMachine):
    """Singles and blocks, held and released in any order."""

    def __init__(self):
        super().__init__()
        self.manager, self.twin, self.held = ReuseIdentifiers(), TwinReuse(), []

    @rule(n=st.one_of(st.just(1), st.integers(1, 80), st.integers(1000, 1100)))
    def block(self, n):
        first = self.manager.assign_block(n)
        self.twin.assigned(first, n)
        self.held.append((first, n))

    @rule(times=st.integers(1, 40))
    def singles(self, times):
        for _ in range(times):
            identifier = self.manager.py_assign()
            self.twin.assigned(identifier, 1)
            self.held.append((identifier, 0))

    @rule()
    def fresh(self):
        identifier = self.manager.assign_fresh()
        assert identifier == self.twin.largest + 1
        self.twin.assigned(identifier, 1)
        self.held.append((identifier, 0))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), times=st.integers(1, 30))
    def release(self, data, times):
        for _ in range(min(times, len(self.held))):
            first, n = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
            self.manager.release_block(first, n) if n else self.manager.py_release(first)
            self.twin.released(first, max(n, 1))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def retain(self, data):
        first, n = data.draw(st.sampled_from(self.held))
        identifier = first + data.draw(st.integers(0, max(n - 1, 0)))
        self.manager.py_retain(identifier)
        self.twin.retained(identifier)
        self.held.append((identifier, 0))

    @rule(hard=st.booleans())
    def reset(self, hard):
        self.manager.reset_hard() if hard else self.manager.reset()
        self.twin.uses, self.twin.largest, self.held = {}, 0, []

    @invariant()
    def agrees(self):
        self.twin.check(self.manager)


TestUse = Use.TestCase
TestUse.settings = settings(max_examples=100, stateful_step_count=30)
