# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of random programs: `python -m tests.fuzz --second` runs more."""

import pytest

from tests.fuzz.generator import write
from tests.fuzz.second import judge_second
from tests.fuzz.shrink import shrink

PROGRAMS, PARTS = 800, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_second_derivatives_of_random_programs(part):
    refused = 0
    for k in range(part, PROGRAMS, PARTS):
        program = write(f"second:{k}", outside=False)
        finding = judge_second(program)
        if finding is not None and not finding.refused:
            small = shrink(program, lambda p, kind=finding.kind: getattr(judge_second(p), "kind", "") == kind)
            pytest.fail(f"program second:{k}: {finding.kind}, {finding.said}\n{small.source}")
        refused += finding is not None
    assert refused <= 0.1 * PROGRAMS / PARTS
