# SPDX-License-Identifier: Apache-2.0
"""Random programs that the suite judges, a few of those that `python -m tests.fuzz` runs."""

import pytest

from tests.fuzz.generator import MOST_STEPS, write
from tests.fuzz.shrink import shrink


def refusals(name, judge, numbers, most_steps=MOST_STEPS):
    """How many programs are refused; a finding fails the test, with the program made short."""
    refused = 0
    for k in numbers:
        program = write(f"{name}:{k}", outside=False, most_steps=most_steps)
        finding = judge(program)
        if finding is not None and not finding.refused:
            small = shrink(program, lambda p, kind=finding.kind: getattr(judge(p), "kind", "") == kind)
            pytest.fail(f"program {name}:{k}: {finding.kind}, {finding.said}\n{small.source}")
        refused += finding is not None
    return refused
