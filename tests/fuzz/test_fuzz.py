# SPDX-License-Identifier: Apache-2.0
"""Five thousand random programs: values, reuse, gradients and tangents; CONTRIBUTING.md says how to run more."""

import pytest

from tests.fuzz.generator import write
from tests.fuzz.judge import judge, some_variants
from tests.fuzz.shrink import shrink
from tests.fuzz.steps import STEPS

PROGRAMS, PARTS = 5000, 20
EACH = 40  # of so many programs one runs under every strategy
KNOWN = {"floating_error"}  # steps that are not right yet
WRITTEN = [step for step in STEPS if step[1].__name__ not in KNOWN]


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part):
    refused = 0
    for k in range(part, PROGRAMS, PARTS):
        program = write(f"suite:{k}", WRITTEN, outside=False)
        variants = some_variants(k, 10 if k % EACH == 0 else 1)
        finding = judge(program, variants)
        if finding is not None and not finding.refused:
            small = shrink(program, lambda p, v=variants, kind=finding.kind: getattr(judge(p, v), "kind", "") == kind)
            pytest.fail(f"program suite:{k}: {finding.kind}, {finding.said}\n{small.source}")
        refused += finding is not None
    assert refused <= 0.02 * PROGRAMS / PARTS
