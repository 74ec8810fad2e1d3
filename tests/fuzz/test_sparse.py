# SPDX-License-Identifier: Apache-2.0
"""Sparse derivatives of random programs: `python -m tests.fuzz --sparse` runs more."""

import pytest

from tests.fuzz.generator import write
from tests.fuzz.shrink import shrink
from tests.fuzz.sparse import judge_sparse

PROGRAMS, PARTS = 400, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_sparse_derivatives_of_random_programs(part):
    pytest.importorskip("scipy.sparse")
    refused = 0
    for k in range(part, PROGRAMS, PARTS):
        program = write(f"sparse:{k}", outside=False)
        finding = judge_sparse(program)
        if finding is not None and not finding.refused:
            small = shrink(program, lambda p, kind=finding.kind: getattr(judge_sparse(p), "kind", "") == kind)
            pytest.fail(f"program sparse:{k}: {finding.kind}, {finding.said}\n{small.source}")
        refused += finding is not None
    assert refused <= 0.2 * PROGRAMS / PARTS  # they are 5 of 100, unevenly
