# SPDX-License-Identifier: Apache-2.0
"""Linear identifiers: they grow, a reset drops them, and 2**31 of them are an error that names the fix."""

import pytest

from codipy.errors import IdentifierOverflow
from codipy.identifiers import LinearIdentifiers

MOST = 2**31 - 1


def test_they_grow_from_one():
    identifiers = LinearIdentifiers()
    assert (identifiers.largest, identifiers.live, identifiers.peak) == (0, 0, 0)
    assert [identifiers.py_assign() for _ in range(3)] == [1, 2, 3]
    assert identifiers.assign_block(10) == 4
    assert identifiers.assign_block(0) == 0
    assert identifiers.py_assign() == 14
    assert (identifiers.largest, identifiers.live, identifiers.peak) == (14, 14, 14)
    assert (identifiers.stored_free, identifiers.bytes_used, identifiers.bytes_allocated) == (0, 0, 0)
    identifiers._check()


def test_resets():
    identifiers = LinearIdentifiers()
    identifiers.assign_block(10)
    identifiers.reset_to(4)
    assert (identifiers.largest, identifiers.live, identifiers.peak) == (4, 4, 10)
    assert identifiers.py_assign() == 5
    identifiers.reset()
    assert (identifiers.largest, identifiers.live, identifiers.peak) == (0, 0, 10)
    identifiers.assign_block(12)
    assert identifiers.peak == 12
    identifiers.reset_hard()
    assert identifiers.py_assign() == 1
    identifiers._check()
    for largest in (-1, 2):
        with pytest.raises(ValueError, match=f"largest must be 0 to 1, not {largest}"):
            identifiers.reset_to(largest)


def test_the_first_one_may_be_another():
    identifiers = LinearIdentifiers(first=5)
    assert (identifiers.first, identifiers.largest, identifiers.live) == (5, 4, 0)
    assert identifiers.py_assign() == 5
    assert (identifiers.live, identifiers.peak) == (1, 1)
    assert LinearIdentifiers(MOST).py_assign() == MOST
    for first in (0, -1, 2**31):
        with pytest.raises(ValueError, match=f"first must be 1 or more .* not {first}: 0 is the passive identifier"):
            LinearIdentifiers(first)
    with pytest.raises(TypeError):
        LinearIdentifiers(1.0)


def test_overflow():
    identifiers = LinearIdentifiers()
    identifiers._set_largest(MOST - 2)
    with pytest.raises(IdentifierOverflow, match=r"3 more .* the 2147483645 .* strategy='jacobian-reuse'"):
        identifiers.assign_block(3)
    assert identifiers.largest == MOST - 2
    assert identifiers.py_assign() == MOST - 1
    assert identifiers.py_assign() == MOST
    with pytest.raises(OverflowError, match="do not fit into 32 bits"):
        identifiers.py_assign()
    with pytest.raises(IdentifierOverflow):
        identifiers.assign_block(2**62)
    assert (identifiers.largest, identifiers.assign_block(0)) == (MOST, 0)
    with pytest.raises(ValueError, match="n must be 0 or more, not -1"):
        identifiers.assign_block(-1)
    identifiers._check()


def test_check_finds_a_broken_one():
    identifiers = LinearIdentifiers(first=3)
    assert repr(identifiers) == "LinearIdentifiers(largest=2, live=0, peak=0)"
    identifiers._set_largest(1)
    with pytest.raises(AssertionError, match="first 3, largest 1"):
        identifiers._check()
