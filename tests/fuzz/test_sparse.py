# SPDX-License-Identifier: Apache-2.0
"""Sparse derivatives of random programs: `python -m tests.fuzz --sparse` runs more."""

import pytest

from tests.fuzz.sparse import judge_sparse
from tests.fuzz.suite import refusals

PROGRAMS, PARTS, MOST_STEPS = 300, 6, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_sparse_derivatives_of_random_programs(part):
    pytest.importorskip("scipy.sparse")
    # 5 of 100 are refused, unevenly.
    assert refusals("sparse", judge_sparse, range(part, PROGRAMS, PARTS), MOST_STEPS) <= 0.2 * PROGRAMS / PARTS
