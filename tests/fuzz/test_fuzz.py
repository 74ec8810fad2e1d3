# SPDX-License-Identifier: Apache-2.0
"""Five thousand random programs: values, reuse, gradients and tangents; CONTRIBUTING.md says how to run more."""

from functools import partial

import pytest

from tests.fuzz.generator import write
from tests.fuzz.judge import judge, some_variants
from tests.fuzz.shrink import shrink
from tests.strategies import VARIANTS

PROGRAMS, PARTS = 5000, 20
EACH = 40  # of so many programs one runs under every strategy
SINGLE = 10  # likewise in float32
DRIVEN = 5  # likewise under a driver too


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part):
    refused = 0
    for k in range(part, PROGRAMS, PARTS):
        program = write(f"suite:{k}")
        variants = some_variants(k, len(VARIANTS) - 1 if k % EACH == 0 else 1)
        judged = partial(judge, variants=variants, single=k % SINGLE == 1, driven=k // PARTS % DRIVEN == 0)
        finding = judged(program)
        if finding is not None and not finding.refused:
            small = shrink(program, lambda p, j=judged, kind=finding.kind: getattr(j(p), "kind", "") == kind)
            pytest.fail(f"program suite:{k}: {finding.kind}, {finding.said}\n{small.source}")
        refused += finding is not None
    assert refused <= 0.1 * PROGRAMS / PARTS
