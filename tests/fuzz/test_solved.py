# SPDX-License-Identifier: Apache-2.0
"""Random functions for solvers: `python -m tests.fuzz --solved` runs more, and prints what is wrong."""

import pytest

from tests.fuzz.solved import judge_solved, write_solved

PROGRAMS, SEED = 40, "s1"


@pytest.mark.parametrize("part", range(3))
def test_random_functions_for_solvers(part):
    refused = 0
    for k in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        source = write_solved(f"{SEED}:{k}")
        finding = judge_solved(source)
        assert finding is None or finding.refused, f"{SEED}:{k} {finding.kind}: {finding.said}\n{source}"
        refused += finding is not None
    assert refused <= 0.6 * PROGRAMS  # of those that write to what a solver has all but few
