# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of random programs: `python -m tests.fuzz --second` runs more."""

import pytest

from tests.fuzz.second import judge_second
from tests.fuzz.suite import refusals

PROGRAMS, PARTS, MOST_STEPS = 400, 8, 10


@pytest.mark.parametrize("part", range(PARTS))
def test_second_derivatives_of_random_programs(part):
    assert refusals("second", judge_second, range(part, PROGRAMS, PARTS), MOST_STEPS) <= 0.1 * PROGRAMS / PARTS
