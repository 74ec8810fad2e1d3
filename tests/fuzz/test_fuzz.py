# SPDX-License-Identifier: Apache-2.0
"""Random programs: values, reuse, gradients and tangents; CONTRIBUTING.md says how to run more.

With those of second and of sparse derivatives the suite runs five thousand.
"""

from functools import partial

import pytest

from tests.fuzz.generator import FEW_STEPS, MOST_STEPS, write
from tests.fuzz.judge import WIDTHS, judge, some_variants
from tests.fuzz.shrink import shrink
from tests.strategies import VARIANTS

PROGRAMS, PARTS = 4300, 20
LONG = 3  # of so many programs of a part one has many steps; others take a third of the time
EACH = 40  # of so many one runs under every strategy; the others under `auto`, one in turn, and `forward`
SINGLE, DRIVEN = 11, 13  # likewise in float32, and under a driver too; of numbers that share no factor with the others


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part):
    refused = 0
    for k in range(part, PROGRAMS, PARTS):
        turn = k // PARTS
        program = write(f"suite:{k}", most_steps=FEW_STEPS if turn % LONG else MOST_STEPS)
        variants = some_variants(k, len(VARIANTS) - 1 if k % EACH == 0 else 1)
        widths = WIDTHS[(turn // LONG) % 2 :][:1]
        judged = partial(judge, variants=variants, widths=widths, single=k % SINGLE == 1, driven=k % DRIVEN == 0)
        finding = judged(program)
        if finding is not None and not finding.refused:
            small = shrink(program, lambda p, j=judged, kind=finding.kind: getattr(j(p), "kind", "") == kind)
            pytest.fail(f"program suite:{k}: {finding.kind}, {finding.said}\n{small.source}")
        refused += finding is not None
    assert refused <= 0.1 * PROGRAMS / PARTS
