# SPDX-License-Identifier: Apache-2.0
"""Fewer cases in which every two values still meet."""

import itertools

import pytest

from tests.covering import among, in_turn, pairs
from tests.strategies import STRATEGIES, VARIANTS

LISTS = {
    "strategies": (STRATEGIES, range(5), "abcdefg"),
    "variants": (VARIANTS, [True, False, 1, 0], ["x", None], range(3)),
    "no auto": ("ab", "cd", "ef"),
    "two": (STRATEGIES, range(3)),
    "lists": ([[1], [2]], [{}, []], range(3)),
}


def meeting(cases):
    """Every two values of a case, by their places; some of them have no hash."""
    numbered = [[(place, type(value), repr(value)) for place, value in enumerate(case)] for case in cases]
    return {two for case in numbered for two in itertools.combinations(case, 2)}


@pytest.mark.parametrize("lists", LISTS.values(), ids=LISTS)
def test_every_two_values_meet_and_auto_meets_all(lists):
    every, some = list(map(repr, itertools.product(*lists))), list(map(repr, pairs(*lists)))
    assert meeting(pairs(*lists)) == meeting(itertools.product(*lists))
    assert [case for case in every if case in some] == some == list(map(repr, pairs(*lists)))
    assert all(case in some for case in every if "'auto'" in case)


def test_there_are_fewer():
    others = len(STRATEGIES) - 1
    assert len(pairs(STRATEGIES, range(5), range(7))) <= 5 * 7 + 8 * others
    assert len(pairs(range(10), range(10), range(10))) <= 150
    assert len(pairs(STRATEGIES, range(5), range(7), whole=())) <= 2 * 7 * len(STRATEGIES)


def test_what_cannot_be_is_left_out():
    cases = [case for case in itertools.product(VARIANTS, range(4), range(4)) if case[1] != case[2]]
    assert meeting(among(cases)) == meeting(cases) and set(among(cases)) < set(cases)
    assert among([]) == [] and among([(1,), (2,), (1,)]) == [(1,), (2,)]


def test_every_case_is_run_under_auto_and_one_other():
    cases = in_turn(STRATEGIES, range(len(STRATEGIES)), "ab")
    assert len(cases) == len(set(cases)) == 4 * len(STRATEGIES) and {case[0] for case in cases} == set(STRATEGIES)
    assert all(("auto", k, letter) in cases for k in range(len(STRATEGIES)) for letter in "ab")
    assert set(in_turn(VARIANTS, "a", others=len(VARIANTS) - 2)) == {(variant, "a") for variant in VARIANTS}
