# SPDX-License-Identifier: Apache-2.0
"""Blocks that wait for the next array of their size."""
import random

from codipy.identifiers.waiting import WaitingBlocks


def test_the_last_given_is_the_first_taken():
    waiting = WaitingBlocks()
    for base in (1, 11, 21):
        waiting.py_give(base, 10)
    assert [waiting.py_take(10) for _ in range(4)] == [21, 11, 1, 0]


def test_sizes_that_share_a_place_are_kept_apart():
    waiting = WaitingBlocks()
    waiting.py_give(1, 10)
    waiting.py_give(100, 74)
    waiting.py_give(200, 138)
    assert waiting.py_take(10) == 1
    assert waiting.py_take(74) == 100
    assert waiting.py_take(11) == 0
    assert waiting.py_take(138) == 200
    assert [waiting.py_take(size) for size in (10, 74, 138)] == [0, 0, 0]


def test_nothing_waits_after_clear():
    waiting = WaitingBlocks()
    for base in (1, 11, 21):
        waiting.py_give(base, 10)
    waiting.py_clear()
    assert waiting.py_take(10) == 0


def test_against_plain_lists():
    draw = random.Random(1)
    waiting, plain = WaitingBlocks(), {}
    base = 1
    for _ in range(5000):
        size = draw.choice([1, 2, 65, 66, 129, 1000])
        if draw.random() < 0.5:
            waiting.py_give(base, size)
            plain.setdefault(size, []).append(base)
            base += size
        else:
            found = waiting.py_take(size)
            assert (found in plain[size]) if plain.get(size) else found == 0
            if found:
                plain[size].remove(found)


def test_a_block_of_none_never_waits():
    waiting = WaitingBlocks()
    waiting.py_give(640, 64)
    assert waiting.py_take(64) == 640
    assert waiting.py_take(0) == 0
